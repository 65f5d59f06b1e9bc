"""FakeModel: a Model in memory, for tests of rooms that only need answers. It passes the contract of every Model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from droidpilot.core.errors import ModelError, ModelUnreachable
from droidpilot.core.stop import Stop
from droidpilot.model.client import ModelReply, ModelRequest, ReplyCall, Usage

#: A reply, an error to raise, or a function that makes a reply out of the request.
Answer = ModelReply | ModelError | Callable[[ModelRequest], ModelReply]


class FakeModel:
    """Gives `answers` in order and records what it was asked; after the last one it is unreachable."""

    def __init__(self, answers: Sequence[Answer] = (), *, name: str = "fake") -> None:
        self._answers = list(answers)
        self._name = name
        self.requests: list[ModelRequest] = []

    @property
    def name(self) -> str:
        return self._name

    def ask(self, request: ModelRequest, *, on_text: Callable[[str], None], stop: Stop, timeout_s: float) -> ModelReply:
        with stop.interruptible():
            self.requests.append(request)
            if timeout_s <= 0:
                raise ModelUnreachable("no time is left", code="model_timeout")
            if not self._answers:
                raise ModelUnreachable("the fake model has no more answers")
            answer = self._answers.pop(0)
            if isinstance(answer, ModelError):
                raise answer
            reply = answer if isinstance(answer, ModelReply) else answer(request)
            if reply.text:
                on_text(reply.text)
            return reply


def call(tool: str, *, id: str = "call_1", malformed: str = "", **arguments: Any) -> ReplyCall:
    """Make one call of a reply."""
    if malformed:
        return ReplyCall(id=id, tool=tool, arguments={}, arguments_json="{}", malformed=malformed)
    return ReplyCall(id=id, tool=tool, arguments=arguments, arguments_json=json.dumps(arguments))


def reply(
    text: str = "", *calls: ReplyCall, finish_reason: str = "", usage: Usage | None = None, model: str = "fake"
) -> ModelReply:
    """Make a reply; usage is 100 tokens sent and 10 received unless told."""
    return ModelReply(
        text=text,
        calls=calls,
        finish_reason=finish_reason or ("tool_calls" if calls else "stop"),
        usage=usage or Usage(prompt_tokens=100, completion_tokens=10),
        model=model,
    )


def last_text(request: ModelRequest) -> str:
    """Return the text of the newest message, for answers that look at what they were asked."""
    message: Mapping[str, Any] = request.messages[-1]
    content = message.get("content")
    return content if isinstance(content, str) else json.dumps(content)
