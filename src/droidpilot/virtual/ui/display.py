"""The display: its size as made, how it is turned, folded, and what `wm` put over it.

This file must never know a window, a setting or a wire format.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from droidpilot.virtual.ui.geometry import Rect

NATURAL = (1080, 2340)
FOLDED = (904, 2316)
"""The outer display of a foldable, in px; the phone has it while folded."""
DENSITY = 440
LEAST_SIDE, MOST_SIDE = 200, 8_000
LEAST_DENSITY, MOST_DENSITY = 72, 1_000


@dataclass(slots=True)
class Display:
    """One display. Sizes are in px of the natural orientation, as `wm size` tells them."""

    natural: tuple[int, int] = NATURAL
    folded: tuple[int, int] = FOLDED
    density: int = DENSITY
    rotation: int = 0
    """Quarter turns counted against the clock, 0..3, as Surface.ROTATION_* counts."""
    is_folded: bool = False
    override: tuple[int, int] | None = None
    density_override: int | None = None
    on_change: Callable[[], None] = field(default=lambda: None, repr=False, compare=False)

    @property
    def physical(self) -> tuple[int, int]:
        """Size of the panel that is in use, before `wm size`."""
        return self.folded if self.is_folded else self.natural

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in the natural orientation."""
        return self.override or self.physical

    @property
    def rect(self) -> Rect:
        """The screen as it is shown now."""
        width, height = self.size
        return Rect(0, 0, height, width) if self.rotation % 2 else Rect(0, 0, width, height)

    @property
    def dpi(self) -> int:
        return self.density_override or self.density

    def turn(self, rotation: int) -> None:
        """Turn the display.

        Raises:
            ValueError: not 0, 1, 2 or 3.
        """
        if rotation not in (0, 1, 2, 3):
            raise ValueError(f"no rotation {rotation}: 0, 1, 2 or 3")
        if rotation != self.rotation:
            self.rotation = rotation
            self.on_change()

    def fold(self, is_folded: bool) -> None:
        """Fold or unfold: another panel of another size is in use then."""
        if is_folded != self.is_folded:
            self.is_folded = is_folded
            self.on_change()

    def resize(self, size: tuple[int, int] | None) -> None:
        """Put another size over the panel's, as `wm size WxH` does; None takes it away.

        Raises:
            ValueError: a side is out of range.
        """
        if size is not None and not all(LEAST_SIDE <= side <= MOST_SIDE for side in size):
            raise ValueError(f"a side must be {LEAST_SIDE} to {MOST_SIDE} px")
        if size != self.override:
            self.override = None if size == self.physical else size
            self.on_change()

    def set_density(self, dpi: int | None) -> None:
        """Put another density over the panel's, as `wm density N` does; None takes it away.

        Raises:
            ValueError: out of range.
        """
        if dpi is not None and not LEAST_DENSITY <= dpi <= MOST_DENSITY:
            raise ValueError(f"a density must be {LEAST_DENSITY} to {MOST_DENSITY}")
        if dpi != self.density_override:
            self.density_override = None if dpi == self.density else dpi
            self.on_change()
