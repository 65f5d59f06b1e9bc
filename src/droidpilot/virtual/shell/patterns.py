"""Regular expressions that clients send. They run in linear time, so that none of them can stop the phone.

This file must never know what is searched.
"""

from __future__ import annotations

from typing import Any, Final

MAX_PATTERN: Final = 1_000
"""Characters of a pattern."""


class BadPattern(ValueError):
    """The pattern is too long, or no regular expression of this engine (no look-around, no back-references)."""


class Pattern:
    """A compiled pattern; a dot matches every character, as UiSelector compiles it."""

    def __init__(self, pattern: str, *, ignores_case: bool = False) -> None:
        import re2

        if len(pattern) > MAX_PATTERN:
            raise BadPattern(f"longer than {MAX_PATTERN} characters")
        try:
            self._compiled: Any = re2.compile(f"(?{'i' if ignores_case else ''}s:{pattern})")
        except re2.error as error:
            raise BadPattern(f"no regular expression: {error}") from error

    def is_whole(self, text: str) -> bool:
        """Tell whether the whole text matches."""
        return self._compiled.fullmatch(text) is not None

    def is_in(self, text: str) -> bool:
        """Tell whether some part of the text matches."""
        return self._compiled.search(text) is not None
