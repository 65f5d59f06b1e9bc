"""The keyboard on the screen: a window of an input method with keys that type, as long as a field has focus.

Source for names: LatinIME of AOSP (package, ids, class names of its virtual nodes). This file must never know an app.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.store import LATIN_IME, Settings
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import FILL, Painted, View
from droidpilot.virtual.ui.windows import NAVIGATION_BAR, Window

PACKAGE: Final = "com.android.inputmethod.latin"
SLIDE_MS: Final = 400
"""How long the keyboard slides in."""
STRIP: Final = 120
KEY_ENTER, KEY_DELETE = 66, 67
Page = Literal["letters", "capitals", "symbols"]
ROWS: Final[dict[Page, tuple[str, str, str]]] = {
    "letters": ("qwertyuiop", "asdfghjkl", "zxcvbnm"),
    "capitals": ("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"),
    "symbols": ("1234567890", "@#$_&-+()", "*\"':;!?"),
}
Press = Callable[[int], None]
Type = Callable[[str], None]


class Keyboard:
    """The keyboard of one phone. It belongs to the window whose field was tapped and is shown while that has focus."""

    def __init__(
        self, schedule: Schedule, settings: Settings, screen: Callable[[], Rect], *, press: Press, type: Type
    ) -> None:
        self._schedule = schedule
        self._settings = settings
        self._screen = screen
        self._press = press
        self._type = type
        self.owner: Window | None = None
        self.page: Page = "letters"
        self.window = Window(PACKAGE, "InputMethod", "InputMethod", "keyboard", self._body, kind="keyboard")
        self.window.box = lambda screen: Rect(0, screen.bottom - self.height(screen), screen.right, screen.bottom)

    @property
    def has_window(self) -> bool:
        """Tell whether the keyboard that is chosen draws anything: the one for adb does not."""
        return self._settings.get("secure", "default_input_method") == LATIN_IME

    def is_shown(self, top: Window) -> bool:
        """Tell whether the keyboard stands there while `top` has focus."""
        return self.owner is top and top.focus is not None and self.has_window

    def height(self, screen: Rect) -> int:
        """Return how much of the screen's bottom it takes, in px."""
        return screen.height * (36 if screen.height > screen.width else 52) // 100

    def show(self, owner: Window) -> None:
        """Slide in for a window that has a field with focus, after the usual delay."""
        if not self.has_window:
            return

        def slide_in() -> None:
            if self.is_shown(owner):
                return
            self.owner, self.page = owner, "letters"
            self.window.slide = self._schedule.slide(dy=self.height(self._screen()), lasts_ms=SLIDE_MS)

        self._schedule.later(slide_in)

    def hide(self) -> None:
        """Go away at once."""
        self.owner = None

    def _body(self) -> View:
        screen = self._screen()
        line = (self.height(screen) - STRIP - NAVIGATION_BAR) // 4
        first, second, third = ROWS[self.page]
        strip = View("android.widget.LinearLayout", f"{PACKAGE}:id/suggestion_strip_view", height=STRIP)
        keys = View("com.android.inputmethod.keyboard.MainKeyboardView", f"{PACKAGE}:id/keyboard_view", height=4 * line)
        wide, unit = screen.width * 3 // 20, screen.width // 10
        turn: Page = "letters" if self.page == "capitals" else "capitals"
        other: Page = "symbols" if self.page != "symbols" else "letters"
        keys.children = [
            self._line([self._letter(sign, unit, line) for sign in first], line),
            self._line([self._letter(sign, unit, line) for sign in second], line, pad=(screen.width - 9 * unit) // 2),
            self._line(
                [
                    self._key("Shift", "^", wide, line, lambda: self._turn(turn)),
                    *(self._letter(sign, unit, line) for sign in third),
                    self._key("Delete", "<", wide, line, lambda: self._press(KEY_DELETE)),
                ],
                line,
            ),
            self._line(
                [
                    self._key(
                        "Symbols" if other == "symbols" else "Letters",
                        "?123" if other == "symbols" else "ABC",
                        wide,
                        line,
                        lambda: self._turn(other),
                    ),
                    self._letter(",", unit, line),
                    self._key("Space", "", screen.width - 2 * wide - 2 * unit, line, lambda: self._type(" ")),
                    self._letter(".", unit, line),
                    self._key("Done", "OK", wide, line, lambda: self._press(KEY_ENTER)),
                ],
                line,
            ),
        ]
        frame = View("android.widget.LinearLayout", f"{PACKAGE}:id/main_keyboard_frame", height=FILL)
        frame.children = [strip, keys]
        return frame

    @staticmethod
    def _line(keys: list[View], height: int, *, pad: int = 0) -> View:
        # Key rows are no nodes of their own on a phone; here they only take room, and say nothing.
        return View("android.view.View", layout="row", height=height, pad=(pad, 0, pad, 0), children=keys)

    def _letter(self, sign: str, width: int, height: int) -> View:
        return self._key(sign, sign, width, height, lambda: self._type_once(sign))

    @staticmethod
    def _key(name: str, shown: str, width: int, height: int, act: Callable[[], None]) -> View:
        key = View("com.android.inputmethod.keyboard.Key", desc=name, width=width, height=height, on_click=act)
        key.paints = (Painted(Rect(5, 8, width - 5, height - 8), shown),)
        return key

    def _type_once(self, sign: str) -> None:
        self._type(sign)
        if self.page == "capitals":
            self.page = "letters"

    def _turn(self, page: Page) -> None:
        self.page = page
