"""Windows: what one page or dialog of an app keeps between looks, and how it is put on the screen.

This file must never know the phone's transport, its shell or its RPC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from droidpilot.virtual.ui.display import NATURAL
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.motion import Scroll, Slide
from droidpilot.virtual.ui.views import FILL, WRAP, TextField, View, natural, place

SCREEN = Rect(0, 0, *NATURAL)
"""The screen as the phone is made. What it shows now is `phone.display.rect`."""
STATUS_BAR = 84
NAVIGATION_BAR = 63
DIALOG_WIDTH = 920
DIALOG_MARGIN = 40
Kind = Literal["app", "overlay", "keyboard", "shade", "system", "keyguard"]
"""Who puts a window where: apps their pages and dialogs, the system the rest."""


@dataclass(frozen=True, slots=True)
class Room:
    """Where windows are laid out: the screen as it is turned now, and how much of its bottom the keyboard takes."""

    screen: Rect = SCREEN
    keyboard: int = 0

    @property
    def bottom(self) -> int:
        """The lowest px that a window may use."""
        return self.screen.bottom - max(NAVIGATION_BAR, self.keyboard)


@dataclass(slots=True, eq=False)
class Window:
    """A window of an app. `body` builds its content anew from the app's state."""

    package: str
    activity: str
    title: str
    key: str
    """Two windows with one key show the same thing; a second one on top of the first is not opened."""
    body: Callable[[], View]
    is_dialog: bool = False
    kind: Kind = "app"
    box: Callable[[Rect], Rect] | None = None
    """Where a window stands that fills neither the screen nor a dialog's place: from the screen to its rectangle."""
    is_secure: bool = False
    """Forbids pictures of itself (FLAG_SECURE): they come out black, while accessibility sees it all the same."""
    is_restless: bool = False
    """Changes with every frame while it is shown: a clock, a spinner. Its body is built anew for each look."""
    on_enter: Callable[[], None] | None = None
    """What the keyboard's action key does."""
    on_back: Callable[[], None] | None = None
    """What Back does where it does not close the window."""
    ignores_back_key: bool = False
    """Hears of back only as a gesture on Android 16, as an app does that targets it."""
    closes_outside: bool = True
    """A dialog that goes away when it is touched beside."""
    focus: TextField | None = None
    slide: Slide | None = None
    scrolls: dict[str, Scroll] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What the window manager calls it: an app's window by package and activity, the system's by its title."""
        return f"{self.package}/{self.activity}" if self.kind in ("app", "overlay") else self.activity

    @property
    def is_modal(self) -> bool:
        """Tell whether it takes the touches beside it too, so that nothing below it can be touched or is reported."""
        return self.kind not in ("overlay", "keyboard")

    def scroll(self, name: str, *, keeps_end: bool = False) -> Scroll:
        """Return the scrolling state kept under a name, made at first use."""
        return self.scrolls.setdefault(name, Scroll(keeps_end=keeps_end))

    def tree(self, now_ms: int, room: Room) -> View:
        """Build and place the whole window as it is at that time."""
        if self.box is None and not self.is_dialog:
            root = self._page_root(room)
            bounds = room.screen
        else:
            root = self._dialog_root()
            bounds = self._dialog_bounds(root, room) if self.box is None else self.box(room.screen)
        root.slide = self.slide
        place(root, bounds, now_ms)
        return root

    def _dialog_bounds(self, root: View, room: Room) -> Rect:
        """Place a dialog in the middle of what is free; it moves up where the keyboard stands."""
        screen = room.screen
        width, height = natural(root, min(DIALOG_WIDTH, screen.width - 2 * DIALOG_MARGIN))
        free = Rect(screen.left, screen.top, screen.right, screen.bottom - room.keyboard)
        height = min(height, free.height - STATUS_BAR)
        left, top = (screen.width - width) // 2, (free.height - height) // 2
        return Rect(left, top, left + width, top + height)

    def _page_root(self, room: Room) -> View:
        content = View(
            "android.widget.FrameLayout", "android:id/content", layout="frame", height=FILL, children=[self.body()]
        )
        content.pad = (0, STATUS_BAR, 0, room.screen.bottom - room.bottom)
        shell = View("android.widget.LinearLayout", layout="frame", height=FILL, children=[content])
        return View("android.widget.FrameLayout", layout="frame", height=FILL, children=[shell])

    def _dialog_root(self) -> View:
        content = View("android.widget.FrameLayout", "android:id/content", layout="frame", children=[self.body()])
        # A window with a place of its own fills it; a dialog is as high as what is in it.
        content.height = FILL if self.box is not None else WRAP
        return View("android.widget.FrameLayout", layout="frame", children=[content])
