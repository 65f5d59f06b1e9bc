"""What a person does to the phone with their own hands, and what befalls it, while a program drives it.

Nothing here comes over ADB: it is how a test, or `droidpilot virtual do`, changes the phone behind the program's back.
This file must never know a socket.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from droidpilot.core.errors import UsageError
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.keyguard import LockKind
from droidpilot.virtual.ui.views import FILL, View
from droidpilot.virtual.ui.windows import Window

if TYPE_CHECKING:
    from droidpilot.virtual.phone import Phone

NAME: Final = "person"
BUBBLE: Final = 220
"""Side of the bubble that an app shows over others, in px."""


class Person:
    """The person whose phone it is."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._bubbles: list[Window] = []
        self.touch = Touch(phone, by=NAME)
        """Their fingers: what they do stands in the input log as done by `person`."""

    def rotate(self, rotation: int) -> None:
        """Turn the phone in the hand so that the screen turns, 0..3 quarter turns against the clock.

        Raises:
            UsageError: there is no such rotation.
        """
        try:
            with self._phone.lock:
                self._phone.orientation.hold(rotation)
        except ValueError as error:
            raise UsageError(str(error), hint="say 0, 1, 2 or 3") from error

    def fold(self, is_folded: bool = True) -> None:
        """Fold or unfold the phone: another display of another size is used then."""
        phone = self._phone
        phone.later(lambda: phone.display.fold(is_folded))

    def set_lock(self, kind: LockKind, pin: str = "") -> None:
        """Choose how the phone is locked from now on; it does not lock by that.

        Raises:
            UsageError: a PIN is 4 to 16 digits.
        """
        try:
            with self._phone.lock:
                self._phone.keyguard.choose(kind, pin)
                self._phone.changed()
        except ValueError as error:
            raise UsageError(str(error), hint="for example 1234") from error

    def lock(self, *, is_lit: bool = True) -> None:
        """Lock the phone; with no lock chosen so far, one that opens by a swipe. The screen stays on, or goes dark."""
        with self._phone.lock:
            if self._phone.keyguard.kind == "none":
                self._phone.keyguard.choose("swipe")
            self._phone.keyguard.lock()
            self._phone.screen_on = is_lit
            self._phone.changed()

    def unlock(self) -> None:
        """Wake the phone and open it, as with their own finger."""
        with self._phone.lock:
            self._phone.screen_on = True
            self._phone.keyguard.open()
            self._phone.changed()

    def screen(self, is_on: bool) -> None:
        """Press the power key if the screen is not so already."""
        self.touch.power(is_on)

    def shade(self, is_open: bool, *, is_quick: bool = False) -> None:
        """Pull the shade down or push it up."""
        shade = self._phone.shade
        self._phone.later((lambda: shade.open(is_quick=is_quick)) if is_open else shade.close)

    def bubble(self, package: str, text: str = "1") -> None:
        """Let an app show a bubble over everything, as chat apps do; a tap on it starts the app."""
        phone = self._phone

        def start() -> None:
            phone.start(package)

        def body() -> View:
            made = View("android.widget.FrameLayout", f"{package}:id/bubble", desc=f"{phone.label_of(package)} bubble")
            made.height, made.on_click = FILL, start
            made.children = [View("android.widget.TextView", f"{package}:id/badge", text, pad=(80, 70, 20, 20))]
            return made

        window = Window(package, f"{package}.Bubble", "Bubble", "bubble", body, kind="overlay")
        window.box = lambda screen: Rect(
            screen.right - BUBBLE, screen.bottom // 3, screen.right, screen.bottom // 3 + BUBBLE
        )
        self._bubbles.append(window)
        phone.show_overlay(window)

    def no_bubbles(self) -> None:
        """Take all bubbles away."""
        for window in self._bubbles:
            self._phone.hide_overlay(window)
        self._bubbles.clear()
