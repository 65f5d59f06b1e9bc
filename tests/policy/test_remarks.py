"""Remarks: a line that can never decide is named, and a line that is named never decides."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from droidpilot.policy.grammar import parse_rules
from droidpilot.policy.remarks import remarks
from droidpilot.policy.rules import QueryLabel, RuleQuery, RuleSet

TOOLS = frozenset({"tap", "type_text", "press", "wait", "ui_tree"})
BLIND = frozenset({"wait", "ui_tree"})


def said(text: str) -> dict[int, str]:
    found = remarks(parse_rules(text, source="r", tools=TOOLS), unmatchable=BLIND)
    return {one.rule.line: one.text for one in found}


def test_a_line_behind_a_wider_one_is_named_with_the_line_that_decides() -> None:
    assert said("deny tap\nallow tap in com.x matching Pay") == {2: "can never decide: line 1 decides first: deny tap"}
    assert 2 in said("deny t*\nask tap")
    assert 2 in said("deny *\nallow t*")
    assert 2 in said("ask tap in com.*\ndeny tap in com.bank.*")
    assert set(said("deny tap\n# a remark\nallow press\ndeny tap")) == {4}


def test_a_line_that_may_still_decide_is_not_named() -> None:
    assert said("deny tap matching x\nallow tap") == {}
    assert said("deny tap in com.x\nallow tap") == {}
    assert said("allow tap\nallow t*") == {}
    assert said("deny tap in com.bank.*\nallow tap in com.*") == {}
    assert said("allow tap in *\ndeny tap") == {}  # the app may be one that cannot be told


def test_a_line_that_refuses_only_where_the_app_is_unknown_is_told_so() -> None:
    text = said("allow tap in com.x.*\ndeny tap in com.x.y")[2]
    assert text.startswith("decides only where the app in front cannot be told")


def test_matching_where_there_is_nothing_to_match_is_named() -> None:
    assert said("allow wait matching x") == {1: "can never decide: wait has nothing for `matching` to see"}
    assert "refuses every ui_tree, wait" in said("deny * matching (?i)pay")[1]
    assert said("allow * matching x") == {}
    assert "refuses every wait," in said("allow ui_tree\ndeny * matching x")[2]
    assert said("deny tap matching x") == {}


LINE = st.builds(
    "{} {}{}{}".format,
    st.sampled_from(["allow", "ask", "deny"]),
    st.sampled_from(["tap", "t*", "*", "press"]),
    st.sampled_from(["", " in com.x", " in com.*", " in *"]),
    st.sampled_from(["", " matching Pay", " matching ."]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINE, min_size=2, max_size=6), st.sampled_from(["tap", "type_text", "press", "wait"]), st.data())
def test_a_named_line_never_decides(lines: list[str], tool: str, data: st.DataObject) -> None:
    rules = parse_rules("\n".join(lines), source="r", tools=TOOLS)
    named = {one.rule.line for one in remarks(rules, unmatchable=BLIND) if one.text.startswith("can never decide")}
    package = data.draw(st.sampled_from(["com.x", "com.y", "org.z", None]))
    label = data.draw(st.sampled_from(["Pay", "Look", ""]))
    query = RuleQuery(
        tool=tool,
        packages=(package,),
        labels=(QueryLabel.plain(label),) if label else (),
        is_matchable=tool not in BLIND,
    )
    decision = RuleSet(rules).decide(query)
    assert decision.rule is None or decision.rule.line not in named


def test_a_line_with_an_app_for_a_tool_that_touches_none_can_never_decide() -> None:
    rules = parse_rules(
        "ask done in com.bank\ndeny * in com.shop matching Pay\ndeny done", source="r", tools=frozenset({"tap", "done"})
    )
    found = remarks(rules, unmatchable=["done"], without_app=["done"])
    assert [(one.rule.line, one.text) for one in found] == [
        (1, "can never decide: done touches no app, so no line with `in` is for it")
    ]
