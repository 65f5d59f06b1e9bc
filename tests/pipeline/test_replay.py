"""Replay: the same rules say the same again, other rules what they would have said, and no secret is in the record."""

from __future__ import annotations

import json

import pytest
from tests.fakes.driver import FakeDriver, State, dump, node
from tests.fakes.road import Person, Road, chat, make_road

from droidpilot.core.events import ToolCalled
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.replay import Replayed, replay
from droidpilot.policy.rules import RuleSet, parse_rules
from droidpilot.tools.shelf import all_tools

RULES = """
deny tap matching (?i)delete
ask tap in com.chat matching Send
ask person press matching enter
allow scroll
deny ui_tree in com.bank
deny type_text in com.other
allow tap in com.chat matching ^Next$
"""


def rule_set(text: str) -> RuleSet:
    return RuleSet(parse_rules(text, source="test.rules", tools=all_tools().names))


def written(road: Road) -> list[ToolCalled]:
    """Return the calls as a reader of the transcript finds them."""
    return [ToolCalled.model_validate_json(one.model_dump_json()) for one in road.called]


def replayed(road: Road, rules: str) -> list[Replayed]:
    found, without = replay(written(road), rule_set(rules))
    assert without == 0
    return found


def busy_road(rules: str) -> Road:
    """Take all kinds of calls down a road."""
    road = make_road(rules=rules, ask=AskMode.NEVER, approver=Person(*["yes"] * 9))
    road.submit("ui_tree")
    road.submit("screenshot")
    road.submit("tap", x=220, y=2070)
    road.submit("swipe", x1=220, y1=2070, x2=220, y2=2070)
    road.submit("press", key="enter")
    road.submit("press", key="back")
    road.submit("read_setting", namespace="global", key="wifi_on")
    road.submit("wait", ms=100)
    return road


@pytest.mark.parametrize("rules", ["", RULES, "deny *", "ask * in com.chat", "allow tap matching ^Send$\ndeny *"])
def test_the_same_rules_say_the_same_of_every_call(rules: str) -> None:
    found = replayed(busy_road(rules), rules)
    assert len(found) == 8
    assert [one for one in found if one.is_other] == []


def test_other_rules_say_what_they_would_have_said_and_where_that_differs() -> None:
    road = busy_road("")
    found = {one.tool: one for one in replayed(road, RULES) if one.is_other}
    assert {tool: (one.was, one.now) for tool, one in found.items()} == {
        "tap": ("none", "ask"),
        "swipe": ("none", "ask"),  # a swipe of no length is a tap
        "press": ("none", "ask"),
    }
    assert found["tap"].now_by == "test.rules:3: ask tap in com.chat matching Send"


def test_a_keyboard_over_the_app_is_asked_about_as_it_was() -> None:
    screen = dump(node(text="app", package="com.chat"), node(text="key", package="com.android.inputmethod.latin"))
    driver = FakeDriver({"a": State([screen], "com.chat")}, "a")
    for rules in ("deny ui_tree in com.android.inputmethod.latin", "deny ui_tree in *", "deny ui_tree in com.chat"):
        road = make_road(driver, rules="")
        road.submit("ui_tree")
        (then,) = replayed(road, rules)
        road = make_road(driver, rules=rules)
        road.submit("ui_tree")
        (now,) = replayed(road, rules)
        assert then.now == now.now == now.was


def test_what_is_typed_into_a_password_field_is_in_no_question() -> None:
    field = node(cls="android.widget.EditText", package="com.chat", password=True, focused=True, clickable=True)
    road = make_road(FakeDriver({"a": State([dump(field)], "com.chat")}, "a"), ask=AskMode.NEVER)
    road.submit("type_text", text="hunter2hunter2")
    (event,) = [one for one in road.called if one.tool == "type_text"]
    assert event.judged and "hunter2" not in json.dumps([one.model_dump() for one in event.judged])


def test_calls_that_never_came_to_the_rules_are_counted_apart() -> None:
    road = make_road(allowed=frozenset({"wait"}))
    road.submit("tap", x=220, y=2070)
    assert replay(written(road), rule_set("deny *")) == ([], 1)
    old = [one.model_copy(update={"judged": []}) for one in busy_road("").called]
    assert replay(old, rule_set("deny *")) == ([], len(old))


def test_a_look_alike_is_caught_by_a_line_that_came_later() -> None:
    road = make_road(FakeDriver({"a": State([chat(send="\u0405end")], "com.chat")}, "a"), ask=AskMode.NEVER)
    road.submit("tap", x=220, y=2070)
    (found,) = replayed(road, "deny tap matching ^Send$")
    assert found.now == "deny"
