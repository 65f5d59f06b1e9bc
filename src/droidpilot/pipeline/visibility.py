"""Visibility: whether a screen may be told at all. A policy that denies `ui_tree` hides it in every result (0.6).

A rule that only asks hides it too wherever nobody was asked: what is sent along with another answer was not approved.
"""

from __future__ import annotations

from droidpilot.core.calls import Answer
from droidpilot.pipeline.questions import Question
from droidpilot.policy.rules import RuleQuery, RuleSet, strictest
from droidpilot.screens.hierarchy import root_of
from droidpilot.screens.screen import Screen, keyboard_windows

#: Readings of the screen, and the tools that a rule denies or asks for them by: a picture shows all that text does.
READINGS: dict[str, tuple[str, ...]] = {"ui_tree": ("ui_tree",), "screenshot": ("screenshot", "ui_tree")}
_TEXT = READINGS["ui_tree"]
_SYSTEM_BARS = "com.android.systemui"


def reading_questions(screen: Screen, tools: tuple[str, ...] = _TEXT) -> tuple[Question, ...]:
    """Return what the rules are asked about reading: for every app that the screen shows.

    Keyboard and system bars lie over every app, so only a rule that names them hides a screen because of them.
    """
    keyboards = keyboard_windows(screen.hierarchy, screen.package)
    packages: dict[str | None, bool] = {screen.package: False}
    if screen.is_unread:
        packages[None] = False  # nobody knows whose windows lie there beside the one in front
    for node in screen.nodes:
        # A node that does not say whose it is may be anybody's, but for bare frames, which say nothing at all.
        package = node.package or (None if node.text or node.desc or node.hint else screen.package)
        is_over = node.window in keyboards or root_of(screen.hierarchy, node).package == _SYSTEM_BARS
        packages[package] = packages.get(package, True) and is_over
    over = frozenset(package for package, is_over in packages.items() if is_over)
    return tuple(Question(RuleQuery(tool=tool, packages=tuple(packages), is_matchable=False), over) for tool in tools)


def hidden_reason(rules: RuleSet, screen: Screen, *, is_approved: bool = False, tools: tuple[str, ...] = _TEXT) -> str:
    """Say why the screen must not be told, by package and rule only; empty where it may be.

    `is_approved`: somebody said yes to this very reading, which answers an ask line but no deny line.
    """
    decision = strictest(question.decide(rules) for question in reading_questions(screen, tools))
    if decision.answer is not Answer.DENY and (is_approved or decision.answer is not Answer.ASK):
        return ""
    by = f" ({decision.rule})" if decision.rule is not None else ""
    return f"The screen of {screen.package or 'an unknown app'} is hidden by the policy{by}."
