"""Regular expressions that people write into rules, by google-re2: linear time whatever the text. Names that library.

It must never answer "no match" because something went wrong: then it decides slowly, or raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import re2

MAX_LENGTH = 1_000
#: For one expression, and for all expressions of a policy together.
_MAX_MEMORY_BYTES = 8 * 1024 * 1024
_MAX_SET_MEMORY_BYTES = 64 * 1024 * 1024
#: Bigger sets are looked through one by one: a set that does not fit into its memory ends the process at its first use
#: (google-re2 1.1.20251105, measured: 300 expressions like [ab].{700}c). Two hundred usual lines have about 10,000.
_MAX_SET_INSTRUCTIONS = 30_000

_REASONS: tuple[tuple[str, str, str], ...] = (
    ("invalid perl operator: (?", "look-around and other (?...) groups of Perl are not supported", ""),
    ("invalid escape sequence", "it has an escape that does not exist, or a back-reference", ""),
    ("invalid repetition size", "a repetition may be at most 1000, nested ones together too", "use * or + instead"),
    ("pattern too large", "it is too big", "make it shorter, or its repetitions smaller"),
    ("missing )", "a closing parenthesis is missing", "write \\( for the character"),
    ("unexpected )", "there is a closing parenthesis too many", "write \\) for the character"),
    ("missing ]", "a closing bracket is missing", "write \\[ for the character"),
    ("no argument for repetition operator", "there is nothing to repeat", "write \\* \\+ \\? for the characters"),
)
_SYNTAX = "the syntax is that of RE2: https://github.com/google/re2/wiki/Syntax"


class PatternError(ValueError):
    """The expression cannot be used."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint or _SYNTAX


class Pattern:
    """One expression: searched for anywhere in a text, case-sensitive unless it begins with (?i)."""

    def __init__(self, text: str) -> None:
        """Raises PatternError where `text` is empty, too long or no valid expression."""
        if not text:
            raise PatternError("it is empty")
        if len(text) > MAX_LENGTH:
            raise PatternError(f"it is longer than {MAX_LENGTH} characters")
        try:
            self._compiled: Any = re2.compile(text, _options(_MAX_MEMORY_BYTES))
        except re2.error as error:
            raise _readable(error) from error
        except UnicodeEncodeError as error:
            raise PatternError("it holds half a character") from error
        self.text = text

    def is_in(self, text: str) -> bool:
        """Tell whether the expression matches anywhere in `text`."""
        return self._compiled.search(_sound(text)) is not None

    @property
    def instructions(self) -> int:
        """The size of the compiled expression."""
        return int(self._compiled.programsize)


class PatternSet:
    """Many expressions looked for at once. The indices are those of the sequence it was made from."""

    def __init__(self, patterns: Sequence[Pattern]) -> None:
        self._patterns = tuple(patterns)
        self._set: Any = None
        if not patterns or sum(pattern.instructions for pattern in patterns) > _MAX_SET_INSTRUCTIONS:
            return
        found = re2.Set.SearchSet(_options(_MAX_SET_MEMORY_BYTES))
        for pattern in patterns:
            found.Add(pattern.text)
        # A set that runs out of memory answers "nothing matches" without a word. The empty expression is in every
        # text: where it is not found, the answer is worthless. Source: re2/set.cc, kOutOfMemory.
        found.Add("")
        try:
            found.Compile()
        except re2.error:
            return
        self._set = found

    def found_in(self, texts: Iterable[str]) -> frozenset[int]:
        """Return the indices of all expressions that match anywhere in any of the texts."""
        found: set[int] = set()
        for text in texts:
            found |= self._found_in(_sound(text))
        return frozenset(found)

    def _found_in(self, text: str) -> set[int]:
        if not self._patterns:
            return set()
        sentinel = len(self._patterns)
        if self._set is not None:
            found = set(self._set.Match(text))
            if sentinel in found:
                found.discard(sentinel)
                return found
        return {index for index, pattern in enumerate(self._patterns) if pattern.is_in(text)}


def _options(max_memory_bytes: int) -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = max_memory_bytes
    return options


def _sound(text: str) -> str:
    """Return `text` with halves of surrogate pairs replaced, which the library cannot take."""
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace") if not text.isascii() else text


def _readable(error: Exception) -> PatternError:
    raw = error.args[0] if error.args else ""
    message = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else str(raw)
    for beginning, words, hint in _REASONS:
        if message.startswith(beginning):
            return PatternError(words, hint)
    return PatternError(message)
