"""An image as a value, and how large one may be that is sent to a model. No library that reads images is named here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Mime = Literal["image/jpeg", "image/png"]

#: The longer side and the JPEG quality of what is sent, where a provider has no limits of its own (T20).
LONG_EDGE = 1100
QUALITY = 70


@dataclass(frozen=True, slots=True)
class Image:
    """An image file in memory, `width` x `height` px."""

    data: bytes
    mime: Mime
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class ImageLimits:
    """What a provider takes without making it smaller itself: then what the model sees is what we measured."""

    long_edge: int = LONG_EDGE  # px of the longer side
    quality: int = QUALITY  # of the JPEG, 1..95
