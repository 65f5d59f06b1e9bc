"""Tokens as the models of OpenAI since GPT-4o count them; offline."""

from __future__ import annotations

import bpe_openai  # type: ignore[import-untyped]  # it ships no types

_ENCODING = bpe_openai.get_encoding("o200k_base")


def tokens(text: str) -> int:
    """Return how many tokens of o200k_base `text` is."""
    return len(_ENCODING.encode(text))
