"""Scout: asks for the camera and for the location, and says what it got."""

from __future__ import annotations

from functools import partial
from typing import Final

from droidpilot.virtual.apps.packages import SCOUT
from droidpilot.virtual.apps.parts import message, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import page
from droidpilot.virtual.ui.windows import Window

ASKS: Final[dict[str, tuple[str, str]]] = {
    "camera": ("Take a picture", "CAMERA"),
    "location": ("Find places near me", "ACCESS_FINE_LOCATION"),
}
"""Name in ids and truth: words of the button, permission."""


class Scout:
    """Two buttons that need a permission each."""

    package = SCOUT
    activity = ".MainActivity"
    label = "Scout"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        self._answers: dict[str, bool | None] = dict.fromkeys(ASKS)

    def state(self) -> dict[str, object]:
        return {"scout": dict(self._answers)}

    def first(self) -> Window:
        window = Window(SCOUT, f"{SCOUT}{self.activity}", "Scout", "main", lambda: self._body(window))
        return window

    def _body(self, window: Window) -> View:
        parts = []
        for name, (words, permission) in ASKS.items():
            ask = partial(self._ask, name, permission)
            parts.append(wide_button(words, id=f"{SCOUT}:id/ask_{name}", on_click=ask))
            parts.append(message(self._result(name), id=f"{SCOUT}:id/result_{name}"))
        return page(SCOUT, "Scout", scroller(window, parts), on_up=None)

    def _result(self, name: str) -> str:
        answer = self._answers[name]
        if answer is None:
            return f"The {name} was not used yet"
        return f"The {name} works" if answer else f"No access to the {name}"

    def _ask(self, name: str, permission: str) -> None:
        def answered(is_granted: bool) -> None:
            self._answers[name] = is_granted

        self._host.ask_permission(SCOUT, permission, answered)
