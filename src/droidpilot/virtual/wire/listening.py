"""Where adb servers come in: one port of the loopback, its connections, and times when there is neither.

Nothing here may be reachable from another machine. This file must never know a phone.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Callable
from typing import Final

from droidpilot.core.errors import UsageError
from droidpilot.virtual.wire.transport import Transport

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
EMULATOR_PORTS: Final = range(5554, 5586)
"""Every adb server on the machine looks for emulators here, so a phone must not."""
MAX_TRANSPORTS: Final = 32
MakeTransport = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Transport]


class Listener:
    """Takes connections on one port. Its methods belong to the event loop's thread."""

    def __init__(self, make: MakeTransport) -> None:
        self._make = make
        self._server: asyncio.Server | None = None
        self._held: socket.socket | None = None
        """Keeps the port while nobody may connect."""
        self._port = 0
        self._transports: dict[asyncio.Task[None], Transport] = {}
        self._returns: asyncio.TimerHandle | None = None
        self._listens: asyncio.Task[None] | None = None
        self._is_closing = False

    async def listen(self, port: int) -> int:
        """Start to listen and return the port.

        Raises:
            UsageError: the port is taken, or one where adb servers look for emulators, or no port.
        """
        bound = _bound_socket(port)
        self._port = int(bound.getsockname()[1])
        self._server = await asyncio.start_server(self._accept, sock=bound, backlog=64)
        return self._port

    async def close(self) -> None:
        """Stop listening and end all connections."""
        self._is_closing = True
        for timer in (self._returns, self._listens):
            if timer is not None:
                timer.cancel()
        self._stop()
        if self._held is not None:
            self._held.close()
        for task in list(self._transports):
            task.cancel()
        await asyncio.gather(*self._transports, return_exceptions=True)

    def abort_all(self) -> None:
        """Break every connection at once."""
        for transport in list(self._transports.values()):
            transport.abort()

    def refuse(self, seconds: float, then: Callable[[], None]) -> None:
        """Break every connection and refuse new ones; after that time listen again and do something."""
        self._stop()
        self.abort_all()
        if self._held is None:
            with contextlib.suppress(OSError):
                self._held = _bind(self._port)
        if self._returns is not None:
            self._returns.cancel()

        def come_back() -> None:
            self.come_back()
            then()

        self._returns = asyncio.get_running_loop().call_later(seconds, come_back)

    def come_back(self) -> None:
        """Listen again now, where connections were refused."""
        if self._returns is not None:
            self._returns.cancel()
        if self._server is None and not self._is_closing and (self._listens is None or self._listens.done()):
            self._listens = asyncio.get_running_loop().create_task(self._listen_again())

    async def _listen_again(self) -> None:
        held, self._held = self._held, None
        try:
            bound = held if held is not None else _bind(self._port)
        except OSError:
            log.exception("port %d was taken while nobody listened; this phone stays away", self._port)
            return
        self._server = await asyncio.start_server(self._accept, sock=bound, backlog=64)

    def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        # A connection that was accepted while we close would never be cancelled.
        if task is None or self._is_closing or self._server is None or len(self._transports) >= MAX_TRANSPORTS:
            writer.close()
            return
        transport = self._make(reader, writer)
        self._transports[task] = transport
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await transport.serve()
        finally:
            self._transports.pop(task, None)


def _bind(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((HOST, port))
    except OSError:
        made.close()
        raise
    return made


def _bound_socket(port: int) -> socket.socket:
    if port in EMULATOR_PORTS or not 0 <= port <= 65535:
        raise UsageError(
            f"port {port} cannot be used: adb servers look for emulators on 5554 to 5585",
            hint="choose another port, or 0 for a free one",
        )
    while True:
        try:
            made = _bind(port)
            if port or made.getsockname()[1] not in EMULATOR_PORTS:
                made.listen(64)
                return made
        except OSError as error:
            raise UsageError(
                f"port {port} is taken: {error}", hint="choose another port, or 0 for a free one", code="port_taken"
            ) from error
        made.close()
