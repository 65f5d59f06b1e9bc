"""Fields: a form whose text fields each do to a text what some real app does to it.

One formats, one cuts, one puts it in small letters, one changes it half a second later, one takes keys only, one shows
nothing of it. What they hold in the end is the truth.
"""

from __future__ import annotations

from functools import partial

from droidpilot.virtual.apps.packages import FIELDS
from droidpilot.virtual.apps.parts import edit, message, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import page
from droidpilot.virtual.ui.windows import Window

LATE_MS = 500
MOST_CODE = 8
PHONE_DIGITS = 10


class Fields:
    """A form with fields that have a will of their own."""

    package = FIELDS
    activity = ".FormActivity"
    label = "Fields"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        late = TextField("nickname", hint="Nickname (tidied up late)")
        late.on_put = lambda: self._host.after(LATE_MS, partial(self._tidy, late, late.text))
        self._fields = (
            TextField("plain", hint="Anything"),
            TextField("phone", hint="Phone number", filter=phone_mask),
            TextField("code", hint=f"Code, {MOST_CODE} signs", filter=lambda text: text[:MOST_CODE]),
            TextField("username", hint="User name", filter=str.lower),
            late,
            # A view that draws its own text: it has no text for the accessibility action to replace.
            TextField("ink", hint="Signature", refuses_set_text=True),
            TextField("secret", hint="Secret word", is_password=True),
        )
        self._sent: list[dict[str, object]] = []

    def state(self) -> dict[str, object]:
        return {
            "fields": {
                "values": {field.name: field.text for field in self._fields if not field.is_password},
                "submitted": [dict(sent) for sent in self._sent],
            }
        }

    def first(self) -> Window:
        window = Window(FIELDS, f"{FIELDS}{self.activity}", "Fields", "form", lambda: self._body(window))
        return window

    def _body(self, window: Window) -> View:
        parts = [edit(window, field, f"{FIELDS}:id/{field.name}") for field in self._fields]
        parts.append(wide_button("Submit", id=f"{FIELDS}:id/submit", on_click=lambda: self._host.later(self._submit)))
        if self._sent:
            parts.append(message(f"Submitted {len(self._sent)} times", id=f"{FIELDS}:id/result"))
        return page(FIELDS, "Fields", scroller(window, parts), on_up=None)

    def _submit(self) -> None:
        self._sent.append({field.name: field.text for field in self._fields if not field.is_password})
        del self._sent[:-100]

    def _tidy(self, field: TextField, typed: str) -> None:
        """Give every word a capital, unless more was typed meanwhile."""
        tidy = " ".join(word.capitalize() for word in typed.split())
        if field.text == typed and tidy != typed:
            field.put(tidy)


def phone_mask(text: str) -> str:
    """Write the digits of a text as `(012) 345-6789`, as far as they go."""
    digits = "".join(sign for sign in text if sign in "0123456789")[:PHONE_DIGITS]
    if len(digits) <= 3:
        return digits
    return f"({digits[:3]}) {digits[3:6]}" + (f"-{digits[6:]}" if len(digits) > 6 else "")
