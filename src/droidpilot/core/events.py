"""Every kind of line that a transcript can hold. The field comments make the reference page.

The writer adds `v, seq, ts, session` before and `prev, hash` behind an event's own fields. Events hold words and
numbers; big things (a hierarchy, a full result) are artifacts, named by digest. Secrets are redacted by the writer,
whatever the field.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

#: Version of the line format.
FORMAT = 1

#: Stands in `model_replied` and `command_given` for a text to be typed; the text itself is in `tool_called`.
TEXT_ELSEWHERE = "[text: see tool_called]"
#: Stands for a text typed into a password field, or into a field that was not found.
TEXT_SECRET = "[secret]"


class Event(BaseModel):
    """Fields common to none: each event names its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: str


class SessionStarted(Event):
    """The first line: what the session is about and what it may do."""

    kind: Literal["session_started"] = "session_started"
    goal: str = Field(description="the goal in the person's words, empty for a single command")
    origin: str = Field(description="who opened the session: model (run) or human (call, look)")
    version: str = Field(description="droidpilot's version")
    serial: str = Field(description="the phone's serial")
    is_virtual: bool = Field(description="whether the phone is a virtual phone started by droidpilot")
    model: str = Field(default="", description="the model's name, empty where none is used")
    base_url: str = Field(default="", description="the model endpoint, without credentials")
    policy: str = Field(description="name or path of the rules file")
    policy_digest: str = Field(description="sha256 of the rules in force, project lines included")
    ask: str = Field(description="approval mode: never, risky or every")
    approver: str = Field(description="who can be asked: terminal, demo or none")
    tools: list[str] = Field(description="the tools this session may use")
    limits: dict[str, float | None] = Field(description="turns, actions, tokens, usd, seconds; null is no limit")
    checks: list[str] = Field(default=[], description="post-conditions to look at after done")


class DeviceConnected(Event):
    """The phone answered (plumbing)."""

    kind: Literal["device_connected"] = "device_connected"
    serial: str = Field(description="ADB's name of the phone")
    transport: str = Field(description="usb, tcp or emulator")
    model: str = Field(description="what the phone calls itself")
    sdk: int = Field(description="Android API level, 0 where unknown")
    ms: int = Field(description="how long connecting took")
    way: Literal["helper", "plain"] = Field(
        default="helper", description="by the in-phone server, or by plain ADB commands where that cannot run"
    )


class PhoneChanged(Event):
    """Something on the phone was switched for this session, or put back, or could not be (plumbing: keeper)."""

    kind: Literal["phone_changed"] = "phone_changed"
    serial: str = Field(description="ADB's name of the phone")
    what: str = Field(description="the setting: namespace/key")
    became: Literal["switched", "restored", "already", "kept", "failed"] = Field(
        description="switched: ours now; restored: put back; already: it was as before; kept: a person changed it "
        "since, so it stays; failed: not put back yet, and still written down"
    )
    before: str | None = Field(description="the value that was found, null where it was not set")
    ours: str = Field(description="the value that we set; for enabled keyboards the one that we added")
    since: str = Field(description="when it was switched, UTC")
    words: str = Field(default="", description="what became of it, in words")


class LinkLost(Event):
    """The phone could not be reached any more, and is waited for (plumbing). Said once for one outage."""

    kind: Literal["link_lost"] = "link_lost"
    serial: str = Field(description="ADB's name of the phone")
    code: str = Field(description="stable code of what was found: device_lost, offline, no_adb_server, ...")
    message: str = Field(description="what was found, in words")
    hint: str = Field(description="what a person can do meanwhile")
    patience_s: float = Field(description="seconds that it is waited for")


class LinkRestored(Event):
    """The same phone answers again (plumbing)."""

    kind: Literal["link_restored"] = "link_restored"
    serial: str = Field(description="ADB's name of the phone now; another than before where its address changed")
    did: list[str] = Field(
        description="what we did: adb_server_started, connected, moved; empty where it came by itself"
    )
    ms: int = Field(description="how long it was away since we noticed")


class ScreenObserved(Event):
    """A look at the phone (plumbing: at the start, before a call, after a write)."""

    kind: Literal["screen_observed"] = "screen_observed"
    screen: int = Field(description="number of the look, from 1")
    why: Literal["start", "call", "after_write", "stale", "refused"] = Field(description="what the look was for")
    package: str | None = Field(description="the app in front, null where it is not known")
    activity: str | None = Field(description="its activity, null where it is not known")
    fingerprint: str = Field(description="digest of all that could be seen")
    nodes: int = Field(description="number of nodes read")
    is_settled: bool = Field(description="whether two equal looks one gap apart were seen")
    is_complete: bool = Field(description="whether the whole hierarchy was read")
    ms: int = Field(description="how long it took, settling included")
    artifact: str = Field(description="digest of the hierarchy as the phone gave it, empty where it was not kept")
    width: int = Field(default=0, description="the display's width in px as turned now, 0 where it was not recorded")
    height: int = Field(default=0, description="its height")


class CommandGiven(Event):
    """A person asked for one tool by hand."""

    kind: Literal["command_given"] = "command_given"
    tool: str = Field(description="the tool asked for")
    arguments: dict[str, Any] = Field(description="as given; a text to type is replaced by a pointer to tool_called")
    call_id: str = Field(description="id of the call that follows")


class ModelAsked(Event):
    """A request is about to be sent to the model."""

    kind: Literal["model_asked"] = "model_asked"
    turn: int = Field(description="number of the turn, from 1")
    messages: int = Field(description="how many messages were sent")
    estimated_tokens: int = Field(description="size of the request as estimated before sending")


class AskedFor(BaseModel):
    """One call of a reply, as written with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    call_id: str = Field(description="our id of the call")
    model_call_id: str = Field(description="the endpoint's id of the call")
    tool: str = Field(description="the tool's name as the model wrote it")
    arguments: dict[str, Any] = Field(description="as asked for; a text to type is a pointer to tool_called")
    malformed: str = Field(default="", description="why the arguments could not be read, empty where they could")


class ModelReplied(Event):
    """A whole reply came. Written before its calls are submitted: a call here without tool_called was not sent."""

    kind: Literal["model_replied"] = "model_replied"
    turn: int = Field(description="number of the turn, from 1")
    model: str = Field(description="the model as the endpoint names it")
    text: str = Field(description="the reply's prose")
    calls: list[AskedFor] = Field(description="the calls of the reply, in order")
    finish_reason: str = Field(description="the endpoint's word for why it ended")
    prompt_tokens: int = Field(description="tokens sent")
    completion_tokens: int = Field(description="tokens received")
    cached_tokens: int = Field(description="of the tokens sent, those read from the provider's cache")
    usd: float | None = Field(description="price of this request, null where unknown")
    is_estimated: bool = Field(description="whether the tokens are our estimate")
    attempts: int = Field(description="how often it was sent until it succeeded")
    ms: int = Field(description="from request to last byte")


class ModelFailed(Event):
    """No usable reply came."""

    kind: Literal["model_failed"] = "model_failed"
    turn: int = Field(description="number of the turn, from 1")
    code: str = Field(description="stable code of the error")
    message: str = Field(description="the error in words")
    tokens: int = Field(default=0, description="tokens that the failed attempts used")
    usd: float | None = Field(default=0.0, description="what they cost, null where unknown")


class Nudged(Event):
    """We added a message to the conversation that nobody typed."""

    kind: Literal["nudged"] = "nudged"
    turn: int = Field(description="turn after which it was added")
    text: str = Field(description="the message as sent")


class CheckStarted(Event):
    """A post-condition is about to be looked at."""

    kind: Literal["check_started"] = "check_started"
    expression: str = Field(description="the check as given")
    call_id: str = Field(description="id of the call that looks")


class CheckFinished(Event):
    """A post-condition was judged, or could not be."""

    kind: Literal["check_finished"] = "check_finished"
    expression: str = Field(description="the check as given")
    passed: bool | None = Field(description="true or false as seen; null where it could not be judged (not passed)")
    reason: str = Field(description="what was seen, in words")


class VerdictLine(BaseModel):
    """One gate's answer, as written with a call."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gate: str = Field(description="capability, rules, approval, budget or staleness")
    answer: str = Field(description="allow, ask, deny or halt")
    code: str = Field(default="", description="stable reason code")
    reason: str = Field(default="", description="the reason in words")
    rule: str | None = Field(default=None, description="the deciding line of the policy: file:line: text")


class TargetNode(BaseModel):
    """A node under the finger, with its label in the forms that rules saw."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    ref: int | None = Field(description="its ref, null where it has none")
    cls: str = Field(description="its class")
    resource_id: str = Field(description="its resource id")
    package: str = Field(description="its package")
    bounds: tuple[int, int, int, int] = Field(description="left, top, right, bottom in px")
    raw: str = Field(description="its label as the phone gave it")
    cleaned: str = Field(description="NFKC, invisible and bidi characters out")
    folded: str = Field(description="cleaned, look-alikes to ASCII")


class Target(BaseModel):
    """What a call would really touch."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    package: str | None = Field(description="the app that would be touched, null where it is not known")
    points: list[tuple[int, int]] = Field(default=[], description="px; one for a tap, start and end for a swipe")
    nodes: list[TargetNode] = Field(default=[], description="the nodes under the points, topmost first")


class Judged(BaseModel):
    """What the rules were asked about a call, so that other rules can be asked the same later."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str = Field(description="the tool whose lines were looked at; a swipe of no length is a tap too")
    packages: list[str | None] = Field(description="the apps under the finger, or on the screen for a reading")
    over: list[str] = Field(default=[], description="of these, keyboards and system bars, which lie over every app")
    labels: list[str] = Field(default=[], description="what is said under the finger; without what a secret field gets")
    also: list[str] = Field(default=[], description="ids and what is said beside, which no allow line sees")
    is_matchable: bool = Field(default=True, description="whether there was something for `matching` to see")
    has_app: bool = Field(
        default=True, description="whether the tool touches an app at all; no `in` line counts if not"
    )


class ApprovalAsked(Event):
    """A person (or the approver in their place) is about to be asked. Written before the question is shown."""

    kind: Literal["approval_asked"] = "approval_asked"
    prompt_id: str = Field(description="id that the answer must carry")
    call_id: str = Field(description="the call in question")
    sentence: str = Field(description="what will happen, in one sentence")
    level: Literal["confirm", "strong"] = Field(description="yes or no, or a typed challenge")
    signals: list[str] = Field(description="reasons to worry")
    rule: str | None = Field(description="the line that asks, null where the risk does")
    approver: str = Field(description="who is asked: terminal, demo, none")
    expires_s: float = Field(description="seconds until no answer means no")


class ApprovalAnswered(Event):
    """The answer, or that none came."""

    kind: Literal["approval_answered"] = "approval_answered"
    prompt_id: str = Field(description="the question it answers")
    call_id: str = Field(description="the call in question")
    answer: Literal["yes", "no", "expired", "nobody", "stopped"] = Field(description="only yes lets the call pass")
    approver: str = Field(description="who answered: terminal, demo, none")
    waited_s: float = Field(description="seconds the question was open")


class ToolCalled(Event):
    """A call went through the gates. Written, and on disk, before a byte goes to the phone."""

    kind: Literal["tool_called"] = "tool_called"
    call_id: str = Field(description="id of the call")
    parent_id: str | None = Field(default=None, description="the call it is part of")
    origin: str = Field(description="who asked: model, human, check")
    turn_kind: str = Field(description="what started the turn")
    tool: str = Field(description="name as asked for")
    effect: Literal["read", "write"] = Field(
        description="whether it may change the phone; unknown tools count as write"
    )
    tier: str = Field(description="how an unknown outcome could be resolved: full, reconcilable, partial, blind")
    arguments: dict[str, Any] = Field(description="as asked for; a text for a password or unknown field is replaced")
    sentence: str = Field(description="what it does, in one sentence; empty where it could not be described")
    screen: int | None = Field(description="the look it was judged on")
    target: Target | None = Field(description="what it would touch; null for tools that touch no place")
    same_as: list[str] = Field(
        default=[],
        description="digests by which the same call is known again, by whatever name; of a write that was sent",
    )
    judged: list[Judged] = Field(
        default=[], description="what the rules were asked about it; empty before that was kept"
    )
    signals: list[str] = Field(description="reasons to worry that were seen")
    verdicts: list[VerdictLine] = Field(description="the gates' answers in order; the first deny or halt is the last")
    send_key: str = Field(description="names this one sending of a write; empty for reads and refused calls")
    picture: str = Field(default="", description="digest of a picture of that screen, empty where none was kept")


class ToolReturned(Event):
    """The answer to a call, whatever it was."""

    kind: Literal["tool_returned"] = "tool_returned"
    call_id: str = Field(description="id of the call")
    tool: str = Field(description="name as asked for")
    status: Literal["ok", "transient", "logic", "refused", "fatal", "unknown", "stopped"] = Field(
        description="how it ended"
    )
    sent: Literal["no", "yes", "unknown"] = Field(description="for a write: whether it reached the phone")
    code: str = Field(description="stable reason code, empty where ok")
    text: str = Field(description="what the asker was told, shortened")
    artifact: str = Field(description="digest of the full answer where the text was shortened, else empty")
    picture: str = Field(default="", description="digest of the picture the answer came with, empty where none")
    screen: int | None = Field(description="the look the answer describes")
    read_back: str = Field(
        default="",
        description="for a text that was typed, what the field held then: exact, reformatted, cut, changed, unreadable "
        "or late (exact or reformatted, but only at a further look); empty for other tools",
    )
    ms: int = Field(description="from submission to answer, waiting for a person included")
    ends: str = Field(description="how the session must end because of it, empty where it goes on")


class ScreenTaken(Event):
    """Another app or page came to the front, and no write of this session explains it. The call was not sent."""

    kind: Literal["screen_taken"] = "screen_taken"
    call_id: str = Field(description="the call before which it was seen")
    was_package: str | None = Field(description="the app that was in front on the look before")
    was_activity: str | None = Field(description="its activity")
    package: str | None = Field(description="the app in front now")
    activity: str | None = Field(description="its activity")
    after_s: float = Field(description="seconds since the last write of this session, or since its first look")


class OutcomeResolved(Event):
    """What became of an unknown write was found out."""

    kind: Literal["outcome_resolved"] = "outcome_resolved"
    call_id: str = Field(description="the unknown call")
    outcome: Literal["done", "not_done"] = Field(description="what was found")
    by: Literal["person", "look"] = Field(description="who found it")


class Noted(Event):
    """Something a reader should know that is no decision: a warning, a limit, a fallback."""

    kind: Literal["noted"] = "noted"
    text: str = Field(description="the note in words")


class SessionEnded(Event):
    """The last line of a session that was not killed."""

    kind: Literal["session_ended"] = "session_ended"
    outcome: str = Field(
        description="done, unchecked, failed, refused, budget, unknown, device, model, interrupted, internal"
    )
    exit_code: int = Field(description="the program's exit code")
    reason: str = Field(description="why, in words")
    summary: str = Field(description="the model's own closing words, which prove nothing")
    turns: int = Field(description="model requests made")
    actions: int = Field(description="writes sent")
    tokens: int = Field(description="tokens used")
    usd: float | None = Field(description="money spent, null where unknown")
    seconds: float = Field(description="how long it took, waiting for a person excluded")


AnyEvent = Annotated[
    SessionStarted
    | DeviceConnected
    | PhoneChanged
    | LinkLost
    | LinkRestored
    | ScreenObserved
    | CommandGiven
    | ModelAsked
    | ModelReplied
    | ModelFailed
    | Nudged
    | CheckStarted
    | CheckFinished
    | ApprovalAsked
    | ApprovalAnswered
    | ToolCalled
    | ToolReturned
    | ScreenTaken
    | OutcomeResolved
    | Noted
    | SessionEnded,
    Field(discriminator="kind"),
]

EVENTS: TypeAdapter[AnyEvent] = TypeAdapter(AnyEvent)
