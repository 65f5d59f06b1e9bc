"""One stream of a transport: bytes both ways, few unacknowledged packets in, one out.

What the host sent is acknowledged only when the service has taken it, so nothing piles up; what the service sends waits
for the host. This file must never know a service.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol

from droidpilot.virtual.wire.packets import BadPacket, Command, Packet

MAX_UNACKNOWLEDGED = 4
"""A host that closes a stream sends what its client left without waiting for OKAY. Seen of adb 36 with `exec-in`."""
Send = Callable[[Packet], Awaitable[None]]


class Host(Protocol):
    """The computer at the other end of a transport, as far as a service may ask something of it."""

    @property
    def is_there(self) -> bool: ...

    async def open_to_host(self, name: str) -> Stream | None:
        """Open a stream to an end on the host's side; None where it refuses."""
        ...

    async def hang_up(self, stream: Stream) -> None:
        """Close a stream that was opened so."""
        ...


class StreamClosed(Exception):
    """The other side closed the stream."""


class Stream:
    """A stream that a service reads and writes."""

    def __init__(self, *, own_id: int, peer_id: int, chunk: int, send: Send, host: Host) -> None:
        self.host = host
        self.own_id = own_id
        self.peer_id = peer_id
        self._chunk = chunk
        self._send = send
        self._kept = b""
        """Taken from the packet below, not yet asked for."""
        self._packets: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._may_send = asyncio.Event()
        self._opened = asyncio.Event()
        self._is_closed = False
        self.outlives_close = False
        """The service goes on to its end when the host closes the stream: its input is over, and nothing else."""
        self.cut: Callable[[], None] | None = None
        """Where set, the next write sends half of its bytes, does this and ends the stream."""

    # called by the transport

    def deliver(self, payload: bytes) -> None:
        """Take a packet from the host.

        Raises:
            BadPacket: too many were not acknowledged yet.
        """
        if len(self._packets) >= MAX_UNACKNOWLEDGED:
            raise BadPacket("another WRTE before OKAY")
        self._packets.append(payload)
        self._arrived.set()

    def acknowledged(self) -> None:
        """Take the host's word that it has what we sent, or that the stream is open."""
        self._opened.set()
        self._may_send.set()

    async def opened(self) -> None:
        """Wait until the host knows that the stream is open; only then may it be closed from this side."""
        await self._opened.wait()

    def close(self) -> None:
        """Wake everybody who waits; from now on reads end and writes raise."""
        self._is_closed = True
        self._arrived.set()
        self._opened.set()
        self._may_send.set()

    # called by the service

    async def read(self) -> bytes:
        """Return what came next, b"" at the end."""
        if self._kept:
            kept, self._kept = self._kept, b""
            return kept
        await self._arrived.wait()
        if not self._packets:
            return b""
        payload = self._packets.popleft()
        if not self._is_closed:
            if not self._packets:
                self._arrived.clear()
            await self._send(Packet(Command.OKAY, self.own_id, self.peer_id))
        return payload or await self.read()

    async def read_exactly(self, count: int) -> bytes:
        """Return exactly `count` bytes.

        Raises:
            StreamClosed: the stream ended before.
        """
        parts: list[bytes] = []
        while count > 0:
            got = await self.read()
            if not got:
                raise StreamClosed
            parts.append(got[:count])
            self._kept = got[count:]
            count -= len(parts[-1])
        return b"".join(parts)

    async def read_until(self, mark: bytes, limit: int) -> bytes | None:
        """Return everything up to and with `mark`, or None where `limit` bytes came without it.

        Raises:
            StreamClosed: the stream ended before.
        """
        held = b""
        while mark not in held:
            if len(held) > limit:
                return None
            got = await self.read()
            if not got:
                raise StreamClosed
            held += got
        end = held.index(mark) + len(mark)
        self._kept = held[end:]
        return held[:end] if end <= limit else None

    async def write(self, data: bytes) -> None:
        """Send bytes; returns when the last packet is on its way.

        Raises:
            StreamClosed: the host closed the stream.
        """
        cut, self.cut = self.cut, None
        if cut is not None:
            data = data[: len(data) // 2]
        if self._is_closed:
            raise StreamClosed
        for begin in range(0, len(data), self._chunk):
            await self._may_send.wait()
            if self._is_closed:
                raise StreamClosed
            self._may_send.clear()
            await self._send(Packet(Command.WRTE, self.own_id, self.peer_id, data[begin : begin + self._chunk]))
        if cut is not None:
            if data:
                await self._may_send.wait()  # the half is with the host now
            cut()
            raise StreamClosed
