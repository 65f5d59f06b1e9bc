"""Loop: observe, ask, submit each call one after another, answer every call; until done, a budget, a breaker or a stop.

It decides whether to go on and nothing else: what a call does and whether it may is decided on the road.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from droidpilot.agent.breakers import Breakers
from droidpilot.agent.context import Conversation
from droidpilot.agent.prompt import NUDGE_CUT, NUDGE_EMPTY, NUDGE_PROSE, SKIPPED, SYSTEM, first_message
from droidpilot.core.calls import Answer, Dispatch, Origin, Status, ToolCall, ToolResult
from droidpilot.core.clock import Clock
from droidpilot.core.errors import Interrupted, ModelError, ModelRejected
from droidpilot.core.events import TEXT_ELSEWHERE, AskedFor, Event, ModelAsked, ModelFailed, ModelReplied, Nudged
from droidpilot.core.images import Image
from droidpilot.core.stop import Stop
from droidpilot.core.text import one_line, shorten
from droidpilot.model.client import Model, ModelReply, ModelRequest, ReplyCall
from droidpilot.model.estimate import TokenEstimate
from droidpilot.pipeline.budget import Budget

How = Literal["done", "failed", "budget", "refused", "device", "model", "stopped", "internal"]

#: Seconds a reply may take where the budget sets no limit.
_REPLY_TIMEOUT_S = 900.0
#: Texts shorter than this are not looked for in a reply's prose: they would stand there by chance.
_MASK_CHARS = 4


@dataclass(frozen=True, slots=True)
class Ending:
    """How the loop ended. `summary` is the model's own closing word, which proves nothing."""

    how: How
    reason: str
    summary: str = ""


class Loop:
    """One goal, one model, one road."""

    def __init__(
        self,
        *,
        model: Model,
        dispatch: Dispatch,
        budget: Budget,
        tools: Sequence[dict[str, Any]],
        shown_screen: Callable[[], int | None],
        record: Callable[[Event], None],
        on_text: Callable[[str], None],
        clock: Clock,
        stop: Stop,
        shows_secret: Callable[[], bool] = lambda: False,  # whether the screen told last has a field for a secret
    ) -> None:
        self._model = model
        self._dispatch = dispatch
        self._budget = budget
        self._tools = tools
        self._shown_screen = shown_screen
        self._record = record
        self._on_text = on_text
        self._clock = clock
        self._stop = stop
        self._shows_secret = shows_secret
        self._estimate = TokenEstimate()
        self._breakers = Breakers()

    def run(self, goal: str, first_screen: str) -> Ending:
        """Work until something ends it. Raises TranscriptError only."""
        talk = Conversation(SYSTEM, first_message(goal, first_screen))
        nudges = 0
        while True:
            verdict = self._budget.start_turn()
            if verdict.answer is not Answer.ALLOW:
                return Ending("budget", verdict.reason)
            try:
                self._stop.check()
                reply = self._ask(talk)
            except Interrupted:
                return Ending("stopped", "a person stopped it")
            except ModelError as error:
                failed = self._model_failed(error)
                # An endpoint that took every request before the first picture may just read no images.
                if error.code == ModelRejected.code and talk.do_without_images():
                    continue
                return failed
            if reply.calls:
                nudges = 0
                ending = self._submit_all(talk, reply)
                if ending is not None:
                    return ending
                continue
            talk.add_reply(reply, [])
            if nudges:
                return self._ended_in_prose(reply)
            nudges += 1
            self._nudge(talk, reply)

    def _model_failed(self, error: ModelError) -> Ending:
        if error.spent_tokens:
            self._budget.add_usage(error.spent_tokens, error.spent_usd)
        self._record(
            ModelFailed(
                turn=self._budget.turns,
                code=error.code,
                message=str(error),
                tokens=error.spent_tokens,
                usd=error.spent_usd,
            )
        )
        limit = self._budget.limits.seconds
        if error.code == "model_timeout" and limit is not None and self._budget.seconds >= limit:
            return Ending("budget", f"all {limit:g} seconds are used (--max-seconds); the model was still answering")
        return Ending("model", str(error))

    def _ask(self, talk: Conversation) -> ModelReply:
        turn = self._budget.turns
        request = ModelRequest(messages=talk.messages, tools=self._tools)
        self._record(
            ModelAsked(
                turn=turn,
                messages=len(request.messages),
                estimated_tokens=self._estimate.of(request.messages, request.tools),
            )
        )
        started = self._clock.monotonic()
        limit = self._budget.limits.seconds
        timeout_s = _REPLY_TIMEOUT_S if limit is None else max(1.0, limit - self._budget.seconds)
        reply = self._model.ask(request, on_text=self._on_text, stop=self._stop, timeout_s=timeout_s)
        ms = round((self._clock.monotonic() - started) * 1000)
        usage = reply.usage
        self._budget.add_usage(usage.tokens, usage.usd)
        if reply.attempts == 1 and not usage.is_estimated:
            self._estimate.learn(request.messages, request.tools, usage.prompt_tokens)
        self._record(
            ModelReplied(
                turn=turn,
                model=reply.model,
                text=_masked(reply.text, reply.calls, every=self._shows_secret()),
                calls=self._asked_for(turn, reply.calls),
                finish_reason=reply.finish_reason,
                prompt_tokens=usage.prompt_tokens,
                completion_tokens=usage.completion_tokens,
                cached_tokens=usage.cached_tokens,
                usd=usage.usd,
                is_estimated=usage.is_estimated,
                attempts=reply.attempts,
                ms=ms,
            )
        )
        return reply

    def _asked_for(self, turn: int, calls: Sequence[ReplyCall]) -> list[AskedFor]:
        # Before a password field the secret may stand anywhere: in a tool that is none, or in the place of a ref.
        hides_all = self._shows_secret()
        return [
            _asked_for(turn, number, call, calls, hides_all=hides_all) for number, call in enumerate(calls, start=1)
        ]

    def _submit_all(self, talk: Conversation, reply: ModelReply) -> Ending | None:
        """Submit the calls in order; after one that is not ok the rest are skipped, for they built on it."""
        answers: list[tuple[str, str]] = []
        images: list[Image] = []
        # All calls of a reply came of what was told before it; what an earlier one changed, the model has not seen.
        seen = self._shown_screen()
        ending: Ending | None = None
        is_skipping = False
        for number, asked in enumerate(reply.calls, start=1):
            if ending is None and self._stop.is_requested:
                ending = Ending("stopped", "a person stopped it")
            if ending is not None or is_skipping:
                answers.append((asked.id, SKIPPED))
                continue
            before = self._shown_screen()
            call = ToolCall(
                id=call_id(self._budget.turns, number),
                tool=asked.tool,
                arguments=asked.arguments,
                origin=Origin.MODEL,
                screen=seen,
                malformed=asked.malformed,
            )
            result = self._dispatch.submit(call)
            answers.append((asked.id, result.text))
            if result.image is not None:
                images.append(result.image)
            is_skipping = result.status is not Status.OK
            ending = self._ended_by(call, result, has_changed=self._shown_screen() != before)
        talk.add_reply(reply, answers)
        talk.add_images(images)
        return ending

    def _ended_by(self, call: ToolCall, result: ToolResult, *, has_changed: bool) -> Ending | None:
        match result.ends:
            case "":
                trip = self._breakers.note(call, result, has_changed=has_changed)
                return Ending("failed", trip) if trip else None
            case "done":
                return Ending("done", "the model says it is done", str(result.value))
            case "stopped":
                return Ending("stopped", "a person stopped it")
            case "budget" | "refused" | "device":
                return Ending(result.ends, shorten(one_line(result.text), 300))
            case _:
                return Ending("internal", shorten(one_line(result.text), 300))

    def _nudge(self, talk: Conversation, reply: ModelReply) -> None:
        if reply.finish_reason == "length":
            text = NUDGE_CUT
        else:
            text = NUDGE_PROSE if reply.text.strip() else NUDGE_EMPTY
        talk.add_user(text)
        self._record(Nudged(turn=self._budget.turns, text=text))

    def _ended_in_prose(self, reply: ModelReply) -> Ending:
        if reply.text.strip():
            return Ending("failed", "the model answered in prose twice instead of calling a tool or done", reply.text)
        return Ending("model", f"the model sent empty replies (finish reason: {reply.finish_reason or 'none'})")


def call_id(turn: int, number: int) -> str:
    """Name a call by its turn and place, unique in its session."""
    return f"t{turn}c{number}"


def _asked_for(turn: int, number: int, call: ReplyCall, calls: Sequence[ReplyCall], *, hides_all: bool) -> AskedFor:
    # The text of type_text may stand under a name that was misspelt.
    hidden = set(call.arguments) - {"ref", "mode"} if call.tool == "type_text" else {"text"}
    hidden = set(call.arguments) if hides_all else hidden
    arguments = {
        key: TEXT_ELSEWHERE if key in hidden else _masked_value(value, calls) for key, value in call.arguments.items()
    }
    return AskedFor(
        call_id=call_id(turn, number),
        model_call_id=call.id,
        tool=call.tool,
        arguments=arguments,
        malformed=call.malformed,
    )


def _masked_value(value: object, calls: Sequence[ReplyCall]) -> object:
    return _masked(value, calls) if isinstance(value, str) else value


def _masked(text: str, calls: Sequence[ReplyCall], *, every: bool = False) -> str:
    """Return `text` without the texts that its calls ask to type: they may be secrets, and stand in tool_called.

    `every`: without any text of their arguments.
    """
    for call in calls:
        for typed in call.arguments.values() if every else [call.arguments.get("text")]:
            if isinstance(typed, str) and len(typed) >= _MASK_CHARS:
                text = text.replace(typed, TEXT_ELSEWHERE)
    return text
