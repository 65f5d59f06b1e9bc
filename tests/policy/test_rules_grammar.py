"""The line grammar: what is understood, and that everything else is an error with its place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.calls import Answer
from droidpilot.core.errors import PolicyError
from droidpilot.policy.grammar import is_glob_match, parse_rules
from droidpilot.policy.rules import Rule

TOOLS = frozenset(
    [
        "ui_tree",
        "tap",
        "long_press",
        "swipe",
        "scroll",
        "type_text",
        "press",
        "open_app",
        "list_apps",
        "wait",
        "read_setting",
        "done",
    ]
)


def parse(text: str) -> tuple[Rule, ...]:
    return parse_rules(text, source="my.rules", tools=TOOLS)


def only(text: str) -> Rule:
    (rule,) = parse(text)
    return rule


@pytest.mark.parametrize(
    ("line", "verb", "tool", "package", "pattern"),
    [
        ("deny tap", Answer.DENY, "tap", None, None),
        ("DENY Tap", Answer.DENY, "tap", None, None),
        ("block tap", Answer.DENY, "tap", None, None),
        ("Ask *", Answer.ASK, "*", None, None),
        ("allow *_press in com.Shop.*", Answer.ALLOW, "*_press", "com.shop.*", None),
        ("ask tap in com.shop matching (?i)pay", Answer.ASK, "tap", "com.shop", "(?i)pay"),
        ("ask tap IN com.shop MATCHING pay", Answer.ASK, "tap", "com.shop", "pay"),
        ("\t deny \t tap   matching   a   b \t", Answer.DENY, "tap", None, "a b"),
        ("deny tap # never", Answer.DENY, "tap", None, None),
        ("deny tap in com.shop\t# never", Answer.DENY, "tap", "com.shop", None),
        ("deny tap matching #1 # offer", Answer.DENY, "tap", None, "#1 # offer"),
        ("deny tap matching send in com.shop", Answer.DENY, "tap", None, "send in com.shop"),
        ("deny mcp__mail__send", Answer.DENY, "mcp__mail__send", None, None),
        ("deny mcp__*", Answer.DENY, "mcp__*", None, None),
        ("deny tap matching 发送|Überweisen", Answer.DENY, "tap", None, "发送|Überweisen"),
        ("deny tap\r", Answer.DENY, "tap", None, None),
        ("\ufeffdeny tap", Answer.DENY, "tap", None, None),
    ],
)
def test_a_line_is_understood(line: str, verb: Answer, tool: str, package: str | None, pattern: str | None) -> None:
    rule = only(line)
    assert (rule.verb, rule.tool_glob, rule.package_glob) == (verb, tool, package)
    assert (rule.pattern.text if rule.pattern else None) == pattern


@pytest.mark.parametrize("text", ["", "\n\n", "# a\n  # b\n\t\n#deny tap"])
def test_blank_lines_and_comments_are_no_rules(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("denny tap", "did you mean deny"),
        ("tap", "unknown verb"),
        ("# ok\nallow tap im com.x", "my.rules:2: unexpected word 'im'"),
        ("allow tap im com.x", "did you mean in"),
        ("allow tap in com.x matchin pay", "did you mean matching"),
        ("allow tap in", "names no package"),
        ("allow tap in # com.x", "names no package"),
        ("allow tap in matching x", "package is missing"),
        ("allow tap in com.a in com.b", "one `in`"),
        ("allow tap com.x", "unexpected word"),
        ("allow tap in com/x", "can be no package"),
        ("allow tap in com.whatsapp\u0430", "can be no package"),
        ("allow tap matching", "has no expression"),
        ("allow tap matching   ", "has no expression"),
        ("allow tap matching [", "closing bracket"),
        ("allow tap matching (", "closing parenthesis"),
        ("allow tap matching (?=pay)", "look-around"),
        ("allow tap matching (?<!x)pay", "look-around"),
        ("allow tap matching (a)\\1", "back-reference"),
        ("allow tap matching a{2000}", "repetition"),
        ("allow tap matching *", "nothing to repeat"),
        ("allow", "names no tool"),
        ("allow in com.x", "a tool is missing"),
        ("allow matching x", "a tool is missing"),
        ("deny tapp", "did you mean tap"),
        ("deny frobnicate", "there is no tool"),
        ("deny fo*", "no tool has a name like"),
        ("deny tap#x", "is no name of a tool"),
        ("deny t?p", "is no name of a tool"),
        ("deny tap\u00a0in com.x", "invisible character, U+00A0"),
        ("deny tap matching se\u200bnd", "invisible character, U+200B"),
        ("deny tap matching \u202epay", "invisible character, U+202E"),
        ("deny tap matching a\x00", "invisible character, U+0000"),
        ("deny tap matching " + "a" * 3000, "longer than"),
        ("deny tap matching " + "a" * 1500, "longer than"),
    ],
)
def test_inv_3_inv_4_a_line_that_is_not_understood_is_an_error(line: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(line)
    assert words in str(caught.value)
    assert caught.value.source == "my.rules"
    assert caught.value.line == line.count("\n") + 1
    assert caught.value.hint


def test_an_error_names_the_line_where_the_file_uses_other_line_ends() -> None:
    with pytest.raises(PolicyError, match=r"my\.rules:3:"):
        parse("deny tap\r\n\r\ndenny tap\r\n")


def test_a_file_of_too_many_lines_is_an_error() -> None:
    with pytest.raises(PolicyError, match="more than"):
        parse("\n" * 6000)


def test_a_rule_names_its_place() -> None:
    (rule,) = parse("# head\n  ask   tap  matching  (?i)pay")
    assert str(rule) == "my.rules:2: ask tap matching (?i)pay"


@given(st.text(max_size=60))
def test_no_line_does_anything_but_parse_or_raise(line: str) -> None:
    try:
        rules = parse(line)
    except PolicyError:
        return
    assert all(rule.text for rule in rules)


@given(st.text(alphabet="ab*", max_size=8), st.text(alphabet="ab", max_size=10))
def test_a_glob_matches_as_a_slow_definition_says(glob: str, text: str) -> None:
    def slow(pattern: str, rest: str) -> bool:
        if not pattern:
            return not rest
        if pattern[0] == "*":
            return any(slow(pattern[1:], rest[at:]) for at in range(len(rest) + 1))
        return bool(rest) and pattern[0] == rest[0] and slow(pattern[1:], rest[1:])

    assert is_glob_match(glob, text) == slow(glob, text)
