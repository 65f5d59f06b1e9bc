"""What a picture of the phone is made of: a few simple shapes as values, bottom one first.

Two pictures with equal marks are equal, so a mark holds everything that can be seen of it. This file must never know a
view, a phone or the library that paints.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from droidpilot.virtual.ui.geometry import Rect

Color = tuple[int, int, int]
Align = Literal["left", "center"]


@dataclass(frozen=True, slots=True)
class Fill:
    """A filled rectangle; with half of its height as `radius` a pill or a disc."""

    box: Rect
    color: Color
    clip: Rect
    radius: int = 0


@dataclass(frozen=True, slots=True)
class Outline:
    """The edge of a rectangle, drawn inside it."""

    box: Rect
    color: Color
    clip: Rect
    radius: int
    width: int


@dataclass(frozen=True, slots=True)
class Gradient:
    """A rectangle that fades from one colour at the top to another at the bottom."""

    box: Rect
    top: Color
    bottom: Color


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points."""

    points: tuple[tuple[int, int], ...]
    color: Color
    clip: Rect
    width: int


@dataclass(frozen=True, slots=True)
class Words:
    """Text in a box: wrapped at spaces into at most `lines` lines, the rest cut with an ellipsis."""

    text: str
    box: Rect
    color: Color
    clip: Rect
    size: int
    lines: int = 1
    align: Align = "left"
    is_middle: bool = False
    """Whether the text stands in the middle of the box's height, and not at its top."""


@dataclass(frozen=True, slots=True)
class Shade:
    """Darkens everything below it."""

    strength: float
    """0 leaves it as it is, 1 makes it black."""


Mark = Fill | Outline | Gradient | Stroke | Words | Shade


@dataclass(frozen=True, slots=True)
class Palette:
    """The colours of a theme."""

    surface: Color
    raised: Color
    """Dialogs, fields, bubbles of others."""
    text: Color
    faint: Color
    """Second lines, hints, what is off."""
    disabled: Color
    accent: Color
    on_accent: Color
    tint: Color
    """Large areas that belong together: the main switch, our bubbles."""
    on_tint: Color


LIGHT = Palette(
    surface=(250, 248, 255),
    raised=(234, 237, 248),
    text=(26, 27, 33),
    faint=(84, 87, 100),
    disabled=(178, 180, 190),
    accent=(58, 91, 169),
    on_accent=(255, 255, 255),
    tint=(216, 226, 255),
    on_tint=(0, 26, 67),
)
DARK = Palette(
    surface=(18, 19, 24),
    raised=(40, 42, 50),
    text=(227, 226, 233),
    faint=(172, 174, 188),
    disabled=(92, 94, 105),
    accent=(173, 199, 255),
    on_accent=(10, 47, 105),
    tint=(43, 68, 122),
    on_tint=(216, 226, 255),
)
WALLPAPER = ((41, 62, 117), (151, 122, 178))
WHITE: Color = (255, 255, 255)
BLACK: Color = (0, 0, 0)
