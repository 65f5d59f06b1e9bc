"""Objects that the in-phone server keeps under an id: a child that a list has by its text, description or number.

Source: UiCollection and UiScrollable of AndroidX, as u2.jar 0.4.1 offers them. An object is found anew with every use,
as there. This file must never know HTTP.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from droidpilot.virtual.rpc import gestures
from droidpilot.virtual.rpc.caller import Caller, Method, Params
from droidpilot.virtual.rpc.selector import describe, find
from droidpilot.virtual.rpc.values import BadParams, Missing, flag_at, text_at, whole_at
from droidpilot.virtual.ui.hierarchy import SeenNode

MOST_KEPT: Final = 1_000
SCROLLS: Final = 30
Resolve = Callable[[], list[SeenNode]]


def _keep(caller: Caller, resolve: Resolve) -> str:
    """Keep an object and return its id; the oldest ones go."""
    caller.objects_made += 1
    name = f"{caller.objects_made:032x}"
    caller.objects[name] = resolve
    while len(caller.objects) > MOST_KEPT:
        del caller.objects[next(iter(caller.objects))]
    return name


def _children(caller: Caller, params: Params) -> list[SeenNode]:
    """Return what the second selector finds inside what the first one finds."""
    if len(params) < 3:
        raise BadParams("a parent, a child and what it has are needed")
    parents = caller.nodes(params[0])
    return find(list(parents[0].children), params[1]) if parents else []


def child_by(read: Callable[[SeenNode], str]) -> Method:
    """Make a method that finds the child in which something stands; with a fourth parameter the list is scrolled."""

    def found(caller: Caller, params: Params) -> list[SeenNode]:
        wanted = text_at(params, 2)
        return [node for node in _children(caller, params) if any(read(inner) == wanted for inner in node.walk())]

    async def method(caller: Caller, params: Params) -> object:
        for _ in range(SCROLLS if flag_at(params, 3, False) else 0):
            if found(caller, params) or not await _scroll(caller, params):
                break
        if not found(caller, params):
            raise Missing(describe(params[1]))
        return _keep(caller, lambda: found(caller, params))

    return method


def _scroll(caller: Caller, params: Params) -> Awaitable[bool]:
    return gestures.scroll_node(caller, caller.node(params[0]))


def child_by_instance(caller: Caller, params: Params) -> object:
    """Find the n-th child."""
    number = whole_at(params, 2)

    def found() -> list[SeenNode]:
        return _children(caller, params)[number : number + 1]

    if number < 0 or not found():
        raise Missing(describe(params[1]))
    return _keep(caller, found)


def pinch(*, is_in: bool) -> Method:
    """Make a method that moves two fingers on a node; no app of this phone zooms, so that only the truth shows it."""

    def method(caller: Caller, params: Params) -> object:
        node = caller.node(params[0] if params else None)
        share = whole_at(params, 1, 100)
        if not 0 < share <= 100:
            raise BadParams("a percentage is 1 to 100")
        caller.phone.inputs.note("pinch_in" if is_in else "pinch_out", percent=share, on=node.view.id)
        return True

    return method


def gesture(caller: Caller, params: Params) -> object:
    """Move two fingers on a node between points of one's own."""
    node = caller.node(params[0] if params else None)
    points = params[1:5]
    if len(points) != 4 or not all(isinstance(point, dict) and {"x", "y"} <= {*point} for point in points):
        raise BadParams("a gesture needs four points")
    caller.phone.inputs.note("gesture", on=node.view.id)
    return True


OBJECT_METHODS: Final[dict[str, Method]] = {
    "childByText": child_by(lambda node: node.text),
    "childByDescription": child_by(lambda node: node.view.desc),
    "childByInstance": child_by_instance,
    "gesture": gesture,
    "pinchIn": pinch(is_in=True),
    "pinchOut": pinch(is_in=False),
}
