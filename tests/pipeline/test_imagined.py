"""An imagined call is judged as a real one: the same verdicts as on the road, for every tool there is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.road import SEND as SEND_AT
from tests.fakes.road import Person, make_road

from droidpilot.core.calls import Status
from droidpilot.core.clock import ManualClock
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.imagined import Foretold, Thing, foretell, unmatchable_tools
from droidpilot.policy.grammar import parse_rules
from droidpilot.policy.rules import RuleSet
from droidpilot.tools.shelf import all_tools

REGISTRY = all_tools()
SEND = Thing(package="com.chat", text="Send", resource_id="com.chat:id/go")


def told(text: str, thing: Thing = SEND, *, tool: str = "tap", mode: AskMode = AskMode.RISKY) -> Foretold:
    rules = RuleSet(parse_rules(text, source="test.rules", tools=REGISTRY.names))
    return foretell(tool, {}, thing, registry=REGISTRY, rules=rules, mode=mode, clock=ManualClock())


@pytest.mark.parametrize("mode", list(AskMode))
@pytest.mark.parametrize(
    "text",
    [
        "",
        "deny tap",
        "ask tap in com.chat",
        "allow tap matching Send",
        "deny tap matching ^go$",
        "ask tap in com.other",
    ],
)
def test_it_says_of_a_tap_what_the_road_says(text: str, mode: AskMode) -> None:
    imagined = told(text, mode=mode)
    person = Person("yes")
    road = make_road(rules=text, ask=mode, approver=person)
    result = road.submit("tap", x=(SEND_AT[0] + SEND_AT[2]) // 2, y=(SEND_AT[1] + SEND_AT[3]) // 2)
    if imagined.at_terminal == "refused":
        assert result.status is Status.REFUSED and not person.asked
    else:
        assert result.status is Status.OK
        assert bool(person.asked) is (imagined.at_terminal == "asks")
    assert imagined.alone == ("goes_ahead" if imagined.at_terminal == "goes_ahead" else "refused")


@pytest.mark.parametrize("tool", REGISTRY.tools)
def test_every_tool_can_be_imagined_and_is_denied_by_its_line(tool: str) -> None:
    thing = Thing(
        package="com.example.app", text={"press": "back", "read_setting": "global/wifi_on"}.get(tool, "Thing")
    )
    assert told(f"deny {tool}", thing, tool=tool).at_terminal == "refused"
    assert told("deny open_app in com.other", thing, tool=tool).at_terminal == "goes_ahead"


def test_the_tools_with_nothing_to_match_on_are_those_that_a_line_with_matching_refuses() -> None:
    blind = unmatchable_tools(REGISTRY, ManualClock())
    assert {"wait", "ui_tree", "done", "list_apps"} <= blind
    assert not blind & {"tap", "press", "type_text", "open_app", "read_setting", "swipe", "scroll", "long_press"}


@given(st.text(max_size=40), st.text(max_size=40))
def test_any_label_and_id_can_be_imagined(text: str, resource_id: str) -> None:
    assert told("", Thing(package="a.b", text=text, resource_id=resource_id)).sentence.startswith("Tap")


def test_what_moves_over_a_button_is_no_press_of_it() -> None:
    pay = Thing(package="com.shop", text="Pay")
    assert told("", pay, tool="tap").signals
    assert not told("", pay, tool="scroll").signals and not told("", pay, tool="swipe").signals


def test_a_password_field_counts_beside_another_reason_only() -> None:
    field = Thing(package="com.example.app", text="PIN", is_password=True)
    assert not told("", field, tool="type_text").signals
    bank = Thing(package="com.example.bank", text="PIN", is_password=True)
    assert told("", bank, tool="type_text").at_terminal == "asks_strongly"
