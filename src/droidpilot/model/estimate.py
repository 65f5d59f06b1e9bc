"""How big a request is, before anybody counted it: UTF-8 bytes / 3, rescaled by what the endpoint last reported.

Never characters / 4: that is 43 % too low for a screen as text. This room never knows a vendor's tokenizer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

#: What an image counts for, whatever its size in bytes (T57).
IMAGE_TOKENS = 900

#: The reported figure moves the estimate by at most this much in either direction.
_LEAST_SCALE, _MOST_SCALE = 0.25, 3.0


def text_tokens(text: str) -> int:
    """Estimate the tokens of one text; 0 only for an empty one."""
    return -(-len(text.encode("utf-8", "replace")) // 3)


def estimate_tokens(messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """Estimate the tokens of a whole request, tool schemas included."""
    images = 0
    total = 0
    for message in messages:
        content = message.get("content")
        if isinstance(content, list):
            images += sum(1 for part in content if _is_image(part))
            message = {**message, "content": [part for part in content if not _is_image(part)]}
        total += len(_wire(message))
    total += sum(len(_wire(tool)) for tool in tools)
    return -(-total // 3) + images * IMAGE_TOKENS


class TokenEstimate:
    """An estimate that learns: each reported size rescales the next estimates."""

    def __init__(self) -> None:
        self._scale = 1.0

    def of(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]] = ()) -> int:
        """Estimate the tokens of a request, rescaled."""
        return round(estimate_tokens(messages, tools) * self._scale)

    def learn(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], reported_tokens: int
    ) -> None:
        """Take over the size that the endpoint reported for this very request; nonsense is ignored."""
        plain = estimate_tokens(messages, tools)
        if plain > 0 and reported_tokens > 0:
            self._scale = min(_MOST_SCALE, max(_LEAST_SCALE, reported_tokens / plain))


def _is_image(part: object) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "image_url"


def _wire(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "replace")
