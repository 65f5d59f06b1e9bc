"""What must not be written: known secrets in every form, and what looks like a key. Knows no file and no phone.

It works on every string of every event, whatever the field, so a field added later is covered. Kept as they are: words
of closed sets (`status`, `kind`: they are ours and readers depend on them) and, against secrets of fewer than 12
characters, ids, digests and times of our own making (a PIN can stand in a digest by chance; hiding it there would hide
what became of a call).
"""

from __future__ import annotations

import base64
import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any, AnyStr, Literal, get_args, get_origin
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape

from pydantic import BaseModel

from droidpilot.core.text import one_line, shorten_marked

MARK = "[redacted]"
#: Shorter secrets are redacted only where they are the whole string.
MIN_INNER = 4
#: A string of an event is cut beyond this many characters, with a marker.
MAX_STRING = 200_000
#: Deeper nesting than this is replaced: no argument of a tool needs it.
MAX_DEPTH = 40

_MIN_OWN_ID_SECRET = 12
_OWN_IDS = frozenset(
    {"call_id", "parent_id", "prompt_id", "send_key", "artifact", "fingerprint", "policy_digest"}
    | {"id", "started", "ended", "pid_started"}  # of meta.json
)
_OWN_ID_SHAPE = re.compile(r"[A-Za-z0-9_.:-]{1,128}")

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "authorization",
        re.compile(r"(?i)(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?(?:bearer|basic|token)?\s{0,4})([^\s\"',;]{3,})"),
    ),
    ("bearer", re.compile(r"(?i)(\bbearer\s{1,4})([A-Za-z0-9._~+/=-]{8,})")),
    ("sk-", re.compile(r"()(\bsk-[A-Za-z0-9_-]{8,})")),
    ("api", re.compile(r"(?i)(\bapi[_-]?key[\"']?\s{0,4}[:=]\s{0,4}[\"']?)([^\s\"',;&]{3,})")),
    ("://", re.compile(r"(://[^\s/:@]{0,200}:)([^\s/@]{1,200})(?=@)")),
)
_LEAST_PATTERN = 6  # no pattern fits a shorter text
_XML_SPACES = {ord(space): f"&#{ord(space)};" for space in "\t\n\r"}
_SECRET_KEYS = re.compile(r"(?i)(x-)?api[_-]?key|authorization|access[_-]token|refresh[_-]token|passw(or)?d")


class Redactor:
    """Replaces secrets in text, bytes and events. Secrets are added as they become known and never forgotten."""

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._short: set[str] = set()
        self._forms: dict[str, None] = {}
        self._long: tuple[str, ...] = ()
        self._least = _LEAST_PATTERN
        self._bytes: tuple[bytes, ...] = ()
        for secret in secrets:
            self.add_secret(secret)

    def add_secret(self, secret: str) -> None:
        """Hide `secret` from now on, in all the forms it could be written in. Blank ones are no secrets."""
        for base in {secret, secret.strip(), one_line(secret)}:
            if not base.strip():
                continue
            if len(base) < MIN_INNER:
                self._short.add(base)
            else:
                self._forms.update(dict.fromkeys(_forms(base)))
        self._long = tuple(sorted(self._forms, key=len))
        self._least = min([_LEAST_PATTERN, *map(len, self._long)])
        self._bytes = tuple(sorted((form.encode("utf-8", "surrogatepass") for form in self._long), key=len))

    def text(self, text: str) -> str:
        """Return `text` without secrets. Redact before shortening: a cut secret is not recognised."""
        if text in self._short:
            return MARK
        if len(text) < self._least:
            return text
        return _hide_patterns(_cover(text, _spans(text, self._long), MARK))

    def could_begin(self, text: str) -> int:
        """Return how many characters at the end of `text` could be the beginning of a secret."""
        longest = min(len(text), max(map(len, self._long), default=1) - 1)
        return next((n for n in range(longest, 0, -1) if any(form.startswith(text[-n:]) for form in self._long)), 0)

    def data(self, data: bytes) -> bytes:
        """Return the bytes of an artifact without secrets, escaped forms (XML, JSON, URL, base64) included."""
        covered = _cover(data, _spans(data, self._bytes), MARK.encode())
        lowered = covered.lower()
        if not any(word.encode() in lowered for word, _ in _PATTERNS):
            return covered
        # Latin-1 maps every byte to one character and back, so whatever is not text survives unchanged.
        return _hide_patterns(covered.decode("latin-1")).encode("latin-1")

    def fields(self, event: BaseModel) -> dict[str, Any]:
        """Return the fields of `event` as plain JSON values without secrets, bounded in length and depth."""
        return self._fields(event, 0)

    def _fields(self, model: BaseModel, depth: int) -> dict[str, Any]:
        closed = _closed_fields(type(model))
        return {
            name: value
            if name in closed or self._is_own_id(name, value)
            else self._value(value, depth + 1, is_free=False)
            for name, value in model
        }

    def _is_own_id(self, name: str, value: Any) -> bool:
        if name not in _OWN_IDS or not isinstance(value, str) or not _OWN_ID_SHAPE.fullmatch(value):
            return False
        return not any(form in value for form in self._long if len(form) >= _MIN_OWN_ID_SECRET)

    def _value(self, value: Any, depth: int, *, is_free: bool) -> Any:
        """`is_free`: inside a dict with keys and values from outside, where a number can be a secret too."""
        if depth > MAX_DEPTH:
            return "[too deep]"
        if value is None or value is True or value is False:
            return value
        if isinstance(value, str):
            return shorten_marked(self.text(str(value)), MAX_STRING)
        if isinstance(value, (int, float)):
            return self._number(value, is_free=is_free)
        if isinstance(value, BaseModel):
            return self._fields(value, depth)
        if isinstance(value, (list, tuple, set, frozenset)):
            return [self._value(item, depth + 1, is_free=is_free) for item in value]
        if isinstance(value, Mapping):
            return self._mapping(value, depth)
        return shorten_marked(self.text(str(value)), MAX_STRING)

    def _number(self, value: int | float, *, is_free: bool) -> int | float | str:
        if isinstance(value, float) and not math.isfinite(value):
            return str(value)
        if isinstance(value, int) and value.bit_length() > 256:
            return "[number too long]"  # no field needs it, and not every reader of JSON takes it
        if not is_free:
            return value
        text = str(value)
        return value if self.text(text) == text else MARK

    def _mapping(self, mapping: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, value in mapping.items():
            name = shorten_marked(self.text(str(key)), 1000)
            while name in found:
                name += "'"  # two keys became the same; neither value may be lost
            is_secret = isinstance(value, str) and value and _SECRET_KEYS.fullmatch(str(key)) is not None
            found[name] = MARK if is_secret else self._value(value, depth + 1, is_free=True)
        return found


class RedactedStream:
    """Passes on text that comes in pieces, without secrets: what could be the beginning of one is held back.

    The empty piece means that the text starts over. What is held back at the end stays unsaid: the whole text is in the
    transcript anyway, redacted.
    """

    def __init__(self, redactor: Redactor, sink: Callable[[str], None]) -> None:
        self._redactor = redactor
        self._sink = sink
        self._held = ""

    def __call__(self, piece: str) -> None:
        if not piece:
            self._held = ""
            self._sink("")
            return
        text = self._redactor.text(self._held + piece)
        cut = len(text) - self._redactor.could_begin(text)
        self._held = text[cut:]
        if cut:
            self._sink(text[:cut])


@cache
def _closed_fields(model: type[BaseModel]) -> frozenset[str]:
    return frozenset(name for name, field in model.model_fields.items() if _is_closed(field.annotation))


def _is_closed(annotation: Any) -> bool:
    if get_origin(annotation) is Literal:
        return True
    return bool(get_args(annotation)) and all(
        part is type(None) or get_origin(part) is Literal for part in get_args(annotation)
    )


def _forms(secret: str) -> Iterator[str]:
    """Yield the secret as it would look in text, JSON, XML, a URL, base64, a shell's line, and normalised."""
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        yield unicodedata.normalize(form, secret)
    yield secret
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    yield json.dumps(secret)[1:-1]
    yield re.sub(r"\\u([0-9a-f]{4})", lambda found: f"\\u{found[1].upper()}", json.dumps(secret)[1:-1])
    for quotes in (
        {},
        {'"': "&quot;"},
        {'"': "&quot;", "'": "&apos;"},
        {'"': "&quot;", "'": "&#39;"},
        {"'": "&#x27;", '"': "&quot;"},
    ):
        escaped = escape(secret, quotes)
        for text in (escaped, escaped.translate(_XML_SPACES)):
            yield text
            yield text.encode("ascii", "xmlcharrefreplace").decode()
            yield "".join(char if ord(char) < 128 else f"&#x{ord(char):x};" for char in text)
    # As `input text` is told it, and as a shell is: a single quote ends the quotes that it stands in.
    for text in (secret, secret.replace(" ", "%s")):
        yield text
        yield text.replace("'", "'\"'\"'")
        yield text.replace("'", "'\\''")
    raw = secret.encode("utf-8", "surrogatepass")
    for text in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
        yield text
        yield re.sub(r"%[0-9A-F]{2}", lambda found: found[0].lower(), text)
    for before in range(3):
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            # Inside a longer text the secret can begin at any of three offsets; only the letters that it alone decides
            # are looked for.
            letters = encode(b"\0" * before + raw).decode().rstrip("=")
            stable = letters[-(-before * 8 // 6) : (before + len(raw)) * 8 // 6]
            if len(stable) > MIN_INNER:
                yield stable


def _spans(text: AnyStr, needles: tuple[AnyStr, ...]) -> list[tuple[int, int]]:
    """Find every place of every needle; `needles` are sorted by length."""
    spans: list[tuple[int, int]] = []
    length = len(text)
    for needle in needles:
        if len(needle) > length:
            break
        at = text.find(needle)
        while at >= 0:
            spans.append((at, at + len(needle)))
            at = text.find(needle, at + 1)
    return spans


def _cover(text: AnyStr, spans: list[tuple[int, int]], mark: AnyStr) -> AnyStr:
    """Put `mark` over all spans at once; overlapping ones get one mark, so no end of a secret is left over."""
    if not spans:
        return text
    parts: list[AnyStr] = []
    end = 0
    for left, right in sorted(spans):
        if left >= end:
            parts += [text[end:left], mark]
        end = max(end, right)
    parts.append(text[end:])
    return text[:0].join(parts)


def _hide_patterns(text: str) -> str:
    lowered = text.lower()
    for word, pattern in _PATTERNS:
        if word in lowered:
            text = pattern.sub(lambda found: found[0] if found[2].startswith(MARK) else f"{found[1]}{MARK}", text)
    return text
