"""Pictures of the phone's screen, painted off the event loop and kept while the screen stays as it is.

This file must never know who asks, or how the bytes travel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from droidpilot.virtual.drawing.marks import Mark
from droidpilot.virtual.drawing.paint import encode, paint
from droidpilot.virtual.drawing.sketch import sketch
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.ui.geometry import EMPTY, Rect

Kind = Literal["jpeg", "png"]
MOST_KEPT = 4
"""Encodings of one screen that are kept, of some 50 KB each."""
LEAST_SCALE = 0.02


class Camera:
    """Takes pictures of one phone, one at a time."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._turn = asyncio.Lock()
        self._marks: tuple[Mark, ...] = ()
        self._screen = EMPTY
        self._kept: dict[tuple[Kind, float, int], bytes] = {}
        self.painted = 0
        """How often a picture was really painted."""

    async def jpeg(self, scale: float, quality: int) -> bytes:
        """Take a JPEG, made smaller by `scale`; both numbers are brought into their range."""
        return await self._take("jpeg", max(LEAST_SCALE, min(1.0, scale)), max(1, min(95, quality)))

    async def png(self) -> bytes:
        """Take a PNG in the screen's own size."""
        return await self._take("png", 1.0, 0)

    async def _take(self, kind: Kind, scale: float, quality: int) -> bytes:
        async with self._turn:
            with self._phone.lock:
                marks, screen = sketch(self._phone), self._phone.display.rect
            if (marks, screen) != (self._marks, self._screen):
                self._marks, self._screen = marks, screen
                self._kept.clear()
            known = self._kept.get((kind, scale, quality))
            if known is not None:
                return known
            made = await asyncio.to_thread(_make, marks, screen, kind, scale, quality)
            self.painted += 1
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            self._kept[kind, scale, quality] = made
            return made


def _make(marks: Sequence[Mark], screen: Rect, kind: Kind, scale: float, quality: int) -> bytes:
    return encode(paint(marks, screen.width, screen.height), kind, scale=scale, quality=quality)
