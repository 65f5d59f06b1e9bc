"""What lies over the window with focus, for a dump that has only that window: plain ADB's.

A cover becomes a root of the hierarchy without class and children, so that whoever judges a touch treats it like any
window on top. It never reads a window's title.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from droidpilot.device.windows import over_focus, owner_of
from droidpilot.screens.hierarchy import Bounds

_FLAGS = re.compile(r"(?<![a-z])fl=(?:#([0-9a-f]{1,16})|([A-Z][A-Z_ ]*))")
_FLAG_NOT_TOUCHABLE = 0x10  # Source: WindowManager.LayoutParams
#: Source: WindowState.dump and WindowFrames.dump of Android 7 to 14.
_ELSEWHERE = re.compile(r"\bmDisplayId=(?!0\b)\d")
_UNSEEN = re.compile(
    r"(?<!\w)(?:isVisible|isOnScreen|mHasSurface|isReadyForDisplay\(\))=false\b|\bmViewVisibility=0x[48]\b"
)
_FRAMES = (
    re.compile(r"\bFrames:.{0,600}?(?<!\w)m?[fF]rame=\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]", re.DOTALL),
    re.compile(r"(?<!\w)mFrame=\[(-?\d+),(-?\d+)\]\[(-?\d+),(-?\d+)\]"),
)
_REGION = re.compile(r"\btouchable region=SkRegion\(([^\n]*)\)")
_RECTANGLE = re.compile(r"\((-?\d+),(-?\d+),(-?\d+),(-?\d+)\)")
_KEYBOARD_TYPE = re.compile(r"(?<!\w)ty=(?:INPUT_METHOD|2011)\b")
#: Where a window that takes touches does not say where it stands: everywhere.
_EVERYWHERE = Bounds(0, 0, 99_999, 99_999)
#: Over every layer that a dump could give by itself.
_COVER_LAYER = 1_000_000
_FIRST_NODE = re.compile(rb"<node(?=[\s/>])")


@dataclass(frozen=True, slots=True)
class Cover:
    """A place where a window over the one with focus takes the touches."""

    package: str  # empty where the phone does not say whose it is
    bounds: Bounds
    is_keyboard: bool = False


def covers(text: str) -> tuple[Cover, ...] | None:
    """Read out of `dumpsys window` what lies over the window with focus, topmost first; None where it does not tell."""
    windows = over_focus(text)
    if windows is None:
        return None
    return tuple(cover for lines in windows for cover in _covers_of(lines))


def with_covers(data: bytes, found: tuple[Cover, ...]) -> bytes:
    """Add to a dump of one window what lies over it: a root without class and children for each place."""
    first = _FIRST_NODE.search(data)
    if first is None or not found:
        return data
    roots = "".join(_root_of(cover, _COVER_LAYER + len(found) - number) for number, cover in enumerate(found))
    # With a layer for every root their order is no guess.
    layer = b"" if b"window-layer=" in data else b' window-layer="0"'
    return data[: first.start()] + roots.encode() + data[first.start() : first.end()] + layer + data[first.end() :]


def _covers_of(lines: list[str]) -> list[Cover]:
    block = "\n".join(lines)
    if _ELSEWHERE.search(block) or _UNSEEN.search(block) or _is_untouchable(block):
        return []
    region = _REGION.search(block)
    if region is not None:
        places = [Bounds(*map(int, sides)) for sides in _RECTANGLE.findall(region[1])]
    else:
        frame = next(filter(None, (pattern.search(block) for pattern in _FRAMES)), None)
        places = [_EVERYWHERE if frame is None else Bounds(*map(int, frame.groups()))]
    is_keyboard = _KEYBOARD_TYPE.search(block) is not None
    return [Cover(owner_of(lines) or "", place, is_keyboard) for place in places if not place.is_empty]


def _is_untouchable(block: str) -> bool:
    found = _FLAGS.search(block)
    if found is None:
        return False
    return bool(int(found[1], 16) & _FLAG_NOT_TOUCHABLE) if found[1] else "NOT_TOUCHABLE" in found[2].split()


def _root_of(cover: Cover, layer: int) -> str:
    b = cover.bounds
    kind = ' window-type="input_method"' if cover.is_keyboard else ""
    return (
        f'<node package="{cover.package}" bounds="[{b.left},{b.top}][{b.right},{b.bottom}]" '
        f'window-layer="{layer}"{kind} />'
    )
