"""`ask person`, `#why:`, `#match:` and `#not:`: what a line demands, says and is tested by when it is read."""

from __future__ import annotations

import pytest

from droidpilot.core.calls import Answer
from droidpilot.core.errors import PolicyError
from droidpilot.policy.rules import QueryLabel, RuleQuery, RuleSet, parse_rules

TOOLS = frozenset({"tap", "press", "open_app", "type_text", "person"})


def parsed(text: str) -> RuleSet:
    return RuleSet(parse_rules(text, source="my.rules", tools=TOOLS))


def query(label: str, *packages: str) -> RuleQuery:
    return RuleQuery(tool="tap", packages=packages, labels=(QueryLabel.plain(label),))


def test_a_line_keeps_its_reason_and_the_examples_that_it_meets() -> None:
    (rule,) = parsed(
        """
ask person tap in com.shop.* matching (?i)\\bpay\\b
  #why: money leaves the account
  # an ordinary remark
  #match: tap Pay 12.00 in com.shop.app
  #match: tap S\u200bPAY now
  #not: tap Payment methods in com.shop.app
  #not: tap Pay in com.other
  #not: press Pay
""".replace("S\u200bPAY", "\uff30AY")
    ).rules
    assert (rule.verb, rule.needs_person, rule.why) == (Answer.ASK, True, "money leaves the account")
    assert len(rule.examples) == 5
    assert rule.text == r"ask person tap in com.shop.* matching (?i)\bpay\b"


@pytest.mark.parametrize(
    ("below", "line", "says"),
    [
        ("#match: tap Sender", 2, "does not match"),
        ("#not: tap Send now", 2, "matches"),
        ("#match: press Send", 2, "does not match"),
        ("#match: tap Send in com.other", 2, "does not match"),
        ("#not: tap Send in com.chat", 2, "matches"),
        ("#why: reason\n#why: another", 3, "already"),
        ("#why:", 2, "says nothing"),
        ("#match:", 2, "says nothing"),
        ("#match: tip Send", 2, "no tool tip"),
        ("\n#match: tap Send", 3, "below no rule"),
        ("#match: tap Se\u200bnd", 2, "invisible"),
        ("#match: tap " + "x" * 3000, 2, "longer than"),
    ],
)
def test_an_example_that_does_not_hold_is_an_error_at_its_place(below: str, line: int, says: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parsed(f"ask tap in com.chat matching \\bSend\\b\n{below}")
    assert caught.value.line == line
    assert says in caught.value.message and caught.value.hint


def test_an_example_before_any_line_is_an_error() -> None:
    with pytest.raises(PolicyError, match="below no rule"):
        parsed("#not: tap Send\nask tap")


def test_a_look_alike_meets_an_ask_line_and_not_an_allow_line() -> None:
    assert parsed("ask tap matching ^Send$\n#match: tap \u0405end").rules
    assert parsed("allow tap matching ^Send$\n#not: tap \u0405end").rules
    with pytest.raises(PolicyError):
        parsed("allow tap matching ^Send$\n#match: tap \u0405end")


def test_an_example_without_a_label_is_met_by_a_line_without_an_expression() -> None:
    assert parsed("deny open_app in com.bank\n#match: open_app in com.bank\n#not: open_app in com.chat").rules


def test_only_ask_takes_the_word_person_and_a_tool_of_that_name_can_still_be_named() -> None:
    (rule,) = parsed("ask person person").rules
    assert (rule.needs_person, rule.tool_glob) == (True, "person")
    (rule,) = parsed("deny person").rules
    assert (rule.needs_person, rule.tool_glob) == (False, "person")


def test_of_two_lines_that_ask_the_one_that_wants_a_person_decides() -> None:
    rules = parsed("ask tap in com.a\nask person tap in com.b")
    for packages in (("com.a", "com.b"), ("com.b", "com.a")):
        decided = rules.decide(query("Go", *packages))
        assert decided.rule is not None and decided.rule.needs_person
    extra = RuleSet(
        parse_rules("ask tap", source="a", tools=TOOLS),
        tightening=parse_rules("ask person tap", source="b", tools=TOOLS),
    )
    decided = extra.decide(query("Go", "com.a"))
    assert decided.rule is not None and decided.rule.needs_person


def test_what_stands_beside_a_line_does_not_change_the_digest() -> None:
    assert parsed("ask tap\n#why: x\n#match: tap Y").digest == parsed("ask tap").digest
    assert parsed("ask person tap").digest != parsed("ask tap").digest
