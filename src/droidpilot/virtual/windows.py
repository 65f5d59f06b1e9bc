"""Windows: what one page or dialog of an app keeps between looks, and how it is put on the screen.

This file must never know the phone's transport, its shell or its RPC.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from droidpilot.virtual.geometry import Rect
from droidpilot.virtual.motion import Scroll, Slide
from droidpilot.virtual.views import FILL, TextField, View, natural, place

SCREEN = Rect(0, 0, 1080, 2340)
STATUS_BAR = 84
NAVIGATION_BAR = 63
DIALOG_WIDTH = 920
Kind = Literal["app", "overlay", "keyboard", "shade", "system", "keyguard"]
"""Who puts a window where: apps their pages and dialogs, the system the rest, each kind above the one before it."""


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
    on_enter: Callable[[], None] | None = None
    """What the keyboard's action key does."""
    focus: TextField | None = None
    slide: Slide | None = None
    scrolls: dict[str, Scroll] = field(default_factory=dict)

    def scroll(self, name: str, *, keeps_end: bool = False) -> Scroll:
        """Return the scrolling state kept under a name, made at first use."""
        return self.scrolls.setdefault(name, Scroll(keeps_end=keeps_end))

    def tree(self, now_ms: int) -> View:
        """Build and place the whole window as it is at that time."""
        root = self._dialog_root() if self.is_dialog or self.box is not None else self._page_root()
        root.slide = self.slide
        if self.box is not None:
            place(root, self.box(SCREEN), now_ms)
        elif self.is_dialog:
            width, height = natural(root, DIALOG_WIDTH)
            left, top = (SCREEN.width - width) // 2, (SCREEN.height - height) // 2
            place(root, Rect(left, top, left + width, top + height), now_ms)
        else:
            place(root, SCREEN, now_ms)
        return root

    def _page_root(self) -> View:
        content = View(
            "android.widget.FrameLayout", "android:id/content", layout="frame", height=FILL, children=[self.body()]
        )
        content.pad = (0, STATUS_BAR, 0, NAVIGATION_BAR)
        shell = View("android.widget.LinearLayout", layout="frame", height=FILL, children=[content])
        return View("android.widget.FrameLayout", layout="frame", height=FILL, children=[shell])

    def _dialog_root(self) -> View:
        content = View("android.widget.FrameLayout", "android:id/content", layout="frame", children=[self.body()])
        return View("android.widget.FrameLayout", layout="frame", children=[content])
