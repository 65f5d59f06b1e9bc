"""Loader, Faulty, Bubbles, Scout: what moves for ever, falls over, covers other apps, or asks for something."""

from __future__ import annotations

from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.loader import LOADING_MS
from droidpilot.virtual.apps.packages import BUBBLES, FAULTY, SCOUT
from droidpilot.virtual.drawing.sketch import sketch


def test_an_endless_spinner_is_never_idle_until_it_is_cancelled() -> None:
    hand = Hand.at()
    hand.tap("Loader", "Load for ever")
    dumps, pictures = set(), set()
    for _ in range(6):
        hand.clock.advance(1.05)
        assert not hand.phone.is_idle
        dumps.add(hand.phone.dump(50))
        pictures.add(str(sketch(hand.phone)))
    assert len(dumps) == 1, "a spinner is in the picture, not in the hierarchy"
    assert len(pictures) > 1
    hand.tap("Cancel")
    assert hand.phone.is_idle
    assert hand.phone.state()["loader"] == {"loaded": 0, "cancelled": 1}


def test_a_spinner_that_ends_shows_what_was_loaded(user: User) -> None:
    user.tap("Loader", "Load the report")
    assert user.sees("Loading...")
    assert not user.phone.is_idle
    assert user.sees("12 pages")
    assert user.phone.is_idle
    assert user.truth("loader") == {"loaded": 1, "cancelled": 0}


def test_the_ending_spinner_ends_when_it_should() -> None:
    hand = Hand.at()
    hand.tap("Loader", "Load the report")
    hand.clock.advance(LOADING_MS / 1000 - 0.01)
    assert "Loading..." in hand.labels()
    hand.clock.advance(0.02)
    assert "12 pages" in hand.labels()


def test_an_app_that_crashes_is_gone_and_the_log_says_why(user: User) -> None:
    user.tap("Faulty", "Crash")
    assert user.truth("faulty")["crashes"] == 1
    assert user.truth("package") != FAULTY
    log = "\n".join(line.text for line in user.phone.log_lines)
    assert "FATAL EXCEPTION: main" in log and f"Process: {FAULTY}" in log
    assert "IllegalStateException: the basket is empty" in log


def test_an_app_that_hangs_takes_no_taps_any_more(user: User) -> None:
    user.tap("Faulty", "Freeze")
    assert user.truth("hung") == [FAULTY]
    crash = user.d(text="Crash")
    if crash.exists:
        crash.click()
    assert user.truth("faulty") == {"crashes": 0, "hangs": 1}


def test_an_overlay_of_another_package_lies_over_the_app_in_front(user: User) -> None:
    user.tap("Bubbles", "Bubble", "Banner")
    assert user.truth("bubbles", "shown") == ["banner", "bubble"]
    user.d.press("home")
    user.tap("Settings")
    xml = user.d.dump_hierarchy()
    assert f"{BUBBLES}:id/bubble" in xml and "Network &amp; internet" in xml
    assert user.truth("package") == "com.android.settings"
    user.d(description="Chat bubble").click()
    assert user.truth("bubbles", "taps") == 1
    user.d(text="You have won a kite!").click()
    assert user.truth("bubbles", "taps") == 2
    assert user.truth("title") == "Settings", "the tap did not reach the app below"
    user.tap("Close")
    assert user.truth("bubbles", "shown") == ["bubble"]
    assert not user.d(resourceId=f"{BUBBLES}:id/banner").exists
    user.d.app_clear(BUBBLES)
    assert not user.d(resourceId=f"{BUBBLES}:id/bubble").exists


def test_a_permission_is_asked_by_the_system_and_the_app_lives_with_the_answer(user: User) -> None:
    user.tap("Scout", "Take a picture")
    dialog = user.d(resourceId="com.android.permissioncontroller:id/permission_message")
    assert "Allow Scout to take pictures" in dialog.get_text(timeout=5)
    user.d(resourceId="com.android.permissioncontroller:id/permission_deny_button").click()
    assert user.sees("No access to the camera")
    user.tap("Find places near me")
    user.tap("While using the app")
    assert user.sees("The location works")
    assert user.truth("scout") == {"camera": False, "location": True}
    assert user.truth("permissions", SCOUT) == {
        "android.permission.ACCESS_FINE_LOCATION": True,
        "android.permission.CAMERA": False,
    }
    user.tap("Find places near me")
    assert not dialog.exists, "what was granted is not asked again"
