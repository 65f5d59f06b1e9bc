"""Writes changed values into a dump, in place: every byte that stands for nothing that changed stays as it is.

This file must never know a page or a phone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from droidpilot.virtual.scenes.scan import Found, Scan

_ESCAPES: Final = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
    "'": "&apos;",
    "\t": "&#9;",
    "\n": "&#10;",
    "\r": "&#13;",
}


def written(scan: Scan, changes: Iterable[tuple[Found, str, str]]) -> bytes:
    """Return the dump with (node, attribute, value) written into it; the file's own bytes where there is none."""
    edits = sorted(_edit(scan, found, name, value) for found, name, value in changes)
    if not edits:
        return scan.data
    out: list[str] = []
    position = 0
    for start, end, value in edits:
        out += (scan.raw[position:start], value)
        position = end
    return scan.encode("".join([*out, scan.raw[position:]]))


def _edit(scan: Scan, found: Found, name: str, value: str) -> tuple[int, int, str]:
    """Return where in the file an attribute's value goes, and how it is written there."""
    span = found.spans.get(name)
    if span is None:
        return found.tag_end, found.tag_end, f' {name}="{scan.written(_escaped(value))}"'
    return *span, scan.written(_escaped(value))


def _escaped(value: str) -> str:
    return "".join(_ESCAPES.get(char) or _legal(char) for char in value)


def _legal(char: str) -> str:
    """Write a character as the phone's serializer does: above the basic plane by number, an illegal one as a dot."""
    code = ord(char)
    if code > 0xFFFF:
        return f"&#{code};"
    return char if 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD else "."
