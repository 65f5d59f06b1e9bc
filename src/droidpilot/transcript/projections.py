"""Pure functions from the lines of a transcript to views: what became of each call, and what it all cost.

They read what is there, after a kill at any byte too, and decide in doubt for "it may have happened". They never ask a
phone, a clock or a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from droidpilot.core.calls import Answer, Effect, Status
from droidpilot.core.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    CheckStarted,
    CommandGiven,
    ModelAsked,
    ModelReplied,
    OutcomeResolved,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.transcript.reader import Line, RawEvent


class CallState(StrEnum):
    """What became of a call (DESIGN.md section 0.2)."""

    NOT_SENT = "not_sent"  # asked for, and never came to the gates' end: nothing reached the phone
    REFUSED = "refused"
    OK = "ok"
    TRANSIENT = "transient"
    LOGIC = "logic"
    FATAL = "fatal"
    UNKNOWN = "unknown"  # a write that may have happened, not yet resolved
    STOPPED = "stopped"
    DONE = "done"  # was unknown; found out to have happened
    NOT_DONE = "not_done"  # was unknown; found out not to have happened


@dataclass(frozen=True, slots=True, kw_only=True)
class CallView:
    """One call, from being asked for to its answer."""

    call_id: str
    tool: str
    origin: str  # model, human, check; empty where the asking line is not there
    state: CallState
    asked_seq: int | None = None  # of the line that asks; None for a call that is part of another
    called_seq: int | None = None
    returned_seq: int | None = None
    turn: int | None = None  # of the reply that asked
    effect: str = ""  # read, write; empty where it was not called
    sentence: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    verdicts: tuple[VerdictLine, ...] = ()
    signals: tuple[str, ...] = ()
    approval: str = ""  # yes, no, expired, nobody, stopped; "asked" without an answer; empty where nobody was asked
    approver: str = ""
    send_key: str = ""
    same_as: tuple[str, ...] = ()  # by which the same call is known again
    code: str = ""
    text: str = ""  # what the asker was told
    artifact: str = ""
    picture: str = ""  # digest of the picture that the answer came with
    kept_picture: str = ""  # digest of a picture of the screen before it
    ms: int | None = None

    @property
    def deciding(self) -> VerdictLine | None:
        """The verdict to show: the one that refused, else the one that asked, else the rule that allowed."""
        for answers in ({Answer.DENY, Answer.HALT}, {Answer.ASK}):
            for verdict in self.verdicts:
                if verdict.answer in answers:
                    return verdict
        return next((verdict for verdict in self.verdicts if verdict.rule), None)


@dataclass(frozen=True, slots=True)
class Totals:
    """What a session used."""

    turns: int = 0  # model requests made
    calls: int = 0
    actions: int = 0  # writes that reached the phone, or may have
    refused: int = 0
    unknown: int = 0  # not yet resolved
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = 0.0  # None where the price of any reply is not known
    waited_s: float = 0.0  # for a person

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


def calls(lines: Iterable[Line]) -> list[CallView]:
    """List every call in the order in which it first appears."""
    views: dict[str, CallView] = {}
    for line in lines:
        event = line.event
        if isinstance(event, RawEvent):
            _raw(views, line.seq, event)
        else:
            _known(views, line.seq, event)
    return list(views.values())


def unknown_writes(lines: Iterable[Line]) -> list[CallView]:
    """List the writes of which nobody knows yet whether they happened; none of them may be sent again."""
    return [view for view in calls(lines) if view.state is CallState.UNKNOWN]


def totals(lines: Iterable[Line]) -> Totals:
    """Add up what the lines record."""
    lines = list(lines)
    views = calls(lines)
    events = [line.event for line in lines]
    replies = [event for event in events if isinstance(event, ModelReplied)]
    prices = [reply.usd for reply in replies]
    return Totals(
        turns=sum(isinstance(event, ModelAsked) for event in events),
        calls=len(views),
        actions=sum(_was_sent(view, events) for view in views),
        refused=sum(view.state is CallState.REFUSED for view in views),
        unknown=sum(view.state is CallState.UNKNOWN for view in views),
        prompt_tokens=sum(reply.prompt_tokens for reply in replies),
        completion_tokens=sum(reply.completion_tokens for reply in replies),
        cached_tokens=sum(reply.cached_tokens for reply in replies),
        usd=None if None in prices else sum(price for price in prices if price is not None),
        waited_s=sum(event.waited_s for event in events if isinstance(event, ApprovalAnswered)),
    )


def _was_sent(view: CallView, events: list[AnyEvent | RawEvent]) -> bool:
    if view.effect != Effect.WRITE or view.state in (CallState.REFUSED, CallState.NOT_SENT):
        return False
    if view.returned_seq is None:
        return True
    return any(
        isinstance(event, ToolReturned) and event.call_id == view.call_id and event.sent != "no" for event in events
    )


def _known(views: dict[str, CallView], seq: int, event: AnyEvent) -> None:
    match event:
        case ModelReplied():
            for asked in event.calls:
                _ask(views, seq, asked.call_id, asked.tool, "model", arguments=asked.arguments, turn=event.turn)
        case CommandGiven():
            _ask(views, seq, event.call_id, event.tool, "human", arguments=event.arguments)
        case CheckStarted():
            _ask(views, seq, event.call_id, "ui_tree", "check")
        case ApprovalAsked():
            _update(views, event.call_id, approval="asked", approver=event.approver, sentence=event.sentence)
        case ApprovalAnswered():
            _update(views, event.call_id, approval=event.answer, approver=event.approver)
        case ToolCalled():
            _called(views, seq, event)
        case ToolReturned():
            _returned(views, seq, event)
        case OutcomeResolved():
            known = views.get(event.call_id)
            if known is not None and known.state is CallState.UNKNOWN:
                _update(views, event.call_id, state=CallState.DONE if event.outcome == "done" else CallState.NOT_DONE)
        case _:
            pass


def _called(views: dict[str, CallView], seq: int, event: ToolCalled) -> None:
    refused = any(verdict.answer in (Answer.DENY, Answer.HALT) for verdict in event.verdicts)
    if refused:
        state = CallState.REFUSED
    else:
        state = CallState.UNKNOWN if event.effect == "write" else CallState.STOPPED
    _update(
        views,
        event.call_id,
        tool=event.tool,
        origin=event.origin,
        state=state,
        called_seq=seq,
        effect=event.effect,
        sentence=event.sentence,
        arguments=event.arguments,
        verdicts=tuple(event.verdicts),
        signals=tuple(event.signals),
        send_key=event.send_key,
        same_as=tuple(event.same_as),
        kept_picture=event.picture,
    )


def _returned(views: dict[str, CallView], seq: int, event: ToolReturned) -> None:
    _update(
        views,
        event.call_id,
        tool=event.tool,
        state=CallState(Status(event.status).value),
        returned_seq=seq,
        code=event.code,
        text=event.text,
        artifact=event.artifact,
        picture=event.picture,
        ms=event.ms,
    )


def _raw(views: dict[str, CallView], seq: int, event: RawEvent) -> None:
    """Read what can be read of a line of another version: a call that may have been sent must not look unsent."""
    call_id, tool = event.fields.get("call_id"), event.fields.get("tool")
    if not isinstance(call_id, str):
        return
    name = tool if isinstance(tool, str) else ""
    if event.kind == "tool_called":
        effect = event.fields.get("effect")
        is_read = effect == Effect.READ
        _update(
            views,
            call_id,
            tool=name,
            state=CallState.STOPPED if is_read else CallState.UNKNOWN,
            called_seq=seq,
            effect=Effect.READ.value if is_read else Effect.WRITE.value,
        )
    elif event.kind == "tool_returned":
        status = event.fields.get("status")
        if status in set(Status):
            _update(views, call_id, tool=name, state=CallState(str(status)), returned_seq=seq)


def _ask(
    views: dict[str, CallView],
    seq: int,
    call_id: str,
    tool: str,
    origin: str,
    *,
    arguments: dict[str, Any] | None = None,
    turn: int | None = None,
) -> None:
    if call_id in views:
        return
    views[call_id] = CallView(
        call_id=call_id,
        tool=tool,
        origin=origin,
        state=CallState.NOT_SENT,
        asked_seq=seq,
        turn=turn,
        arguments=arguments or {},
    )


def _update(views: dict[str, CallView], call_id: str, **changes: Any) -> None:
    known = views.get(call_id)
    if known is None:
        # No line asked for it (a nested call, or the line was lost): it is listed where it first appears.
        known = CallView(call_id=call_id, tool=changes.get("tool", ""), origin="", state=CallState.NOT_SENT)
    views[call_id] = replace(known, **changes)
