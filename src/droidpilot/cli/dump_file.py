"""A saved dump as a Screen: what a phone showed, from the file that somebody attached to a bug report.

The file is untrusted and may be anything. Size and app in front come from the dump alone, since there is no phone to
ask. This file must never know a phone or a session.
"""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path

from droidpilot.core.errors import DumpError, ScreenUnreadable
from droidpilot.core.text import one_line, plural, shorten
from droidpilot.screens.hierarchy import Hierarchy
from droidpilot.screens.parse import MAX_BYTES, MAX_NODES, parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.screen import Screen, display_of, make_screen

#: What stands for standard input.
STDIN = "-"

#: Codes of what was printed where a dump should be, and what to do about each. Source: uiautomator's own messages.
_HINTS = {
    "empty": "dump the screen again; `adb pull` leaves an empty file where it failed",
    "never_idle": "an animation was running; wait until it ends and dump again",
    "null_root": "no window could be read at that moment; dump again",
    "illegal_character": "the phone could not write a character of this screen; scroll a little and dump again",
    "error_text": "the file holds what went wrong, not the screen; dump again",
    "no_hierarchy": "a dump begins with <hierarchy; make one with `adb shell uiautomator dump`",
    "no_xml": "a dump is XML that begins with <hierarchy; make one with `adb shell uiautomator dump`",
    "compressed": "unpack it first: gzip -dc FILE | droidpilot look --dump -",
    "cut": "the rest was lost on the way: fetch the file again",
    "too_big": f"a dump has at most {MAX_BYTES // 1024 // 1024} MiB and {MAX_NODES} nodes",
}
_ERROR_TEXT = re.compile(
    r"\A\W*(?:error\b|[\w.$]*exception\b|killed\b|uiautomation\b|/system/bin/sh:|adb:|adb\.exe:)", re.IGNORECASE
)
_MARKUP = re.compile(r"<[!?/]?[A-Za-z]")
#: Signs of a file that is no text: control bytes at its beginning, in an encoding that has none.
_BINARY = re.compile(r"[\x00-\x08\x0e-\x1f]")
_GZIP = b"\x1f\x8b"
_CUT_PROLOGUE = re.compile(r"<\?xml[^<]*<?[a-z]*", re.ASCII)
_BEGINNINGS = ("<?xml", "<hierarchy", "<node")
_PEEK = 4000


def read_dump(name: str) -> bytes:
    """Return the bytes of a file, or of standard input for `-`; at most one more than a dump may have.

    Raises:
        DumpError: codes no_file, is_folder, not_readable.
    """
    try:
        if name == STDIN:
            if sys.stdin is None:
                raise DumpError("there is no standard input to read a dump from", code="not_readable")
            return sys.stdin.buffer.read(MAX_BYTES + 1)
        path = Path(name)
        if not name:
            raise DumpError("--dump names no file", hint="name one, or - for standard input", code="no_file")
        if path.is_dir():
            raise DumpError(f"{name} is a folder, not a dump", hint="name a file in it", code="is_folder")
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise DumpError(f"there is no file {name}", hint="check the path", code="no_file") from None
    except (OSError, ValueError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise DumpError(f"{name} cannot be read: {said}", hint="check its permissions", code="not_readable") from None


def screen_of(data: bytes, name: str) -> Screen:
    """Read a dump and make the screen of it that a phone would have given, refs counted from 1.

    Raises:
        DumpError: there is no hierarchy in it; codes empty, never_idle, null_root, illegal_character, error_text,
            no_hierarchy, no_xml, compressed, too_big, cut (before its first node).
    """
    try:
        hierarchy = parse_hierarchy(data)
    except ScreenUnreadable as error:
        raise _refusal(data, name, error) from None
    display = display_of(hierarchy)
    screen = make_screen(
        number=1,
        hierarchy=hierarchy,
        foreground_package=None,
        activity=None,
        width=max(0, display.right),
        height=max(0, display.bottom),
        rotation=hierarchy.rotation,
    )
    return replace(screen, refs=RefBook().assign(hierarchy, screen.display, front=screen.package))


def missing_parts(data: bytes, hierarchy: Hierarchy, name: str) -> DumpError | None:
    """Return the error for a dump of which only a part could be read, None for a whole one: codes cut, too_big."""
    if hierarchy.is_complete:
        return None
    is_too_big = len(data) > MAX_BYTES or len(hierarchy.nodes) >= MAX_NODES
    words = "is larger than a dump may be" if is_too_big else "is cut: parts are missing"
    read = f"{plural(len(hierarchy.nodes), 'node')} could be read"
    return _error(f"{_shown(name)} {words}; {read}", "too_big" if is_too_big else "cut")


def _refusal(data: bytes, name: str, error: ScreenUnreadable) -> DumpError:
    """Say what stands in a file without a hierarchy."""
    text = data[:_PEEK].decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace").strip()
    file, quoted = _shown(name), shorten(one_line(text), 80)
    if len(data) > MAX_BYTES:
        return _error(f"{file} is larger than a dump may be, and holds no hierarchy", "too_big")
    match error.code:
        case "empty":
            return _error(f"{file} is empty", "empty")
        case "cut":
            return _error(f"{file} is cut before its first node", "cut")
        case "never_idle" | "null_root" | "illegal_character":
            return _error(f"{file} holds an error of the phone: {quoted}", error.code)
        case _:
            pass
    if _CUT_PROLOGUE.fullmatch(text) or any(whole.startswith(text) for whole in _BEGINNINGS):
        return _error(f"{file} is cut before its first node", "cut")
    if _ERROR_TEXT.match(text):
        return _error(f"{file} holds an error text: {quoted}", "error_text")
    if data[:2] == _GZIP:
        return _error(f"{file} is compressed (gzip)", "compressed")
    if _BINARY.search(text):
        return _error(f"{file} is no text", "no_xml")
    if _MARKUP.search(text):
        return _error(f"{file} is XML or HTML without a UI hierarchy: {quoted}", "no_hierarchy")
    return _error(f"{file} is no XML: {quoted}", "no_xml")


def _error(message: str, code: str) -> DumpError:
    return DumpError(message, hint=_HINTS[code], code=code)


def _shown(name: str) -> str:
    return "standard input" if name == STDIN else name
