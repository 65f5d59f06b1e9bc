"""Model: the port to a language model. A request and a reply as values, in the field's own wire format for messages.

Messages and tool schemas are plain dicts of the OpenAI chat-completions format: it is what every endpoint speaks, and
what the transcript can rebuild. This room never knows what a tool does or what a screen is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from droidpilot.core.stop import Stop

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens and money of one request. `usd` is None where neither the endpoint nor the user's prices tell it."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = None
    is_estimated: bool = False  # the endpoint reported nothing usable; counted as UTF-8 bytes / 3

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True, slots=True)
class ReplyCall:
    """One tool call of a reply. Where `malformed` is set, `arguments` is empty and it is never executed (INV-51)."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    arguments_json: str  # valid JSON, to be sent back in the history as it came ("{}" where it was malformed)
    malformed: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """Everything that is sent. `tools` in a fixed order, so that the provider's cache can match the prefix."""

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    max_output_tokens: int = 4096


@dataclass(frozen=True, slots=True)
class ModelReply:
    """One whole answer, after retries. `finish_reason` is the endpoint's word; `length` makes every call malformed."""

    text: str
    calls: tuple[ReplyCall, ...]
    finish_reason: str
    usage: Usage
    model: str
    attempts: int = 1
    reasoning: str = ""


class Model(Protocol):
    """Answers requests. Raises ModelError and Interrupted, nothing else."""

    @property
    def name(self) -> str: ...

    def ask(self, request: ModelRequest, *, on_text: Callable[[str], None], stop: Stop, timeout_s: float) -> ModelReply:
        """Send one request and stream the reply.

        `on_text` gets pieces of visible text as they come, and "" when a retry starts over. The stream is read inside
        `stop.interruptible()`.
        """
        ...
