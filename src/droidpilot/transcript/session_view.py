"""What `session show` prints, as values: a header and an entry per line worth reading. How it looks is cli's affair."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from droidpilot.core.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CheckFinished,
    DeviceConnected,
    LinkLost,
    LinkRestored,
    ModelFailed,
    ModelReplied,
    Noted,
    Nudged,
    OutcomeResolved,
    PhoneChanged,
    ScreenObserved,
    ScreenTaken,
    SessionEnded,
    SessionStarted,
)
from droidpilot.core.text import one_line, plural, shorten
from droidpilot.transcript.projections import CallState, CallView, Totals, calls, totals
from droidpilot.transcript.reader import Line, RawEvent

#: A reply's prose and a call's arguments are cut here for display; the transcript has them whole.
MAX_TEXT = 400
#: What a session without an ending is called, by whether its process is there.
_UNENDED = {True: "running", False: "killed", None: "killed or running"}
#: Why a call of such a session has no answer.
_UNANSWERED = {
    True: "no answer yet: it runs",
    False: "no answer: killed while it ran",
    None: "no answer: it runs, or was killed while it ran",
}
#: States of a call that was let through and is not known to have ended.
_OPEN = frozenset({CallState.UNKNOWN, CallState.STOPPED})
#: A rule as it is recorded: `file:line: text`.
_PLACE = re.compile(r"^(.*?:\d+): .*$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to show: `word` says what it is (reply, call, asked, check, note, ...), `state` how it ended."""

    seq: int
    ts: str
    word: str
    text: str
    state: str = ""
    detail: str = ""  # the deciding rule or reason, empty where there is none
    call_id: str = ""
    is_cut: bool = False  # a call without an answer; `detail` says why


@dataclass(frozen=True, slots=True)
class SessionView:
    """A whole session to be shown, in the order of its lines."""

    header: tuple[tuple[str, str], ...]  # name, value
    entries: tuple[Entry, ...]
    totals: Totals
    outcome: str  # as in session_ended; without that line running, killed, or "killed or running"
    exit_code: int | None


def session_view(lines: Iterable[Line], *, is_running: bool | None = None) -> SessionView:
    """Make the view. A call stands where it went through the gates; one that never did, where it was asked for.

    `is_running` says whether the process that wrote a session without an ending is still there, None where that is not
    known. A rule stands in full once; from then on by its place.
    """
    lines = list(lines)
    ended = next((line.event for line in reversed(lines) if isinstance(line.event, SessionEnded)), None)
    cut = _UNANSWERED[is_running] if ended is None else "no answer was recorded"
    rule_words = _rules_once()
    views = calls(lines)
    at: dict[int, list[CallView]] = {}
    for view in views:
        place = view.called_seq if view.called_seq is not None else view.asked_seq
        if place is None:
            place = view.returned_seq
        if place is not None:
            at.setdefault(place, []).append(view)
    entries: list[Entry] = []
    for line in lines:
        own = _entry(line, rule_words)
        if own is not None:
            entries.append(own)
        entries += [_call_entry(line, view, rule_words, cut) for view in at.pop(line.seq, [])]
    return SessionView(
        header=_header(lines),
        entries=tuple(entries),
        totals=totals(lines),
        outcome=ended.outcome if ended else _UNENDED[is_running],
        exit_code=ended.exit_code if ended else None,
    )


def _rules_once() -> Callable[[str], str]:
    """Return a function that gives a rule in full the first time, then `file:line` only."""
    told: set[str] = set()

    def words(rule: str) -> str:
        if rule not in told:
            told.add(rule)
            return rule
        return _PLACE.sub(r"\1", rule)

    return words


def _header(lines: list[Line]) -> tuple[tuple[str, str], ...]:
    started = next(((line, line.event) for line in lines if isinstance(line.event, SessionStarted)), None)
    if started is None:
        return (("session", lines[0].session), ("started", lines[0].ts)) if lines else ()
    line, event = started
    limits = ", ".join(f"{name} {value:g}" for name, value in event.limits.items() if value is not None)
    fields = [
        ("session", line.session),
        ("started", line.ts),
        ("goal", one_line(event.goal)),
        ("phone", f"{event.serial} (virtual)" if event.is_virtual else event.serial),
        ("model", event.model),
        ("policy", event.policy),
        (
            "ask",
            f"{event.ask}, {event.approver} answers" if event.approver != "none" else f"{event.ask}, nobody answers",
        ),
        ("limits", limits),
        ("checks", "; ".join(one_line(check) for check in event.checks)),
    ]
    return tuple((name, value) for name, value in fields if value)


def _entry(line: Line, rule_words: Callable[[str], str]) -> Entry | None:
    """Make the entry of a line that is not a call; None where there is nothing to show."""
    event = line.event
    if isinstance(event, RawEvent):
        return _made(line, "other", f"a line of kind {one_line(event.kind) or '?'} that this version cannot read")
    word, text, state, detail = _words(event, rule_words)
    return _made(line, word, text, state=state, detail=detail) if word else None


def _words(event: AnyEvent, rule_words: Callable[[str], str]) -> tuple[str, str, str, str]:
    """Return word, text, state and detail."""
    match event:
        case DeviceConnected():
            return "phone", f"{event.serial} connected ({event.transport}, {event.model}, API {event.sdk})", "", ""
        case LinkLost():
            return "phone", f"{event.serial} was lost: {event.message}", "lost", event.code
        case LinkRestored():
            return "phone", f"{event.serial} is back after {event.ms:,} ms", "back", ", ".join(event.did)
        case ScreenTaken():
            return "phone", f"{event.package or 'another app'} came to the front, and not by us", "held back", ""
        case PhoneChanged():
            words = event.words or f"{event.what} is {event.ours} for now, it was {event.before}"
            return "phone", words, "failed" if event.became == "failed" else "", event.became
        case ScreenObserved():
            return "screen", _screen(event), "", ""
        case ModelReplied():
            return ("reply", event.text, "", f"turn {event.turn}") if event.text.strip() else ("", "", "", "")
        case ModelFailed():
            return "model", event.message, "failed", event.code
        case Nudged():
            return "nudge", event.text, "", ""
        case CheckFinished():
            state = {True: "passed", False: "failed", None: "not judged"}[event.passed]
            return "check", event.expression, state, event.reason
        case ApprovalAsked():
            why = ", ".join([*([rule_words(event.rule)] if event.rule else []), *event.signals])
            return "asked", f"{event.sentence} ({event.approver} is asked, {event.level})", "", why
        case ApprovalAnswered():
            return "answer", f"{event.answer}, by {event.approver} after {event.waited_s:.1f} s", event.answer, ""
        case OutcomeResolved():
            return "resolved", f"call {event.call_id}: {event.outcome.replace('_', ' ')}", event.outcome, event.by
        case Noted():
            return "note", event.text, "", ""
        case SessionEnded():
            used = f"{plural(event.turns, 'turn')}, {plural(event.actions, 'action')}, {plural(event.tokens, 'token')}"
            return "end", f"{event.reason} ({used}, exit {event.exit_code})", event.outcome, event.summary
        case _:
            return "", "", "", ""


def _screen(event: ScreenObserved) -> str:
    words = [f"screen {event.screen}", event.package or "unknown app", plural(event.nodes, "node"), f"{event.ms} ms"]
    if not event.is_settled:
        words.append("not settled")
    if not event.is_complete:
        words.append("not complete")
    return ", ".join(words)


def _call_entry(line: Line, view: CallView, rule_words: Callable[[str], str], cut: str) -> Entry:
    # What a refused call was told repeats the verdict.
    told = view.text if view.state not in (CallState.OK, CallState.DONE, CallState.REFUSED) else ""
    verdict = view.deciding
    is_cut = view.called_seq is not None and view.returned_seq is None and view.state in _OPEN
    reasons = [cut] if is_cut else []
    if verdict is not None and verdict.rule:
        # Its reason repeats the rule, and ends with what a model should do.
        reasons.append(rule_words(verdict.rule))
    elif verdict is not None:
        reasons.append(verdict.reason)
    elif view.state is CallState.REFUSED:
        reasons.append(view.text)
    if view.approval:
        reasons.append(f"{view.approver} was asked: {view.approval}")
    if view.signals:
        reasons.append("signals: " + ", ".join(view.signals))
    detail = "; ".join(dict.fromkeys(part for part in (*reasons, told) if part))
    text = view.sentence or f"{view.tool} {_arguments(view.arguments)}".strip()
    return _made(line, "call", text, state=view.state.value, detail=detail, call_id=view.call_id, is_cut=is_cut)


def _arguments(arguments: dict[str, Any]) -> str:
    return " ".join(
        f"{name}={value!r}" if isinstance(value, str) else f"{name}={value}" for name, value in arguments.items()
    )


def _made(
    line: Line,
    word: str,
    text: str,
    *,
    state: str = "",
    detail: str = "",
    call_id: str = "",
    is_cut: bool = False,
) -> Entry:
    return Entry(
        line.seq,
        line.ts,
        word,
        shorten(one_line(text), MAX_TEXT),
        state,
        shorten(one_line(detail), MAX_TEXT),
        call_id,
        is_cut,
    )
