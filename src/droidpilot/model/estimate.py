"""How big a request is, before anybody counted it: UTF-8 bytes / 3, rescaled by what the endpoint last reported.

Never characters / 4: that is 43 % too low for a screen as text. This room never knows a vendor's tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

#: What an image counts for, whatever its size in bytes (T57).
IMAGE_TOKENS = 900

#: Bytes of a message on the wire without its images, and how many images it has.
_Size = tuple[int, int]

#: The reported figure moves the estimate by at most this much in either direction.
_LEAST_SCALE, _MOST_SCALE = 0.25, 3.0


def text_tokens(text: str) -> int:
    """Estimate the tokens of one text; 0 only for an empty one."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def estimate_tokens(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """Estimate the tokens of a whole request, tool schemas included."""
    return _tokens(map(_size, messages), map(_size, tools))


class TokenEstimate:
    """An estimate that learns: each reported size rescales the next estimates."""

    def __init__(self) -> None:
        self._scale = 1.0
        # A conversation grows at its end: what was measured once is not encoded again at every turn.
        self._sizes: dict[int, tuple[Mapping[str, Any], _Size]] = {}

    def of(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> int:
        """Estimate the tokens of a request, rescaled."""
        return round(self._plain(messages, tools) * self._scale)

    def learn(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], reported_tokens: int
    ) -> None:
        """Take over the size that the endpoint reported for this very request; nonsense is ignored."""
        plain = self._plain(messages, tools)
        if plain > 0 and reported_tokens > 0:
            self._scale = min(_MOST_SCALE, max(_LEAST_SCALE, reported_tokens / plain))

    def _plain(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> int:
        known = self._sizes
        self._sizes = {}
        for part in (*messages, *tools):
            found = known.get(id(part))
            self._sizes[id(part)] = found if found is not None and found[0] is part else (part, _size(part))
        return _tokens(
            (self._sizes[id(message)][1] for message in messages), (self._sizes[id(tool)][1] for tool in tools)
        )


def _size(message: Mapping[str, Any]) -> _Size:
    content = message.get("content")
    images = 0
    if isinstance(content, list):
        images = sum(1 for part in content if _is_image(part))
        message = {**message, "content": [part for part in content if not _is_image(part)]}
    return len(_wire(message)), images


def _tokens(*groups: Iterable[_Size]) -> int:
    sizes = [size for group in groups for size in group]
    return -(-sum(size for size, _ in sizes) // 3) + sum(images for _, images in sizes) * IMAGE_TOKENS


def _is_image(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


def _wire(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
