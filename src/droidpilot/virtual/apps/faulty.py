"""Faulty: an app with a button that kills it and one that stops its main thread."""

from __future__ import annotations

from droidpilot.virtual.apps.packages import FAULTY
from droidpilot.virtual.apps.parts import message, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import page
from droidpilot.virtual.ui.windows import Window

REASON = (
    "java.lang.IllegalStateException: the basket is empty\n"
    "\tat com.quicksand.faulty.MainActivity.onCrash(MainActivity.java:42)\n"
    "\tat android.view.View.performClick(View.java:7659)"
)


class Faulty:
    """Counts how often it fell over."""

    package = FAULTY
    activity = ".MainActivity"
    label = "Faulty"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        self._crashes = 0
        self._hangs = 0

    def state(self) -> dict[str, object]:
        return {"faulty": {"crashes": self._crashes, "hangs": self._hangs}}

    def first(self) -> Window:
        def body() -> View:
            parts = [
                message("Both buttons do what they say.", id=f"{FAULTY}:id/hint"),
                wide_button("Crash", id=f"{FAULTY}:id/crash", on_click=lambda: self._host.later(self._crash)),
                wide_button("Freeze", id=f"{FAULTY}:id/freeze", on_click=lambda: self._host.later(self._hang)),
            ]
            return page(FAULTY, "Faulty", scroller(window, parts), on_up=None)

        window = Window(FAULTY, f"{FAULTY}{self.activity}", "Faulty", "main", body)
        return window

    def _crash(self) -> None:
        self._crashes += 1
        self._host.crash(FAULTY, REASON)

    def _hang(self) -> None:
        self._hangs += 1
        self._host.log("Faulty", "the main thread waits for a lock", "W")
        self._host.hang(FAULTY)
