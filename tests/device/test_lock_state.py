"""Whether a virtual phone is locked or off, asked by other services than the one that gives no answer."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError
from droidpilot.device.android import AndroidDriver
from droidpilot.device.driver import LockState
from droidpilot.virtual.server import VirtualPhone
from droidpilot.virtual.shell import dumpsys

Within = Callable[[float], Deadline]


def no_window(*_: object) -> str:
    raise RuntimeError("no")


@pytest.mark.parametrize("window", [no_window, lambda *_: "x" * 9_000_000, lambda *_: ""])
def test_it_is_known_where_the_window_manager_says_nothing(
    driver: AndroidDriver,
    phone: VirtualPhone,
    within: Within,
    window: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(dumpsys.SERVICES, "window", window)
    assert driver.lock_state(within(10)) == LockState(False, False)
    phone.phone.person.set_lock("swipe")
    phone.phone.person.lock(is_lit=True)
    assert driver.lock_state(within(10)) == LockState(True, False)
    try:
        front = driver.foreground(within(10))
    except DeviceError:
        return
    assert (front.package, front.is_secure, front.is_locked, front.is_off) == (None, None, None, None)


def test_nothing_is_known_where_no_service_answers(driver: AndroidDriver, phone: VirtualPhone, within: Within) -> None:
    phone.phone.faults.set("dumpsys-cut", "always")
    assert driver.lock_state(within(5)) == LockState(None, None)
