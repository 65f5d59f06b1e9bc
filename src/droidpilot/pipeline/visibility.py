"""Visibility: whether a screen may be told at all. A policy that denies `ui_tree` hides it in every result (0.6).

A rule that only asks hides it too wherever nobody was asked: what is sent along with another answer was not approved.
"""

from __future__ import annotations

from droidpilot.core.calls import Answer
from droidpilot.policy.rules import Decision, Rule, RuleQuery, RuleSet
from droidpilot.screens.screen import Screen, keyboard_windows

#: Readings of the screen, and the tools that a rule denies or asks for them by: a picture shows all that text does.
READINGS: dict[str, tuple[str, ...]] = {"ui_tree": ("ui_tree",), "screenshot": ("screenshot", "ui_tree")}
_TEXT = READINGS["ui_tree"]
_SYSTEM_BARS = "com.android.systemui"
_DENY_FIRST = {Answer.DENY: 0, Answer.ASK: 1}


def reading_decision(rules: RuleSet, screen: Screen, tools: tuple[str, ...] = _TEXT) -> Decision:
    """Decide reading for every app that the screen shows; the strictest answer stands.

    Keyboard and system bars lie over every app, so only a rule that names them hides a screen because of them.
    """
    keyboards = keyboard_windows(screen.hierarchy, screen.package)
    packages: dict[str | None, bool] = {screen.package: False}
    if screen.is_unread:
        packages[None] = False  # nobody knows whose windows lie there beside the one in front
    for node in screen.nodes:
        # A node that does not say whose it is may be anybody's, but for bare frames, which say nothing at all.
        package = node.package or (None if node.text or node.desc or node.hint else screen.package)
        if package not in packages:
            packages[package] = package == _SYSTEM_BARS or node.window in keyboards
    decisions = []
    for package, is_helper in packages.items():
        for tool in tools:
            decision = rules.decide(RuleQuery(tool=tool, packages=(package,), is_matchable=False))
            if is_helper and not (decision.rule is not None and _names_an_app(decision.rule)):
                continue
            decisions.append(decision)
    return min(decisions, key=lambda decision: _DENY_FIRST.get(decision.answer or Answer.ALLOW, 2))


def hidden_reason(rules: RuleSet, screen: Screen, *, is_approved: bool = False, tools: tuple[str, ...] = _TEXT) -> str:
    """Say why the screen must not be told, by package and rule only; empty where it may be.

    `is_approved`: somebody said yes to this very reading, which answers an ask line but no deny line.
    """
    decision = reading_decision(rules, screen, tools)
    if decision.answer is not Answer.DENY and (is_approved or decision.answer is not Answer.ASK):
        return ""
    by = f" ({decision.rule})" if decision.rule is not None else ""
    return f"The screen of {screen.package or 'an unknown app'} is hidden by the policy{by}."


def _names_an_app(rule: Rule) -> bool:
    return rule.package_glob is not None and rule.package_glob.strip("*") != ""
