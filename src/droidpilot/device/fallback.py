"""Which way a phone is driven: by the in-phone server, or by plain ADB where that cannot run. Chosen once, and said.

There is no way back within a session: two ways that take turns would be two sets of limits that nobody can know. What
the two ways do differently is theirs.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceRefused, DeviceTimeout, ScreenUnreadable
from droidpilot.core.text import one_line, shorten
from droidpilot.device import android, readings
from droidpilot.device.adb import AdbServer
from droidpilot.device.android import AndroidDriver
from droidpilot.device.driver import App, DeviceFacts, Display, Driver, Foreground, LockState, Picture
from droidpilot.device.lifeline import Keep
from droidpilot.device.plain import PlainDriver
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.selector import Selector

#: What says that the server does not run, and did not come up again either. Not `helper_blocked`: another tool holds
#: UI automation then, and `uiautomator dump` wants it too.
CANNOT_RUN = frozenset({"helper_failed", "sync_failed", "no_listener", "not_connected"})
#: So many deaths on one screen, and it is the screen.
MOST_DEATHS = 2
#: Of the time for connecting, what is left for the plain way where starting the server uses up its own.
_FOR_PLAIN_S = 10.0
#: Seconds of silence while a phone is reached before that is said; one that answers takes a fraction.
_SLOW_S = 2.0

WORDS = "by plain ADB commands, which are slower and can only type ASCII"

Say = Callable[[str], None]


class FallbackDriver:
    """The Driver of a session: the in-phone server's until it proves that it cannot go on, then the plain one."""

    def __init__(self, helper: AndroidDriver, make_plain: Callable[[], Driver], say: Say) -> None:
        self._helper = helper
        self._driver: Driver = helper
        self._make_plain = make_plain
        self._say = say
        self._counted = helper.deaths
        self._deaths = 0
        self._died_on = ""

    @property
    def facts(self) -> DeviceFacts:
        return self._driver.facts

    # reads

    def dump(self, deadline: Deadline) -> bytes:
        if self._driver is not self._helper:
            return self._driver.dump(deadline)
        try:
            data = self._helper.dump(deadline)
        except DeviceError as error:
            if error.code not in CANNOT_RUN or deadline.is_over():
                raise
            return self._plain_instead(error, deadline)
        self._count_deaths(readings.first_package(data))
        return data

    def foreground(self, deadline: Deadline) -> Foreground:
        return self._driver.foreground(deadline)

    def lock_state(self, deadline: Deadline) -> LockState:
        return self._driver.lock_state(deadline)

    def display(self, deadline: Deadline) -> Display:
        return self._driver.display(deadline)

    def screenshot(self, deadline: Deadline) -> Picture:
        return self._driver.screenshot(deadline)

    def apps(self, deadline: Deadline) -> tuple[App, ...]:
        return self._driver.apps(deadline)

    def read_setting(self, namespace: str, key: str, deadline: Deadline) -> str | None:
        return self._driver.read_setting(namespace, key, deadline)

    def has_focus(self, field: Selector, bounds: Bounds, deadline: Deadline) -> bool:
        return self._driver.has_focus(field, bounds, deadline)

    # writes: handed on, never tried another way

    def tap(self, x: int, y: int, deadline: Deadline) -> None:
        self._driver.tap(x, y, deadline)

    def long_press(self, x: int, y: int, deadline: Deadline) -> None:
        self._driver.long_press(x, y, deadline)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, deadline: Deadline) -> None:
        self._driver.swipe(x1, y1, x2, y2, duration_ms, deadline)

    def set_text(self, field: Selector, bounds: Bounds, text: str, deadline: Deadline) -> None:
        self._driver.set_text(field, bounds, text, deadline)

    def type_keys(
        self, text: str, deadline: Deadline, *, erase: int, several_lines: bool = False, at_end: bool = False
    ) -> None:
        self._driver.type_keys(text, deadline, erase=erase, several_lines=several_lines, at_end=at_end)

    def press(self, key: str, deadline: Deadline) -> None:
        self._driver.press(key, deadline)

    def start_app(self, package: str, deadline: Deadline) -> None:
        self._driver.start_app(package, deadline)

    def close(self) -> None:
        self._helper.close()
        if self._driver is not self._helper:
            self._driver.close()

    # inside

    def _plain_instead(self, error: DeviceError, deadline: Deadline) -> bytes:
        """Read the plain way; where that works no better, the trouble is another one, and nothing is switched."""
        plain = self._make_plain()
        try:
            data = plain.dump(deadline)
        except ScreenUnreadable:
            self._switch(plain, error.message)
            raise
        except DeviceError:
            raise error from None
        self._switch(plain, error.message)
        return data

    def _count_deaths(self, package: str) -> None:
        died = self._helper.deaths - self._counted
        self._counted = self._helper.deaths
        if not died:
            return
        self._deaths = died + (self._deaths if package == self._died_on else 0)
        self._died_on = package
        if self._deaths >= MOST_DEATHS:
            self._switch(self._make_plain(), f"it died {self._deaths} times on one screen of {package or 'an app'}")

    def _switch(self, plain: Driver, why: str) -> None:
        self._driver = plain
        self._helper.close()
        self._say(f"the helper on the phone cannot go on ({shorten(one_line(why), 200)}): from here on {WORDS}")


def connect(
    server: AdbServer,
    serial: str,
    *,
    clock: Clock,
    deadline: Deadline,
    note: Say,
    progress: Say | None = None,
    keep: Keep | None = None,
) -> Driver:
    """Reach the phone, and choose the way it is driven. `note` is told once if it is the plain one.

    Raises:
        DeviceError: with nothing left running on the phone.
    """
    with _told_if_slow(f"waiting for {serial} to answer", progress):
        reached = android.reach(server, serial, clock=clock, deadline=deadline, keep=keep)

    def make_plain() -> PlainDriver:
        return PlainDriver(reached.link, clock, reached.facts, reached.line)

    sooner = deadline.sooner(max(deadline.left_s() - _FOR_PLAIN_S, deadline.left_s() / 2))
    try:
        helper = android.with_helper(reached, clock=clock, deadline=sooner, progress=progress)
    except (DeviceRefused, DeviceTimeout) as error:
        if error.code not in CANNOT_RUN and not isinstance(error, DeviceTimeout):
            raise
        return _plain_or(error, make_plain(), deadline, note)
    return FallbackDriver(helper, make_plain, note)


def _say_nothing(text: str) -> None:
    """Nobody listens."""


@contextmanager
def _told_if_slow(text: str, progress: Say | None) -> Iterator[None]:
    """Say something where what is inside takes long: a phone that hangs would be silence until patience is over."""
    timer = threading.Timer(_SLOW_S, progress if progress is not None else _say_nothing, [text])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _plain_or(error: DeviceError, plain: PlainDriver, deadline: Deadline, note: Say) -> PlainDriver:
    """Return a plain driver that can read the phone; where it cannot, the first trouble is the one to tell."""
    try:
        with suppress(ScreenUnreadable):  # it answered; what is on the screen is another matter
            plain.dump(deadline)
    except DeviceError:
        raise error from None
    note(f"the helper cannot run on this phone ({shorten(one_line(error.message), 200)}): it is driven {WORDS}")
    return plain
