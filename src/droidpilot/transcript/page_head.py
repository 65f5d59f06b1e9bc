"""The head of the page: what the session was about, how it ended, what it may do and used, and whether it is intact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from droidpilot.core.events import DeviceConnected, ModelReplied, SessionEnded, SessionStarted
from droidpilot.core.text import plural
from droidpilot.transcript.page_text import Paper
from droidpilot.transcript.projections import Totals, totals
from droidpilot.transcript.reader import Line, Transcript
from droidpilot.transcript.verify import Verification

_GOAL = 2_000
_FACT = 400
_SUMMARY = 2_000
_MAX_CHECKS = 20

_WAIVED = "Done; the check was waived"
_OUTCOMES = {
    "done": "Done and checked",
    "unchecked": "Done, but nothing was checked",
    "failed": "Failed",
    "refused": "Ended by a refusal",
    "budget": "Budget spent",
    "unknown": "Outcome unknown",
    "device": "Trouble with the phone",
    "model": "Trouble with the model",
    "interrupted": "Interrupted",
    "internal": "Our own fault",
}


@dataclass(frozen=True, slots=True)
class Chain:
    """Whether the transcript is as it was written."""

    is_good: bool
    words: str
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Head:
    """The head. `figures` are what was used, `facts` what was given: name and value."""

    session: str
    title: str
    goal: str
    outcome: str
    icon: Literal["check", "cross", "question"]
    tone: Literal["good", "warn", "bad"]
    exit_code: int | None
    reason: str
    summary: str
    chain: Chain
    figures: tuple[tuple[str, str], ...]
    facts: tuple[tuple[str, str], ...]
    version: str


def head_of(transcript: Transcript, verification: Verification, paper: Paper) -> Head:
    """Make the head of a transcript that may be cut off, unreadable or empty."""
    lines = transcript.lines
    started = next((line.event for line in lines if isinstance(line.event, SessionStarted)), None)
    ended = next((line.event for line in reversed(lines) if isinstance(line.event, SessionEnded)), None)
    session = paper.line(lines[0].session, 60) if lines else "?"
    goal = paper.text(started.goal, _GOAL).strip() if started is not None else ""
    outcome = ended.outcome if ended is not None else ""
    tone: Literal["good", "warn", "bad"] = "good" if outcome == "done" else "warn" if outcome == "unchecked" else "bad"
    is_waived = outcome == "done" and started is not None and started.origin == "model" and not started.checks
    if is_waived:
        tone = "warn"
    words = _OUTCOMES.get(outcome) or paper.line(outcome, 60) or "No ending: it was killed, or it still runs"
    if is_waived:
        words = _WAIVED
    return Head(
        session=session,
        title=paper.line(started.goal, 80) if started is not None and started.goal else session,
        goal=goal or "A single command, without a goal",
        outcome=words,
        icon="check"
        if tone == "good"
        else "question"
        if is_waived or outcome in ("", "unknown", "unchecked")
        else "cross",
        tone=tone,
        exit_code=ended.exit_code if ended is not None else None,
        reason=paper.line(ended.reason, _FACT) if ended is not None and ended.reason.lower() != words.lower() else "",
        summary=paper.text(ended.summary, _SUMMARY).strip() if ended is not None else "",
        chain=_chain(verification, paper),
        figures=_figures(totals(lines), ended),
        facts=tuple((name, paper.line(value, _FACT)) for name, value in _facts(lines, started) if value),
        version=paper.line(started.version, 40) if started is not None else "",
    )


def _chain(verification: Verification, paper: Paper) -> Chain:
    notes = tuple(paper.line(note, _FACT) for note in verification.notes[:10])
    if not verification.ok:
        words = f"NOT verified: line {verification.first_bad_line} is the first bad one: {verification.reason}"
        return Chain(False, paper.line(words, _FACT), notes)
    words = f"Verified when this page was made: {plural(verification.lines, 'line')}, the chain holds"
    if verification.torn:
        words += "; the last line was not finished, for the session was killed"
    elif verification.is_head_behind:
        words += "; the session was killed after its last line"
    return Chain(True, words, notes)


def _figures(used: Totals, ended: SessionEnded | None) -> tuple[tuple[str, str], ...]:
    figures = [
        ("turns", f"{used.turns:,}"),
        ("calls", f"{used.calls:,}"),
        ("actions", f"{used.actions:,}"),
        ("refused", f"{used.refused:,}"),
        ("unknown", f"{used.unknown:,}"),
        ("tokens in", f"{used.prompt_tokens:,}"),
        ("tokens out", f"{used.completion_tokens:,}"),
        ("from cache", f"{used.cached_tokens:,}"),
        ("money", "unknown" if used.usd is None else f"${used.usd:.4f}"),
    ]
    if ended is not None:
        figures.append(("time", f"{ended.seconds:,.1f} s"))
    if used.waited_s:
        figures.append(("waiting for a person", f"{used.waited_s:,.1f} s"))
    return tuple(figures)


def _facts(lines: tuple[Line, ...], started: SessionStarted | None) -> list[tuple[str, str]]:
    if started is None:
        return [("began", lines[0].ts)] if lines else []
    phone = next((line.event for line in lines if isinstance(line.event, DeviceConnected)), None)
    named = next((line.event.model for line in lines if isinstance(line.event, ModelReplied)), "")
    about = f", {phone.model}, Android API {phone.sdk}, over {phone.transport}" if phone is not None else ""
    model = started.model if named in ("", started.model) else f"{started.model} (answers as {named})"
    limits = [
        f"{'money' if name == 'usd' else name} {'no limit' if value is None else f'{value:,g}'}"
        for name, value in started.limits.items()
    ]
    return [
        ("began", lines[0].ts),
        ("ended", lines[-1].ts if isinstance(lines[-1].event, SessionEnded) else ""),
        ("phone", f"{started.serial}{' (virtual)' if started.is_virtual else ''}{about}"),
        ("model", f"{model} at {started.base_url}" if model and started.base_url else model),
        ("policy", f"{started.policy}, digest {started.policy_digest[:12]}"),
        ("asks", f"{started.ask}; {'nobody' if started.approver == 'none' else started.approver} answers"),
        ("limits", ", ".join(limits)),
        ("tools", ", ".join(started.tools)),
        ("checks", "; ".join(started.checks[:_MAX_CHECKS]) or "none were given"),
    ]
