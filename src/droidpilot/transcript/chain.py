"""The bytes of one transcript line, the hash that chains it, and the anchored head. Knows no event and no directory.

A line is compact JSON that ends in `,"prev":"<hex>","hash":"<hex>"}` and one newline, where
hash = sha256(prev as hex text + the line's bytes without the `hash` member and without the newline).
The head is a record of fixed size in a file of its own: number and hash of the last line. The line is written first,
then the head: a head one behind is a crash, a head ahead of the file is a cut.

With an audit key each line also has a `mac` before its `prev`, over prev and the line without it, and the head record a
mac over itself: whoever does not have the key can then neither add, change nor cut (HMAC-SHA256, RFC 2104).
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

#: What the first line continues.
GENESIS = "0" * 64
#: A longer line is garbage to a reader and an error to the writer.
MAX_LINE_BYTES = 8 * 1024 * 1024

_PREV = re.compile(rb',"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}\Z')
_HASH_BYTES = len(b',"hash":""}') + 64
# Characters that would break a line, move the cursor or reverse the text when somebody prints the file. They can only
# stand inside JSON strings here, where an escape means the same.
_ESCAPED = re.compile("[\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]")
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_HEAD = re.compile(rb"([+-]\d{12}) ([0-9a-f]{64})(?: ([0-9a-f]{64}))?\n\Z")
_TORN_NOTE = re.compile(r"torn line before this one: (\d+) bytes, sha256 ([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Sealed:
    """A line whose end has the right form. It is genuine only if `claimed == actual`."""

    fields: dict[str, Any]  # without mac, prev and hash
    prev: str
    claimed: str
    actual: str
    mac: str = ""  # empty where it has none

    @property
    def is_intact(self) -> bool:
        return self.claimed == self.actual


@dataclass(frozen=True, slots=True)
class Head:
    """The anchored end of a transcript: number and hash of its last line, -1 and GENESIS before the first."""

    seq: int
    hash: str
    mac: str = ""  # as it stands in the record; empty where it has none


START = Head(-1, GENESIS)


def to_json(fields: Mapping[str, Any]) -> str:
    """Write compact JSON on one line, with everything escaped that a terminal or a line reader could trip over."""
    text = _ENCODER.encode(fields)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def seal(fields: Mapping[str, Any], prev: str, *, key: bytes = b"") -> tuple[bytes, str]:
    """Make one line of `fields` that continues `prev`; return its bytes, newline included, and its hash.

    With a `key` the line gets a mac, too.
    """
    sealed = {**fields, "mac": _line_mac(fields, prev, key)} if key else fields
    body = to_json({**sealed, "prev": prev}).encode()
    digest = _digest(prev, body)
    return body[:-1] + b',"hash":"' + digest.encode() + b'"}\n', digest


def is_sealed_with(key: bytes, line: Sealed) -> bool:
    """Tell whether the line was made by somebody who has `key`."""
    return hmac.compare_digest(line.mac, _line_mac(line.fields, line.prev, key))


def unseal(raw: bytes) -> Sealed | None:
    """Take a line (without its newline) apart; None where it is no whole line of ours, whatever it is instead."""
    if len(raw) > MAX_LINE_BYTES:
        return None
    end = _PREV.search(raw)
    if end is None:
        return None
    try:
        fields = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    prev, claimed = end[1].decode(), end[2].decode()
    if fields.pop("prev", None) != prev or fields.pop("hash", None) != claimed:
        return None
    mac = fields.pop("mac", "")
    if not isinstance(mac, str):
        return None
    return Sealed(fields, prev, claimed, _digest(prev, raw[:-_HASH_BYTES] + b"}"), mac)


def split(data: bytes) -> list[bytes]:
    """Split a file into lines without their newlines. A last piece without newline is one more line."""
    lines = data.split(b"\n")
    return lines[:-1] if lines[-1] == b"" else lines


def head_record(head: Head, *, key: bytes = b"") -> bytes:
    """Format the head as the fixed-size record that its file holds, with a mac where there is a `key`."""
    record = f"{head.seq:+013d} {head.hash}"
    return f"{record} {_mac(key, record.encode())}\n".encode() if key else f"{record}\n".encode()


def is_head_sealed_with(key: bytes, head: Head) -> bool:
    """Tell whether the record was made by somebody who has `key`."""
    return hmac.compare_digest(head_record(head, key=key), f"{head.seq:+013d} {head.hash} {head.mac}\n".encode())


def read_head(data: bytes) -> Head | None:
    """Read the record of a head file; None where it is not one."""
    found = _HEAD.match(data)
    return None if found is None else Head(int(found[1]), found[2].decode(), (found[3] or b"").decode())


def torn_note(block: bytes) -> str:
    """Word the note that the writer leaves behind bytes of a torn line, so that they belong to the chain too."""
    return f"torn line before this one: {len(block)} bytes, sha256 {hashlib.sha256(block).hexdigest()}"


def is_torn_note(text: str, block: bytes) -> bool:
    """Tell whether `text` is the note that vouches for exactly the bytes of `block`."""
    return _TORN_NOTE.fullmatch(text) is not None and text == torn_note(block)


def _digest(prev: str, body: bytes) -> str:
    return hashlib.sha256(prev.encode() + body).hexdigest()


def _line_mac(fields: Mapping[str, Any], prev: str, key: bytes) -> str:
    return _mac(key, prev.encode() + to_json(fields).encode())


def _mac(key: bytes, data: bytes) -> str:
    return hmac.new(key, data, hashlib.sha256).hexdigest()
