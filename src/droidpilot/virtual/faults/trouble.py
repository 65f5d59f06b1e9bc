"""What the faults of a phone do to one call: it waits, breaks, is lost, or its answer never comes.

Runs in the event loop of the phone. This file must never know what a call is about.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from functools import partial
from random import Random
from typing import Final

from droidpilot.virtual.faults.faults import AFTER, CUT, Fault, Faults, Kind, Met
from droidpilot.virtual.wire.streams import Stream, StreamClosed

CURRENT: ContextVar[Stream | None] = ContextVar("stream", default=None)
"""The stream whose service runs now."""
BREAKING: Final = frozenset({"drop", "offline", "reboot", "kill-adb-connection", "unauthorized"})
"""Events after which no answer can come."""
DELAYS_MS: Final[dict[str, dict[Kind, int]]] = {
    "fast": {"rpc": 2, "shell": 12, "sync": 2, "input": 8, "start": 40, "dump": 25, "picture": 60, "dumpsys": 20},
    "middling": {
        "rpc": 8,
        "shell": 45,
        "sync": 8,
        "input": 30,
        "start": 180,
        "dump": 140,
        "picture": 260,
        "dumpsys": 90,
    },
    "old": {
        "rpc": 30,
        "shell": 160,
        "sync": 25,
        "input": 110,
        "start": 700,
        "dump": 750,
        "picture": 1_100,
        "dumpsys": 400,
    },
}
"""Median ms that a call of a kind takes longer; each call takes half to twice as long. These figures are ours."""


class Trouble:
    """Stands at every place where a call enters or is executed."""

    def __init__(self, faults: Faults, random: Random) -> None:
        self.faults = faults
        self._random = random
        self._is_compressed_stuck = False
        self._may_go = asyncio.Event()
        self._may_go.set()

    def hold(self) -> None:
        """Let nothing in or out until `release`."""
        self._may_go.clear()

    def release(self) -> None:
        self._may_go.set()

    async def gate(self) -> None:
        """Wait while the phone hangs."""
        if not self._may_go.is_set():
            await self._may_go.wait()

    def compresses(self, is_asked: bool | None) -> bool:
        """Tell whether a dump comes compressed: as asked; who asks for neither has the last mode where it sticks."""
        fault = self.faults.get("dump-error")
        if fault is None or fault.word != "sticky-compressed":
            self._is_compressed_stuck = False
        elif is_asked is not None:
            self._is_compressed_stuck = is_asked
        return self._is_compressed_stuck if is_asked is None else is_asked

    @asynccontextmanager
    async def call(self, *kinds: Kind) -> AsyncIterator[Met]:
        """Count a call of these kinds and carry it through its faults; the body executes it.

        Raises:
            StreamClosed: its answer must not go out.
        """
        met = self.faults.meet(*kinds)
        if "slow" in met:
            await asyncio.sleep(self._delay_s(met.word("slow"), kinds))
        for event in met.events:
            if event.word not in (AFTER, CUT):
                await self._happen(event)
        yield met
        for event in met.events:
            if event.word == CUT and cut_reply(partial(self.faults.begin_event, event)):
                continue
            if event.word in (AFTER, CUT):
                await self._happen(event)
        if "late-reply" in met:
            await asyncio.sleep(met.faults["late-reply"].seconds)
        if "reply-lost" in met:
            if met.word("reply-lost") == "silence":
                await asyncio.Event().wait()
            raise StreamClosed

    async def _happen(self, event: Fault) -> None:
        self.faults.begin_event(event)
        if event.name in BREAKING or event.name == "server-killed":
            raise StreamClosed
        await self.gate()

    def _delay_s(self, profile: str, kinds: tuple[Kind, ...]) -> float:
        # The last kind says most: a dump takes what a dump takes, not what any RPC takes.
        return DELAYS_MS[profile].get(kinds[-1], 0) * self._random.uniform(0.5, 2.0) / 1000


def cut_reply(then: Callable[[], None]) -> bool:
    """Send only half of what the current stream writes next, then do something; tell whether there is a stream."""
    stream = CURRENT.get()
    if stream is None:
        return False
    stream.cut = then
    return True
