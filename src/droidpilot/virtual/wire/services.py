"""The services a transport can open, by name: shell, exec, sync, the in-phone server's port, tunnels and one-liners.

Source: `adb/SERVICES.TXT`. This file must never know packets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from droidpilot.virtual.drawing.pictures import Camera
from droidpilot.virtual.faults.trouble import Trouble
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.rpc.caller import Caller
from droidpilot.virtual.rpc.server import InPhoneServer
from droidpilot.virtual.shell.job import Context
from droidpilot.virtual.shell.service import ShellService, run_line
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.wire.http import serve_http
from droidpilot.virtual.wire.streams import Stream
from droidpilot.virtual.wire.sync import SyncService
from droidpilot.virtual.wire.transport import Service
from droidpilot.virtual.wire.tunnels import Tunnels

POLL_S = 0.008
"""Half a frame: how often a wait looks at the phone."""
ONE_LINERS: Final = {
    "root": b"adbd cannot run as root in production builds\n",
    "unroot": b"adbd not running as root\n",
    "remount": b'Not running as root. Try "adb root" first.\n',
    "disable-verity": b"verity cannot be disabled/enabled - USER build\n",
    "enable-verity": b"verity cannot be disabled/enabled - USER build\n",
    "tcpip": b"a virtual phone keeps its port\n",
    "usb": b"a virtual phone has no USB\n",
}
"""Services that only answer a line, in the words of a phone as shops sell it, or ours."""


@dataclass(slots=True)
class Services:
    """The services of one phone."""

    phone: Phone
    touch: Touch
    server: InPhoneServer
    served: set[asyncio.Task[None]]
    trouble: Trouble
    tunnels: Tunnels

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
        made = cls(phone, touch, server, set(), trouble, Tunnels())
        server.on_stop = made._hang_up
        server.caller.run_line = lambda line: run_line(made._context(), line)
        return made

    def open(self, name: str) -> Service | None:
        """Find the service of a name; None where there is none, or the in-phone server does not run."""
        kind, _, rest = name.partition(":")
        shell = ShellService(self._context, self.trouble)
        if kind == "shell" and rest:
            return lambda stream: shell.plain(stream, rest)
        if kind == "exec" and rest:
            return lambda stream: shell.raw(stream, rest)
        if kind.startswith("shell,"):
            options = kind.split(",")
            return lambda stream: shell.framed(stream, rest, is_terminal="pty" in options)
        if kind == "shell":
            return shell.terminal
        if kind == "reverse":
            return lambda stream: self.tunnels.serve(stream, rest)
        if kind == "reboot":
            return self._reboot
        if kind in ONE_LINERS:
            return lambda stream: stream.write(ONE_LINERS[kind])
        if kind == "sync":
            return lambda stream: SyncService(self.phone, stream, self.trouble).serve()
        if kind == "tcp" and rest.isdigit() and self.server.port == int(rest):
            return self._tcp
        return None

    async def _reboot(self, stream: Stream) -> None:
        del stream
        self.phone.faults.set("reboot")

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
            self.tunnels,
        )
