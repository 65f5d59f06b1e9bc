"""Replay: what other rules would have said of calls that were recorded. No phone, no model, nothing done.

Only rules are asked again: risk, budget and staleness are as they were. It never judges which of two answers is better.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from droidpilot.core.calls import Answer
from droidpilot.core.events import ToolCalled
from droidpilot.pipeline.questions import question_of
from droidpilot.policy.rules import RuleSet, strictest

#: What rules say of a call; "none" leaves it to the approval mode.
Said = Literal["deny", "ask", "none", "allow"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One recorded call under other rules."""

    call_id: str
    tool: str
    sentence: str
    was: Said
    was_by: str  # the line that decided then, empty for none
    now: Said
    now_by: str

    @property
    def is_other(self) -> bool:
        return self.was != self.now


def replay(called: Iterable[ToolCalled], rules: RuleSet) -> tuple[list[Replayed], int]:
    """Ask `rules` about each call; return the answers in order, and how many calls could not be asked about.

    Not asked about are calls that never came to the rules, and those of before the question was kept.
    """
    replayed = []
    without = 0
    for event in called:
        then = next((verdict for verdict in event.verdicts if verdict.gate == "rules"), None)
        if then is None or not event.judged:
            without += 1
            continue
        decision = strictest(question_of(judged).decide(rules) for judged in event.judged)
        replayed.append(
            Replayed(
                call_id=event.call_id,
                tool=event.tool,
                sentence=event.sentence or event.tool,
                was=_said(then.answer if then.rule else None),
                was_by=then.rule or "",
                now=_said(decision.answer),
                now_by=str(decision.rule) if decision.rule is not None else "",
            )
        )
    return replayed, without


def _said(answer: str | Answer | None) -> Said:
    match answer:
        case Answer.DENY | Answer.HALT:
            return "deny"
        case Answer.ASK:
            return "ask"
        case Answer.ALLOW:
            return "allow"
        case _:
            return "none"
