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
    REFORMATTED = "reformatted"  # written in another form that says the same
    CUT = "cut"  # only the beginning of it
    CHANGED = "changed"  # something else, or nothing at all
    UNREADABLE = "unreadable"  # a password, a field that is gone, characters that the phone cannot report
    LATE = "late"  # exact or reformatted, but only at a further look


def content_of(node: Node) -> str:
    """Return what a person typed into a field; a hint shown in an empty field is no content (B25)."""
    return node.content


def compare(wanted: str, node: Node) -> ReadBack:
    """Compare a text with what a readable field reports."""
    if node.is_hint_or_text and wanted == node.text:
        return ReadBack.UNREADABLE  # an empty field looks the same
    got = content_of(node)
    if got == wanted or unicodedata.normalize("NFC", got) == unicodedata.normalize("NFC", wanted):
        return ReadBack.EXACT
    if _is_lossy(wanted, got):
        return ReadBack.UNREADABLE
    if got and wanted.startswith(got) and wanted[len(got) :].strip():
        return ReadBack.CUT
    if _is_same_in_another_form(wanted, got):
        return ReadBack.REFORMATTED
    asked, found = _skeleton(wanted), _skeleton(got)
    if found and asked != found and asked.startswith(found):
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
        case ReadBack.UNREADABLE if node.is_hint_or_text:
            words = (
                "It is not known whether it stands there: it is the field's hint, and the empty field looks the same"
            )
            return Finding(ReadBack.UNREADABLE, f"{words}. A screenshot shows a hint paler than a text.")
        case ReadBack.UNREADABLE:
            words = f"The phone does not report every character: {says}. Do not type it again"
            return Finding(ReadBack.UNREADABLE, f"{words}; a screenshot shows what stands there.")
        case _:
            words = f"It does not stand there: {says}. Look before you do anything, and do not just type it again"
            return Finding(
                ReadBack.CHANGED, f"{words}: it may still come, or the app takes other text.", is_failure=True
            )


# -- another form of the same

#: What a keyboard or an app writes in place of the plain sign, and what says the same.
_TYPOGRAPHY = str.maketrans({**dict.fromkeys("‘’‚‛ʼ", "'"), **dict.fromkeys("“”„‟", '"'), "…": "..."})
_JOINERS = "\u200c\u200d"  # they decide what a word or an emoji is
_GROUPING = frozenset(" -()[]")
#: Fewer digits than this are no telephone, card or account number, whose grouping says nothing.
_LEAST_NUMBER = 7
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}-\d{1,2}-\d{2,4}")
#: A number with its thousands set apart. One dot alone is not: it may as well be the decimal one.
_THOUSANDS = re.compile(
    r"(?<![\d.,'])[1-9]\d{0,2}(?:(?:,\d{3})+(?![\d,'])|(?:'\d{3})+(?![\d,'])|(?:\.\d{3}){2,}(?![\d.'])|\.\d{3}(?=,\d))"
)


def _is_same_in_another_form(wanted: str, got: str) -> bool:
    """Tell whether nothing was lost: what is not known to be form alone counts as a change.

    Form is: the case of letters, where nothing else differs; spaces at the ends and how many between two words; curly
    quotes; thousands set apart; in numbers, the spaces, dashes and brackets that group digits.
    """
    asked, found = _plain(wanted), _plain(got)
    if not asked or not found:
        return False
    if asked.casefold() == found.casefold():
        return True
    kept, asked_groups = _split(asked)
    kept_found, found_groups = _split(found)
    if kept != kept_found:
        found = _THOUSANDS.sub(lambda number: re.sub(r"[.,']", "", number[0]), found)
        kept_found, found_groups = _split(found)
    if not kept or kept != kept_found:
        return False
    return _keeps_groups(asked, kept, asked_groups, found_groups) and _adds_only_groups(
        kept, asked_groups, found_groups
    )


def _plain(text: str) -> str:
    """Return the text without what cannot be seen, one space for each gap, one kind of dash and of quotes."""
    text = unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY)
    out = []
    for one in text:
        category = unicodedata.category(one)
        if one.isspace() or category == "Zs":
            out.append(" ")
        elif category == "Pd" or one == "\u2212":
            out.append("-")
        elif category[0] != "C" or one in _JOINERS:
            out.append(one)
    return " ".join("".join(out).split())


def _split(text: str) -> tuple[str, dict[int, str]]:
    """Take the grouping out of a text: what is left, and what stood before each character of that."""
    kept: list[str] = []
    groups: dict[int, str] = {}
    for one in text:
        if one in _GROUPING:
            groups[len(kept)] = groups.get(len(kept), "") + one
        else:
            kept.append(one)
    return "".join(kept), groups


def _keeps_groups(asked: str, kept: str, asked_groups: dict[int, str], found_groups: dict[int, str]) -> bool:
    """Tell whether grouping that was asked for still stands there, or belongs to a number that needs none."""
    if all(_has_all(found_groups.get(at, ""), said) for at, said in asked_groups.items()):
        return True
    digits = sum(one.isdigit() for one in kept)
    is_number = digits >= _LEAST_NUMBER and re.fullmatch(r"\+?[0-9A-Z]+", kept) is not None and 2 * digits > len(kept)
    # Single digits set apart are a list.
    is_number = is_number and sum(len(part) == 1 for part in re.split(r"[ ()\[\]-]+", asked)) <= 2
    # One dash between two numbers may be a range or a minus.
    is_grouped = kept[0] in "+0" or asked.startswith("(") or len(asked_groups) > 1 or "-" not in asked
    return is_number and is_grouped and "-" not in asked_groups.get(0, "") and _DATE.fullmatch(asked) is None


def _has_all(found: str, said: str) -> bool:
    return all(found.count(one) >= said.count(one) for one in set(said))


def _adds_only_groups(kept: str, asked_groups: dict[int, str], found_groups: dict[int, str]) -> bool:
    """Tell whether what was added only groups digits: no sign before or after a number, no new words."""
    added = {at: said for at, said in found_groups.items() if said != asked_groups.get(at, "")}
    if not added:
        return True
    ends = found_groups.get(0, "") + found_groups.get(len(kept), "")
    if not any(one.isdigit() for one in kept) or ("-" in ends and any(at in added for at in (0, len(kept)))):
        return False
    # A whole number in brackets is a negative one in books.
    is_in_brackets = "(" in added.get(0, "") and ")" in added.get(len(kept), "") and len(found_groups) == 2
    # After any other sign a dash is a minus.
    is_minus = any("-" in said and not kept[at - 1].isalnum() for at, said in added.items() if 0 < at < len(kept))
    return not is_in_brackets and not is_minus


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
