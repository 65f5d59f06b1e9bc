"""A phone that cannot be acted on: off, locked, read wrongly. On the whole road, with a driver that counts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.driver import FakeDriver, State, dump, node
from tests.fakes.road import Person, Road, chat, make_road

from droidpilot.core.calls import Origin, Status
from droidpilot.core.errors import DeviceTimeout
from droidpilot.core.events import ScreenObserved

WRITES: list[tuple[str, dict[str, Any]]] = [
    ("tap", {"x": 100, "y": 2050}),
    ("long_press", {"x": 100, "y": 2050}),
    ("swipe", {"x1": 500, "y1": 1500, "x2": 500, "y2": 700}),
    ("scroll", {"direction": "down"}),
    ("type_text", {"text": "x"}),
    ("press", {"key": "back"}),
    ("press", {"key": "enter"}),
    ("open_app", {"app": "Example"}),
]


ASK = "\n".join(f"ask {tool}" for tool in dict.fromkeys(tool for tool, _ in WRITES))


def road_of(*, locked: bool = False, off: bool = False, **options: Any) -> Road:
    state = State([chat()], "com.chat", "com.chat.Main", is_locked=locked, is_off=off)
    return make_road(FakeDriver({"chat": state}, "chat"), **options)


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
@pytest.mark.parametrize(("state", "code"), [({"locked": True}, "locked"), ({"off": True}, "screen_off")])
def test_nothing_is_sent_to_a_phone_that_is_locked_or_off(
    tool: str, arguments: dict[str, Any], state: dict[str, bool], code: str
) -> None:
    person = Person()
    road = road_of(**state, rules=ASK, approver=person)
    result = road.submit(tool, origin=Origin.HUMAN, **arguments)
    assert (result.status, result.code, result.sent) == (Status.REFUSED, code, "no")
    assert not road.writes and not person.asked  # nobody is asked about what cannot be done
    called = road.called[-1]
    assert called.verdicts[-1].answer == "deny" and called.verdicts[-1].code == code and not called.send_key
    assert ("locked" if code == "locked" else "display off") in result.text


@pytest.mark.parametrize("key", ["power", "wakeup"])
@pytest.mark.parametrize("state", [{"locked": True}, {"off": True}, {"locked": True, "off": True}])
def test_a_phone_can_be_woken(key: str, state: dict[str, bool]) -> None:
    road = road_of(**state)
    assert road.submit("press", origin=Origin.HUMAN, key=key).sent == "yes"
    assert [call.name for call in road.writes] == ["press"]


def test_a_person_may_allow_the_lock_screen_and_not_a_dark_one() -> None:
    assert road_of(locked=True, is_lock_allowed=True).submit("press", key="back").sent == "yes"
    assert road_of(locked=True, off=True, is_lock_allowed=True).submit("press", key="back").code == "screen_off"


def test_a_locked_phone_can_be_read() -> None:
    result = road_of(locked=True).submit("ui_tree")
    assert result.status is Status.OK and "locked" in result.text


def test_a_phone_that_locks_while_a_person_thinks_is_not_touched() -> None:
    def lock() -> None:
        road.driver.states["chat"].is_locked = True

    road = road_of(rules=ASK, approver=Person("yes", think=lock))
    result = road.submit("tap", origin=Origin.HUMAN, x=100, y=2050)
    assert (result.status, result.code, len(road.writes)) == (Status.REFUSED, "locked", 0)


def foreign(tree: str, front: str) -> FakeDriver:
    return FakeDriver({"one": State([chat(package=tree)], front, f"{front}.Main")}, "one")


def test_a_tree_of_another_app_is_flagged_read_again_and_not_acted_on() -> None:
    road = make_road(foreign("com.old", "com.new"))
    text = road.submit("ui_tree").text
    assert "of another app than the one in front" in text
    looks = sum(call.name == "dump" for call in road.driver.calls)
    assert 3 <= looks <= 8  # some more, and not for ever
    result = road.submit("tap", origin=Origin.HUMAN, x=100, y=2050)
    assert (result.status, result.code) == (Status.REFUSED, "foreign_tree") and not road.writes
    assert road.submit("press", key="home").sent == "yes"  # it needs no tree


def test_a_tree_that_is_late_is_read_again_until_it_is_that_of_the_app_in_front() -> None:
    late = State([chat(package="com.old"), chat(package="com.old"), chat(package="com.new")], "com.new", "com.new.Main")
    road = make_road(FakeDriver({"one": late}, "one"))
    assert road.submit("long_press", origin=Origin.HUMAN, x=70, y=150).sent == "yes"
    assert "another app" not in road.submit("ui_tree").text


@pytest.mark.parametrize("front", ["com.android.systemui", "com.google.android.inputmethod.latin"])
def test_a_bar_or_a_keyboard_with_the_focus_makes_no_tree_foreign(front: str) -> None:
    road = make_road(foreign("com.chat", front))
    assert road.submit("tap", origin=Origin.HUMAN, x=70, y=150).sent == "yes"


def test_a_probe_that_fails_does_not_fail_the_look_and_rules_that_name_an_app_close() -> None:
    road = road_of(rules="allow * in com.chat\nask press", approver=Person("no"))
    for nth in range(1, 9):
        road.driver.fail("foreground", DeviceTimeout("no answer in time"), nth=nth)
    assert "does not say which app is in front" in road.submit("ui_tree").text
    looks = [line for line in road.lines if isinstance(line, ScreenObserved)]
    assert looks[-1].package is None
    assert road.submit("press", key="back").code == "person_said_no"
    assert not road.writes


def test_a_screen_with_next_to_nothing_to_use_is_flagged() -> None:
    frame = dump(node(node(text="Loading", package="com.chat"), cls="android.widget.FrameLayout", package="com.chat"))
    road = make_road(FakeDriver({"one": State([frame], "com.chat", "com.chat.Main")}, "one"))
    result = road.submit("ui_tree")
    assert "next to nothing could be read" in result.text and result.value.health.is_sparse
    result = road_of().submit("ui_tree")
    assert "next to nothing" not in result.text and not result.value.health.is_sparse


def test_lost_characters_are_said_once() -> None:
    lossy = [chat(extra=(node(text=text, package="com.chat"),)) for text in ("Party .. tonight", "Party .. today")]
    driver = FakeDriver({"one": State([lossy[0]], "com.chat", "com.chat.Main")}, "one")
    driver.states["two"] = State([lossy[1]], "com.other", "com.other.Main")
    road = make_road(driver)
    assert "lossy" in road.submit("ui_tree").text
    driver.show("two")
    assert "lossy" not in road.submit("ui_tree").text


@pytest.mark.parametrize("text", ["Loading...", "3..5", "a/../b", "End."])
def test_ordinary_dots_are_not_lost_characters(text: str) -> None:
    road = make_road(
        FakeDriver({"one": State([chat(extra=(node(text=text, package="com.chat"),))], "com.chat", None)}, "one")
    )
    assert "lossy" not in road.submit("ui_tree").text
