"""Bubbles: shows windows of its own over every other app: a small one, and a banner that takes taps."""

from __future__ import annotations

from collections.abc import Callable

from droidpilot.virtual.apps.packages import BUBBLES
from droidpilot.virtual.apps.parts import message, scroller
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import button, label, page, switch_row
from droidpilot.virtual.ui.windows import Window

SIDE = 190
BANNER = 380


class Bubbles:
    """An app that may draw over others. Its overlays are in the truth for as long as it shows them."""

    package = BUBBLES
    activity = ".MainActivity"
    label = "Bubbles"

    def __init__(self, host: Host) -> None:
        self._host = host
        self._shown: dict[str, Window] = {}
        self._taps = 0

    def clear(self) -> None:
        for name in list(self._shown):
            self._hide(name)
        self._taps = 0

    def state(self) -> dict[str, object]:
        return {"bubbles": {"shown": sorted(self._shown), "taps": self._taps}}

    def first(self) -> Window:
        def body() -> View:
            parts = [
                message("These stay when you go to another app.", id=f"{BUBBLES}:id/hint"),
                self._switch("Bubble", "bubble", self._bubble),
                self._switch("Banner", "banner", self._banner),
            ]
            return page(BUBBLES, "Bubbles", scroller(window, parts), on_up=None)

        window = Window(BUBBLES, f"{BUBBLES}{self.activity}", "Bubbles", "main", body)
        return window

    def _switch(self, title: str, name: str, make: Callable[[], Window]) -> View:
        def turn() -> None:
            if name in self._shown:
                self._hide(name)
            else:
                self._shown[name] = make()
                self._host.show_overlay(self._shown[name])

        return switch_row(title, is_on=name in self._shown, on_click=lambda: self._host.later(turn))

    def _hide(self, name: str) -> None:
        window = self._shown.pop(name, None)
        if window is not None:
            self._host.hide_overlay(window)

    def _overlay(self, title: str, body: Callable[[], View], box: Callable[[Rect], Rect]) -> Window:
        return Window(BUBBLES, f"{BUBBLES}.OverlayService", title, f"overlay/{title}", body, kind="overlay", box=box)

    def _bubble(self) -> Window:
        def body() -> View:
            made = View("android.widget.ImageView", f"{BUBBLES}:id/bubble", desc="Chat bubble", height=SIDE)
            made.on_click = self._tapped
            return made

        return self._overlay(
            "Bubble",
            body,
            lambda screen: Rect(screen.right - SIDE, screen.height // 3, screen.right, screen.height // 3 + SIDE),
        )

    def _banner(self) -> Window:
        def body() -> View:
            close = button(
                "Close", id=f"{BUBBLES}:id/close", on_click=lambda: self._host.later(lambda: self._hide("banner"))
            )
            words = label("You have won a kite!", id=f"{BUBBLES}:id/banner_text", size=50, pad=(60, 40, 60, 20))
            made = View("android.widget.LinearLayout", f"{BUBBLES}:id/banner", height=BANNER, children=[words, close])
            made.on_click = self._tapped
            return made

        return self._overlay(
            "Banner", body, lambda screen: Rect(screen.left, screen.bottom - BANNER, screen.right, screen.bottom)
        )

    def _tapped(self) -> None:
        self._taps += 1
