"""Text for the page: cut, and with everything that hides or reorders text made visible. It knows no event and no HTML.

What a phone or a model wrote is evidence: a hidden character is not taken out but named.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from typing import Any

#: Controls but newline and tab; soft hyphen, fillers, bidi marks, zero width space, line separators, word joiners,
#: noncharacters, lone surrogates, tag characters. The joiners that emoji and Indic or Persian words need stay.
_HIDDEN = re.compile(
    r"([\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u2028-\u202e"
    r"\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff])\1*"
)
#: Bytes of text that a page holds before every further text is cut to almost nothing.
TEXT_BYTES = 4_500_000
_LITTLE = 60


class Paper:
    """Counts what was written on one page, so that no session makes it bigger than a browser can take."""

    def __init__(self, room: int = TEXT_BYTES) -> None:
        self.spent = 0
        self._room = room

    def text(self, value: str, limit: int) -> str:
        """Return `value` with hidden characters named, cut to about `limit` characters with the number left out."""
        allowed = limit if self.spent < self._room else min(limit, _LITTLE)
        shown = visible(value[:allowed])
        if len(value) > allowed:
            shown += f"… [{len(value) - allowed} more characters are in the transcript]"
        self.spent += len(html.escape(shown).encode())
        return shown

    def line(self, value: str, limit: int) -> str:
        """Do the same on one line."""
        return " ".join(self.text(value, limit).split())

    def pairs(self, values: Mapping[str, Any], limit: int) -> str:
        """Write arguments as `name=value`, texts in quotes."""
        words = (f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in values.items())
        return self.line("  ".join(words), limit)


def visible(text: str) -> str:
    """Return `text` with each run of a hidden character as its name: `⟨U+202E⟩`, `⟨U+200B ×12⟩`."""
    return text if text.isascii() and text.isprintable() else _HIDDEN.sub(_named, text.replace("\r\n", "\n"))


def _named(run: re.Match[str]) -> str:
    times = len(run[0])
    return f"⟨U+{ord(run[1]):04X}⟩" if times == 1 else f"⟨U+{ord(run[1]):04X} ×{times}⟩"
