"""What a field holds after something was typed into it, compared with what was asked for. Pure, and never a guess.

Only `cut` and `changed` are failures. None of them is a reason to type again without looking.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from enum import StrEnum

from droidpilot.screens.hierarchy import Node
from droidpilot.screens.labels import clean
from droidpilot.tools.registry import Finding
from droidpilot.tools.touch import in_quotes

#: Characters of a field's content that a result quotes.
QUOTED_CHARS = 200


class ReadBack(StrEnum):
    """How a field's content relates to the text that was to stand in it."""

    EXACT = "exact"
    REFORMATTED = "reformatted"  # the same letters, digits and signs; other punctuation, case or spacing
    CUT = "cut"  # only the beginning of it
    CHANGED = "changed"  # something else, or nothing at all
    UNREADABLE = "unreadable"  # a password, a field that is gone, characters that the phone cannot report
    LATE = "late"  # exact or reformatted, but only at a further look


def content_of(node: Node) -> str:
    """Return what a person typed into a field; a hint shown in an empty field is no content (B25)."""
    return "" if node.text == node.hint else node.text


def compare(wanted: str, node: Node) -> ReadBack:
    """Compare a text with what a readable field reports."""
    got = node.text if node.text == wanted else content_of(node)
    if got == wanted or unicodedata.normalize("NFC", got) == unicodedata.normalize("NFC", wanted):
        return ReadBack.EXACT
    if _is_lossy(wanted, got):
        return ReadBack.UNREADABLE
    if got and wanted.startswith(got) and wanted[len(got) :].strip():
        return ReadBack.CUT
    asked, found = _skeleton(wanted), _skeleton(got)
    if asked == found and asked:
        return ReadBack.REFORMATTED
    if found and asked.startswith(found):
        return ReadBack.CUT
    return ReadBack.CHANGED


def finding_of(wanted: str, fields: Sequence[Node], *, is_secret: bool) -> Finding:
    """Say what the field that was typed into holds. `fields` are the nodes that its selector finds now."""
    if is_secret:
        return Finding(ReadBack.UNREADABLE, "What stands in it cannot be read back: it is a field for a secret.")
    if len(fields) != 1:
        return Finding(ReadBack.UNREADABLE, "The field is not on the screen any more, so it could not be read back.")
    (node,) = fields
    if node.password:
        return Finding(ReadBack.UNREADABLE, "What stands in it cannot be read back: it is a password field.")
    held = content_of(node)
    says = f"the field holds {in_quotes(clean(held), QUOTED_CHARS)}" if held else "the field is empty"
    match compare(wanted, node):
        case ReadBack.EXACT:
            return Finding(ReadBack.EXACT, "")
        case ReadBack.REFORMATTED:
            return Finding(ReadBack.REFORMATTED, f"The app wrote it its own way: {says}. Do not type it again.")
        case ReadBack.CUT:
            kept = f"{says}, which is {len(held)} of {len(wanted)} characters"
            words = f"It was cut: {kept}. Typing it again will cut it again"
            return Finding(ReadBack.CUT, f"{words}: shorten it, or use another field.", is_failure=True)
        case ReadBack.UNREADABLE:
            words = f"The phone does not report every character: {says}. Do not type it again"
            return Finding(ReadBack.UNREADABLE, f"{words}; a screenshot shows what stands there.")
        case _:
            words = f"It does not stand there: {says}. Look before you do anything, and do not just type it again"
            return Finding(
                ReadBack.CHANGED, f"{words}: it may still come, or the app takes other text.", is_failure=True
            )


def _skeleton(text: str) -> str:
    """Return letters, digits and signs alone: no punctuation, spaces or invisible characters, in one case."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(one for one in folded if not _is_form(one))


def _is_form(character: str) -> bool:
    return character.isspace() or unicodedata.category(character)[0] in "PZC"


def _is_lossy(wanted: str, got: str) -> bool:
    """Tell whether `got` is `wanted` with a dot or mark for what XML, or an old phone, cannot carry (field row 13)."""
    if not any(_is_lost(character) for character in wanted):
        return False
    pattern = "".join("[.?\ufffd]{1,2}" if _is_lost(one) else re.escape(one) for one in wanted)
    return re.fullmatch(pattern, got) is not None


def _is_lost(character: str) -> bool:
    return ord(character) > 0xFFFF or (character < " " and character not in "\t\n\r")
