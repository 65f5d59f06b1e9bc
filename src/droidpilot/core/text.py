"""Small pure functions on text that every room may need: cutting for display, and one line out of anything."""

from __future__ import annotations

import re

_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text: str) -> str:
    """Return `text` without control characters and line breaks; runs of them become one space."""
    return _BREAKS.sub(" ", text).strip()


def shorten(text: str, limit: int) -> str:
    """Cut `text` to at most `limit` characters, saying with an ellipsis that it was cut."""
    return text if len(text) <= limit else text[: max(0, limit - 1)] + "…"


def quoted(value: str, limit: int = 80) -> str:
    """Return a value that somebody gave as it may stand in a message: in quotes, on one line, cut."""
    return repr(shorten(one_line(value), limit))


def shorten_marked(text: str, limit: int) -> str:
    """Cut `text` to about `limit` characters with an explicit marker that names how much is missing (T29, INV-34)."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {len(text) - limit} more characters]"


def plural(count: int, noun: str) -> str:
    """Return `1 turn`, `2 turns`."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
