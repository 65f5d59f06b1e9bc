"""The gestures of the in-phone server: clicks, swipes, drags, raw touches and scrolling.

Source: the interface of u2.jar 0.4.1 and UiScrollable of AndroidX. This file must never know HTTP.
"""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.rpc.caller import Caller, Method, Params, first_of
from droidpilot.virtual.rpc.values import BadParams, number_at, text_at, whole_at
from droidpilot.virtual.touch import MAX_POINTS
from droidpilot.virtual.ui.hierarchy import SeenNode

STEP_MS: Final = 5
"""A step of a gesture takes so long in the in-phone server."""
MAX_GESTURE_MS: Final = 60_000
MAX_SWIPES: Final = 500
TOUCH_MARGIN: Final = 0.1
"""UiScrollable leaves a tenth at each end of the list alone."""


async def click(caller: Caller, params: Params) -> object:
    """Click a point or a node; with a third number hold the point so many ms."""
    if params and isinstance(params[0], dict):
        x, y = _corner(caller.node(params[0]), str(params[1]) if len(params) > 1 else "")
        await caller.pause(caller.touch.tap(x, y))
        return True
    x, y = number_at(params, 0), number_at(params, 1)
    if len(params) > 2:
        took = caller.touch.long_press(x, y, min(MAX_GESTURE_MS, whole_at(params, 2)))
    else:
        took = caller.touch.tap(x, y)
    await caller.pause(took)
    return caller.phone.display.rect.has(x, y)


def _corner(node: SeenNode, corner: str) -> tuple[float, float]:
    b = node.bounds
    if corner in ("tl", "topleft"):
        return b.left + 5, b.top + 5
    if corner in ("br", "bottomright"):
        return b.right - 5, b.bottom - 5
    return (b.left + b.right) / 2, (b.top + b.bottom) / 2


async def long_click(caller: Caller, params: Params) -> object:
    """Hold a node."""
    x, y = _corner(caller.node(first_of(params)), str(params[1]) if len(params) > 1 else "")
    await caller.pause(caller.touch.long_press(x, y, 600))
    return True


async def swipe(caller: Caller, params: Params) -> object:
    """Swipe between two points, or inside a node."""
    if params and isinstance(params[0], dict):
        return await _swipe_node(caller, params)
    points = [(number_at(params, 0), number_at(params, 1)), (number_at(params, 2), number_at(params, 3))]
    await caller.pause(caller.touch.swipe(points, _steps_ms(whole_at(params, 4))))
    return True


def _steps_ms(steps: int) -> int:
    return max(1, min(MAX_GESTURE_MS, steps * STEP_MS))


async def _swipe_node(caller: Caller, params: Params) -> object:
    b = caller.node(params[0]).bounds
    x, y = (b.left + b.right) / 2, (b.top + b.bottom) / 2
    ends = {"up": (x, b.top), "down": (x, b.bottom - 1), "left": (b.left, y), "right": (b.right - 1, y)}
    end = ends.get(text_at(params, 1).lower())
    if end is None:
        raise BadParams("a direction is up, down, left or right")
    await caller.pause(caller.touch.swipe([(x, y), end], _steps_ms(whole_at(params, len(params) - 1))))
    return True


async def swipe_points(caller: Caller, params: Params) -> object:
    """Swipe along points."""
    flat = first_of(params)
    if not isinstance(flat, list) or not 4 <= len(flat) <= 2 * MAX_POINTS or len(flat) % 2:
        raise BadParams("points are x,y pairs, at least two")
    points = [(number_at(flat, at), number_at(flat, at + 1)) for at in range(0, len(flat), 2)]
    await caller.pause(caller.touch.swipe(points, _steps_ms(whole_at(params, 1) * (len(points) - 1))))
    return True


async def drag(caller: Caller, params: Params) -> object:
    """Drag between two points."""
    points = [(number_at(params, 0), number_at(params, 1)), (number_at(params, 2), number_at(params, 3))]
    await caller.pause(caller.touch.swipe(points, _steps_ms(whole_at(params, 4)), kind="drag"))
    return True


async def drag_to(caller: Caller, params: Params) -> object:
    """Drag a node to a point or another node."""
    start = _corner(caller.node(first_of(params)), "")
    if len(params) > 1 and isinstance(params[1], dict):
        end = _corner(caller.node(params[1]), "")
    else:
        end = (number_at(params, 1), number_at(params, 2))
    await caller.pause(caller.touch.swipe([start, end], _steps_ms(whole_at(params, len(params) - 1)), kind="drag"))
    return True


def finger(caller: Caller, params: Params) -> object:
    """Inject one raw touch event."""
    return caller.touch.finger(whole_at(params, 0), number_at(params, 1), number_at(params, 2))


async def _scroll_once(caller: Caller, node: SeenNode, *, is_forward: bool, steps: int) -> bool:
    """Swipe once inside a node; tell whether there is more in that direction."""
    b, scroll = node.bounds, node.view.scroll
    if scroll is None:
        return False
    margin = int(b.height * TOUCH_MARGIN)
    low, high = b.bottom - margin, b.top + margin
    x = (b.left + b.right) / 2
    points = [(x, float(low)), (x, float(high))] if is_forward else [(x, float(high)), (x, float(low))]
    before = scroll.offset
    await caller.pause(caller.touch.swipe(points, _steps_ms(steps)))
    return scroll.offset != before


def scroll_once(*, is_forward: bool, steps: int | None = None) -> Method:
    """Make a method that scrolls a list once; it tells whether anything moved. A fling has its own steps."""

    async def scroll(caller: Caller, params: Params) -> object:
        wanted = steps if steps is not None else whole_at(params, 2, 55)
        return await _scroll_once(caller, caller.node(first_of(params)), is_forward=is_forward, steps=wanted)

    return scroll


def scroll_all(*, is_forward: bool, steps: int | None = None) -> Method:
    """Make a method that scrolls a list to its end or beginning."""

    async def scroll(caller: Caller, params: Params) -> object:
        wanted = steps if steps is not None else whole_at(params, 3, 55)
        for _ in range(min(MAX_SWIPES, whole_at(params, 2, MAX_SWIPES))):
            if not await _scroll_once(caller, caller.node(first_of(params)), is_forward=is_forward, steps=wanted):
                break
        return True

    return scroll


async def scroll_node(caller: Caller, node: SeenNode) -> bool:
    """Scroll a list on by a page, as a search in it does; tell whether anything moved."""
    return await _scroll_once(caller, node, is_forward=True, steps=55)


async def scroll_to(caller: Caller, params: Params) -> object:
    """Scroll to the beginning and then down until the target is seen."""
    if len(params) < 2:
        raise BadParams("scrollTo needs a list and a target")
    if caller.nodes(params[1]):
        return True
    for _ in range(MAX_SWIPES):
        if not await _scroll_once(caller, caller.node(params[0]), is_forward=False, steps=20):
            break
    for _ in range(MAX_SWIPES):
        if caller.nodes(params[1]):
            return True
        if not await _scroll_once(caller, caller.node(params[0]), is_forward=True, steps=55):
            return bool(caller.nodes(params[1]))
    return False
