"""What is asked and what is answered: ToolCall, Verdict, ToolResult. Values only; no gate, phone or model in here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from droidpilot.core.images import Image


class Origin(StrEnum):
    """Who asked for a call. It is recorded, and no gate is skipped for any of them."""

    MODEL = "model"
    HUMAN = "human"
    CHECK = "check"


class TurnKind(StrEnum):
    """What started the turn a call belongs to."""

    USER = "user"
    SCHEDULED = "scheduled"
    UNTRUSTED = "untrusted"
    SWEEP = "sweep"
    HARVEST = "harvest"


class Status(StrEnum):
    """How a call ended. Nobody reads words in the text to find out."""

    OK = "ok"
    TRANSIENT = "transient"  # not done, may work when tried again
    LOGIC = "logic"  # not done, asking the same again is no use
    REFUSED = "refused"  # a gate said no; nothing was sent
    FATAL = "fatal"  # phone or wire gone, nothing was sent; the session cannot go on
    UNKNOWN = "unknown"  # a write that may or may not have happened
    STOPPED = "stopped"  # a person stopped it before it was sent, or a read without an answer


class Effect(StrEnum):
    """Whether a tool may change the phone or the world. An unknown tool counts as a write."""

    READ = "read"
    WRITE = "write"


class Tier(StrEnum):
    """How an unknown outcome can be resolved later (CON-1); declared with each tool."""

    FULL = "full"
    RECONCILABLE = "reconcilable"
    PARTIAL = "partial"
    BLIND = "blind"


class Answer(StrEnum):
    """What a gate says."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"
    HALT = "halt"  # refuse this call and end the session


@dataclass(frozen=True, slots=True)
class Verdict:
    """One gate's answer. `code` is stable and for programs, `reason` is for people and may be shown to the model."""

    gate: str
    answer: Answer
    code: str = ""
    reason: str = ""
    rule: str | None = None  # "default.rules:12: ask tap matching (?i)pay", where a rule decided


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A request for one tool.

    `arguments` are as asked for, not yet validated; `malformed` says why they could not be read.
    """

    id: str
    tool: str
    arguments: Mapping[str, Any]
    origin: Origin
    turn_kind: TurnKind = TurnKind.USER
    parent_id: str | None = None
    screen: int | None = None  # the look the asker saw when it asked
    malformed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """The answer to one ToolCall.

    `text` is what the asker may read; `value` is the same for programs inside this process (a Screen, a setting) and is
    None unless the status is ok. `ends` names the way in which the session must end, if it must.
    """

    call_id: str
    tool: str
    status: Status
    text: str
    code: str = ""
    value: Any = None
    image: Image | None = None  # what goes to a model behind the text; bytes that are written down as an artifact
    screen: int | None = None  # the look this result describes
    verdicts: tuple[Verdict, ...] = field(default=())
    ends: str = ""  # "", done, refused, budget, device, internal, stopped
    sent: str = "no"  # for writes: no, yes, unknown
    read_back: str = ""  # for a text that was typed: exact, reformatted, cut, changed, unreadable, late


class Dispatch(Protocol):
    """The one way from a runner to the phone: pipeline/executor implements it, the session plugs it in."""

    def submit(self, call: ToolCall) -> ToolResult:
        """Take one call down the road. Never raises for anything the call or the phone did; the result says it."""
        ...
