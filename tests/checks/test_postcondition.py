"""Checks: what they take, what passes, and that what could not be judged does not."""

from __future__ import annotations

import pytest
from tests.fakes.driver import FakeDriver, State, dump, node
from tests.fakes.road import Road, chat, make_road

from droidpilot.checks.postcondition import judge_all, parse_check
from droidpilot.core.errors import DeviceLost, DeviceTimeout, UsageError
from droidpilot.core.events import CheckFinished
from droidpilot.pipeline.approval import AskMode


def road_with(data: bytes, *, rules: str = "", package: str | None = "com.chat") -> Road:
    driver = FakeDriver({"s": State([data], package)}, "s", settings={("global", "wifi_on"): "1"})
    return make_road(driver, rules=rules, ask=AskMode.NEVER)


def judged(road: Road, expression: str) -> bool | None:
    (judgement,) = judge_all((parse_check(expression),), road.executor, road.lines.append)
    finished = road.lines[-1]
    assert isinstance(finished, CheckFinished) and finished.passed == judgement.passed
    assert road.kinds[0] == "check_started"
    assert [line.origin for line in road.called] == ["check"]
    return judgement.passed


@pytest.mark.parametrize(
    "expression, passed",
    [
        ("text=Send", True),
        ("text=Sen", True),
        ("text=send", False),
        ("text=Back", True),
        ("text=Message", False),  # a hint is no text that stands there
        ("text!=Pay", True),
        ("text!=Send", False),
        ("package=com.chat", True),
        ("package=com.cha", False),
        ("setting:global/wifi_on=1", True),
        ("setting:global/wifi_on=0", False),
        ("setting:global/other=1", False),
    ],
)
def test_what_is_seen_decides(expression: str, passed: bool) -> None:
    assert judged(road_with(chat()), expression) is passed


def test_invisible_characters_do_not_hide_a_text() -> None:
    assert judged(road_with(chat(send="Se\u200bnd now")), "text=Send now") is True


def test_a_text_off_the_screen_is_not_on_it() -> None:
    off = node(text="Far away", bounds=(1080, 0, 2000, 100), package="com.chat")
    assert judged(road_with(dump(node(off, package="com.chat"))), "text=Far away") is False


def test_what_is_typed_into_a_password_field_cannot_be_seen() -> None:
    assert judged(road_with(chat(text="hunter2", password=True)), "text=hunter2") is False


@pytest.mark.parametrize("expression", ["text=Send", "text!=Pay"])
def test_a_screen_that_was_cut_judges_nothing(expression: str) -> None:
    whole = chat()
    assert judged(road_with(whole[: whole.rindex(b"</node>")]), expression) is None


def test_absence_needs_a_screen_that_was_read() -> None:
    assert judged(road_with(b"<?xml version='1.0'?><hierarchy rotation=\"0\"></hierarchy>"), "text!=Pay") is None


def test_a_screen_that_may_not_be_read_judges_nothing() -> None:
    assert judged(road_with(chat(), rules="deny ui_tree in com.chat"), "text!=Pay") is None


def test_an_app_that_is_not_known_judges_nothing() -> None:
    assert judged(road_with(chat(), package=None), "package=com.chat") is None


@pytest.mark.parametrize("expression", ["text=Send", "setting:global/wifi_on=1"])
@pytest.mark.parametrize("error", [DeviceTimeout("slow"), DeviceLost("gone")])
def test_a_phone_that_does_not_answer_judges_nothing(expression: str, error: DeviceTimeout | DeviceLost) -> None:
    road = road_with(chat())
    for name in ("dump", "read_setting"):
        road.driver.fail(name, error)
    (judgement,) = judge_all((parse_check(expression),), road.executor, road.lines.append)
    assert judgement.passed is None
    assert judgement.ends == ("device" if isinstance(error, DeviceLost) else "")


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "text",
        "text=",
        "text!=",
        "package=",
        "setting:wifi_on=1",
        "setting:local/x=1",
        "setting:global/a b=1",
        "Text=x",
    ],
)
def test_an_expression_that_is_none_is_a_usage_error_with_a_hint(expression: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_check(expression)
    assert "setting:NAMESPACE/KEY=VALUE" in raised.value.hint


def test_a_value_may_hold_anything_and_is_compared_exactly() -> None:
    assert parse_check("setting:secure/a=b=c ").wanted == "b=c "
    assert parse_check("text= Send  now ").wanted == "Send now"
