"""What a node says, in the three forms that rules are matched on: raw, cleaned, folded.

It must never know a rule, a language or a word list: it only takes away what cannot be seen or is there to deceive.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

from droidpilot.screens.hierarchy import Hierarchy, Node

#: Characters that show nothing. Source: Unicode DerivedCoreProperties, Default_Ignorable_Code_Point, and the bidi
#: controls U+061C, U+200E/F, U+202A..E, U+2066..9, which are part of it. C0/C1 controls that are no white space show
#: nothing either.
_INVISIBLE = (
    "\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff"
)
_INVISIBLE_RUN = re.compile(f"[{_INVISIBLE}\ufe00-\ufe0f]+")
_INVISIBLE_SHOWN_RUN = re.compile(
    f"[{_INVISIBLE}\ufe00-\ufe0d]+|(?<![\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff#*0-9])[\ufe0e\ufe0f]+"
)
_SPACE_RUN = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_OVERRIDE = re.compile("\u202e([^\u202c\u2069\n]*)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]+")
_PLAIN = re.compile(r"(?:[!-~]+(?: [!-~]+)*)?")  # printable ASCII, words one space apart: nothing to do
_CACHED_LENGTH = 1000  # a cache of 8,192 texts must stay small
_ROUNDS = 10  # enough for every text known; a text that needs more stays as it is then
_ID_BREAK = re.compile(r"[/:_\-.\s]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@dataclass(frozen=True, slots=True)
class Label:
    """One label in its three forms (DESIGN.md section 3)."""

    raw: str
    cleaned: str
    folded: str

    @classmethod
    def of(cls, raw: str) -> Label:
        return cls(raw, clean(raw), fold(raw))


def clean(text: str) -> str:
    """Return `text` as NFKC without what cannot be seen; white-space runs are one space, case is kept. Idempotent.

    Out go default-ignorable, bidi and control characters, so that a word with one of them inside is the word again.
    """
    if _PLAIN.fullmatch(text):
        return text
    return _clean(text) if len(text) <= _CACHED_LENGTH else _clean.__wrapped__(text)


def fold(text: str) -> str:
    """Return `clean(text)` with non-ASCII look-alikes as ASCII letters and without accents; case kept. Idempotent.

    ASCII characters stay as they are. A word in Cyrillic or Greek may come out as nonsense: rules match both forms.
    What stands behind a right-to-left override is turned round, since that is how it looks.
    """
    if _PLAIN.fullmatch(text):
        return text
    return _fold(text) if len(text) <= _CACHED_LENGTH else _fold.__wrapped__(text)


def shown(text: str) -> str:
    """Return `text` as one line that can be shown: invisible, bidi and control characters out, nothing else changed."""
    if _PLAIN.fullmatch(text):
        return text
    return _shown(text) if len(text) <= _CACHED_LENGTH else _shown.__wrapped__(text)


@lru_cache(maxsize=8192)
def _clean(text: str) -> str:
    text = _SURROGATE.sub("\ufffd", text)
    for _ in range(_ROUNDS):
        # NFKC can make white space and, after an invisible character is gone, new compositions
        stripped = _INVISIBLE_RUN.sub("", unicodedata.normalize("NFKC", text))
        once = _SPACE_RUN.sub(" ", stripped).strip()
        if once == text:
            break
        text = once
    return text


@lru_cache(maxsize=8192)
def _fold(text: str) -> str:
    text = clean(_OVERRIDE.sub(lambda match: match[1][::-1], text))
    for _ in range(_ROUNDS):
        # a fold can uncover an accent, and removing an accent a letter that folds
        once = clean(_without_accents(_NOT_ASCII.sub(_look_alike, text)))
        if once == text:
            break
        text = once
    return text


@lru_cache(maxsize=8192)
def _shown(text: str) -> str:
    text = _INVISIBLE_SHOWN_RUN.sub("", _SURROGATE.sub("\ufffd", text))
    return _SPACE_RUN.sub(" ", text).strip()


def _look_alike(match: re.Match[str]) -> str:
    # imported here: it costs more than the rest of this room, and plain ASCII screens never need it
    from disarm import normalize_confusables

    return str(normalize_confusables(match[0]))


def _without_accents(text: str) -> str:
    if text.isascii():
        return text
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if unicodedata.category(c) != "Mn"))


def raw_label(node: Node) -> str:
    """Return what the node itself says: text, else description, else hint; never the text of a password field."""
    text = "" if node.password else node.text
    return text or node.desc or node.hint


def label_of(hierarchy: Hierarchy, node: Node) -> Label:
    """Return the label of `node`; one that is usable and says nothing itself is called by what stands in it.

    Descendants that are usable themselves, and all below them, are left out: they have labels of their own.
    """
    raw = raw_label(node)
    if not clean(raw) and node.is_tappable:
        raw = " ".join(inner_texts(hierarchy, node))
    return Label.of(raw)


def inner_texts(hierarchy: Hierarchy, node: Node) -> list[str]:
    """Return the raw labels of the descendants in preorder, without usable ones and what is below them."""
    texts: list[str] = []
    index = node.index + 1
    while index < node.end:
        inner = hierarchy.nodes[index]
        if inner.is_usable:
            index = inner.end
            continue
        raw = raw_label(inner) if inner.visible else ""
        if raw and (not texts or texts[-1] != raw):
            texts.append(raw)
        index += 1
    return texts


def id_texts(resource_id: str) -> tuple[str, ...]:
    """Return an id as rules see it: what stands behind its last `/`, and its words where they are not the same.

    `a:id/btnSend_now` gives `btnSend_now` and `btn Send now`, so that the whole id and a word of it can be matched.
    """
    name = resource_id.rpartition("/")[2]
    words = " ".join(word for word in _ID_BREAK.split(name) if word)
    return tuple(dict.fromkeys(text for text in (name, words) if text))


def id_words(resource_id: str) -> tuple[str, ...]:
    """Return the lower-case words of an id behind its last `/`: `a:id/btnSend_now` gives btn, send, now (INV-13b)."""
    return tuple(word.lower() for word in _ID_BREAK.split(resource_id.rpartition("/")[2]) if word)
