"""Driver: the port to one phone, about twenty primitive calls, each with a deadline.

Reads may be tried again inside their deadline. A write is sent at most once; when it fails, the DeviceError's `sent`
says whether it may have reached the phone. A driver knows no ref, no rule and no screen text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from droidpilot.core.clock import Deadline
from droidpilot.core.images import Image
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.selector import Selector

#: Names that `press` knows, with their key codes. Source: Android KeyEvent.
KEYS: dict[str, int] = {
    "home": 3,
    "back": 4,
    "dpad_up": 19,
    "dpad_down": 20,
    "dpad_left": 21,
    "dpad_right": 22,
    "dpad_center": 23,
    "volume_up": 24,
    "volume_down": 25,
    "power": 26,
    "tab": 61,
    "space": 62,
    "enter": 66,
    "delete": 67,
    "menu": 82,
    "search": 84,
    "escape": 111,
    "recents": 187,
    "wakeup": 224,
}


@dataclass(frozen=True, slots=True)
class Foreground:
    """The window that has focus. None for each that the phone did not say: not known is never the harmless answer."""

    package: str | None
    activity: str | None
    is_secure: bool | None = None  # the window forbids pictures of itself (FLAG_SECURE)
    is_locked: bool | None = None  # the lock screen is there, also where an app may show over it
    is_off: bool | None = None  # the display is off


@dataclass(frozen=True, slots=True)
class LockState:
    """Whether the phone is locked or off, None where it does not say."""

    is_locked: bool | None = None
    is_off: bool | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """The screen's pixels as the phone gives them.

    A window that forbids pictures of itself comes out black (`is_secure`); so does a screen that is off. A capture that
    failed is neither: it is an error.
    """

    image: Image
    is_black: bool  # nothing can be seen on it
    is_secure: bool | None  # the window in focus forbids pictures of itself: the pixels say nothing; None: not known


@dataclass(frozen=True, slots=True)
class Display:
    """Size in px as displayed now, rotation applied; rotation 0..3."""

    width: int
    height: int
    rotation: int


@dataclass(frozen=True, slots=True)
class App:
    """A launchable app. `label` is what the phone says, or a name made from the package where it says nothing."""

    package: str
    label: str


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """What the phone says of itself; empty strings where it says nothing."""

    serial: str
    model: str
    brand: str
    sdk: int
    release: str
    round_trip_s: float = 0.0  # how long it took to answer when it was reached; 0 where that was not measured
    is_plain: bool = False  # driven by plain ADB commands: the in-phone server cannot run


class Driver(Protocol):
    """Performs primitive calls on one device. Every method raises DeviceError and nothing else."""

    @property
    def facts(self) -> DeviceFacts: ...

    # reads
    def dump(self, deadline: Deadline) -> bytes:
        """Return the UI hierarchy as the phone gives it, not yet parsed.

        Raises:
            ScreenUnreadable: the phone answered, but with no hierarchy.
        """
        ...

    def foreground(self, deadline: Deadline) -> Foreground: ...

    def lock_state(self, deadline: Deadline) -> LockState:
        """Ask by another way than `foreground` whether the phone is locked or off."""
        ...

    def display(self, deadline: Deadline) -> Display: ...

    def screenshot(self, deadline: Deadline) -> Picture:
        """Take a picture of the screen.

        Raises:
            DeviceRefused: code `capture_failed`: the phone gave no picture.
        """
        ...

    def apps(self, deadline: Deadline) -> tuple[App, ...]:
        """Return the launchable apps, sorted by label."""
        ...

    def read_setting(self, namespace: str, key: str, deadline: Deadline) -> str | None:
        """Return the value, None where it is not set. `namespace` is system, secure or global."""
        ...

    def has_focus(self, field: Selector, bounds: Bounds, deadline: Deadline) -> bool:
        """Tell whether the one node that `field` finds lies at `bounds` and has the focus."""
        ...

    # writes: one attempt each
    def tap(self, x: int, y: int, deadline: Deadline) -> None: ...

    def long_press(self, x: int, y: int, deadline: Deadline) -> None: ...

    def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, deadline: Deadline) -> None: ...

    def set_text(self, field: Selector, bounds: Bounds, text: str, deadline: Deadline) -> None:
        """Replace the text of the one field that `field` finds, after reading that it still lies at `bounds`.

        Raises:
            DeviceRefused: code `field_moved` (sent "no") where it does not, `not_editable` where the phone says no.
        """
        ...

    def type_keys(
        self, text: str, deadline: Deadline, *, erase: int, several_lines: bool = False, at_end: bool = False
    ) -> None:
        """Type into what has the focus by key presses, after going to its end and deleting `erase` characters.

        `several_lines`: what is deleted may not be in one line, whose end is not that of the field. `at_end`: go to the
        end also where nothing is deleted.

        Raises:
            DeviceRefused: code `untypable` (sent "no") for a character that no key makes, a line break included;
                `too_long` (sent "no") for more to delete than keys can in a reasonable time;
                `inject_denied` (sent "no") where the phone takes no keys from a computer.
        """
        ...

    def press(self, key: str, deadline: Deadline) -> None:
        """Press one of KEYS."""
        ...

    def start_app(self, package: str, deadline: Deadline) -> None:
        """Bring the app to the front through its launcher entry.

        Raises:
            DeviceRefused: code `no_app`, sent "no".
        """
        ...

    def close(self) -> None:
        """Let go of the phone: stop what was started on it and close every connection. Never raises."""
        ...
