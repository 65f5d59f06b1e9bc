"""The action key of a keyboard on the screen answers for all that enter does (attack A29)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.driver import FakeDriver, State, dump, node
from tests.fakes.road import Road, make_road

from droidpilot.core.calls import Status
from droidpilot.core.errors import DeviceTimeout
from droidpilot.pipeline.approval import AskMode

APP = "com.chat"
LATIN = "com.example.inputmethod.latin"
KEY = (880, 2080, 1080, 2220)
ON_KEY: dict[str, Any] = {"x": 980, "y": 2150}
RULES = "deny press matching Send\nallow *"


def key(bounds: tuple[int, int, int, int], text: str = "", *, package: str = LATIN, **more: Any) -> str:
    return node(cls="android.view.View", text=text, clickable=True, bounds=bounds, package=package, **more)


def typing(*keys: str, package: str = LATIN, focused: bool = True, rules: str = RULES) -> Road:
    """Return a road on a chat with a Send button, the cursor in its field, and a keyboard below."""
    field = node(
        cls="android.widget.EditText", hint="Message", bounds=(0, 900, 800, 1000), focused=focused, package=APP
    )
    send = node(cls="android.widget.Button", text="Send", clickable=True, bounds=(900, 900, 1080, 1000), package=APP)
    board = node(*keys, cls="android.widget.FrameLayout", bounds=(0, 1500, 1080, 2340), package=package)
    screen = dump(node(field, send, cls="android.widget.FrameLayout", package=APP), board)
    return make_road(FakeDriver({"s": State([screen], APP)}, "s"), rules=rules, ask=AskMode.NEVER)


@pytest.mark.parametrize(
    "name", ["Enter", "Done", "Go", "Search", "Send", "Next", "Return", "\u21b5", "\u2713", "换行", "搜", "Senden", ""]
)
@pytest.mark.parametrize("is_described", [True, False])
def test_attack_a29_a_tap_on_the_action_key_is_enter(name: str, is_described: bool) -> None:
    said = {"desc": name} if is_described else {"text": name}
    road = typing(key(KEY, **said))
    for tool in ("tap", "long_press"):
        assert road.submit(tool, **ON_KEY).status is Status.REFUSED, tool
    assert road.submit("swipe", x1=980, y1=2150, x2=984, y2=2150).status is Status.REFUSED
    assert road.writes == []
    assert typing(key(KEY, **said), rules="deny tap matching ^enter$\nallow *").submit("tap", **ON_KEY).code == "rule"


def test_attack_a29_a_key_that_is_painted_only_may_be_enter() -> None:
    assert typing().submit("tap", **ON_KEY).status is Status.REFUSED


@pytest.mark.parametrize(
    "plain",
    [
        {"text": "q"},
        {"text": "Q", "desc": "Capital Q"},
        {"desc": "ß"},
        {"text": "7"},
        {"text": "."},
        {"text": "я"},
        {"text": "か"},
        {"text": " "},
        {"desc": "Shift"},
        {"desc": "Delete"},
        {"desc": "删除"},
        {"text": "?123"},
        {"text": "English", "resource_id": "x:id/key_pos_space"},
        {"resource_id": "x:id/key_pos_del"},
    ],
)
def test_a_key_that_is_known_to_be_another_one_is_only_tapped(plain: dict[str, str]) -> None:
    road = typing(key(KEY, **plain))
    assert road.submit("tap", **ON_KEY).status is Status.OK


@pytest.mark.parametrize("action", ["key_pos_ime_action", "enterKey", "btn_done"])
def test_the_id_of_an_action_key_counts_whatever_is_painted_on_it(action: str) -> None:
    assert typing(key(KEY, ".", resource_id=f"x:id/{action}")).submit("tap", **ON_KEY).status is Status.REFUSED


def test_a_finger_that_ends_on_the_action_key_may_press_it_and_one_that_leaves_the_keyboard_does_not() -> None:
    road = typing(key(KEY, desc="Enter"), key((0, 2080, 200, 2220), "q"))
    assert road.submit("swipe", x1=100, y1=2150, x2=980, y2=2150).status is Status.REFUSED
    assert road.submit("swipe", x1=980, y1=2150, x2=980, y2=1100).status is Status.OK


def test_rules_for_the_app_and_the_line_for_the_key_enter_hold() -> None:
    enter = key(KEY, desc="Done")
    assert (
        typing(enter, rules="deny press matching (?i)^(enter|space)$\nallow *").submit("tap", **ON_KEY).code == "rule"
    )
    assert typing(enter, rules=f"deny press in {APP}\nallow *").submit("tap", **ON_KEY).code == "rule"
    assert typing(enter, focused=False, rules=f"deny press in {APP}\nallow *").submit("tap", **ON_KEY).code == "rule"
    assert typing(enter, rules="deny press matching Pay\nallow *").submit("tap", **ON_KEY).status is Status.OK


@pytest.mark.parametrize("focused", [True, False])
def test_an_unknown_enter_is_not_repeated_on_the_keyboard(focused: bool) -> None:
    road = typing(key(KEY, desc="Done"), focused=focused, rules="allow *")
    road.driver.fail("press", DeviceTimeout("gone", sent="unknown"))
    road.submit("press", key="enter")
    assert road.submit("tap", **ON_KEY).code == "unresolved"


def test_a_keyboard_without_a_telling_name_is_known_by_the_phone_s_word() -> None:
    road = typing(key(KEY, desc="Enter"), package="com.nobody.knows")
    road.driver.settings[("secure", "default_input_method")] = "com.nobody.knows/.Service"
    assert road.submit("tap", **ON_KEY).status is Status.REFUSED
    for _ in range(3):
        road.submit("ui_tree")
    assert sum(call.name == "read_setting" for call in road.driver.calls) == 1, "asked once"
    assert "keyboard open" in road.submit("ui_tree").text


def test_a_phone_that_does_not_say_which_keyboard_it_has_is_looked_at_all_the_same() -> None:
    road = typing(key(KEY, desc="Enter"), package="com.nobody.knows", rules="allow *")
    road.driver.fail("read_setting", DeviceTimeout("gone"))
    assert road.submit("ui_tree").status is Status.OK
    road.driver.settings[("secure", "default_input_method")] = "com.nobody.knows/.Service"
    state = road.driver.states["s"]
    state.frames[0] = state.frames[0].replace(b"Message", b"Answer")
    assert "keyboard open" in road.submit("ui_tree").text, "asked again"
