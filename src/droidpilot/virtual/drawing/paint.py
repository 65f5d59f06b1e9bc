"""Paints marks into a picture and writes it as JPEG or PNG. Meant for a worker thread; equal marks, equal bytes.

The only file of this room that names Pillow, whose own font it uses: what that cannot write becomes a box. It must
never know a phone.
"""

from __future__ import annotations

import functools
import io
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, assert_never

from droidpilot.virtual.drawing.marks import BLACK, Color, Fill, Gradient, Mark, Outline, Shade, Stroke, Words
from droidpilot.virtual.ui.geometry import Rect

if TYPE_CHECKING:
    from PIL.Image import Image

FINE = 4
"""Edges are drawn this many times larger and made smaller again, which rounds them."""
WRITABLE = frozenset(
    " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~©«°±´·»‘’“”…‹›™"
)
"""Source: the characters of the Aileron subset in Pillow's wheels."""
STAND_INS = {"–": "-", "—": "-", "−": "-", "‐": "-", "‑": "-", "\u00a0": " ", "×": "x", "•": "·"}
UNKNOWN = "\ufffd"
"""Stands for a character that the font cannot write; drawn as a box."""
MOST_CHARACTERS = 2_000


def paint(marks: Sequence[Mark], width: int, height: int) -> Image:
    """Paint marks, bottom first."""
    import PIL.Image

    image = PIL.Image.new("RGB", (width, height), BLACK)
    for mark in marks:
        match mark:
            case Fill():
                _rounded(image, mark.box, mark.color, mark.clip, mark.radius)
            case Outline():
                _outline(image, mark)
            case Gradient():
                _gradient(image, mark)
            case Stroke():
                _stroke(image, mark)
            case Words():
                _words(image, mark)
            case Shade():
                image = PIL.Image.blend(image, PIL.Image.new("RGB", image.size, BLACK), mark.strength)
            case _:
                assert_never(mark)
    return image


def encode(image: Image, kind: Literal["jpeg", "png"], *, scale: float = 1.0, quality: int = 80) -> bytes:
    """Write a picture, made smaller by `scale` first."""
    if scale < 1:
        size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
        image = image.resize(size)
    out = io.BytesIO()
    if kind == "jpeg":
        image.save(out, "JPEG", quality=quality)
    else:
        image.save(out, "PNG", compress_level=3)
    return out.getvalue()


def _paste(image: Image, color: Color, left: int, top: int, mask: Image, clip: Rect) -> None:
    """Put a colour where the mask says, inside the clip."""
    seen = Rect(left, top, left + mask.width, top + mask.height).clip(clip)
    if seen.is_empty:
        return
    if (seen.width, seen.height) != mask.size:
        mask = mask.crop((seen.left - left, seen.top - top, seen.right - left, seen.bottom - top))
    image.paste(color, (seen.left, seen.top, seen.right, seen.bottom), mask)


@functools.lru_cache(maxsize=64)
def _disc(radius: int) -> Image:
    import PIL.Image
    import PIL.ImageDraw

    large = PIL.Image.new("L", (2 * radius * FINE, 2 * radius * FINE))
    PIL.ImageDraw.Draw(large).ellipse((0, 0, 2 * radius * FINE - 1, 2 * radius * FINE - 1), fill=255)
    return large.resize((2 * radius, 2 * radius), PIL.Image.Resampling.BOX)


def _rounded(image: Image, box: Rect, color: Color, clip: Rect, radius: int) -> None:
    """Fill a rectangle with round corners."""
    radius = max(0, min(radius, box.width // 2, box.height // 2))
    for part in (
        Rect(box.left, box.top + radius, box.right, box.bottom - radius),
        Rect(box.left + radius, box.top, box.right - radius, box.top + radius),
        Rect(box.left + radius, box.bottom - radius, box.right - radius, box.bottom),
    ):
        seen = part.clip(clip)
        if not seen.is_empty:
            image.paste(color, (seen.left, seen.top, seen.right, seen.bottom))
    if radius:
        whole = _disc(radius)
        for right, bottom in ((0, 0), (1, 0), (0, 1), (1, 1)):
            corner = whole.crop((right * radius, bottom * radius, (right + 1) * radius, (bottom + 1) * radius))
            left = box.right - radius if right else box.left
            _paste(image, color, left, box.bottom - radius if bottom else box.top, corner, clip)


def _outline(image: Image, mark: Outline) -> None:
    import PIL.Image
    import PIL.ImageDraw

    seen = mark.box.clip(mark.clip)
    # Of a box far larger than the picture, which a broken dump may give, the edge cannot be seen.
    if seen.is_empty or mark.box.width * mark.box.height > 4 * image.width * image.height:
        return
    size = (mark.box.width * 2, mark.box.height * 2)
    large = PIL.Image.new("L", size)
    PIL.ImageDraw.Draw(large).rounded_rectangle(
        (0, 0, size[0] - 1, size[1] - 1), radius=mark.radius * 2, outline=255, width=mark.width * 2
    )
    mask = large.resize((mark.box.width, mark.box.height), PIL.Image.Resampling.BOX)
    _paste(image, mark.color, mark.box.left, mark.box.top, mask, mark.clip)


def _gradient(image: Image, mark: Gradient) -> None:
    import PIL.Image

    box = mark.box
    ramp = PIL.Image.linear_gradient("L").resize((box.width, box.height))
    image.paste(mark.top, (box.left, box.top, box.right, box.bottom))
    image.paste(mark.bottom, (box.left, box.top, box.right, box.bottom), ramp)


def _stroke(image: Image, mark: Stroke) -> None:
    import PIL.Image
    import PIL.ImageDraw

    half = mark.width // 2 + 1
    left, top = min(x for x, _ in mark.points) - half, min(y for _, y in mark.points) - half
    right, bottom = max(x for x, _ in mark.points) + half, max(y for _, y in mark.points) + half
    large = PIL.Image.new("L", ((right - left) * FINE, (bottom - top) * FINE))
    draw = PIL.ImageDraw.Draw(large)
    points = [((x - left) * FINE, (y - top) * FINE) for x, y in mark.points]
    draw.line(points, fill=255, width=mark.width * FINE, joint="curve")
    reach = mark.width * FINE // 2
    for x, y in (points[0], points[-1]):
        draw.ellipse((x - reach, y - reach, x + reach, y + reach), fill=255)
    mask = large.resize((right - left, bottom - top), PIL.Image.Resampling.BOX)
    _paste(image, mark.color, left, top, mask, mark.clip)


@functools.lru_cache(maxsize=32)
def _font(size: int) -> Any:
    import PIL.ImageFont

    return PIL.ImageFont.load_default(size)


def writable(text: str) -> str:
    """Return a text in characters that the font has: marks above letters go, what is unknown becomes UNKNOWN."""
    out: list[str] = []
    for char in text[:MOST_CHARACTERS]:
        char = STAND_INS.get(char, char)
        if char in WRITABLE:
            out.append(char)
            continue
        if char == "\n" or unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Cc", "Mn"):
            out.append("\n" if char == "\n" else "")
            continue
        plain = "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))
        out.append(plain if plain and set(plain) <= WRITABLE else UNKNOWN)
    return "".join(out)


def _width(font: Any, text: str, size: int) -> float:
    boxes = text.count(UNKNOWN)
    return float(font.getlength(text.replace(UNKNOWN, ""))) + boxes * size


def _wrapped(font: Any, mark: Words) -> list[str]:
    """Break a text into lines that fit; a word that does not fit a line is cut inside."""
    room, lines = mark.box.width, []
    for paragraph in writable(mark.text).split("\n"):
        line = ""
        for word in paragraph.split(" "):
            tried = f"{line} {word}" if line else word
            if not line or _width(font, tried, mark.size) <= room:
                line = tried
            else:
                lines.append(line)
                line = word
        lines.append(line)
    kept = lines[: mark.lines]
    if kept and len(lines) > len(kept):
        kept[-1] += "…"
    return [_cut(font, line, mark.size, room) for line in kept]


def _cut(font: Any, line: str, size: int, room: int) -> str:
    if _width(font, line, size) <= room:
        return line
    low, high = 0, len(line)
    while low < high:
        middle = (low + high + 1) // 2
        if _width(font, line[:middle] + "…", size) <= room:
            low = middle
        else:
            high = middle - 1
    return line[:low].rstrip(" …") + "…"


def _words(image: Image, mark: Words) -> None:
    import PIL.Image
    import PIL.ImageDraw

    seen = Rect(mark.box.left - 4, mark.box.top - 8, mark.box.right + 4, mark.box.bottom + 16).clip(mark.clip)
    if seen.is_empty or mark.size <= 0:
        return
    font = _font(mark.size)
    lines, step = _wrapped(font, mark), mark.size * 4 // 3
    mask = PIL.Image.new("L", (seen.width, seen.height))
    draw = PIL.ImageDraw.Draw(mask)
    y = mark.box.top - seen.top
    if mark.is_middle:
        y += (mark.box.height - step * len(lines)) // 2
    ascent, descent = font.getmetrics()
    for line in lines:
        x = float(mark.box.left - seen.left)
        if mark.align == "center":
            x += (mark.box.width - _width(font, line, mark.size)) / 2
        _line(draw, font, line, x, y + (step - ascent - descent) // 2, mark.size)
        y += step
    _paste(image, mark.color, seen.left, seen.top, mask, seen)


def _line(draw: Any, font: Any, line: str, x: float, y: int, size: int) -> None:
    """Write one line; an unknown character becomes a box of one em."""
    for number, part in enumerate(line.split(UNKNOWN)):
        if number:
            edge = max(2, size // 16)
            box = (x + size * 0.1, y + size * 0.15, x + size * 0.86, y + size * 0.95)
            draw.rounded_rectangle(box, radius=size // 8, outline=255, width=edge)
            x += size
        if part:
            draw.text((x, y), part, fill=255, font=font)
            x += float(font.getlength(part))
