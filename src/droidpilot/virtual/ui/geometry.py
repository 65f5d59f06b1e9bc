"""Rectangles in screen px. This file must never know what a view is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rect:
    """Left and top belong to the rectangle, right and bottom do not."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return self.right - self.left

    @property
    def height(self) -> int:
        return self.bottom - self.top

    @property
    def is_empty(self) -> bool:
        return self.right <= self.left or self.bottom <= self.top

    def has(self, x: float, y: float) -> bool:
        """Tell whether the point lies inside."""
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clip(self, other: Rect) -> Rect:
        """Return the part of this rectangle inside `other`; it may be empty."""
        return Rect(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


EMPTY = Rect(0, 0, 0, 0)
