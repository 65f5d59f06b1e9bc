"""Loader: a page that loads for ever and one that is done after a while. Neither is idle while it loads.

A spinner turns in the picture; the hierarchy says the same all the time.
"""

from __future__ import annotations

from droidpilot.virtual.apps.packages import LOADER
from droidpilot.virtual.apps.parts import padded, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import Painted, View
from droidpilot.virtual.ui.widgets import label, page, row
from droidpilot.virtual.ui.windows import Window

LOADING_MS = 3_000
TURN_MS = 100
"""How long a dot of the spinner is lit."""
DOTS = 6


class Loader:
    """Two pages behind two buttons."""

    package = LOADER
    activity = ".LoaderActivity"
    label = "Loader"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        self._loaded = 0
        self._cancelled = 0

    def state(self) -> dict[str, object]:
        return {"loader": {"loaded": self._loaded, "cancelled": self._cancelled}}

    def first(self) -> Window:
        def body() -> View:
            quick = wide_button(
                "Load the report", id=f"{LOADER}:id/ending", on_click=lambda: self._host.open(self._loading(True))
            )
            endless = wide_button(
                "Load for ever", id=f"{LOADER}:id/endless", on_click=lambda: self._host.open(self._loading(False))
            )
            return page(LOADER, "Loader", scroller(window, [quick, endless]), on_up=None)

        window = Window(LOADER, f"{LOADER}{self.activity}", "Loader", "loader", body)
        return window

    def _loading(self, ends: bool) -> Window:
        def done() -> None:
            if window.is_restless:
                window.is_restless = False
                self._loaded += 1

        def cancel() -> None:
            window.is_restless = False
            self._cancelled += 1
            self._host.close(window)

        def body() -> View:
            if not window.is_restless:
                parts = [row("Report", "12 pages"), row("Status", "Loaded")]
                return page(LOADER, "Report", scroller(window, parts), on_up=self._host.back)
            parts = [
                padded(self._spinner()),
                label("Loading...", id=f"{LOADER}:id/loading", size=50, pad=(66, 24, 66, 24)),
                wide_button("Cancel", id=f"{LOADER}:id/cancel", on_click=lambda: self._host.later(cancel)),
            ]
            return page(LOADER, "Loading", scroller(window, parts), on_up=self._host.back)

        name = "ending" if ends else "endless"
        window = Window(LOADER, f"{LOADER}.ReportActivity", "Report", f"loading/{name}", body, is_restless=True)
        if ends:
            self._host.after(LOADING_MS, done)
        return window

    def _spinner(self) -> View:
        made = View("android.widget.ProgressBar", f"{LOADER}:id/progress", width=600, height=120)
        lit = self._host.now_ms() // TURN_MS % DOTS
        made.paints = [Painted(Rect(n * 100, 20, n * 100 + 80, 100), is_lit=n == lit) for n in range(DOTS)]
        return made
