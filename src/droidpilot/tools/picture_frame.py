"""A picture that was given, as a place: from a point of it to the point of the screen, or why there is none.

Pure. It must never know pixels, a phone or who looks at the picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.errors import TargetError
from droidpilot.core.images import Image
from droidpilot.screens.screen import Screen

#: How far the shapes of picture and display may differ: a rounded edge, not another orientation or a letterbox.
_SHAPE_TOLERANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureFrame:
    """Picture `number` of a session, `width` x `height` px as given, and the look that was taken beside it."""

    number: int
    width: int
    height: int
    screen: Screen
    is_fitting: bool  # it has the display's shape, so a place in it is a place on the display

    def on_display(self, x: int, y: int, now: Screen) -> tuple[int, int]:
        """Return the px of the display that the picture's pixel shows, from the middle of the pixel.

        Raises:
            TargetError: outside_picture, mismatched_picture (another shape than the display), or stale_picture (the
                display was turned, folded or resized since).
        """
        if not self.is_fitting:
            raise TargetError(
                f"picture {self.number} has not the shape of the screen, so no place can be taken from it",
                code="mismatched_picture",
                hint="use refs, or x and y of the screen itself",
            )
        then = self.screen
        if (then.width, then.height, then.rotation) != (now.width, now.height, now.rotation):
            raise TargetError(
                f"the screen was turned or resized since picture {self.number}",
                code="stale_picture",
                hint="take another picture",
            )
        if not (0 <= x < self.width and 0 <= y < self.height):
            raise TargetError(
                f"({x}, {y}) is outside picture {self.number} of {self.width} x {self.height}",
                code="outside_picture",
                hint="leave out picture where x and y are px of the screen",
            )
        return (2 * x + 1) * now.width // (2 * self.width), (2 * y + 1) * now.height // (2 * self.height)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A picture that was taken. `image` is what may be sent, `whole` what the phone gave."""

    frame: PictureFrame
    image: Image
    whole: Image
    looks: tuple[Screen, Screen]  # before and after it


def is_same_shape(width: int, height: int, screen: Screen) -> bool:
    """Tell whether a picture has the display's shape and orientation (INV-32, B34)."""
    if min(width, height, screen.width, screen.height) <= 0:
        return False
    across, down = width * screen.height, height * screen.width
    return abs(across - down) <= _SHAPE_TOLERANCE * max(across, down)


def no_picture(number: int) -> PictureFrame:
    """Refuse a picture that was not given, or is no longer the last one."""
    raise TargetError(
        f"picture {number} is not the last one that was given", code="no_picture", hint="call screenshot first"
    )
