"""The lock screen: a locked phone shows nothing else, opens by swipe or PIN, and says truly that it is locked."""

from __future__ import annotations

import pytest
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.core.errors import UsageError
from droidpilot.device.readings import foreground

SYSTEM_UI = "com.android.systemui"
PIN_FIELD = f"{SYSTEM_UI}:id/pinEntry"


def front(user: User) -> tuple[str | None, bool | None, bool | None]:
    told = foreground(user.d.shell("dumpsys window").output)
    return told.package, told.is_locked, told.is_off


def test_a_phone_as_made_wakes_where_it_was(user: User) -> None:
    user.tap("Settings")
    user.d.screen_off()
    assert front(user) == ("com.android.settings", False, True)
    user.d.screen_on()
    assert front(user) == ("com.android.settings", False, False)


def test_a_lock_stands_before_everything_until_a_swipe_up(user: User) -> None:
    user.phone.person.set_lock("swipe")
    user.tap("Settings")
    user.phone.notify("Dinner", "at eight", package="com.google.android.contacts")
    user.d.screen_off()
    user.d.screen_on()
    assert front(user) == (SYSTEM_UI, True, False)
    assert "mResumedActivity: null" in user.d.shell("dumpsys activity activities").output
    assert {node["packageName"] for node in (n.info for n in user.d(enabled=True))} == {SYSTEM_UI}
    assert user.sees("at eight")
    user.d.press("home")
    user.d.press("back")
    user.d.click(540, 1500)
    user.d.open_notification()
    assert user.truth("locked") is True
    assert user.truth("windows") == ["NotificationShade"]
    user.d.swipe(540, 1900, 540, 600)
    assert front(user) == ("com.android.settings", False, False)


def test_the_pin_takes_keys_and_no_set_text(user: User) -> None:
    user.phone.person.set_lock("pin", "2580")
    user.phone.person.lock()
    user.phone.notify("Dinner", "at eight", package="com.google.android.contacts")
    user.d.screen_on()
    assert not user.d(text="at eight").exists
    user.d.swipe(540, 1900, 540, 600)
    assert "deviceLocked=1" in user.d.shell("dumpsys trust").output
    assert user.fill(PIN_FIELD, "2580") is False
    user.d.set_clipboard("2580")
    user.d.jsonrpc.pasteClipboard()
    assert user.d(resourceId=PIN_FIELD).info["text"] == ""
    user.d.shell("input text 1111")
    assert user.d(resourceId=PIN_FIELD).info["text"] == "••••"
    user.d.press("enter")
    assert user.truth("locked") is True
    assert user.sees("Wrong PIN. 1 so far.")
    for digit in "25":
        user.d(description=digit, packageName=SYSTEM_UI).click(timeout=5)
    user.d.shell("input keyevent 15 7")
    user.d(description="Enter").click(timeout=5)
    assert user.truth("locked") is False
    assert "deviceLocked=0" in user.d.shell("dumpsys trust").output
    assert "2580" not in str(user.phone.state()["inputs"])


def test_back_on_the_pin_goes_to_the_lock_screen_and_forgets_what_was_typed() -> None:
    hand = Hand.at()
    hand.phone.person.set_lock("pin", "12345")
    hand.phone.person.lock()
    hand.touch.swipe([(540, 1900), (540, 600)], 100)
    hand.touch.type_text("123")
    hand.touch.key(4)
    assert "Swipe up to unlock" in hand.labels()
    hand.touch.swipe([(540, 1900), (540, 600)], 100)
    assert hand.node(PIN_FIELD).text == ""
    hand.phone.person.unlock()
    assert hand.phone.state()["locked"] is False


@pytest.mark.parametrize("pin", ["", "123", "12a4", "１２３４", "1" * 17])
def test_a_pin_is_four_to_sixteen_digits(pin: str) -> None:
    hand = Hand.at()
    with pytest.raises(UsageError, match="digits"):
        hand.phone.person.set_lock("pin", pin)
    assert hand.phone.keyguard.kind == "none"


def test_a_picture_of_a_dark_or_locked_phone_shows_nothing_of_the_app(user: User) -> None:
    user.tap("Settings")
    open_ = user.d.screenshot()
    user.phone.person.lock()
    locked = user.d.screenshot()
    user.d.screen_off()
    dark = user.d.screenshot()
    assert len({picture.tobytes() for picture in (open_, locked, dark)}) == 3
    assert dark.convert("L").getextrema()[1] < 4
