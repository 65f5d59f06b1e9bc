"""Risk signals: reasons to worry about one write. Pure; it decides nothing, and never silences a rule.

One signal of a kind is given at most once: two words are one reason, a word in a money app is two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, Protocol

from droidpilot.core.calls import Effect
from droidpilot.core.text import one_line, shorten
from droidpilot.policy.lexicon import (
    AppTier,
    Words,
    has_phrase,
    id_words_of,
    is_elevated_app,
    is_sensitive_app,
    joined,
    length_of,
    lexicon,
    tier_of,
    words_of,
)
from droidpilot.screens.labels import clean, fold

Source = Literal["keyword", "context", "model"]

RISKY_WORD = "risky_word"
SENSITIVE_APP = "sensitive_app"
ELEVATED_APP = "elevated_app"
SENSITIVE_FIELD = "sensitive_field"
PERMISSION_DIALOG = "permission_dialog"
PACKAGE_INSTALL = "package_install"
FOREIGN_TOOL = "foreign_tool"

#: These ask a person even where a rule allows (CON-2).
ALWAYS_ASK = frozenset({PERMISSION_DIALOG, PACKAGE_INSTALL})

#: A gesture of these tools activates what is under the finger, or the default button. Typing, scrolling and opening an
#: app do not: a field labelled "Send a message" is not a Send button.
_NOT_ACTIVATING = frozenset({"type_text", "scroll", "open_app"})
#: Keys that press no button.
_HARMLESS_KEYS = frozenset({"home", "recents", "volume_up", "volume_down", "volume_mute", "menu", "notifications"})
_HARMLESS_KEY_BEGINNINGS = ("dpad_up", "dpad_down", "dpad_left", "dpad_right", "tab", "page_", "move_")
#: In an id, a word that is often a noun counts only beside one of these.
_BUTTON_WORDS = frozenset({"btn", "button", "fab", "cta", "action"})
_MAX_BUTTON_WORDS = 4
#: What such words do cannot be undone.
_DESTRUCTIVE = frozenset({"delete", "uninstall"})


class Labelled(Protocol):
    """What a node says, in the forms of DESIGN.md section 3."""

    @property
    def raw(self) -> str: ...
    @property
    def cleaned(self) -> str: ...
    @property
    def folded(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason to worry."""

    name: str
    source: Source
    detail: str  # in words, for the person who is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskInput:
    """What is known about one call. `open_app` is judged by its target: put that into `packages` (INV-14)."""

    tool: str = ""
    effect: Effect = Effect.WRITE
    packages: tuple[str | None, ...] = ()  # every app under the finger
    labels: tuple[Labelled, ...] = ()  # of every labelled node under the finger; for press of the default button
    ids: tuple[str, ...] = ()  # their resource ids
    is_password_field: bool = False  # type_text: the target hides what is typed
    key: str = ""  # press: the key


def assess(given: RiskInput) -> tuple[Signal, ...]:
    """Collect the signals of one call, the most telling first; a read has none."""
    if given.effect is Effect.READ:
        return ()
    checks = (_permission_dialog, _package_install, _sensitive_field, _risky_word, _sensitive_app, _foreign_tool)
    return tuple(signal for check in checks for signal in check(given))


def is_always_asked(signals: tuple[Signal, ...]) -> bool:
    """Tell whether a person must be asked even where a rule allows."""
    return any(signal.name in ALWAYS_ASK for signal in signals)


def _permission_dialog(given: RiskInput) -> Iterator[Signal]:
    known = lexicon()
    if not _is_activating(given):
        return
    for package in _known(given.packages):
        # Up to Android 9 the installer's package asked for permissions too; its buttons tell the two apart.
        is_old = package in known.installer_packages and any("permission_" in name for name in given.ids)
        if package in known.permission_packages or is_old:
            yield Signal(PERMISSION_DIALOG, "context", f"it answers a permission dialog of {package}")
            return


def _package_install(given: RiskInput) -> Iterator[Signal]:
    known = lexicon()
    if not _is_activating(given) or known.installer_packages.isdisjoint(_known(given.packages)):
        return
    for label in given.labels:
        for words in _forms(label):
            if known.installer_buttons.at(words, 0) == (words, "install"):
                yield Signal(PACKAGE_INSTALL, "context", f"it installs an app: {_quoted(label)}")
                return


def _sensitive_field(given: RiskInput) -> Iterator[Signal]:
    if given.tool != "type_text":
        return
    if given.is_password_field:
        yield Signal(SENSITIVE_FIELD, "context", "it types into a password field")
        return
    found = secret_name((label.raw for label in given.labels), given.ids)
    if found:
        yield Signal(SENSITIVE_FIELD, "context", f"it types into a field for a {found}")


def secret_name(texts: Iterable[str], ids: Iterable[str]) -> str:
    """Return the word by which a field asks for a secret (a PIN, a card number), empty where it asks for none."""
    said = [words_of(form) for text in texts for form in (clean(text), fold(text))] + [
        id_words_of(name) for name in ids
    ]
    return next((found for words in said if (found := has_phrase(lexicon().secret_fields, words))), "")


def _risky_word(given: RiskInput) -> Iterator[Signal]:
    if given.tool in _NOT_ACTIVATING or not _is_activating(given):
        return
    tier = max((tier_of(package) for package in given.packages or (None,)), default=AppTier.MEDIUM)
    for label in given.labels:
        for words in _forms(label):
            found = _word_in_label(words, tier)
            if found is not None:
                word = joined(found[0])
                # The word alone is the whole button in most cases, and need not be said twice.
                where = "" if words_of(label.cleaned or label.raw) == found[0] else f" in {_quoted(label)}"
                yield from _of_word(given, found[1], f'the risky word "{word}"{where}')
                return
    for name in given.ids:
        found = _word_in_id(id_words_of(name), tier)
        if found is not None:
            detail = f'the risky word "{joined(found[0])}" in the id {shorten(one_line(name), 80)}'
            yield from _of_word(given, found[1], detail)
            return


def _of_word(given: RiskInput, meaning: str, detail: str) -> Iterator[Signal]:
    yield Signal(RISKY_WORD, "keyword", detail)
    if meaning not in _DESTRUCTIVE:
        return
    for package in _known(given.packages):
        if is_elevated_app(package):
            yield Signal(ELEVATED_APP, "context", f"{package} deletes for all of the phone")
            return


def _sensitive_app(given: RiskInput) -> Iterator[Signal]:
    for package in _known(given.packages):
        if is_sensitive_app(package):
            yield Signal(SENSITIVE_APP, "context", f"{shorten(one_line(package), 80)} is an app for money or passwords")
            return


def _foreign_tool(given: RiskInput) -> Iterator[Signal]:
    if given.tool.startswith("mcp__"):
        yield Signal(FOREIGN_TOOL, "context", "it runs on another server")


def _is_activating(given: RiskInput) -> bool:
    key = given.key.lower()
    if given.tool == "press" and (key in _HARMLESS_KEYS or key.startswith(_HARMLESS_KEY_BEGINNINGS)):
        return False
    return given.tool not in _NOT_ACTIVATING


def _word_in_label(words: Words, tier: AppTier) -> tuple[Words, str] | None:
    """Find the first word that counts in an app of this tier, and what it does."""
    known = lexicon()
    at = 0
    while at < len(words):
        harmless = known.harmless.at(words, at)
        found = known.verbs.at(words, at)
        if harmless is not None and (found is None or len(harmless[0]) >= len(found[0])):
            at += len(harmless[0])
            continue
        if found is None and at == 0 and length_of(words) <= _MAX_BUTTON_WORDS:
            found = known.button_verbs.at(words, 0)
        if found is not None and known.levels[found[1]] <= tier:
            return found
        at += 1
    return None


def _word_in_id(words: Words, tier: AppTier) -> tuple[Words, str] | None:
    known = lexicon()
    is_button = not _BUTTON_WORDS.isdisjoint(words)
    named = tuple(word for word in words if word not in _BUTTON_WORDS)
    at = 0
    while at < len(named):
        harmless = known.harmless.at(named, at)
        if harmless is not None:
            at += len(harmless[0])
            continue
        found = known.verbs.at(named, at)
        if found is None and (is_button or len(named) == 1):
            found = known.button_verbs.at(named, at)
        if found is not None and known.levels[found[1]] <= tier:
            return found
        at += 1
    return None


def _forms(label: Labelled) -> Iterator[Words]:
    """Yield the words of each form once; either suffices: folding turns a Cyrillic word into nonsense."""
    seen: set[Words] = set()
    for text in (label.cleaned, label.folded, label.raw):
        words = words_of(text)
        if words and words not in seen:
            seen.add(words)
            yield words


def _known(packages: tuple[str | None, ...]) -> list[str]:
    return [package for package in dict.fromkeys(packages) if package]


def _quoted(label: Labelled) -> str:
    return f'"{shorten(one_line(label.cleaned or label.raw), 60)}"'
