"""What `session show` prints, as values: a header and an entry per line worth reading. How it looks is cli's affair."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from droidpilot.core.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CheckFinished,
    DeviceConnected,
    ModelFailed,
    ModelReplied,
    Noted,
    Nudged,
    OutcomeResolved,
    ScreenObserved,
    SessionEnded,
    SessionStarted,
)
from droidpilot.core.text import one_line, plural, shorten
from droidpilot.transcript.projections import CallState, CallView, Totals, calls, totals
from droidpilot.transcript.reader import Line, RawEvent

#: A reply's prose and a call's arguments are cut here for display; the transcript has them whole.
MAX_TEXT = 400


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


@dataclass(frozen=True, slots=True)
class SessionView:
    """A whole session to be shown, in the order of its lines."""

    header: tuple[tuple[str, str], ...]  # name, value
    entries: tuple[Entry, ...]
    totals: Totals
    outcome: str  # as in session_ended; "killed or running" without that line
    exit_code: int | None


def session_view(lines: Iterable[Line]) -> SessionView:
    """Make the view. A call stands where it went through the gates; one that never did, where it was asked for."""
    lines = list(lines)
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
        own = _entry(line)
        if own is not None:
            entries.append(own)
        entries += [_call_entry(line, view) for view in at.pop(line.seq, [])]
    ended = next((line.event for line in reversed(lines) if isinstance(line.event, SessionEnded)), None)
    return SessionView(
        header=_header(lines),
        entries=tuple(entries),
        totals=totals(lines),
        outcome=ended.outcome if ended else "killed or running",
        exit_code=ended.exit_code if ended else None,
    )


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


def _entry(line: Line) -> Entry | None:
    """Make the entry of a line that is not a call; None where there is nothing to show."""
    event = line.event
    if isinstance(event, RawEvent):
        return _made(line, "other", f"a line of kind {one_line(event.kind) or '?'} that this version cannot read")
    word, text, state, detail = _words(event)
    return _made(line, word, text, state=state, detail=detail) if word else None


def _words(event: AnyEvent) -> tuple[str, str, str, str]:
    """Return word, text, state and detail."""
    match event:
        case DeviceConnected():
            return "phone", f"{event.serial} connected ({event.transport}, {event.model}, API {event.sdk})", "", ""
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
            why = event.rule or ", ".join(event.signals)
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


def _call_entry(line: Line, view: CallView) -> Entry:
    told = view.text if view.state not in (CallState.OK, CallState.DONE) else ""
    verdict = view.deciding
    reasons = [verdict.rule or "", verdict.reason] if verdict is not None else []
    if view.approval:
        reasons.append(f"{view.approver} was asked: {view.approval}")
    if view.signals:
        reasons.append("signals: " + ", ".join(view.signals))
    detail = "; ".join(dict.fromkeys(part for part in (*reasons, told) if part))
    text = view.sentence or f"{view.tool} {_arguments(view.arguments)}".strip()
    return _made(line, "call", text, state=view.state.value, detail=detail, call_id=view.call_id)


def _arguments(arguments: dict[str, Any]) -> str:
    return " ".join(
        f"{name}={value!r}" if isinstance(value, str) else f"{name}={value}" for name, value in arguments.items()
    )


def _made(line: Line, word: str, text: str, *, state: str = "", detail: str = "", call_id: str = "") -> Entry:
    return Entry(
        line.seq,
        line.ts,
        word,
        shorten(one_line(text), MAX_TEXT),
        state,
        shorten(one_line(detail), MAX_TEXT),
        call_id,
    )
