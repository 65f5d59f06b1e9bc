"""Capability, rules and staleness: three of the five gates. Approval and budget have files of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from droidpilot.core.calls import Answer, Verdict
from droidpilot.core.errors import ToolError
from droidpilot.pipeline.case import PERSON, Case
from droidpilot.pipeline.fitness import unfit
from droidpilot.pipeline.identity import node_identity, target_key
from droidpilot.pipeline.observer import Observer
from droidpilot.pipeline.questions import call_questions
from droidpilot.pipeline.visibility import READINGS, reading_questions
from droidpilot.policy.rules import Decision, RuleSet, strictest
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Aim, Registry, Scene


@dataclass(frozen=True, slots=True)
class CapabilityGate:
    """May this session use this tool? The same set filters the schema that the model gets."""

    registry: Registry
    allowed: frozenset[str]
    name: str = "capability"

    def judge(self, case: Case) -> Verdict:
        tool = case.call.tool
        if tool in self.allowed and tool in self.registry.names:
            return Verdict(self.name, Answer.ALLOW)
        if tool in self.registry.names:
            return Verdict(self.name, Answer.DENY, "tool_not_allowed", f"{tool} may not be used in this session")
        near = self.registry.nearest(tool)
        hint = f"; did you mean {near}?" if near else f"; there are {', '.join(self.registry.tools)}"
        return Verdict(self.name, Answer.DENY, "unknown_tool", f"there is no such tool{hint}")


@dataclass(frozen=True, slots=True)
class RulesGate:
    """The first matching line of the policy, for the packages and labels really under the finger."""

    rules: RuleSet
    name: str = "rules"

    def judge(self, case: Case) -> Verdict:
        decision = self._decide(case)
        rule = str(decision.rule) if decision.rule is not None else None
        why = decision.reason or (decision.rule.why if decision.rule is not None else "")
        if decision.answer is None:
            return Verdict(self.name, Answer.ALLOW, "no_rule")
        if decision.answer is Answer.DENY:
            by = f" by {rule}" if rule else ""
            reason = f"denied{by}{': ' + why if why else ''}; do not try it again"
            return Verdict(self.name, Answer.DENY, decision.code or "rule", reason, rule)
        is_for_person = decision.rule is not None and decision.rule.needs_person
        return Verdict(self.name, decision.answer, PERSON if is_for_person else decision.code or "rule", why, rule)

    def _decide(self, case: Case) -> Decision:
        if case.tool is not None and case.tool.name in READINGS and case.scene is not None:
            questions = reading_questions(case.scene.screen, READINGS[case.tool.name])
        else:
            questions = call_questions(case)
        case.judged = tuple(question.written() for question in questions)
        return strictest(question.decide(self.rules) for question in questions)


@dataclass(slots=True)
class StalenessGate:
    """Do the fields this call depends on still hold right now?

    A new look is taken only where somebody was asked or the last look is no longer fresh. The target is resolved anew
    on it, by node and not by place, and what is then run is the new resolution. A call by coordinates must also find
    under them what lay there on the screen that its asker was shown (A30).
    """

    observer: Observer
    scene_of: Callable[[Case], Scene]
    name: str = field(default="staleness")
    is_lock_allowed: bool = False

    def judge(self, case: Case) -> Verdict:
        if case.tool is None or case.scene is None or case.aim is None or not case.tool.needs_screen:
            return Verdict(self.name, Answer.ALLOW)
        if case.aim.is_by_place and not self._is_what_was_seen(case, case.aim, case.scene):
            return self._stale("what lay at that place is not what lies there now")
        if not case.was_asked and self.observer.is_fresh:
            return Verdict(self.name, Answer.ALLOW)
        before = target_key(case, case.aim, case.scene.screen)
        scene = self.scene_of(case)
        try:
            aim = case.tool.aim(case.arguments, scene)
        except ToolError as error:
            return self._stale(f"the screen changed meanwhile: {error.message}")
        why = unfit(case.tool, case.arguments, aim, scene.screen, is_lock_allowed=self.is_lock_allowed)
        if why is not None:
            return Verdict(self.name, Answer.DENY, why.code, why.reason)
        if _shape(scene.screen) != _shape(case.scene.screen) and aim.points:
            return self._stale("the screen was turned or resized meanwhile")
        if target_key(case, aim, scene.screen) != before:
            return self._stale("the screen changed meanwhile")
        case.scene = scene
        # The sentence stays the one that was judged and shown (INV-90); labels and all else are the same by the key.
        case.aim = replace(aim, sentence=case.aim.sentence)
        return Verdict(self.name, Answer.ALLOW, "looked_again")

    def _is_what_was_seen(self, case: Case, aim: Aim, scene: Scene) -> bool:
        """Tell whether the place holds what it held on the look from which the asker took it."""
        if aim.seen_on is None and case.call.screen is None:
            return True  # a person's own coordinates; they look at the phone itself
        shown = aim.seen_on or self.observer.told(case.call.screen)
        if shown is None or case.tool is None or _shape(shown) != _shape(scene.screen):
            return False
        try:
            seen = case.tool.aim(case.arguments, replace(scene, screen=shown))
        except ToolError:
            return False
        return [node_identity(node) for node in seen.nodes] == [node_identity(node) for node in aim.nodes]

    def _stale(self, reason: str) -> Verdict:
        return Verdict(self.name, Answer.DENY, "stale", f"{reason}; nothing was sent")


def _shape(screen: Screen) -> tuple[int, int, int]:
    return screen.width, screen.height, screen.rotation
