"""What the methods of the in-phone server work on, and how they are written. This file must never know a method."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final

from droidpilot.virtual.drawing.pictures import Camera
from droidpilot.virtual.faults.trouble import Trouble
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.rpc.selector import describe, find
from droidpilot.virtual.rpc.values import BadParams, Missing
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.ui.hierarchy import SeenNode

CONFIGURATOR: Final[dict[str, object]] = {
    "actionAcknowledgmentTimeout": 3000,
    "keyInjectionDelay": 0,
    "scrollAcknowledgmentTimeout": 200,
    "waitForIdleTimeout": 0,
    "waitForSelectorTimeout": 0,
}


@dataclass(slots=True)
class Caller:
    """What the methods work on."""

    phone: Phone
    touch: Touch
    pause: Callable[[int], Awaitable[None]]
    """Lets so many ms of the phone's time pass."""
    poll: Callable[[Callable[[], bool], int], Awaitable[bool]]
    """Waits until something holds, at most so many ms; tells whether it does."""
    camera: Camera
    trouble: Trouble
    run_line: Callable[[str], Awaitable[tuple[int, bytes, bytes]]] | None = None
    """Runs a line in the phone's shell; gives the exit code, the output and the errors."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a gesture lasts: inputs come one after another."""
    configurator: dict[str, object] = field(default_factory=lambda: dict(CONFIGURATOR))

    objects: dict[str, Callable[[], list[SeenNode]]] = field(default_factory=dict)
    """Kept objects by id, each found anew when it is used."""
    objects_made: int = 0

    def nodes(self, selector: object) -> list[SeenNode]:
        if isinstance(selector, str):
            resolve = self.objects.get(selector)
            return resolve() if resolve is not None else []
        return find(self.phone.look().roots, selector)

    def node(self, selector: object) -> SeenNode:
        """Return the first node, or raise Missing."""
        found = self.nodes(selector)
        if not found:
            raise Missing(describe(selector) if not isinstance(selector, str) else f"UiObject {selector[:40]}")
        return found[0]


Params = list[object]
Method = Callable[[Caller, Params], "object | Awaitable[object]"]


def first_of(params: Params) -> object:
    """Return the first parameter, or raise BadParams."""
    if not params:
        raise BadParams("a parameter is missing")
    return params[0]
