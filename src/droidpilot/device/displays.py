"""How large the display is and how it is turned, out of what Android prints. Pure; None where it does not say."""

from __future__ import annotations

import re

from droidpilot.device.driver import Display

#: Source: DisplayViewport.toString of Android 7 to 15: the frame is the one of the display as it is turned now.
_VIEWPORT = re.compile(
    r"DisplayViewport\{[^}]*?displayId=0\b[^}]*?orientation=(\d)[^}]*?"
    r"logicalFrame=Rect\(0, 0 - (\d{2,5}), (\d{2,5})\)"
)
#: Source: DisplayContent.dump and Configuration: `cur=` is as turned, ROTATION_90 says how.
_CURRENT = re.compile(r"\bcur=(\d{2,5})x(\d{2,5})\b")
_ROTATION = re.compile(r"\b(?:mCurrentRotation|mRotation)=(?:ROTATION_)?(\d{1,3})\b")
#: Source: WindowManagerShellCommand: a size that was overridden stands last, and is the one in force.
_WM_SIZE = re.compile(r"^(?:Physical|Override) size: (\d{2,5})x(\d{2,5})\s*$", re.MULTILINE)
_QUARTERS = {"90": 1, "180": 2, "270": 3}


def display(text: str) -> Display | None:
    """Read the default display out of `dumpsys display`, or `dumpsys window displays` with `wm size` behind it."""
    viewport = _VIEWPORT.search(text)
    if viewport is not None:
        turned, width, height = (int(found) for found in viewport.groups())
        return Display(width, height, turned % 4)
    rotation = _ROTATION.search(text)
    if rotation is None:
        return None
    quarters = _QUARTERS.get(rotation[1], int(rotation[1]) % 4)
    current = _CURRENT.search(text)
    if current is not None:
        return Display(int(current[1]), int(current[2]), quarters)
    sizes = _WM_SIZE.findall(text)
    if not sizes:
        return None
    width, height = (int(side) for side in sizes[-1])
    return Display(height, width, quarters) if quarters % 2 else Display(width, height, quarters)
