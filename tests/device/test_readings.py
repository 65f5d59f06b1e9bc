"""What Android's commands print, as values; and that nothing is guessed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.device import covers, readings
from droidpilot.device.driver import App, Foreground
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.hits import is_window_order_known, window_order
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.screen import keyboard_windows

NOBODY = Foreground(None, None)
SHOP = Foreground("com.shop", "com.shop.ui.PayActivity")

ANDROID_9 = """WINDOW MANAGER WINDOWS (dumpsys window windows)
  Window #2 Window{ab12 u0 StatusBar}:
    mDisplayId=0 stackId=0 mSession=Session{1 2:u0a3} mClient=android.os.BinderProxy@1
    mOwnerUid=10020 mShowToOwnerOnly=false package=com.android.systemui appop=NONE
  Window #1 Window{cd34 u0 com.shop/com.shop.ui.PayActivity}:
    mOwnerUid=10099 mShowToOwnerOnly=true package=com.shop appop=NONE
  mCurrentFocus=Window{cd34 u0 com.shop/com.shop.ui.PayActivity}
  mFocusedApp=AppWindowToken{9f token=Token{1 ActivityRecord{77 u0 com.shop/.ui.PayActivity t41}}}
"""

ANDROID_14 = """  Display: mDisplayId=0
  mCurrentFocus=Window{cd34 u0 %s}
  mFocusedApp=ActivityRecord{77 u0 com.shop/.ui.PayActivity t41}
  Display: mDisplayId=2
  mCurrentFocus=Window{ef56 u0 com.other/com.other.Main}
  mFocusedApp=ActivityRecord{78 u0 com.other/.Main t42}
  Window #4 Window{ab12 u0 NotificationShade}:
    mOwnerUid=10020 showForAllUsers=false package=com.android.systemui appop=NONE
  Window #3 Window{cd34 u0 %s}:
    mOwnerUid=10099 showForAllUsers=false package=%s appop=NONE
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (ANDROID_9, SHOP),
        (ANDROID_14 % (("com.shop/com.shop.ui.PayActivity",) * 2 + ("com.shop",)), SHOP),
        ("  mCurrentFocus=Window{1 u0 com.shop/com.shop.ui.PayActivity}\n", SHOP),
        ("  mCurrentFocus=null\n  mFocusedApp=ActivityRecord{1 u0 com.shop/.ui.PayActivity t1}\n", SHOP),
        ("  mCurrentFocus=null\n  mCurrentFocus=Window{1 u0 com.shop/com.shop.ui.PayActivity}\n", SHOP),
        ("  mCurrentFocus=Window{1 com.shop/com.shop.ui.PayActivity}\n", SHOP),
        ("  mCurrentFocus=null\n  mFocusedApp=null\n", NOBODY),
        ("", NOBODY),
        ("Can't find service: window", NOBODY),
        ("  mCurrentFocus=Window{1 u0 NotificationShade}\n", NOBODY),
    ],
)
def test_the_window_with_focus_is_read_in_the_forms_of_android_versions(text: str, expected: Foreground) -> None:
    assert readings.foreground(text) == expected


FRAMES = "    Frames: parent=[0,0][1080,2400] display=[0,0][1080,2400] frame=%s last=[1,1][2,2] insetsChanged=false\n"
OVERLAY = """  Window #{number} Window{{{number}aa u0 {title}}}:
    mDisplayId={display} rootTaskId=1 mSession=Session{{1 2:u0a3}} mClient=android.os.BinderProxy@1
    mOwnerUid=10020 showForAllUsers=false package={package} appop=NONE
    mAttrs={{(0,0)(fillxfill) ty={type} fmt=TRANSLUCENT
      fl={flags}
      pfl=USE_BLAST}}
    mFullConfiguration={{1.0 winConfig={{ mBounds=Rect(0, 0 - 1080, 2400)}}}}
{rest}"""
FRONT = """  Window #1 Window{cd34 u0 com.shop/com.shop.ui.PayActivity}:
    mOwnerUid=10099 showForAllUsers=false package=com.shop appop=NONE
  Window #2 Window{fe01 u0 com.below/com.below.Main}:
    mOwnerUid=10098 showForAllUsers=false package=com.below appop=NONE
"""
FOCUS = "  mCurrentFocus=Window{cd34 u0 com.shop/com.shop.ui.PayActivity}\n"
SEEN = "    mHasSurface=true isReadyForDisplay()=true\n"


def over(
    rest: str, *, flags: str = "NOT_FOCUSABLE NOT_TOUCH_MODAL", type: str = "APPLICATION_OVERLAY", at: int = 0
) -> str:
    return OVERLAY.format(number=0, title="Bubble", display=at, package="com.chat", type=type, flags=flags, rest=rest)


def covered(text: str) -> tuple[covers.Cover, ...] | None:
    return covers.covers(f"{FOCUS}WINDOW MANAGER WINDOWS (dumpsys window windows)\n{text}{FRONT}")


PLACE = covers.Cover("com.chat", Bounds(900, 800, 1080, 980))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ()),
        (over(SEEN + FRAMES % "[900,800][1080,980]"), (PLACE,)),
        # Android 7 to 10: the frame on a line of its own, flags as a number
        (over(SEEN + "    mFrame=[900,800][1080,980] last=[0,0][0,0]\n", flags="#1000028"), (PLACE,)),
        (over("    Frames: parent=[0,0][1,1]\n        mFrame=[900,800][1080,980] last=[0,0][0,0]\n"), (PLACE,)),
        # what takes no touches
        (over(SEEN + FRAMES % "[0,0][1080,2400]", flags="NOT_FOCUSABLE NOT_TOUCHABLE LAYOUT_IN_SCREEN"), ()),
        (over(SEEN + FRAMES % "[0,0][1080,2400]", flags="#1000018"), ()),
        (over(SEEN + "    mTouchableInsets=3\n    touchable region=SkRegion()\n" + FRAMES % "[0,0][1080,2400]"), ()),
        # what is not seen
        (over("    mHasSurface=false isReadyForDisplay()=false\n" + FRAMES % "[0,0][1080,2400]"), ()),
        (over("    mViewVisibility=0x8 mHaveFrame=true\n" + FRAMES % "[0,0][1080,2400]"), ()),
        (over(SEEN + FRAMES % "[0,0][1080,2400]" + "    isOnScreen=true\n    isVisible=false\n"), ()),
        (over(SEEN + FRAMES % "[0,0][1080,2400]", at=2), ()),
        # a keyboard's window fills the screen; two places of one window
        (
            over(
                SEEN + "    touchable region=SkRegion((0,1500,1080,2400))\n" + FRAMES % "[0,84][1080,2400]",
                type="INPUT_METHOD",
            ),
            (covers.Cover("com.chat", Bounds(0, 1500, 1080, 2400), is_keyboard=True),),
        ),
        (
            over(SEEN + "    touchable region=SkRegion((0,0,10,20)(30,0,40,20))\n"),
            (covers.Cover("com.chat", Bounds(0, 0, 10, 20)), covers.Cover("com.chat", Bounds(30, 0, 40, 20))),
        ),
        # one that does not say where it is may be anywhere
        (over(SEEN), (covers.Cover("com.chat", Bounds(0, 0, 99_999, 99_999)),)),
    ],
)  # fmt: skip
def test_what_lies_over_the_window_with_focus_is_read(text: str, found: tuple[covers.Cover, ...]) -> None:
    assert covered(text) == found


@pytest.mark.parametrize("text", ["", "Can't find service: window", FOCUS, FRONT, "  mCurrentFocus=null\n" + FRONT])
def test_a_phone_that_does_not_tell_its_windows_is_not_taken_for_one_without_covers(text: str) -> None:
    assert covers.covers(text) is None


def test_the_windows_at_the_last_anr_cover_nothing() -> None:
    old = f"WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  ANR time: noon\n{over(SEEN)}{FRONT}"
    assert covers.covers(f"{old}WINDOW MANAGER WINDOWS (dumpsys window windows)\n{FRONT}{FOCUS}") == ()


def test_covers_are_windows_on_top_of_a_dump_in_their_order() -> None:
    dump = b'<hierarchy rotation="1"><node class="a.B" package="com.shop" bounds="[0,0][9,9]" /></hierarchy>'
    keyboard = covers.Cover("com.keys", Bounds(0, 4, 9, 9), is_keyboard=True)
    hierarchy = parse_hierarchy(covers.with_covers(dump, (keyboard, PLACE)))
    assert [root.package for root in hierarchy.roots()] == ["com.keys", "com.chat", "com.shop"]
    assert is_window_order_known(hierarchy) and window_order(hierarchy) == (0, 1, 2)
    assert keyboard_windows(hierarchy, "com.shop") == {0} and hierarchy.rotation == 1
    assert [root.is_place_only for root in hierarchy.roots()] == [True, True, False]
    assert covers.with_covers(dump, ()) == dump
    assert covers.with_covers(b"<hierarchy />", (PLACE,)) == b"<hierarchy />"


def test_a_popup_without_a_component_belongs_to_the_app_that_owns_it() -> None:
    assert readings.foreground(ANDROID_14 % ("PopupWindow:5f", "PopupWindow:5f", "com.shop")) == SHOP


def test_a_system_window_over_the_app_is_not_the_app() -> None:
    shade = ANDROID_14 % ("NotificationShade", "NotificationShade", "com.android.systemui")
    assert readings.foreground(shade) == Foreground("com.android.systemui", None)


def test_a_window_that_names_itself_after_another_app_is_known_by_its_owner() -> None:
    lying = ANDROID_14 % ("com.bank/com.bank.Main", "com.bank/com.bank.Main", "com.evil")
    assert readings.foreground(lying) == Foreground("com.evil", None)


def test_a_title_that_contradicts_the_focused_app_is_not_believed() -> None:
    text = "  mCurrentFocus=Window{1 u0 com.bank/com.bank.Main}\n  mFocusedApp=ActivityRecord{2 u0 com.evil/.Main t1}\n"
    assert readings.foreground(text) == NOBODY


@given(st.text(alphabet="mCurrentFocus=Window{}01 u/.comABC\n\t#:packge", max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    front = readings.foreground(text)
    assert front.package is None or readings.PACKAGE.fullmatch(front.package)
    readings.apps(text)
    readings.properties(text)


BRIEF = """3 activities found:
  Activity #0:
    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false
    com.android.settings/.Settings
  Activity #1:
    com.shop/com.shop.ui.Start
  Activity #2:
    com.shop/com.shop.ui.Other
"""

LONG = """2 activities found:
  Activity #0:
    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false
    ActivityInfo:
      name=com.shop.ui.Start
      packageName=com.shop
      labelRes=0x0 nonLocalizedLabel=The Shop icon=0x7f010001 banner=0x0
      enabled=true exported=true
      ApplicationInfo:
        name=com.shop.App
        packageName=com.shop
        labelRes=0x0 nonLocalizedLabel=Shop Application icon=0x7f010001 banner=0x0
  Activity #1:
    ActivityInfo:
      name=com.chat.android.Main
      packageName=com.chat.android
      labelRes=0x7f110002 nonLocalizedLabel=null icon=0x7f010001 banner=0x0
"""


@pytest.mark.parametrize(
    "line",
    [
        "    mShowingLockscreen=true mShowingDream=false mDreamingLockscreen=false",
        "    mShowingDream=false mDreamingLockscreen=true mDreamingSleepToken=null",
        "  isKeyguardShowing=true",
        "    KeyguardShowing=true AodShowing=false KeyguardGoingAway=false",
        "  KeyguardServiceDelegate\n      showing=true\n      inputRestricted=true",
    ],
)
def test_the_lock_screen_is_read_in_the_words_of_each_android(line: str) -> None:
    read = readings.foreground(f"  mCurrentFocus=Window{{1a u0 com.shop/com.shop.Main}}\n{line}\n")
    assert (read.package, read.is_locked, read.is_off) == ("com.shop", True, None)


@pytest.mark.parametrize("line", ["    mAwake=false mScreenOnEarly=false", "      screenState=SCREEN_STATE_OFF"])
def test_a_display_that_is_off_is_read_where_nothing_has_focus(line: str) -> None:
    read = readings.foreground(f"  mCurrentFocus=null\n{line}\n")
    assert (read.is_locked, read.is_off) == (None, True)


def test_an_unlocked_phone_is_neither_locked_nor_off() -> None:
    text = (
        "  mCurrentFocus=Window{1a u0 com.shop/com.shop.Main}\n  mAwake=true mDreamingLockscreen=false\n"
        "  KeyguardServiceDelegate\n      showing=false\n  screenState=SCREEN_STATE_ON\n  xmAwake=false\n"
    )
    read = readings.foreground(text)
    assert (read.is_locked, read.is_off) == (False, False)


def test_launcher_entries_are_read_in_the_brief_and_in_the_long_form() -> None:
    assert readings.launcher_entries(BRIEF) == {
        "com.android.settings": "com.android.settings/.Settings",
        "com.shop": "com.shop/com.shop.ui.Start",
    }
    assert readings.launcher_entries(LONG) == {
        "com.shop": "com.shop/com.shop.ui.Start",
        "com.chat.android": "com.chat.android/com.chat.android.Main",
    }


def test_a_label_is_what_the_phone_prints_or_made_from_the_package() -> None:
    assert readings.apps(LONG) == (App("com.chat.android", "Chat"), App("com.shop", "The Shop"))


@pytest.mark.parametrize(
    ("package", "label"),
    [
        ("com.whatsapp", "Whatsapp"),
        ("com.instagram.android", "Instagram"),
        ("com.google.android.apps.maps", "Maps"),
        ("org.example.my_notes", "My notes"),
        ("com.android.app", "App"),
        ("com.app", "App"),
    ],
)
def test_a_name_is_made_from_the_last_telling_part(package: str, label: str) -> None:
    assert readings.label_of(package) == label


def test_properties_with_brackets_are_read() -> None:
    assert readings.properties("[ro.a]: [x]\n[ro.b]: [[y]]\n[ro.c]: []\nnoise\n") == {
        "ro.a": "x",
        "ro.b": "[y]",
        "ro.c": "",
    }


@pytest.mark.parametrize("package", ["com.shop", "a.b", "com.x_1.Y2"])
def test_packages_are_recognised(package: str) -> None:
    assert readings.PACKAGE.fullmatch(package)


@pytest.mark.parametrize(
    "package", ["", "shop", "com.shop;id", "com.shop\n", "com..shop", "1com.shop", "com.sh op", "-n", "com.shöp"]
)
def test_what_is_no_package_is_not(package: str) -> None:
    assert not readings.PACKAGE.fullmatch(package)


@pytest.mark.parametrize(
    ("flags", "is_secure"),
    [
        ("fl=LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR SECURE SPLIT_TOUCH", True),
        ("fl=SECURE", True),
        ("fl=#81812100", True),
        ("fl=#81810100", False),
        ("fl=LAYOUT_IN_SCREEN SPLIT_TOUCH\n      pfl=SECURE", False),
        ("fl=NOT_SECURE_AT_ALL", False),
        ("", None),
    ],
)
def test_a_window_that_forbids_pictures_is_known_by_its_own_flags_only(flags: str, is_secure: bool | None) -> None:
    focus = "  mCurrentFocus=Window{cd34 u0 com.shop/com.shop.Main}\n"
    bar = "  Window #2 Window{ab12 u0 StatusBar}:\n    package=com.android.systemui\n      fl=SECURE\n"
    shop = f"  Window #1 Window{{cd34 u0 com.shop/com.shop.Main}}:\n    package=com.shop appop=NONE\n      {flags}\n"
    for text in (bar + shop + focus, focus + shop + bar):
        assert readings.foreground(text).is_secure is is_secure
    assert not readings.foreground(focus).is_secure


LYING = """2 activities found:
  Activity #0:
    ActivityInfo:
      name=com.evil.Main
      packageName=com.evil
      labelRes=0x0 nonLocalizedLabel=Fun{} icon=0x7f010001 banner=0x0
  Activity #1:
    ActivityInfo:
      name=com.bank.Main
      packageName=com.bank
      labelRes=0x7f110002 nonLocalizedLabel=null icon=0x7f010001 banner=0x0
"""


@pytest.mark.parametrize(
    "more",
    [
        "\n      packageName=com.bank\n      nonLocalizedLabel=Calculator icon=0x0",
        "\n  Activity #1:\n    ActivityInfo:\n      packageName=com.bank\n      nonLocalizedLabel=Calculator",
        "\r      packageName=com.bank\r      nonLocalizedLabel=Calculator icon=0x0",
    ],
)
def test_a_label_with_a_line_break_is_no_label_of_another_app(more: str) -> None:
    for text in (LYING.format(more), LYING.format(more).partition("\n")[2]):
        assert {app.package: app.label for app in readings.apps(text)}["com.bank"] == "Bank"


@given(st.text(max_size=40))
def test_a_label_is_one_line_whatever_it_holds(label: str) -> None:
    for app in readings.apps(LYING.format(label)):
        assert len(app.label.splitlines()) <= 1
        assert app.package != "com.bank" or app.label == "Bank"
