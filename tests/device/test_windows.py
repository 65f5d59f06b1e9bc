"""`dumpsys window`, whatever an app calls its windows: a title decides nothing, and what is not told is not known."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from droidpilot.device import windows
from droidpilot.device.driver import Foreground, LockState

LINES = (
    "  mCurrentFocus=Window{fff u0 com.safe/.Main}",
    "  mFocusedApp=ActivityRecord{1 u0 com.safe/.Main t1}",
    "  Window #0 Window{fff u0 z",
    "  Window #2 Window{fff u0 com.safe/.Main}:",
    "    mOwnerUid=10001 showForAllUsers=false package=com.safe appop=NONE",
    "    mAttrs={(0,0)(fillxfill) ty=APPLICATION",
    "      fl=LAYOUT_IN_SCREEN",
    "      fl=SECURE",
    "  isKeyguardShowing=true",
    "  isKeyguardShowing=false",
    "    mAwake=false",
    "  KeyguardServiceDelegate",
    "    showing=true",
    "      screenState=SCREEN_STATE_OFF",
    "  Display: mDisplayId=0",
    "  Display: mDisplayId=7",
    "}",
    "}:",
    "a}:",
    " package=com.safe ",
    "isKeyguardShowing=true",
    "mAwake=false",
    "WINDOW MANAGER LAST ANR (dumpsys window lastanr)",
    "WINDOW MANAGER WINDOWS (dumpsys window windows)",
)
TITLES = st.one_of(
    st.text(max_size=60),
    st.lists(st.one_of(st.sampled_from(LINES), st.text(max_size=10)), max_size=8).map("\n".join),
    st.lists(st.sampled_from(LINES), max_size=4).map(" ".join),
)


def block(number: int, hash: str, title: str, package: str, flags: str = "") -> str:
    return (
        f"  Window #{number} Window{{{hash} u0 {title}}}:\n"
        f"    mDisplayId=0 rootTaskId=12 mSession=Session{{8d2f 2000:u0a10}} mClient=android.os.Proxy@5c1f\n"
        f"    mOwnerUid=10010 showForAllUsers=false package={package} appop=NONE\n"
        f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=resize}} ty=BASE_APPLICATION\n"
        f"      fl=LAYOUT_IN_SCREEN {flags}HARDWARE_ACCELERATED\n"
        f"      pfl=USE_BLAST}}\n"
        f"    WindowStateAnimator{{71b {title}}}:\n"
    )


def told(bubble: str, titled: str, *, locked: str = "false", awake: str = "true", flags: str = "") -> str:
    """A phone with a bubble over an app; both are called as they like."""
    return (
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n"
        "  Display: mDisplayId=0\n"
        f"  mCurrentFocus=Window{{abc2 u0 {titled}}}\n"
        "  mFocusedApp=ActivityRecord{a1b u0 com.evil/.Main t12}\n"
        "WINDOW MANAGER WINDOWS (dumpsys window windows)\n"
        + block(0, "abc0", "StatusBar", "com.android.systemui", "NOT_FOCUSABLE ")
        + block(1, "abc1", bubble, "com.bubble")
        + block(2, "abc2", titled, "com.evil", flags)
        + block(3, "abc3", "ImageWallpaper", "com.android.systemui")
        + f"  mAwake={awake} mScreenOnEarly=true\n  isKeyguardShowing={locked}\n"
        f"  KeyguardServiceDelegate\n    showing={locked}\n    secure=true\n    screenState=SCREEN_STATE_ON\n"
    )


@given(TITLES, TITLES, st.booleans())
@example("isKeyguardShowing=true", "com.safe/.Main package=com.safe fl=#0 ", True)
@example(
    "a}:\n  mCurrentFocus=Window{fff u0 com.safe/.Main}\n  Display: mDisplayId=7\n  Window #2 Window{fff u0 z",
    "x",
    True,
)
@example(
    "x", "a}:\n    mOwnerUid=1 showForAllUsers=false package=com.safe appop=NONE\n  Window #3 Window{fff u0 z", True
)
@settings(max_examples=400, deadline=None)
def test_no_title_makes_another_app_of_it_nor_a_secure_window_an_open_one(
    bubble: str, titled: str, is_secure: bool
) -> None:
    read = windows.foreground(told(bubble, titled, flags="SECURE " if is_secure else ""))
    assert read.package in ("com.evil", None)
    assert read.is_secure in (is_secure, None)
    if "\n" not in bubble + titled:
        assert (read.package, read.is_secure, read.is_locked, read.is_off) == ("com.evil", is_secure, False, False)


@given(TITLES, TITLES, st.sampled_from(["true", "false"]), st.sampled_from(["true", "false"]))
@settings(max_examples=400, deadline=None)
def test_no_title_makes_a_locked_or_dark_phone_a_ready_one(bubble: str, titled: str, locked: str, awake: str) -> None:
    read = windows.foreground(told(bubble, titled, locked=locked, awake=awake))
    assert read.is_locked in (locked == "true", None)
    if awake == "false":
        assert read.is_off is not False


def test_what_two_lines_contradict_is_not_known() -> None:
    text = told("x", "y").replace("  mAwake", "  isKeyguardShowing=true\n  mAwake")
    assert windows.foreground(text).is_locked is None
    twice = told("x", "com.evil/.Main") + "  mCurrentFocus=Window{abc1 u0 x}\n"
    assert windows.foreground(twice).package is None


def test_what_was_so_when_an_app_hung_is_not_what_is_so_now() -> None:
    stale = told("x", "com.old/.Main", locked="true").replace("com.evil", "com.old")
    text = f"WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  ANR time: 1\n{stale.split(chr(10), 1)[1]}"
    text = text.replace("WINDOW MANAGER WINDOWS (dumpsys window windows)\n", "")
    read = windows.foreground(f"{text}\n{told('x', 'com.evil/.Main')}")
    assert (read.package, read.is_locked) == ("com.evil", False)


@pytest.mark.parametrize("text", ["", "Can't find service: window", "  mCurrentFocus=null\n"])
def test_nothing_said_is_nothing_known(text: str) -> None:
    assert windows.foreground(text) == Foreground(None, None, None, None, None)


@pytest.mark.parametrize(
    ("said", "is_off"),
    [("Awake", False), ("Asleep", True), ("Dozing", True), ("Dreaming", True)],
)
def test_power_says_whether_the_display_is_off(said: str, is_off: bool) -> None:
    assert windows.is_off(f"POWER MANAGER (dumpsys power)\n  mWakefulness={said}\n") is is_off


def test_power_that_says_nothing_or_two_things_does_not_say() -> None:
    assert windows.is_off("") is None
    assert windows.is_off("  mWakefulness=Awake\n  mWakefulness=Asleep\n") is None


def test_the_lock_is_read_in_the_words_of_the_other_services() -> None:
    activities = "  KeyguardController:\n    KeyguardShowing=true AodShowing=false KeyguardGoingAway=false\n"
    assert windows.lock_state(activities) == LockState(True, None)
    policy = "  KeyguardServiceDelegate\n    showing=false\n    screenState=SCREEN_STATE_OFF\n"
    assert windows.lock_state(policy) == LockState(False, True)
