"""Courier: an app in Hebrew and Arabic, laid out from right to left, with Latin numbers and marks of direction inside.

Rows keep their order in the tree; only their places are mirrored, as Android does in such a locale.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.virtual.apps.packages import COURIER
from droidpilot.virtual.apps.parts import MARGIN, edit, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import label, page, row, switch_row
from droidpilot.virtual.ui.windows import Window

NAMES = ("דנה לוי", "محمد علي", "יוסי כהן", "سارة حداد", "Noa Bar (נועה)", "רון אבני")
STREETS = ("רחוב הרצל 12", "شارع النيل ٧", "שדרות בן גוריון 3א", "Dizengoff 99")
RLM = "\u200f"
"""Right-to-left mark: to be seen by nobody, and inside many real texts."""


@dataclass(slots=True, eq=False)
class Parcel:
    number: str
    name: str
    street: str
    cents: int
    is_delivered: bool = False
    note: str = ""


class Courier:
    """Parcels that are delivered, and a switch."""

    package = COURIER
    activity = ".ParcelsActivity"
    label = "משלוחים"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        random = self._host.random("courier")
        self._is_notified = True
        self._parcels = [
            Parcel(f"A-{random.randint(1000, 9999)}", name, random.choice(STREETS), random.randint(10, 300) * 100 - 10)
            for name in NAMES
        ]

    def state(self) -> dict[str, object]:
        return {
            "courier": {
                "notified": self._is_notified,
                "delivered": [
                    {"number": parcel.number, "note": parcel.note} for parcel in self._parcels if parcel.is_delivered
                ],
            }
        }

    def first(self) -> Window:
        window = Window(COURIER, f"{COURIER}{self.activity}", "משלוחים", "parcels", lambda: self._list(window))
        return window

    def _list(self, window: Window) -> View:
        def turn() -> None:
            self._is_notified = not self._is_notified

        rows = [switch_row("התראות", is_on=self._is_notified, on_click=lambda: self._host.later(turn))]
        for parcel in self._parcels:
            told = "נמסר" if parcel.is_delivered else parcel.street
            rows.append(self._row(parcel, told))
        return mirrored(page(COURIER, "משלוחים", scroller(window, rows), on_up=None))

    def _row(self, parcel: Parcel, told: str) -> View:
        title = f"חבילה {parcel.number} ({parcel.name})"
        return row(title, told, on_click=lambda: self._host.open(self._page(parcel)))

    def _page(self, parcel: Parcel) -> Window:
        note = TextField("note", hint="הערה לשליח")
        note.put(parcel.note)

        def deliver() -> None:
            parcel.is_delivered, parcel.note = True, note.text.strip()
            self._host.close(window)

        def body() -> View:
            parts = [
                row(parcel.name, "נמען"),
                row(parcel.street, "כתובת"),
                label(f"{RLM}סכום: ₪ {parcel.cents / 100:.2f}{RLM}", id=f"{COURIER}:id/amount", size=50, pad=MARGIN),
                edit(window, note, f"{COURIER}:id/note"),
                wide_button(
                    "אישור מסירה",
                    id=f"{COURIER}:id/deliver",
                    is_enabled=not parcel.is_delivered,
                    on_click=lambda: self._host.later(deliver),
                ),
            ]
            return mirrored(page(COURIER, parcel.number, scroller(window, parts), on_up=self._host.back))

        activity = f"{COURIER}.ParcelActivity"
        window = Window(COURIER, activity, parcel.number, f"parcel/{parcel.number}", body)
        return window


def mirrored(view: View) -> View:
    """Turn a finished tree around, in place: the first child of a row stands at the right, and so does its margin."""
    view.mirrors = True
    left, top, right, bottom = view.pad
    view.pad = (right, top, left, bottom)
    for child in view.children:
        mirrored(child)
    return view
