"""What a picture's first bytes say: its type and size. It decodes nothing, and trusts no name."""

from __future__ import annotations

import base64
from dataclasses import dataclass

_PNG = b"\x89PNG\r\n\x1a\n"
_MAX_SIDE = 20_000
#: Source: ITU T.81 table B.1: the frame headers; the three codes between them that are none are left out.
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}


@dataclass(frozen=True, slots=True)
class PictureFile:
    """A picture that a browser can show. Sizes in its own px."""

    mime: str
    width: int
    height: int
    data: bytes

    @property
    def url(self) -> str:
        return f"data:{self.mime};base64,{base64.b64encode(self.data).decode('ascii')}"


def read_picture(data: bytes) -> PictureFile | None:
    """Read the header of a JPEG or PNG; None where it is neither, or no sensible size."""
    if data.startswith(_PNG) and data[12:16] == b"IHDR" and len(data) >= 24:
        mime, size = "image/png", (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    elif data.startswith(b"\xff\xd8\xff"):
        mime, size = "image/jpeg", _jpeg_size(data)
    else:
        return None
    width, height = size
    if not (0 < width <= _MAX_SIDE and 0 < height <= _MAX_SIDE):
        return None
    return PictureFile(mime, width, height, data)


def _jpeg_size(data: bytes) -> tuple[int, int]:
    """Return width and height from the frame header, (0, 0) where there is none."""
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        code = data[at + 1]
        if code in _JPEG_FRAMES:
            return int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7])
        at += 2 + int.from_bytes(data[at + 2 : at + 4]) if code != 0xFF else 1
    return 0, 0
