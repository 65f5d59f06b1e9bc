"""One connection from an adb server: greeting, streams, limits. A client that breaks the protocol is dropped.

Source: AOSP `system/core/adb/protocol.txt`, and what adb 29 and 36 were seen to send. This file must never know what a
service does.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from droidpilot.virtual.faults.trouble import CURRENT
from droidpilot.virtual.wire.auth import MOST_KEYS, Auth, new_token
from droidpilot.virtual.wire.packets import (
    MAX_GREETING,
    MAX_PAYLOAD,
    MIN_PAYLOAD,
    VERSION,
    VERSION_WITH_SUMS,
    BadPacket,
    Command,
    Packet,
    read_packet,
)
from droidpilot.virtual.wire.streams import Stream, StreamClosed

log = logging.getLogger(__name__)

MAX_STREAMS = 64
MAX_SERVICE = 64 * 1024
"""Bytes of a service's name; a shell command is part of it."""
GREETING_S = 10.0
AUTH_TOKEN, AUTH_SIGNATURE, AUTH_PUBLIC_KEY = 1, 2, 3
FEATURES = "shell_v2,cmd,stat_v2,ls_v2,fixed_push_mkdir,sendrecv_v2"
"""What we can do beyond the first protocol; never more than the services implement."""

Service = Callable[[Stream], Awaitable[None]]
OpenService = Callable[[str], Service | None]
"""Finds the service of a name; None refuses the stream."""
Gate = Callable[[], Awaitable[None]]
"""Waits while the phone must neither take nor send anything."""


@dataclass(frozen=True, slots=True)
class Identity:
    """What `adb devices -l` shows of the phone."""

    name: str
    model: str
    device: str

    def banner(self) -> bytes:
        props = f"ro.product.name={self.name};ro.product.model={self.model};ro.product.device={self.device}"
        return f"device::{props};features={FEATURES}".encode()


class Transport:
    """Serves one accepted connection until it ends."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        identity: Identity,
        auth: Auth,
        open_service: OpenService,
        gate: Gate,
    ) -> None:
        self._gate = gate
        self._auth = auth
        self._reader = reader
        self._writer = writer
        self._identity = identity
        self._open_service = open_service
        self._streams: dict[int, Stream] = {}
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._opening: dict[int, asyncio.Future[Stream | None]] = {}
        """Streams that we asked the host to open, by our id."""
        self._next_id = 1
        self._max_payload = MIN_PAYLOAD
        self._with_sum = True

    async def serve(self) -> None:
        """Greet, then carry packets until the connection ends or the peer breaks the protocol."""
        raw = self._writer.get_extra_info("socket")
        if raw is not None:
            raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            await self._gate()
            await self._greet()
            while True:
                packet = await read_packet(self._reader, limit=MAX_PAYLOAD, with_sum=self._with_sum)
                await self._gate()
                await self._take(packet)
        except BadPacket as error:
            log.info("dropped a client: %s", error)
        except (TimeoutError, asyncio.IncompleteReadError, ConnectionError):
            log.debug("a connection ended")
        finally:
            await self._end()

    async def _greet(self) -> None:
        hello = await self._hello()
        if hello.command is not Command.CNXN or hello.arg1 < MIN_PAYLOAD or not hello.payload.startswith(b"host:"):
            raise BadPacket("the first packet is no greeting of a host")
        self._max_payload = min(hello.arg1, MAX_PAYLOAD)
        self._with_sum = hello.arg0 <= VERSION_WITH_SUMS
        if self._auth.asks:
            await self._ask_for_key()
        await self._send(Packet(Command.CNXN, min(hello.arg0, VERSION), MAX_PAYLOAD, self._identity.banner()))

    async def _hello(self) -> Packet:
        async with asyncio.timeout(GREETING_S):
            return await read_packet(self._reader, limit=MAX_GREETING, with_sum=False)

    async def _ask_for_key(self) -> None:
        """Return once the host has shown a key that is known or taken."""
        for _ in range(MOST_KEYS):
            token = new_token()
            await self._send(Packet(Command.AUTH, AUTH_TOKEN, 0, token))
            shown = await self._hello()
            if shown.command is not Command.AUTH:
                raise BadPacket("no key was shown")
            if shown.arg0 == AUTH_SIGNATURE and self._auth.knows(token, shown.payload):
                return
            if shown.arg0 == AUTH_PUBLIC_KEY:
                await self._person()
                self._auth.remember(shown.payload)
                return
        raise BadPacket("too many keys")

    async def _person(self) -> None:
        """Wait for somebody to allow the computer, as long as it waits too."""
        allowed = asyncio.ensure_future(self._auth.allowed())
        gone = asyncio.ensure_future(self._reader.read(1))
        try:
            await asyncio.wait((allowed, gone), return_when=asyncio.FIRST_COMPLETED)
            if not allowed.done():
                raise ConnectionResetError
        finally:
            allowed.cancel()
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)

    def abort(self) -> None:
        """Break the connection at once, as a pulled cable does: what is not yet sent is lost."""
        self._writer.transport.abort()

    async def _send(self, packet: Packet) -> None:
        await self._gate()
        self._writer.write(packet.encode(with_sum=self._with_sum))
        await self._writer.drain()

    async def _take(self, packet: Packet) -> None:
        if packet.command is Command.OPEN:
            await self._open(packet)
            return
        if packet.command in (Command.OKAY, Command.CLSE) and packet.arg1 in self._opening:
            self._opened(packet)
            return
        stream = self._streams.get(packet.arg1)
        is_ours = stream is not None and stream.peer_id == packet.arg0
        if packet.command is Command.WRTE:
            if stream is None or not is_ours:
                await self._send(Packet(Command.CLSE, 0, packet.arg0))
            elif len(packet.payload) > MAX_PAYLOAD:
                raise BadPacket("WRTE too long")
            else:
                stream.deliver(packet.payload)
        elif packet.command is Command.OKAY:
            if stream is not None and is_ours:
                stream.acknowledged()
        elif packet.command is Command.CLSE:
            if stream is not None and packet.arg0 in (0, stream.peer_id):
                await self._close(stream)
        elif packet.command is Command.CNXN:
            raise BadPacket("a second greeting")

    async def _open(self, packet: Packet) -> None:
        peer_id = packet.arg0
        if peer_id == 0 or not 0 < len(packet.payload) <= MAX_SERVICE:
            raise BadPacket("OPEN without an id or with a name too long")
        name = packet.payload.rstrip(b"\0").decode("utf-8", "replace")
        service = self._open_service(name) if len(self._streams) < MAX_STREAMS else None
        if service is None:
            await self._send(Packet(Command.CLSE, 0, peer_id))
            return
        own_id, self._next_id = self._next_id, self._next_id % 0x7FFFFFFF + 1
        stream = Stream(own_id=own_id, peer_id=peer_id, chunk=self._max_payload, send=self._send, host=self)
        self._streams[own_id] = stream
        self._tasks[own_id] = asyncio.create_task(self._run(service, stream))
        # The service takes its first step before the host hears OKAY: a server that it starts answers at once.
        await asyncio.sleep(0)
        await self._send(Packet(Command.OKAY, own_id, peer_id))
        stream.acknowledged()

    @property
    def is_there(self) -> bool:
        """Tell whether the connection stands."""
        return not self._writer.is_closing()

    async def open_to_host(self, name: str) -> Stream | None:
        """Ask the host to open a stream, as a reverse tunnel does; None where it refuses."""
        if len(self._streams) + len(self._opening) >= MAX_STREAMS:
            return None
        own_id, self._next_id = self._next_id, self._next_id % 0x7FFFFFFF + 1
        answer: asyncio.Future[Stream | None] = asyncio.get_running_loop().create_future()
        self._opening[own_id] = answer
        try:
            await self._send(Packet(Command.OPEN, own_id, 0, name.encode() + b"\0"))
            async with asyncio.timeout(GREETING_S):
                return await answer
        except TimeoutError:
            return None
        finally:
            self._opening.pop(own_id, None)

    def _opened(self, packet: Packet) -> None:
        """Take the host's answer to an OPEN of ours."""
        answer = self._opening.pop(packet.arg1)
        if answer.done():
            return
        if packet.command is Command.CLSE:
            answer.set_result(None)
            return
        stream = Stream(own_id=packet.arg1, peer_id=packet.arg0, chunk=self._max_payload, send=self._send, host=self)
        stream.acknowledged()
        self._streams[stream.own_id] = stream
        answer.set_result(stream)

    async def hang_up(self, stream: Stream) -> None:
        """Close a stream that `open_to_host` gave."""
        if self._streams.pop(stream.own_id, None) is not None:
            stream.close()
            await self._send(Packet(Command.CLSE, stream.own_id, stream.peer_id))

    async def _run(self, service: Service, stream: Stream) -> None:
        CURRENT.set(stream)
        try:
            await service(stream)
        except (StreamClosed, ConnectionError):
            log.debug("a stream ended early")
        except Exception:  # one broken service must not take the other streams with it; it is logged
            log.exception("a service failed")
        finally:
            await stream.opened()
            if self._streams.pop(stream.own_id, None) is not None:
                self._tasks.pop(stream.own_id, None)
                stream.close()
                with contextlib.suppress(ConnectionError):
                    await self._send(Packet(Command.CLSE, stream.own_id, stream.peer_id))

    async def _close(self, stream: Stream) -> None:
        """End a stream that the host closed."""
        self._streams.pop(stream.own_id, None)
        task = self._tasks.pop(stream.own_id, None)
        stream.close()
        if task is not None and stream.outlives_close:
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)
        elif task is not None:
            task.cancel()
        await self._send(Packet(Command.CLSE, stream.own_id, stream.peer_id))

    async def _end(self) -> None:
        tasks = [*self._tasks.values(), *self._ending]
        for opening in self._opening.values():
            opening.cancel()
        self._streams.clear()
        self._tasks.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
