"""A scripted reply in the wire format of chat-completions, as a stream of chunks or as one object.

Source: the vendor's API reference for chat completion chunks. Pure values; scripted.py sends them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from droidpilot.model.estimate import estimate_tokens, text_tokens
from droidpilot.model.script import ScriptedCall, ScriptedUsage, Step, find_ref

#: Characters of prose or arguments in one chunk.
_PIECE: Final = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedReply:
    """One reply, its refs looked up and its faults built in. `calls` are (id, tool, arguments as sent)."""

    id: str
    model: str
    prose: str
    reasoning: str
    calls: tuple[tuple[str, str, str], ...]
    finish_reason: str
    usage: Mapping[str, Any]
    has_usage_chunk: bool
    is_cut: bool
    has_error: bool

    def events(self) -> Iterator[str]:
        """Yield the data of each server-sent event, the last one `[DONE]` unless the reply is cut."""
        yield self._chunk({"role": "assistant", "content": ""})
        for piece in _pieces(self.reasoning):
            yield self._chunk({"reasoning_content": piece})
        is_cut_in_prose = self.is_cut and not self.calls
        for piece in _pieces(self.prose[: len(self.prose) // 2] if is_cut_in_prose else self.prose):
            yield self._chunk({"content": piece})
        if self.has_error:
            yield json.dumps({"error": {"code": 500, "message": "scripted error in the stream"}})
            return
        for index, (call_id, tool, arguments) in enumerate(self.calls):
            head = {"index": index, "id": call_id, "type": "function", "function": {"name": tool, "arguments": ""}}
            yield self._chunk({"tool_calls": [head]})
            if self.is_cut:
                arguments = arguments[: max(1, len(arguments) // 2)]
            for piece in _pieces(arguments):
                yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
            if self.is_cut:
                break
        if self.is_cut:
            return
        yield self._chunk({}, finish_reason=self.finish_reason)
        if self.has_usage_chunk:
            yield _json({**self._head("chat.completion.chunk"), "choices": [], "usage": self.usage})
        yield "[DONE]"

    def whole(self) -> dict[str, Any]:
        """Return the reply as one object, as it is sent where no stream was asked for."""
        if self.has_error:
            return {"choices": None, "error": {"code": 500, "message": "scripted error in place of a reply"}}
        message: dict[str, Any] = {"role": "assistant", "content": self.prose or None}
        if self.reasoning:
            message["reasoning_content"] = self.reasoning
        if self.calls:
            message["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": tool, "arguments": arguments}}
                for call_id, tool, arguments in self.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": self.finish_reason}
        return {**self._head("chat.completion"), "choices": [choice], "usage": self.usage}

    def _chunk(self, delta: Mapping[str, Any], *, finish_reason: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return _json({**self._head("chat.completion.chunk"), "choices": [choice]})

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": 0, "model": self.model}


def compose(step: Step, body: Mapping[str, Any], *, model: str, number: int) -> ComposedReply:
    """Make the reply to one parsed request. `number` (from 1) goes into the ids.

    Raises:
        LabelNotFound: a call looks for a text that is on no usable line.
    """
    fault = step.fault if isinstance(step.fault, str) else ""
    messages = [message for message in body["messages"] if isinstance(message, Mapping)]
    calls = [
        (f"call_{number}_{index}", call.tool, _arguments(call, messages)) for index, call in enumerate(step.calls, 1)
    ]
    prose, reasoning, finish_reason = step.say, "", "tool_calls" if calls else "stop"
    if fault in ("empty", "reasoning_only", "content_filter"):
        prose, calls = "", []
        finish_reason = "content_filter" if fault == "content_filter" else "stop"
        reasoning = "I think about it." if fault == "reasoning_only" else ""
    elif fault in ("bad_json", "length"):
        calls = [(call_id, tool, _broken(arguments)) for call_id, tool, arguments in calls]
        calls = calls or [(f"call_{number}_1", "tap", '{"ref": ')]
        finish_reason = "length" if fault == "length" else "tool_calls"
    options = body.get("stream_options")
    return ComposedReply(
        id=f"chatcmpl-{number}",
        model=model,
        prose=prose,
        reasoning=reasoning,
        calls=tuple(calls),
        finish_reason=finish_reason,
        usage=_usage(step.usage, body, messages, prose + reasoning + "".join(f"{call[1]}{call[2]}" for call in calls)),
        has_usage_chunk=isinstance(options, Mapping) and bool(options.get("include_usage")),
        is_cut=fault == "cut_stream",
        has_error=fault == "error_in_stream",
    )


def _arguments(call: ScriptedCall, messages: list[Mapping[str, Any]]) -> str:
    if call.raw is not None:
        return call.raw
    found = {} if call.find is None else {"ref": find_ref(call.find, messages)}
    return _json({**call.args, **found})


def _broken(arguments: str) -> str:
    """Cut the arguments so that they are no JSON any more; `{}` becomes `{`."""
    return arguments[: max(1, len(arguments) - 2)]


def _usage(
    told: ScriptedUsage | None, body: Mapping[str, Any], messages: list[Mapping[str, Any]], sent: str
) -> dict[str, Any]:
    if told is None:
        tools = body.get("tools")
        known = [tool for tool in tools if isinstance(tool, Mapping)] if isinstance(tools, list) else []
        told = ScriptedUsage(prompt=estimate_tokens(messages, known), completion=text_tokens(sent))
    usage: dict[str, Any] = {
        "prompt_tokens": told.prompt,
        "completion_tokens": told.completion,
        "total_tokens": told.prompt + told.completion,
        "prompt_tokens_details": {"cached_tokens": told.cached},
    }
    return usage if told.cost is None else {**usage, "cost": told.cost}


def _pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
