"""What moves on the phone: slides of windows and rows, glides of scrolling lists, and when a change begins to show.

Everything moves in whole frames, so two looks inside one frame see the same and two looks further apart do not. This
file must never read a clock: the time of the phone is handed in.
"""

from __future__ import annotations

from dataclasses import dataclass

FRAME_MS = 16
"""Length of one frame at about 60 Hz."""
MOVE_MS = 250
"""How long a window or a row slides."""


@dataclass(frozen=True, slots=True)
class Slide:
    """Moves something from an offset to its place, a few px in every frame."""

    begin_ms: int
    dx: int = 0
    dy: int = 0
    lasts_ms: int = MOVE_MS

    def at(self, now_ms: int) -> tuple[int, int]:
        """Return the offset (dx, dy) at that time; (0, 0) when it is over."""
        frames = max(1, self.lasts_ms // FRAME_MS)
        left = frames - max(0, now_ms - self.begin_ms) // FRAME_MS
        if left <= 0:
            return 0, 0
        return self.dx * left // frames, self.dy * left // frames

    @property
    def end_ms(self) -> int:
        return self.begin_ms + max(1, self.lasts_ms // FRAME_MS) * FRAME_MS


@dataclass(slots=True)
class Scroll:
    """How far a scrolling container is scrolled. `limit` and `page` are set by the layout."""

    offset: int = 0
    limit: int = 0
    page: int = 0
    keeps_end: bool = False
    """Stays at the end when content is added there, as a list of messages does."""
    start: int = 0
    begin_ms: int = 0
    lasts_ms: int = 0

    def at(self, now_ms: int) -> int:
        """Return the offset at that time, between where the glide began and where it ends."""
        if self.lasts_ms <= 0 or now_ms >= self.begin_ms + self.lasts_ms:
            return self.offset
        done = max(0, now_ms - self.begin_ms) // FRAME_MS * FRAME_MS
        return self.start + (self.offset - self.start) * done // self.lasts_ms

    def fit(self, *, content: int, page: int) -> None:
        """Take the size of the content and of the visible part, and stay inside them."""
        was_at_end = self.offset >= self.limit
        self.limit = max(0, content - page)
        self.page = page
        if self.keeps_end and was_at_end:
            self.offset = self.limit
        self.offset = max(0, min(self.offset, self.limit))

    def move(self, delta: int, *, now_ms: int, lasts_ms: int) -> bool:
        """Scroll by `delta` px (positive shows what is further down); tell whether anything moved."""
        here = self.at(now_ms)
        there = max(0, min(self.limit, here + delta))
        self.start, self.offset = here, there
        self.begin_ms, self.lasts_ms = now_ms, lasts_ms
        return here != there
