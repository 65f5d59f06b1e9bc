"""Remarks on a policy that reads well and yet may not do what its writer thinks: lines that can never decide.

Only what is certain is said: one line is compared with one line before it, never with several together. Pure; it must
never change what a rule does.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from droidpilot.core.calls import Answer
from droidpilot.policy.grammar import Rule, is_glob_match


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to know about one line."""

    rule: Rule
    text: str


def remarks(
    rules: Sequence[Rule], *, unmatchable: Iterable[str] = (), without_app: Iterable[str] = ()
) -> tuple[Remark, ...]:
    """Return what should be known about the lines of one list, in their order.

    `unmatchable` are the tools with nothing for `matching` to see, `without_app` those that touch no app.
    """
    blind, appless = sorted(unmatchable), frozenset(without_app)
    found: list[Remark] = []
    for index, rule in enumerate(rules):
        shadow = next((earlier for earlier in rules[:index] if _covers(earlier, rule)), None)
        if shadow is not None:
            found.append(Remark(rule, f"{_shadowed(shadow, rule)} line {shadow.line} decides first: {shadow.text}"))
        elif rule.package_glob is not None and rule.tool_glob in appless:
            found.append(
                Remark(rule, f"can never decide: {rule.tool_glob} touches no app, so no line with `in` is for it")
            )
        elif rule.pattern is not None:
            met = [tool for tool in blind if rule.package_glob is None or tool not in appless]
            found.extend(_blind_remarks(rule, rules[:index], met))
    return tuple(found)


def _covers(earlier: Rule, later: Rule) -> bool:
    """Tell whether `earlier` fits every call that `later` fits, whatever stands under the finger."""
    if earlier.pattern is not None:
        return False
    # A * in the later glob is met by a * in the earlier one only, so this is true of whatever it stands for.
    if not is_glob_match(earlier.tool_glob, later.tool_glob):
        return False
    if earlier.package_glob is None:
        return True
    return later.package_glob is not None and is_glob_match(earlier.package_glob, later.package_glob)


def _shadowed(shadow: Rule, rule: Rule) -> str:
    # An allow line with `in` is passed over where the app is not known; a later one that asks or denies refuses there.
    is_skipped = shadow.verb is Answer.ALLOW and shadow.package_glob is not None and rule.verb is not Answer.ALLOW
    return "decides only where the app in front cannot be told:" if is_skipped else "can never decide:"


def _blind_remarks(rule: Rule, earlier: Sequence[Rule], blind: Sequence[str]) -> list[Remark]:
    """Say what a line with `matching` does to tools that have nothing to match on."""
    hit = [
        tool
        for tool in blind
        if rule.fits_tool(tool) and not any(_decides_all(other, tool, rule.package_glob) for other in earlier)
    ]
    if not hit:
        return []
    tools = ", ".join(hit)
    if rule.verb is not Answer.ALLOW:
        return [Remark(rule, f"refuses every {tools}, where there is nothing for `matching` to see")]
    if "*" in rule.tool_glob:
        return []
    return [Remark(rule, f"can never decide: {tools} has nothing for `matching` to see")]


def _decides_all(other: Rule, tool: str, package_glob: str | None) -> bool:
    if other.pattern is not None or not other.fits_tool(tool):
        return False
    return other.package_glob is None or (package_glob is not None and is_glob_match(other.package_glob, package_glob))
