"""The services a transport can open, by name: shell, exec, sync and the in-phone server's port.

Source: `adb/SERVICES.TXT`; `shell,v2` frames are those of `shell_protocol.h`. This file must never know packets.
"""

from __future__ import annotations

import asyncio
import contextlib
import struct
from collections.abc import Callable
from dataclasses import dataclass

from droidpilot.virtual.commands import COMMANDS
from droidpilot.virtual.http import serve_http
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.pictures import Camera
from droidpilot.virtual.rpc import InPhoneServer
from droidpilot.virtual.rpc_caller import Caller
from droidpilot.virtual.shell import Context, Shell
from droidpilot.virtual.streams import Stream, StreamClosed
from droidpilot.virtual.sync import SyncService
from droidpilot.virtual.terminal import Terminal
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.transport import Service
from droidpilot.virtual.trouble import Trouble

MAX_STDIN = 4 * 1024 * 1024
MAX_FRAME = 64 * 1024
POLL_S = 0.008
"""Half a frame: how often a wait looks at the phone."""
_FRAME = struct.Struct("<BI")
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)


@dataclass(slots=True)
class Services:
    """The services of one phone."""

    phone: Phone
    touch: Touch
    server: InPhoneServer
    served: set[asyncio.Task[None]]
    trouble: Trouble

    @classmethod
    def of(cls, phone: Phone) -> Services:
        """Put together what the services of a phone need."""
        touch = Touch(phone)

        async def pause(ms: int) -> None:
            end = phone.now_ms() + ms
            while phone.now_ms() < end:
                await asyncio.sleep(min(POLL_S, ms / 1000))

        async def poll(holds: Callable[[], bool], at_most_ms: int) -> bool:
            end = phone.now_ms() + at_most_ms
            while not holds():
                if phone.now_ms() >= end:
                    return False
                await asyncio.sleep(POLL_S)
            return True

        trouble = Trouble(phone.faults, phone.random("trouble"))
        server = InPhoneServer(Caller(phone, touch, pause, poll, Camera(phone), trouble))
        made = cls(phone, touch, server, set(), trouble)
        server.on_stop = made._hang_up
        return made

    def open(self, name: str) -> Service | None:
        """Find the service of a name; None where there is none, or the in-phone server does not run."""
        kind, _, rest = name.partition(":")
        if kind == "shell" and rest:
            return lambda stream: self._plain(stream, rest)
        if kind == "exec" and rest:
            return lambda stream: self._plain(stream, rest)
        if kind.startswith("shell,"):
            options = kind.split(",")
            return lambda stream: self._framed(stream, rest, is_terminal="pty" in options)
        if kind == "shell":
            return self._terminal
        if kind == "sync":
            return lambda stream: SyncService(self.phone, stream, self.trouble).serve()
        if kind == "tcp" and rest.isdigit() and self.server.port == int(rest):
            return self._tcp
        return None

    def _hang_up(self) -> None:
        for task in list(self.served):
            task.cancel()

    async def _tcp(self, stream: Stream) -> None:
        task = asyncio.ensure_future(serve_http(stream, self.server.answer))
        self.served.add(task)
        try:
            await task
        except asyncio.CancelledError:
            task.cancel()
            if self.server.port is not None:
                raise
        finally:
            self.served.discard(task)

    def _context(self) -> Context:
        caller = self.server.caller
        return Context(
            self.phone,
            self.touch,
            self.server,
            caller.pause,
            asyncio.Event().wait,
            caller.camera,
            caller.turn,
            self.trouble,
        )

    async def _plain(self, stream: Stream, line: str) -> None:
        """Run a command line; errors and output go out as one."""

        async def emit(_: int, data: bytes) -> None:
            await stream.write(data)

        async with self.trouble.call("call", "shell"):
            await Shell(self._context(), COMMANDS, emit).run(line)

    async def _framed(self, stream: Stream, line: str, *, is_terminal: bool) -> None:
        """Run a command line, or a script from the input; errors, output and exit code come in frames of their own."""

        async def emit(fd: int, data: bytes) -> None:
            for begin in range(0, len(data), MAX_FRAME):
                part = data[begin : begin + MAX_FRAME]
                await stream.write(_FRAME.pack(_STDERR if fd == 2 else _STDOUT, len(part)) + part)

        shell = Shell(self._context(), COMMANDS, emit)
        if not line and is_terminal:
            await self._framed_terminal(stream)
            return
        if not line:
            line, given = (await _stdin(stream)).decode("utf-8", "replace"), b""
        else:
            given = await self._given(stream, line)
        async with self.trouble.call("call", "shell"):
            await shell.run(line, given)
        await stream.write(_FRAME.pack(_EXIT, 1) + bytes([shell.status & 0xFF]))

    async def _terminal(self, stream: Stream) -> None:
        """Talk to a person at an old host: no frames."""

        async def emit(_: int, data: bytes) -> None:
            await stream.write(data.replace(b"\n", b"\r\n"))

        await Terminal(Shell(self._context(), COMMANDS, emit), stream.read, stream.write).serve()

    async def _framed_terminal(self, stream: Stream) -> None:
        """Talk to a person: a terminal has one output, and the host shows it as it is."""

        async def write(data: bytes) -> None:
            for begin in range(0, len(data), MAX_FRAME):
                part = data[begin : begin + MAX_FRAME]
                await stream.write(_FRAME.pack(_STDOUT, len(part)) + part)

        async def emit(_: int, data: bytes) -> None:
            await write(data.replace(b"\n", b"\r\n"))

        async def read() -> bytes:
            with contextlib.suppress(StreamClosed):
                while True:
                    kind, length = _FRAME.unpack(await stream.read_exactly(_FRAME.size))
                    data = await stream.read_exactly(length) if length <= MAX_FRAME else b""
                    if kind == _CLOSE_STDIN or length > MAX_FRAME:
                        return b""
                    if kind == _STDIN and data:
                        return data
            return b""

        shell = Shell(self._context(), COMMANDS, emit)
        await Terminal(shell, read, write).serve()
        await stream.write(_FRAME.pack(_EXIT, 1) + bytes([shell.status & 0xFF]))

    async def _given(self, stream: Stream, line: str) -> bytes:
        """Read the input only for a command that wants it; others must not wait for the client to close it."""
        if line.split(" ", 1)[0] not in ("cat", "grep", "head", "wc") or len(line.split()) > 1:
            return b""
        return await _stdin(stream)


async def _stdin(stream: Stream) -> bytes:
    """Return what the client sends as input until it closes it."""
    held = bytearray()
    with contextlib.suppress(StreamClosed):
        while True:
            kind, length = _FRAME.unpack(await stream.read_exactly(_FRAME.size))
            if length > MAX_FRAME or len(held) + length > MAX_STDIN:
                break
            data = await stream.read_exactly(length)
            if kind == _CLOSE_STDIN:
                break
            if kind == _STDIN:
                held += data
    return bytes(held)
