"""The lock screen: whether the phone is locked, how it opens, and the windows that stand before everything else.

Source for ids: SystemUI of Android 14. This file must never know an app.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, Literal

from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.notifications import Notification
from droidpilot.virtual.ui.views import FILL, Painted, TextField, View
from droidpilot.virtual.ui.widgets import label, row
from droidpilot.virtual.ui.windows import Window

PACKAGE: Final = "com.android.systemui"
NAME: Final = "NotificationShade"
"""The window of the shade is that of the lock screen too. Source: Android 11 and later."""
LockKind = Literal["none", "swipe", "pin"]
MOST_SHOWN: Final = 4
MAX_PIN: Final = 16
KEY_WIDTH, KEY_HEIGHT = 260, 170


class Keyguard:
    """The lock of one phone. A phone as made has none: it wakes where it was."""

    def __init__(self, schedule: Schedule, notifications: Callable[[], tuple[Notification, ...]]) -> None:
        self._schedule = schedule
        self._notifications = notifications
        self.kind: LockKind = "none"
        self.is_showing = False
        self.is_bouncing = False
        """Whether the field for the PIN is shown."""
        self.wrong = 0
        """How many wrong PINs were given since it was opened last."""
        self._pin = ""
        self._is_ticking = False
        self._entry = TextField("pinEntry", is_password=True, refuses_set_text=True)
        self._screen = Window(PACKAGE, NAME, "Lock screen", "keyguard", self._lock_body, kind="keyguard")
        self._bouncer = Window(PACKAGE, NAME, "PIN", "bouncer", self._pin_body, kind="keyguard")
        self._bouncer.focus = self._entry
        self._bouncer.on_enter = self._check
        self._bouncer.on_back = self._leave_bouncer
        self._screen.on_back = lambda: None

    @property
    def window(self) -> Window | None:
        """The window that stands before all others, None where the phone is open."""
        if not self.is_showing:
            return None
        return self._bouncer if self.is_bouncing else self._screen

    @property
    def is_secure(self) -> bool:
        """Tell whether opening needs a PIN."""
        return self.kind == "pin"

    def choose(self, kind: LockKind, pin: str = "") -> None:
        """Choose how the phone is locked from now on.

        Raises:
            ValueError: a PIN is 4 to 16 digits.
        """
        if kind == "pin" and not (pin.isascii() and pin.isdigit() and 4 <= len(pin) <= MAX_PIN):
            raise ValueError("a PIN is 4 to 16 digits")
        self.kind, self._pin = kind, pin
        if kind == "none":
            self.open()

    def lock(self) -> None:
        """Stand before everything, where there is a lock at all."""
        self.is_showing = self.kind != "none"
        self._leave_bouncer()
        if not self._is_ticking:
            self._tick()

    def started(self) -> None:
        """Stand before everything, as after a start of the phone, whatever was chosen."""
        # Nothing that waited for its time before the start still does.
        self._is_ticking = False
        self.lock()
        self.is_showing = True
        if not self._is_ticking:
            self._tick()

    def open(self) -> None:
        """Go away, as after the right PIN."""
        self.is_showing = False
        self.wrong = 0
        self._leave_bouncer()

    def swiped_up(self) -> None:
        """Do what a swipe up on the lock screen does: open, or ask for the PIN."""
        if self.is_secure:
            self.is_bouncing = True
        else:
            self.open()

    def _leave_bouncer(self) -> None:
        self.is_bouncing = False
        self._entry.put("")

    def _check(self) -> None:
        if self._entry.text == self._pin:
            self.open()
        else:
            self.wrong += 1
            self._entry.put("")

    def _lock_body(self) -> View:
        column = View("android.widget.LinearLayout", f"{PACKAGE}:id/notification_panel", height=FILL)
        clock = label(self._time(), id=f"{PACKAGE}:id/lockscreen_clock_view", size=160, pad=(66, 200, 66, 20))
        listed = View(
            "android.view.ViewGroup", f"{PACKAGE}:id/notification_stack_scroller", weight=1, pad=(30, 40, 30, 0)
        )
        # A lock with a PIN does not show what stands in a notification.
        listed.children = [
            row(n.title, "" if self.is_secure else n.text, on_click=lambda: self._schedule.later(self.swiped_up))
            for n in self._notifications()[:MOST_SHOWN]
        ]
        hint = label(
            "Swipe up to unlock" if self.is_secure else "Swipe up to open",
            id=f"{PACKAGE}:id/keyguard_indication_text",
            size=40,
            pad=(66, 20, 66, 40),
        )
        column.children = [clock, listed, hint]
        return column

    def _time(self) -> str:
        """Return the time of day. Where the same inputs are to make the same dumps at any hour, it is always noon."""
        if self._schedule.transition_ms <= 0:
            return "12:00"
        return datetime.fromtimestamp(self._schedule.wall_s(), UTC).strftime("%H:%M")

    def _tick(self) -> None:
        """Show the next minute when it comes, as long as the lock screen stands."""
        self._is_ticking = self.is_showing and self._schedule.transition_ms > 0
        if self._is_ticking:
            left_s = 60 - self._schedule.wall_s() % 60
            self._schedule.after(left_s * 1000, self._tick)

    def _pin_body(self) -> View:
        said = f"Wrong PIN. {self.wrong} so far." if self.wrong else "Enter your PIN"
        message = label(said, id=f"{PACKAGE}:id/bouncer_message_view", size=50, pad=(66, 60, 66, 30))
        # The lock's own text view: it shows dots, and knows no accessibility action that sets its text.
        field = View(
            "com.android.internal.widget.PasswordTextView", f"{PACKAGE}:id/pinEntry", edits=self._entry, height=130
        )
        field.pad, field.is_focused = (66, 20, 66, 20), True
        pad = View("android.widget.LinearLayout", f"{PACKAGE}:id/keyguard_pin_view", height=FILL)
        rows = [[self._digit(str(n)) for n in range(begin, begin + 3)] for begin in (1, 4, 7)]
        delete = self._key("Delete", "delete_button", "<", lambda: self._entry.put(self._entry.text[:-1]))
        enter = self._key("Enter", "key_enter", "OK", lambda: self._schedule.later(self._check))
        lines = [*rows, [delete, self._digit("0"), enter]]
        pad.children = [message, field, *(self._line(keys) for keys in lines)]
        return pad

    @staticmethod
    def _line(keys: list[View]) -> View:
        space = [View("android.widget.Space", weight=1, height=1) for _ in range(2)]
        return View(
            "android.widget.LinearLayout", layout="row", height=KEY_HEIGHT + 16, children=[space[0], *keys, space[1]]
        )

    def _digit(self, digit: str) -> View:
        return self._key(digit, f"key{digit}", digit, lambda: self._entry.put(self._entry.text + digit))

    @staticmethod
    def _key(name: str, id: str, shown: str, act: Callable[[], None]) -> View:
        key = View("com.android.keyguard.NumPadKey", f"{PACKAGE}:id/{id}", desc=name, on_click=act)
        key.width, key.height = KEY_WIDTH, KEY_HEIGHT
        key.paints = (Painted(Rect(10, 10, KEY_WIDTH - 10, KEY_HEIGHT - 10), shown),)
        return key
