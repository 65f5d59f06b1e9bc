"""Finds the nodes of a uiautomator dump, whatever state it is in, and where in the file each of their values stands.

A scanner of its own, and not the one that reads dumps for a model: a phone must not be as clever as whoever looks at
it. It goes by tags and attributes alone, mends nothing and changes no byte. This file must never know a phone.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from droidpilot.virtual.ui.geometry import EMPTY, Rect

MAX_BYTES = 32 * 1024 * 1024
MAX_NODES = 50_000
MAX_SIDE = 8_192
"""px; a display is no larger, whatever bounds a broken dump gives."""
DEFAULT_SIZE = (1080, 2340)
"""px; where no bounds say how large the display is."""

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.$:-]*)", re.ASCII)
_ATTRIBUTE = re.compile(r"""\s*([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')""", re.ASCII)
_TAG_END = re.compile(r"\s*(/?)>")
_BOUNDS = re.compile(r"\[(-?\d{1,9}),(-?\d{1,9})\]\[(-?\d{1,9}),(-?\d{1,9})\]", re.ASCII)
_PASSED_OVER = {"<!--": "-->", "<![CDATA[": "]]>"}
"""What holds no nodes, whatever stands in it."""
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_WRAPPERS = ("hierarchy", "dump")


@dataclass(slots=True, eq=False)
class Found:
    """One node. Positions count in `Scan.raw`; `bounds` is the part of it inside its ancestors."""

    number: int
    tag_end: int
    """Where the name of its tag ends: an attribute that it lacks can be written here."""
    values: dict[str, str]
    spans: dict[str, tuple[int, int]]
    """Of each value, where it stands between its quotes."""
    parent: Found | None
    index: int
    """Place among its parent's nodes."""
    window: int
    whole: Rect
    """Its bounds as the dump gives them."""
    bounds: Rect
    children: list[Found] = field(default_factory=list)

    def is_on(self, name: str, default: bool = False) -> bool:
        """Tell whether a flag is true; `default` where it is not there."""
        value = self.values.get(name)
        return default if value is None else value == "true"

    def walk(self) -> Iterator[Found]:
        """Yield this node and all below it, parents first."""
        waiting = [self]
        while waiting:
            found = waiting.pop()
            yield found
            waiting.extend(reversed(found.children))


@dataclass(frozen=True, slots=True)
class Scan:
    """What a dump says. `raw` is the file: one character a byte, or one a UTF-16 unit where its mark says so."""

    data: bytes
    raw: str
    is_utf16: bool
    nodes: tuple[Found, ...]
    rotation: int
    size: tuple[int, int]
    """Width and height of the display as shown, px."""

    @property
    def roots(self) -> list[Found]:
        return [node for node in self.nodes if node.parent is None]

    @property
    def is_hierarchy(self) -> bool:
        """Tell whether it is a dump at all, and not an error message or nothing."""
        return bool(self.nodes) or "<hierarchy" in self.raw

    def text(self) -> str:
        """Return the file as text."""
        return as_text(self.data)

    def encode(self, raw: str) -> bytes:
        """Turn `raw`, or a changed copy of it, back into bytes."""
        if not self.is_utf16:
            return raw.encode("latin-1")
        order = "utf-16-le" if self.data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
        return self.data[:2] + raw.encode(order, "surrogatepass")

    def written(self, value: str) -> str:
        """Return a text as it stands in `raw`."""
        return value if self.is_utf16 else value.encode("utf-8", "replace").decode("latin-1")

    def value(self, node: Found, name: str) -> str:
        """Return an attribute as text, without references; empty where it is not there."""
        value = node.values.get(name, "")
        if not value:
            return ""
        text = _REFERENCE.sub(_character, value if self.is_utf16 else as_text(value.encode("latin-1")))
        return _joined(text)


def scan(data: bytes) -> Scan:
    """Find the nodes of a dump. Never fails: what makes no sense is passed over."""
    is_utf16 = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    raw = data[2:].decode(_order(data), "replace") if is_utf16 else data.decode("latin-1")
    nodes: list[Found] = []
    open_nodes: list[tuple[str, Found | None]] = []
    rotation, told, windows = 0, (0, 0), 0
    position = raw.find("<")
    last_end = {begin: raw.rfind(end) for begin, end in _PASSED_OVER.items()}
    while position >= 0 and len(nodes) < MAX_NODES:
        tag = _TAG.match(raw, position)
        if tag is None:
            over = next((begin for begin in _PASSED_OVER if raw.startswith(begin, position)), "")
            if over and position < last_end[over]:
                position = raw.find("<", raw.find(_PASSED_OVER[over], position))
                continue
            position = raw.find("<", position + 1)
            continue
        name = tag[2]
        if tag[1]:
            names = [one for one, _ in open_nodes[-64:]]
            if name in names:
                del open_nodes[len(open_nodes) - len(names) + (len(names) - 1 - names[::-1].index(name)) :]
            position = raw.find("<", tag.end())
            continue
        values, spans, position, is_leaf = _attributes(raw, tag.end())
        found: Found | None = None
        if name in _WRAPPERS:
            rotation = _number(values.get("rotation", ""), rotation) % 4
            told = (_number(values.get("width", ""), 0), _number(values.get("height", ""), 0))
        elif "bounds" in values or name == "node":
            if name != "node":
                values.setdefault("class", name)
            parent = open_nodes[-1][1] if open_nodes else None
            windows += parent is None
            place = len(parent.children) if parent is not None else windows - 1
            index = _number(values.get("index", ""), place)
            clip = parent.bounds if parent is not None and not parent.bounds.is_empty else None
            whole = _bounds(values.get("bounds", ""))
            window = parent.window if parent is not None else windows - 1
            bounds = whole.clip(clip) if clip is not None else whole
            found = Found(len(nodes), tag.end(), values, spans, parent, index, window, whole, bounds)
            nodes.append(found)
            if parent is not None:
                parent.children.append(found)
        if not is_leaf:
            open_nodes.append((name, found if found is not None else (open_nodes[-1][1] if open_nodes else None)))
        position = raw.find("<", position)
    return Scan(data, raw, is_utf16, tuple(nodes), rotation, _size(nodes, told))


def _order(data: bytes) -> str:
    return "utf-16-le" if data.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"


def _attributes(raw: str, position: int) -> tuple[dict[str, str], dict[str, tuple[int, int]], int, bool]:
    """Read the attributes from the end of a tag's name: values, their places, where the tag ends, and how."""
    values: dict[str, str] = {}
    spans: dict[str, tuple[int, int]] = {}
    while True:
        end = _TAG_END.match(raw, position)
        if end is not None:
            return values, spans, end.end(), bool(end[1])
        attribute = _ATTRIBUTE.match(raw, position)
        if attribute is not None:
            group = 2 if attribute[2] is not None else 3
            values[attribute[1]] = attribute[group]
            spans[attribute[1]] = attribute.span(group)
            position = attribute.end()
            continue
        position += 1
        if position >= len(raw):
            return values, spans, len(raw), True


def _bounds(text: str) -> Rect:
    match = _BOUNDS.match(text)
    if match is None:
        return EMPTY
    left, top, right, bottom = (max(-MAX_SIDE, min(MAX_SIDE, int(number))) for number in match.groups())
    return Rect(left, top, right, bottom)


def _size(nodes: list[Found], told: tuple[int, int]) -> tuple[int, int]:
    """Return how large the display must be: it holds every window, and begins at 0,0."""
    roots = [node.bounds for node in nodes if node.parent is None and not node.bounds.is_empty]
    width = max([told[0], *(root.right for root in roots)])
    height = max([told[1], *(root.bottom for root in roots)])
    if width <= 0 or height <= 0:
        return DEFAULT_SIZE
    return min(MAX_SIDE, width), min(MAX_SIDE, height)


def as_text(data: bytes) -> str:
    """Read a dump as text, as Java would hold it: encoded surrogates stay, what is no UTF-8 is marked."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def _joined(text: str) -> str:
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED[match[3]]
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else default
