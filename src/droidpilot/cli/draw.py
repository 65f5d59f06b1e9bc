"""Draws the refs of a screen onto its picture, for people: a box round each thing, with the number that names it.

The only file of this room that names Pillow. It must never know a phone or a file.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from droidpilot.core.errors import UsageError
from droidpilot.core.images import Image
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.screen import Screen, visible_bounds

Format = Literal["PNG", "JPEG"]
FORMATS: dict[str, Format] = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG"}
#: Neighbours get different colours, so that one sees which number belongs to which box. Dark enough for white digits.
COLORS = ((200, 30, 60), (20, 100, 200), (0, 130, 80), (150, 60, 180), (190, 90, 0), (0, 120, 140))
_WHITE = (255, 255, 255)
#: Height of a number, in widths of a box's edge.
TAG_UNITS = 11


@dataclass(frozen=True, slots=True)
class Box:
    """One ref and where it lies, in px of the display."""

    ref: int
    bounds: Bounds


def boxes_of(screen: Screen) -> tuple[Box, ...]:
    """Return what can be seen of every ref of a screen, large ones first, so that small ones are drawn over them."""
    found = [
        Box(ref, visible_bounds(screen.hierarchy, screen.nodes[index], screen.display))
        for ref, index in screen.refs.items()
    ]
    seen = [box for box in found if not box.bounds.is_empty]
    return tuple(sorted(seen, key=lambda box: (-box.bounds.width * box.bounds.height, box.ref)))


def draw(picture: Image, boxes: Sequence[Box], display: Bounds, kind: Format) -> bytes:
    """Draw boxes onto a picture of the display and return the file.

    Raises:
        UsageError: the picture cannot be decoded.
    """
    import PIL.Image
    import PIL.ImageDraw
    import PIL.ImageFont

    try:
        with PIL.Image.open(io.BytesIO(picture.data), formats=("JPEG", "PNG")) as opened:
            image = opened.convert("RGB")
    except (OSError, ValueError, SyntaxError) as error:
        raise UsageError(f"the picture cannot be drawn on: {error}", hint="try again") from error
    pen = PIL.ImageDraw.Draw(image)
    across, down = image.width / max(1, display.width), image.height / max(1, display.height)
    unit = max(1, image.width // 270)
    font = PIL.ImageFont.load_default(9 * unit)
    for box in boxes:
        color = COLORS[box.ref % len(COLORS)]
        b = box.bounds
        left, top = round(b.left * across), round(b.top * down)
        right, bottom = max(left, round(b.right * across) - 1), max(top, round(b.bottom * down) - 1)
        pen.rectangle((left, top, right, bottom), outline=color, width=unit)
        is_large = box.bounds.width * box.bounds.height * 4 > display.width * display.height
        # A list's number stands at its lower left: at the upper right its first row has its own.
        corner = (
            (left, bottom + 1 - TAG_UNITS * unit) if is_large else (right + 1 - _wide(font, str(box.ref), unit), top)
        )
        _tag(pen, font, str(box.ref), corner, color, unit, image.size)
    out = io.BytesIO()
    image.save(out, kind, **({"quality": 90} if kind == "JPEG" else {}))
    return out.getvalue()


def _tag(
    pen: Any,
    font: Any,
    text: str,
    corner: tuple[int, int],
    color: tuple[int, int, int],
    unit: int,
    size: tuple[int, int],
) -> None:
    """Write a number on a ground of the box's colour, with its upper left at `corner` or as near as there is room."""
    wide, high = _wide(font, text, unit), TAG_UNITS * unit
    left, top = max(0, min(corner[0], size[0] - wide)), max(0, min(corner[1], size[1] - high))
    pen.rectangle((left, top, left + wide - 1, top + high - 1), fill=color)
    pen.text((left + wide / 2, top + high / 2), text, fill=_WHITE, font=font, anchor="mm")


def _wide(font: Any, text: str, unit: int) -> int:
    return int(font.getlength(text)) + 4 * unit
