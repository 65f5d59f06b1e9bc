"""What a phone sends as a picture of its screen, checked and measured. It trusts neither the bytes nor their size.

The only file of this room that names Pillow. It must never know how the bytes came here, or who they go to.
"""

from __future__ import annotations

import io

from droidpilot.core.errors import DeviceRefused
from droidpilot.core.images import Image, ImageLimits
from droidpilot.core.text import one_line, shorten

#: More than this from the phone is no picture: an 8K screen of noise is 100 MB, one that is looked at far less.
MAX_PICTURE_BYTES = 32 * 1024 * 1024
#: More pixels than any phone shows; decoding them would take more memory than a picture is worth.
MAX_PIXELS = 40_000_000

#: A pixel no lighter than this (of 255) is black, whatever a JPEG made of it.
_BLACK = 12
_PNG = b"\x89PNG\r\n\x1a\n"
#: Text that `screencap` may print before the picture, e.g. that there are several displays. Source: Android 14.
_MOST_CHATTER = 4096


def failed(said: str) -> DeviceRefused:
    """Build the error for a capture that gave no picture; it is no word about the window (B45)."""
    return DeviceRefused(
        f"the phone took no picture: {shorten(one_line(said), 200) or 'it sent nothing'}",
        code="capture_failed",
        hint="the UI hierarchy can still be read (ui_tree)",
    )


def without_chatter(data: bytes) -> bytes:
    """Cut what was printed before a PNG.

    Raises:
        DeviceRefused: code `capture_failed`, with what was printed instead.
    """
    start = data.find(_PNG, 0, _MOST_CHATTER + len(_PNG))
    if start < 0:
        raise failed(data[:400].decode("utf-8", "replace"))
    return data[start:]


def read_picture(data: bytes) -> tuple[Image, bool]:
    """Read a whole JPEG or PNG; returns it with its size, and whether all of it is black.

    Raises:
        DeviceRefused: code `capture_failed`: no such file, cut off, or larger than any screen.
    """
    import PIL.Image

    try:
        with PIL.Image.open(io.BytesIO(data), formats=("JPEG", "PNG")) as opened:
            width, height = opened.size
            if width * height > MAX_PIXELS:
                raise failed(f"{width} x {height} px is larger than any screen")
            # A JPEG is decoded at an eighth of its size, which is enough for this question.
            opened.draft("L", (max(1, width // 8), max(1, height // 8)))
            lightest = opened.convert("L").getextrema()[1]
            mime = opened.format
    except (OSError, ValueError, SyntaxError, PIL.Image.DecompressionBombError) as error:
        raise failed(f"what it sent is no picture ({error})") from error
    is_black = (width, height) == (1, 1) or (isinstance(lightest, int | float) and lightest <= _BLACK)
    return Image(data, "image/png" if mime == "PNG" else "image/jpeg", width, height), is_black


def shrunk(image: Image, limits: ImageLimits) -> Image:
    """Return a picture as a JPEG within limits; it is never made larger.

    Raises:
        DeviceRefused: code `capture_failed`: it cannot be decoded.
    """
    import PIL.Image

    scale = min(1.0, limits.long_edge / max(image.width, image.height))
    size = max(1, round(image.width * scale)), max(1, round(image.height * scale))
    out = io.BytesIO()
    try:
        with PIL.Image.open(io.BytesIO(image.data), formats=("JPEG", "PNG")) as opened:
            if opened.size != (image.width, image.height):
                raise failed("its size is not what it was")
            # Where it is made much smaller, a JPEG is decoded at a half or a quarter, which saves most of the memory.
            opened.draft("RGB", size)
            small = opened.convert("RGB")
            if small.size != size:
                small = small.resize(size, PIL.Image.Resampling.LANCZOS, reducing_gap=2.0)
            small.save(out, "JPEG", quality=limits.quality)
    except (OSError, ValueError, SyntaxError) as error:
        raise failed(f"what it sent is no picture ({error})") from error
    return Image(out.getvalue(), "image/jpeg", *size)
