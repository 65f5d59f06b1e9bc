"""A reply while it arrives: text, reasoning, calls and usage collected from the chunks of a stream.

Chunks are plain values as an endpoint sent them: nothing about their shape is trusted, every size is bounded. This
room never knows the client library that read them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from droidpilot.core.errors import ModelError, ModelUnusable
from droidpilot.core.text import one_line, shorten
from droidpilot.model.calls import CallAssembly
from droidpilot.model.client import ModelReply, Usage
from droidpilot.model.estimate import text_tokens
from droidpilot.model.usage import Prices, usage_of

MOST_TEXT_BYTES: Final = 1024 * 1024

#: The end reason of a reply whose stream broke off after some text (T52: what arrived is kept).
CUT: Final = "cut"

_OPEN, _CLOSE = "<think>", "</think>"


class StreamError(ModelError):
    """An error object inside a stream, or in place of one (B42). Never leaves this room."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Draft:
    """One reply while it arrives."""

    def __init__(self) -> None:
        self.calls = CallAssembly()
        self.finish_reason = ""
        self.model = ""
        self.reported: object = None
        self._prose = _Prose()
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._size = 0

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def has_text(self) -> bool:
        return any(piece.strip() for piece in self._text)

    @property
    def is_empty(self) -> bool:
        """Neither text nor call; reasoning alone is no answer."""
        return not self.has_text and not len(self.calls)

    @property
    def is_started(self) -> bool:
        """Whether the endpoint generated anything, which it will charge for."""
        return bool(self._text or self._reasoning or len(self.calls) or self.finish_reason or self.reported)

    def add(self, chunk: object) -> str:
        """Take one chunk and return the visible text it brought.

        Raises:
            StreamError: the chunk is an error object.
            ModelUnusable: the reply is larger than any reply has reason to be.
        """
        if not isinstance(chunk, Mapping):
            raise StreamError("a chunk of the reply is no object", 0)
        error = error_in(chunk)
        if error is not None:
            raise error
        if isinstance(chunk.get("usage"), Mapping):
            self.reported = chunk["usage"]
        if isinstance(chunk.get("model"), str) and not self.model:
            self.model = shorten(one_line(chunk["model"]), 200)
        choices = chunk.get("choices")
        if not isinstance(choices, list) or not choices or not isinstance(choices[0], Mapping):
            return ""
        return self._add_choice(choices[0])

    def finish(self) -> str:
        """Note that no more chunks come; return visible text that was held back until now."""
        visible, hidden = self._prose.flush()
        return self._keep(visible, hidden)

    def usage(self, *, prices: Prices | None, prompt_estimate: Callable[[], int]) -> Usage:
        """Return what this reply cost so far."""
        received = self.text + "".join(self._reasoning) + self.calls.argument_text
        return usage_of(
            self.reported,
            prices=prices,
            prompt_estimate=prompt_estimate,
            completion_estimate=text_tokens(received),
        )

    def reply(self, *, usage: Usage, asked_model: str, attempts: int) -> ModelReply:
        """Return the whole reply."""
        return ModelReply(
            text=self.text,
            calls=self.calls.finish(is_cut=self.finish_reason == "length"),
            finish_reason=self.finish_reason,
            usage=usage,
            model=self.model or asked_model,
            attempts=attempts,
            reasoning="".join(self._reasoning),
        )

    def _add_choice(self, choice: Mapping[str, Any]) -> str:
        # A whole message stands where an endpoint answered without streaming although asked to.
        raw_delta = choice.get("delta") or choice.get("message")
        delta: Mapping[str, Any] = raw_delta if isinstance(raw_delta, Mapping) else {}
        hidden = _text(delta.get("reasoning_content")) or _text(delta.get("reasoning"))
        visible, thought = self._prose.add(_text(delta.get("content")) or _text(delta.get("refusal")))
        text = self._keep(visible, hidden + thought)
        entries = delta.get("tool_calls")
        for number, entry in enumerate(entries if isinstance(entries, list) else ()):
            is_whole = "message" in choice and isinstance(entry, Mapping)
            self.calls.add({**entry, "index": number} if is_whole else entry)
        if isinstance(choice.get("finish_reason"), str):
            self.finish_reason = shorten(one_line(choice["finish_reason"]), 40)
        return text

    def _keep(self, visible: str, hidden: str) -> str:
        visible = visible.replace("\x00", "")
        self._size += len(visible.encode("utf-8", "replace")) + len(hidden.encode("utf-8", "replace"))
        if self._size > MOST_TEXT_BYTES:
            raise ModelUnusable("the reply is longer than 1 MiB", hint="choose another model")
        if visible:
            self._text.append(visible)
        if hidden:
            self._reasoning.append(hidden)
        return visible


class _Prose:
    """Tells the answer from a `<think>` block in front of it, which local models write into the text."""

    def __init__(self) -> None:
        self._held = ""
        self._state = "start"  # start, thinking, answer

    def add(self, piece: str) -> tuple[str, str]:
        """Return what is visible and what is thought of all that can be told apart by now."""
        if self._state == "answer":
            return piece, ""
        self._held += piece
        if self._state == "start":
            head = self._held.lstrip()
            if head.startswith(_OPEN):
                self._state, self._held = "thinking", head.removeprefix(_OPEN)
            elif not _OPEN.startswith(head):
                self._state = "answer"
                return self._take(), ""
        if self._state == "thinking":
            if _CLOSE in self._held:
                thought, _, rest = self._take().partition(_CLOSE)
                self._state = "answer"
                return rest.lstrip(), thought
            # All but what may be the first half of the closing mark is known to be thought.
            thought, self._held = self._held[: -len(_CLOSE)], self._held[-len(_CLOSE) :]
            return "", thought
        return "", ""

    def flush(self) -> tuple[str, str]:
        """Return what was held back at the end."""
        held = self._take()
        return ("", held) if self._state == "thinking" else (held, "")

    def _take(self) -> str:
        held, self._held = self._held, ""
        return held


def error_in(chunk: Mapping[str, Any]) -> StreamError | None:
    """Find the error object that some endpoints send with status 200."""
    error = chunk.get("error")
    if not error and (chunk.get("object") == "error" or chunk.get("type") == "error"):
        error = chunk
    if not error:
        return None
    status, message = error_words(error)
    return StreamError(message or "the endpoint reports an error without words", status)


def error_words(error: object) -> tuple[int, str]:
    """Read status (0 where none) and message out of an error object, in any of the shapes endpoints give it."""
    if isinstance(error, str):
        return 0, error
    if not isinstance(error, Mapping):
        return 0, ""
    if isinstance(error.get("error"), Mapping | str):
        return error_words(error["error"])
    status = next((error[name] for name in ("code", "status") if type(error.get(name)) is int), 0)
    message = next((error[name] for name in ("message", "detail") if isinstance(error.get(name), str)), "")
    if not message and error.get("detail"):
        message = str(error["detail"])
    return status, message


def _text(value: object) -> str:
    """Read a content field: a text, or a list of typed parts."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(
            part["text"]
            for part in value
            if isinstance(part, Mapping) and part.get("type") == "text" and isinstance(part.get("text"), str)
        )
    return ""
