"""Several windows at once: who gets a touch, who has focus, what is reported, and what the system says of it."""

from __future__ import annotations

import re

import pytest
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.core.errors import UsageError
from droidpilot.device.covers import covers
from droidpilot.device.windows import foreground
from droidpilot.virtual.drawing.sketch import sketch
from droidpilot.virtual.ui.failing import ANR_MS, CRASH_INTERVAL_MS
from droidpilot.virtual.ui.hierarchy import DEFAULT_DEPTH
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.windows import Window

CHAT = "com.google.android.apps.messaging"
CONTACTS = "com.google.android.contacts"
SETTINGS = "com.android.settings"
SYSTEM_UI = "com.android.systemui"
CONTROLLER = "com.android.permissioncontroller"


def dumped_packages(user: User) -> list[str]:
    """Return the packages of the windows in a dump, in their order."""
    return re.findall(r'\n  <node (?:NAF="true" )?index="0"[^>]* package="([^"]*)"', user.d.dump_hierarchy())


def focus(user: User) -> str:
    found = re.search(r"mCurrentFocus=(.*)", user.d.shell("dumpsys window").output)
    assert found is not None
    return found[1]


def test_a_bubble_of_another_app_takes_the_touches_on_it_and_no_focus(user: User) -> None:
    user.tap("Settings")
    user.phone.person.bubble(CHAT)
    assert dumped_packages(user) == [CHAT, SETTINGS]
    assert focus(user).endswith(f"{SETTINGS}/{SETTINGS}.homepage.SettingsHomepageActivity}}")
    told = user.d.shell("dumpsys window windows").output
    assert re.search(
        r"Window #0 .*Bubble\}:\n.*\n.*package=com.google.android.apps.messaging .*\n.*ty=APPLICATION_OVERLAY", told
    )
    assert foreground(told).package == SETTINGS
    # Beside the bubble the page below takes the touch.
    user.tap("Apps")
    assert user.truth("title") == "Apps"
    user.d(description="Messages bubble").click(timeout=5)
    assert user.truth("package") == CHAT
    user.phone.person.no_bubbles()
    assert dumped_packages(user) == [CHAT]


def test_uiautomator_dump_has_the_window_with_focus_alone(user: User) -> None:
    user.tap("Settings")
    user.phone.person.bubble(CHAT)
    path = "/data/local/tmp/one.xml"
    written = user.d.shell(f"uiautomator dump {path} && cat {path}").output
    assert set(re.findall(r' package="([^"]*)"', written)) == {SETTINGS}
    assert [cover.package for cover in covers(user.d.shell("dumpsys window").output) or ()] == [CHAT]


def test_an_overlay_that_covers_everything_leaves_nothing_below_to_touch() -> None:
    hand = Hand.at()
    touched: list[str] = []
    body = View(desc="cover", height=-1, on_click=lambda: touched.append("cover"))
    cover = Window(CHAT, f"{CHAT}.Cover", "Cover", "cover", lambda: body, kind="overlay", box=lambda screen: screen)
    hand.phone.show_overlay(cover)
    hand.touch.tap(540, 1000)
    assert touched == ["cover"]
    assert hand.phone.front == "com.android.launcher3"
    assert [root.package for root in hand.phone.look().roots] == [CHAT]
    hand.phone.hide_overlay(cover)
    hand.tap("Settings")
    assert hand.phone.front == SETTINGS


def test_the_shade_comes_down_by_every_road_and_lists_what_was_posted(user: User) -> None:
    tapped: list[str] = []
    user.phone.notify("Dinner", "at eight", package=CONTACTS, on_click=lambda: tapped.append("dinner"))
    user.phone.notify("News", "nothing new", package=CHAT)
    roads = (
        user.d.open_notification,
        lambda: user.d.swipe(540, 10, 540, 1500),
        lambda: user.d.shell("cmd statusbar expand-notifications"),
    )
    for road in roads:
        road()
        assert user.sees("at eight")
        assert dumped_packages(user) == [SYSTEM_UI]
        assert focus(user).endswith(" NotificationShade}")
        user.d.press("back")
        assert not user.d(text="at eight").exists
    user.d.open_notification()
    user.tap("at eight")
    assert (tapped, user.truth("package")) == (["dinner"], "com.android.launcher3")
    assert user.truth("notifications") == [{"package": CHAT, "title": "News", "text": "nothing new"}]
    user.d.open_notification()
    user.tap("News")
    assert (user.truth("package"), user.truth("notifications")) == (CHAT, [])


def test_quick_settings_are_bound_to_the_settings(user: User) -> None:
    user.d.open_quick_settings()
    user.d(description="Airplane mode").click(timeout=5)
    assert user.truth("settings", "global", "airplane_mode_on") == "1"
    assert user.d(description="Airplane mode").info["checked"] is True
    user.d.shell("cmd statusbar collapse")
    assert not user.d(description="Airplane mode").exists


def test_notifications_in_dumpsys_say_what_only_when_asked(user: User) -> None:
    user.phone.notify("Dinner", "at eight", package=CONTACTS)
    redacted = user.d.shell("dumpsys notification").output
    assert f"pkg={CONTACTS}" in redacted
    assert "at eight" not in redacted
    told = user.d.shell("dumpsys notification --noredact").output
    assert "android.title=String (Dinner)" in told
    assert "android.text=String (at eight)" in told


@pytest.mark.parametrize(
    ("button", "granted"), [("While using the app", True), ("Only this time", True), ("Don’t allow", False)]
)
def test_a_permission_is_asked_in_a_window_of_the_controller(user: User, button: str, granted: bool) -> None:
    answers: list[bool] = []
    user.tap("Messages")
    user.phone.ask_permission(CHAT, "CAMERA", answers.append)
    assert user.sees("Allow Messages to take pictures and record video?")
    assert dumped_packages(user) == [CONTROLLER]
    assert "GrantPermissionsActivity" in focus(user)
    assert user.d.app_current()["package"] == CONTROLLER
    # A touch beside it does not make it go away.
    user.d.click(540, 150)
    user.tap(button)
    assert answers == [granted]
    assert user.truth("package") == CHAT
    line = f"android.permission.CAMERA: granted={str(granted).lower()}"
    assert line in user.d.shell(f"dumpsys package {CHAT}").output
    assert user.phone.is_granted(CHAT, "CAMERA") is granted


def test_after_two_times_no_nobody_is_asked_any_more_until_it_is_granted(user: User) -> None:
    answers: list[bool] = []
    user.tap("Messages")
    for button in ("permission_deny_button", "permission_deny_and_dont_ask_again_button"):
        user.phone.ask_permission(CHAT, "READ_CONTACTS", answers.append)
        user.tap_id(f"{CONTROLLER}:id/{button}")
    user.phone.ask_permission(CHAT, "READ_CONTACTS", answers.append)
    assert (answers, user.truth("package")) == ([False, False, False], CHAT)
    user.d.shell(f"pm grant {CHAT} android.permission.READ_CONTACTS")
    user.phone.ask_permission(CHAT, "READ_CONTACTS", answers.append)
    assert answers[-1] is True
    user.d.shell(f"pm revoke {CHAT} android.permission.READ_CONTACTS")
    assert not user.phone.is_granted(CHAT, "READ_CONTACTS")
    # Whoever loses a permission while running is ended.
    assert user.truth("package") == "com.android.launcher3"


def test_back_on_a_permission_is_no_answer_that_counts() -> None:
    hand = Hand.at()
    answers: list[bool] = []
    hand.tap("Messages")
    for _ in range(3):
        hand.phone.ask_permission(CHAT, "CAMERA", answers.append)
        assert hand.phone.top.package == CONTROLLER
        hand.touch.key(4)
    assert answers == [False, False, False]


def test_an_app_that_hangs_takes_nothing_and_the_system_says_so(user: User) -> None:
    user.tap("Settings")
    user.phone.hang(SETTINGS)
    before = user.d.dump_hierarchy()
    user.d(text="Apps").click(timeout=5)
    user.d.press("back")
    assert user.d.dump_hierarchy() == before
    assert user.sees("Settings isn't responding")
    assert focus(user).endswith(f" Application Not Responding: {SETTINGS}}}")
    user.tap("Wait")
    assert user.truth("title") == "Settings"
    assert user.truth("hung") == [SETTINGS]
    user.phone.failing.recover(SETTINGS)
    user.tap("Apps")
    assert user.truth("title") == "Apps"


def test_closing_an_app_that_hangs_ends_it() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    hand.phone.hang(SETTINGS)
    hand.tap("Display" if "Display" in hand.labels() else "Apps")
    hand.clock.advance(ANR_MS / 1000 - 0.1)
    assert hand.phone.state()["dialog"] is False
    hand.clock.advance(0.2)
    hand.tap("Close app")
    assert hand.phone.front == "com.android.launcher3"
    assert SETTINGS not in hand.phone.tasks
    assert any(line.text == f"ANR in {SETTINGS}" for line in hand.phone.log_lines)


def test_a_crash_ends_the_process_and_leaves_a_trace_and_the_second_one_is_said() -> None:
    hand = Hand.at()
    hand.tap("Messages")
    hand.phone.crash(CHAT, "java.lang.NullPointerException: nobody there")
    assert hand.phone.front == "com.android.launcher3"
    assert CHAT not in hand.phone.tasks
    lines = [line for line in hand.phone.log_lines if line.buffer == "crash"]
    assert [line.text for line in lines[:3]] == [
        "FATAL EXCEPTION: main",
        f"Process: {CHAT}, PID: {hand.phone.pid_of(CHAT)}",
        "java.lang.NullPointerException: nobody there",
    ]
    assert {(line.tag, line.level) for line in lines} == {("AndroidRuntime", "E")}
    hand.tap("Messages")
    hand.phone.crash(CHAT, "java.lang.NullPointerException: again")
    assert "Messages keeps stopping" in hand.labels()
    assert hand.phone.top.name == f"Application Error: {CHAT}"
    hand.tap("Close app")
    hand.clock.advance(CRASH_INTERVAL_MS / 1000 + 1)
    hand.phone.crash(CHAT, "java.lang.NullPointerException: much later")
    assert hand.phone.state()["dialog"] is False


def test_what_gets_in_the_way_comes_with_the_next_start(user: User) -> None:
    for kind, sign, end in (
        ("rate-us", "Enjoying Contacts?", "No, thanks"),
        ("whats-new", "What's new in Contacts", "Got it"),
    ):
        user.phone.obstruct(kind)
        user.tap("Contacts")
        assert user.sees(sign)
        user.tap(end)
        assert user.truth("title") == "Contacts"
        user.d.app_stop(CONTACTS)
    user.tap("Contacts")
    assert user.truth("title") == "Contacts"
    with pytest.raises(UsageError, match="no obstruction"):
        user.phone.obstruct("flood")


@pytest.mark.parametrize(("kind", "ends"), [("spinner", True), ("endless-spinner", False)])
def test_a_spinner_never_rests_while_it_turns(kind: str, ends: bool) -> None:
    hand = Hand.at()
    hand.phone.obstruct(kind)
    hand.tap("Contacts")
    pictures, dumps = set(), set()
    for _ in range(50):
        hand.clock.advance(0.05)
        assert not hand.phone.is_idle
        pictures.add(sketch(hand.phone))
        dumps.add(hand.phone.dump(DEFAULT_DEPTH))
        hand.touch.key(4)
    # It turns in the picture; to accessibility it is a node that stays as it is.
    assert len(pictures) > 5
    assert len(dumps) == 1
    hand.clock.advance(2.0)
    assert hand.phone.is_idle is ends
    assert (hand.phone.state()["title"] == "Contacts") is ends


def test_a_screen_that_never_idles_is_looked_at_anew_each_time() -> None:
    hand = Hand.at()
    body = View("android.widget.TextView", "a:id/clock")

    def built() -> View:
        body.text = str(hand.phone.now_ms())
        return body

    hand.phone.open(Window("com.android.launcher3", "a", "Clock", "clock", built))
    hand.phone.never_idle_until(None)
    dumps = set()
    for _ in range(10):
        hand.clock.advance(0.02)
        dumps.add(hand.phone.dump(DEFAULT_DEPTH))
    assert (len(dumps), hand.phone.is_idle) == (10, False)
    hand.phone.never_idle_until(hand.phone.now_ms() + 100)
    hand.clock.advance(0.2)
    assert hand.phone.is_idle
    still = hand.phone.look()
    hand.clock.advance(1.0)
    assert hand.phone.look() is still


def test_a_stale_tree_shows_the_launcher_while_another_app_has_focus(user: User) -> None:
    user.tap("Settings")
    user.phone.stale_tree(2)
    for _ in range(2):
        assert dumped_packages(user) == ["com.android.launcher3"]
        assert SETTINGS in focus(user)
    assert dumped_packages(user) == [SETTINGS]


@pytest.mark.parametrize(("sdk", "by_key"), [(34, True), (36, False)])
def test_on_android_16_an_app_may_hear_of_back_only_as_a_gesture(sdk: int, by_key: bool) -> None:
    hand = Hand.at(sdk=sdk)
    hand.tap("Settings", "Apps")
    hand.phone.top.ignores_back_key = True
    hand.touch.key(4)
    assert (hand.phone.state()["title"] == "Settings") is by_key
    if not by_key:
        hand.touch.swipe([(2, 1200), (400, 1210)], 100)
        assert hand.phone.state()["title"] == "Settings"


def test_an_unknown_api_level_is_refused() -> None:
    with pytest.raises(UsageError, match="API level"):
        Hand.at(sdk=12)


def test_the_windows_and_their_order_are_told_as_they_are(user: User) -> None:
    user.tap("Messages")
    user.d(resourceId=f"{CHAT}:id/conversation_name").click(timeout=5)
    user.tap_id(f"{CHAT}:id/compose_message_text")
    user.phone.person.bubble(CONTACTS)
    names = re.findall(r"Window #(\d) Window\{[0-9a-f]{7} u0 ([^}]*)\}", user.d.shell("dumpsys window windows").output)
    assert names == [
        ("0", "InputMethod"),
        ("1", f"{CONTACTS}/{CONTACTS}.Bubble"),
        ("2", f"{CHAT}/{CHAT}.ui.conversation.ConversationActivity"),
    ]
    assert user.truth("windows") == [name for _, name in reversed(names)]
