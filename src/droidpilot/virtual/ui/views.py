"""A small layout toolkit: a tree of views that is measured and placed as Android would.

A window builds a fresh tree from its state whenever the phone changed; what must outlive a tree (text, scrolling,
focus) lives in TextField and Scroll. This file must never know a phone, an app or XML.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Literal

from droidpilot.virtual.ui.geometry import EMPTY, Rect
from droidpilot.virtual.ui.motion import Scroll, Slide

Layout = Literal["column", "row", "frame"]
FILL = -1
"""As large as the parent allows."""
WRAP = -2
"""As large as the content needs."""
BULLET = "•"
MAX_TEXT = 20_000
"""Characters a text field holds."""
MAX_FIELD_LINES = 4
"""A text field grows to so many lines and not further."""


@dataclass(slots=True, eq=False)
class TextField:
    """Text that a person edits. The cursor is always at the end."""

    name: str
    is_password: bool = False
    is_revealed: bool = False
    hint: str = ""
    text: str = ""
    filter: Callable[[str], str] | None = None
    """What the app makes of every text that comes in: a mask, a limit, small letters."""
    refuses_set_text: bool = False
    """Takes keys, but says no to the accessibility action, as views that draw their own text do."""
    on_put: Callable[[], None] | None = None
    """Called after every change, for an app that looks at what was typed."""

    @property
    def is_hidden(self) -> bool:
        return self.is_password and not self.is_revealed

    def shown(self) -> str:
        """Return what Android reports as text: bullets for a hidden password, the hint where there is no text."""
        if not self.text:
            return self.hint
        return BULLET * len(self.text) if self.is_hidden else self.text

    def put(self, text: str) -> None:
        """Replace the text by what the field makes of it, cut to what it holds."""
        self.text = (text if self.filter is None else self.filter(text))[:MAX_TEXT]
        if self.on_put is not None:
            self.on_put()


@dataclass(slots=True, eq=False)
class Rows:
    """Rows of a recycling list: only those in sight are ever built."""

    heights: Sequence[int]
    build: Callable[[int], View]
    ends: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.ends = list(accumulate(self.heights))

    @property
    def content(self) -> int:
        return self.ends[-1] if self.ends else 0


@dataclass(frozen=True, slots=True)
class Painted:
    """A box that a canvas paints by itself: to be seen in a picture, unknown to accessibility."""

    box: Rect
    """In px of the view, from its own left top corner."""
    words: str = ""
    is_lit: bool = False


@dataclass(slots=True, eq=False)
class View:
    """One element. `bounds` is set by `place`, in screen px, not clipped."""

    cls: str = "android.view.View"
    id: str = ""
    text: str = ""
    desc: str = ""
    layout: Layout = "column"
    width: int = FILL
    height: int = WRAP
    weight: int = 0
    pad: tuple[int, int, int, int] = (0, 0, 0, 0)
    size: int = 44
    """Text size in px."""
    centered: bool = False
    children: list[View] = field(default_factory=list)
    on_click: Callable[[], None] | None = None
    on_long_click: Callable[[], None] | None = None
    on_touch: Callable[[int, int], None] | None = None
    """Takes a tap at (x, y) px of the view and tells accessibility nothing of it, as a canvas does."""
    paints: Sequence[Painted] = ()
    is_enabled: bool = True
    is_checkable: bool = False
    is_checked: bool = False
    is_selected: bool = False
    edits: TextField | None = None
    is_focused: bool = False
    scroll: Scroll | None = None
    rows: Rows | None = None
    slide: Slide | None = None
    mirrors: bool = False
    """Lays out its children from right to left; their order in the tree stays as it is read."""
    bounds: Rect = EMPTY
    first_index: int = 0

    @property
    def is_clickable(self) -> bool:
        return self.on_click is not None or self.edits is not None


def text_width(text: str, size: int) -> int:
    """Estimate how wide a line is, in px: wide East Asian characters and emoji take a whole em."""
    ems = sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.52 for c in text if not unicodedata.combining(c))
    return int(ems * size)


def text_lines(text: str, size: int, width: int) -> int:
    """Estimate how many lines a text takes."""
    return sum(max(1, -(-text_width(line, size) // max(1, width))) for line in text.split("\n"))


def natural(view: View, room: int) -> tuple[int, int]:
    """Measure a view: (width, height) it wants when `room` px of width are there."""
    left, top, right, bottom = view.pad
    inner = max(0, (view.width if view.width >= 0 else room) - left - right)
    wide, high = 0, 0
    if view.rows is not None:
        wide, high = inner, view.rows.content
    elif view.children:
        sizes = _row_sizes(view.children, inner) if view.layout == "row" else [natural(c, inner) for c in view.children]
        widths, heights = [w for w, _ in sizes], [h for _, h in sizes]
        wide = sum(widths) if view.layout == "row" else max(widths)
        high = sum(heights) if view.layout == "column" else max(heights)
    text = view.edits.shown() if view.edits is not None else view.text
    if text or view.edits is not None:
        wide = max(wide, min(inner, text_width(text, view.size)))
        lines = text_lines(text, view.size, inner)
        high = max(high, min(lines, MAX_FIELD_LINES if view.edits is not None else lines) * (view.size * 4 // 3))
    width = room if view.width == FILL else min(room, wide + left + right)
    return (
        view.width if view.width >= 0 else width,
        view.height if view.height >= 0 else high + top + bottom,
    )


def _row_sizes(children: list[View], room: int) -> list[tuple[int, int]]:
    """Share the width of a row: fixed and wrapping children first, the rest by weight."""
    fixed = [(0, 0) if c.weight else natural(c, room) for c in children]
    left = max(0, room - sum(w for w, _ in fixed))
    weights = sum(c.weight for c in children)
    return [
        (left * c.weight // weights, natural(c, left * c.weight // weights)[1]) if c.weight else size
        for c, size in zip(children, fixed, strict=True)
    ]


def place(view: View, bounds: Rect, now_ms: int) -> None:
    """Give a view its bounds and place everything inside it, as it is at that time."""
    dx, dy = view.slide.at(now_ms) if view.slide is not None else (0, 0)
    view.bounds = Rect(bounds.left + dx, bounds.top + dy, bounds.right + dx, bounds.bottom + dy)
    left, top, right, bottom = view.pad
    inner = Rect(view.bounds.left + left, view.bounds.top + top, view.bounds.right - right, view.bounds.bottom - bottom)
    if view.rows is not None:
        _place_rows(view, view.rows, inner, now_ms)
    elif view.layout == "row":
        _place_row(view, inner, now_ms)
    elif view.layout == "column":
        _place_column(view, inner, now_ms)
    else:
        for child in view.children:
            width, height = natural(child, inner.width)
            height = inner.height if child.height == FILL else height
            x = _left_of(view, inner, width)
            y = inner.top + (inner.height - height) // 2 if view.centered else inner.top
            place(child, Rect(x, y, x + width, y + height), now_ms)


def _left_of(view: View, inner: Rect, width: int) -> int:
    """Return where a child of that width begins: in the middle, or at the side where reading begins."""
    if view.centered:
        return inner.left + (inner.width - width) // 2
    return inner.right - width if view.mirrors else inner.left


def _place_row(view: View, inner: Rect, now_ms: int) -> None:
    x = inner.right if view.mirrors else inner.left
    for child, (width, height) in zip(view.children, _row_sizes(view.children, inner.width), strict=True):
        height = inner.height if child.height == FILL else min(height, inner.height)
        y = inner.top + (inner.height - height) // 2
        x -= width if view.mirrors else 0
        place(child, Rect(x, y, x + width, y + height), now_ms)
        x += 0 if view.mirrors else width


def _place_column(view: View, inner: Rect, now_ms: int) -> None:
    sizes = [natural(child, inner.width) for child in view.children]
    weights = sum(child.weight for child in view.children)
    spare = inner.height - sum(h for c, (_, h) in zip(view.children, sizes, strict=True) if not c.weight)
    y = inner.top
    if view.scroll is not None:
        view.scroll.fit(content=sum(h for _, h in sizes), page=inner.height)
        y -= view.scroll.at(now_ms)
    for child, (width, height) in zip(view.children, sizes, strict=True):
        if child.weight and view.scroll is None:
            height = max(0, spare) * child.weight // weights
        elif child.height == FILL:
            height = inner.bottom - y
        x = _left_of(view, inner, width)
        place(child, Rect(x, y, x + width, y + height), now_ms)
        y += height


def _place_rows(view: View, rows: Rows, inner: Rect, now_ms: int) -> None:
    offset = 0
    if view.scroll is not None:
        view.scroll.fit(content=rows.content, page=inner.height)
        offset = view.scroll.at(now_ms)
    first = bisect_right(rows.ends, offset)
    view.first_index = first
    view.children = []
    for index in range(first, len(rows.ends)):
        y = inner.top - offset + rows.ends[index] - rows.heights[index]
        if y >= inner.bottom:
            break
        child = rows.build(index)
        view.children.append(child)
        place(child, Rect(inner.left, y, inner.right, y + rows.heights[index]), now_ms)
