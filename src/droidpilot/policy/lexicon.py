"""The lexicon: words and apps that are a reason to worry, read from lexicon.toml when first needed. Data, no decisions.

A text is compared as a sequence of words without case and accents; where a script puts no spaces between words, each
character is one, and the longest phrase of the lists at a place wins. It must never know where a text came from.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from importlib import resources

#: Scripts that put no spaces between words: Han, kana, Thai, Lao, Myanmar, Khmer. Source: Unicode block names.
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
#: The vowel signs of Indic scripts are marks, which \w leaves out; the dandas between them end a sentence.
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:(?![{_UNSPACED}])(?:[^\W_]|[{_INDIC}]))+")
#: Marks that make another letter of a letter, in Indic scripts, Thai, Lao and kana: no accents to be ignored.
_KEPT_MARK = re.compile("[\u0900-\u0eff\u1000-\u109f\u1780-\u17ff\u3099\u309a]")
_UNSPACED_CHAR = re.compile(f"[{_UNSPACED}]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
#: The Turkish letters have dots that come and go with case.
_DOTLESS = str.maketrans({"ı": "i", "İ": "i"})

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Phrases:
    """Phrases to be found in a sequence of words; the longest one at a place wins."""

    by_words: dict[Words, str] = field(default_factory=dict)  # phrase -> what it means
    longest: int = 0

    def at(self, words: Sequence[str], place: int) -> tuple[Words, str] | None:
        """Return the longest phrase that begins at `place`, and its meaning."""
        for length in range(min(self.longest, len(words) - place), 0, -1):
            phrase = tuple(words[place : place + length])
            meaning = self.by_words.get(phrase)
            if meaning is not None:
                return phrase, meaning
        return None


class AppTier(IntEnum):
    """How much an app can do in a person's name; decides which words are a reason to worry in it (CON-9)."""

    LOW = 1
    MEDIUM = 2
    HIGH = 3


@dataclass(frozen=True, slots=True)
class Lexicon:
    """All lists, ready for look-up."""

    verbs: Phrases
    button_verbs: Phrases
    harmless: Phrases
    secret_fields: Phrases
    installer_buttons: Phrases
    sensitive_segments: frozenset[str]
    sensitive_prefixes: tuple[str, ...]
    levels: dict[str, AppTier]  # what a word does -> the lowest tier of apps in which it counts
    high_prefixes: tuple[str, ...]
    low_prefixes: tuple[str, ...]
    elevated_prefixes: tuple[str, ...]
    permission_packages: frozenset[str]
    installer_packages: frozenset[str]


@cache
def lexicon() -> Lexicon:
    """Return the shipped lexicon."""
    data = tomllib.loads(resources.files("droidpilot.policy").joinpath("lexicon.toml").read_text(encoding="utf-8"))
    apps = data["apps"]
    return Lexicon(
        verbs=_phrases(data["verbs"]),
        button_verbs=_phrases(data["button_verbs"]),
        harmless=_phrases({"harmless": data["harmless"]}),
        secret_fields=_phrases(data["fields"]),
        installer_buttons=_phrases({"install": data["installer_buttons"]}),
        sensitive_segments=frozenset(apps["sensitive"]["segments"]),
        sensitive_prefixes=_prefixes(apps["sensitive"]),
        levels={meaning: AppTier[tier.upper()] for meaning, tier in data["levels"].items()},
        high_prefixes=_prefixes(apps["high"]),
        low_prefixes=_prefixes(apps["low"]),
        elevated_prefixes=_prefixes(apps["elevated"]),
        permission_packages=frozenset(apps["permission_dialog"]["packages"]),
        installer_packages=frozenset(apps["installer"]["packages"]),
    )


def words_of(text: str) -> Words:
    """Split a text into words without case and accents; single letters in a row (`S e n d`) are one word."""
    words = _WORD.findall(plain(text))
    joined: list[str] = []
    at = 0
    while at < len(words):
        end = at
        while end < len(words) and len(words[end]) == 1 and words[end].isalpha() and not is_unspaced(words[end]):
            end += 1
        if end - at >= 3:
            joined.append("".join(words[at:end]))
            at = end
        else:
            joined.append(words[at])
            at += 1
    return tuple(joined)


def is_unspaced(word: str) -> bool:
    """Tell whether a word is one character of a script that puts no spaces between words."""
    return _UNSPACED_CHAR.match(word) is not None


def length_of(words: Words) -> int:
    """Count words as a reader would: two characters of a script without spaces are about one."""
    characters = sum(is_unspaced(word) for word in words)
    return len(words) - characters + (characters + 1) // 2


def joined(words: Words) -> str:
    """Write words as a text again: no spaces where the script has none."""
    text = ""
    for word in words:
        text += word if not text or (is_unspaced(word) and is_unspaced(text[-1])) else f" {word}"
    return text


def id_words_of(resource_id: str) -> Words:
    """Split a resource id, behind its last `/`, into words: `id/btnSend_now` gives btn, send, now (INV-13b)."""
    name = resource_id.rpartition("/")[2]
    return tuple(word for part in _WORD.findall(name) for piece in _CAMEL.split(part) for word in words_of(piece))


def plain(text: str) -> str:
    """Return `text` without case and accents."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.translate(_DOTLESS).casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char) or _KEPT_MARK.match(char))


def is_sensitive_app(package: str) -> bool:
    """Tell whether the package is one of a money or password app: a whole segment or a listed prefix (T07)."""
    known, name = lexicon(), package.lower()
    if not known.sensitive_segments.isdisjoint(name.split(".")):
        return True
    return _begins(name, known.sensitive_prefixes)


def tier_of(package: str | None) -> AppTier:
    """Return the tier of an app; one that is in no list, or not known, is MEDIUM."""
    if package is None:
        return AppTier.MEDIUM
    if is_sensitive_app(package) or _begins(package.lower(), lexicon().high_prefixes):
        return AppTier.HIGH
    return AppTier.LOW if _begins(package.lower(), lexicon().low_prefixes) else AppTier.MEDIUM


def is_elevated_app(package: str) -> bool:
    """Tell whether what is deleted in this app is deleted for all of the phone: Settings, the Play Store."""
    return _begins(package.lower(), lexicon().elevated_prefixes)


def _begins(name: str, prefixes: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def _prefixes(listed: dict[str, list[str]]) -> tuple[str, ...]:
    return tuple(prefix.lower() for prefix in listed["prefixes"])


def _phrases(meanings: dict[str, dict[str, list[str]]]) -> Phrases:
    found = {
        words_of(phrase): meaning
        for meaning, languages in meanings.items()
        for phrases in languages.values()
        for phrase in phrases
    }
    return Phrases(found, max(map(len, found), default=0))


def has_phrase(phrases: Phrases, words: Iterable[str]) -> str:
    """Return the first phrase found anywhere among the words, as text; empty where there is none."""
    sequence = tuple(words)
    for place in range(len(sequence)):
        found = phrases.at(sequence, place)
        if found is not None:
            return joined(found[0])
    return ""
