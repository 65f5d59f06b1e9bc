"""Runs a phone: listens on the loopback, in a thread of this process or in the foreground.

This file must never know an app, and nothing in it may be reachable from another machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from droidpilot.core.clock import Clock
from droidpilot.core.errors import DeviceUnavailable, UsageError
from droidpilot.virtual import registry
from droidpilot.virtual.control import Control
from droidpilot.virtual.faults import Fault
from droidpilot.virtual.motion import MOVE_MS
from droidpilot.virtual.phone import MODEL, TRANSITION_MS, Phone
from droidpilot.virtual.scene import show
from droidpilot.virtual.scene_file import Script
from droidpilot.virtual.services import Services
from droidpilot.virtual.transport import Identity, Transport

HOST = "127.0.0.1"
EMULATOR_PORTS = range(5554, 5586)
"""Every adb server on the machine looks for emulators here, so a phone must not."""
MAX_TRANSPORTS = 32
START_S = 10.0


@dataclass(frozen=True, slots=True)
class VirtualPhone:
    """A running phone. `phone.state()` tells the truth from any thread of the same process."""

    serial: str
    port: int
    phone: Phone
    entry: registry.Entry


class PhoneServer:
    """Listens for adb servers and control requests, and serves one phone."""

    def __init__(self, phone: Phone) -> None:
        self.phone = phone
        self._services = Services.of(phone)
        self._token = secrets.token_hex(16)
        self._control = Control(self._token, {"state": phone.state})
        self._listener: asyncio.Server | None = None
        self._transports: dict[asyncio.Task[None], Transport] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_closing = False

    async def listen(self, port: int) -> registry.Entry:
        """Start to listen and return the phone's registry entry.

        Raises:
            UsageError: the port is one where adb servers look for emulators, or no port.
            DeviceUnavailable: the port is taken.
        """
        taken = _listening_socket(port)
        port = taken.getsockname()[1]
        self._loop = asyncio.get_running_loop()
        self.phone.faults.body = self
        self._listener = await asyncio.start_server(self._accept, sock=taken)
        control_port = await self._control.listen()
        pid = os.getpid()
        return registry.Entry(
            serial=f"{HOST}:{port}",
            port=port,
            pid=pid,
            pid_started=registry.process_started(pid),
            seed=self.phone.seed,
            control_port=control_port,
            token=self._token,
        )

    async def close(self) -> None:
        """Stop listening and end all connections."""
        self._is_closing = True
        self.phone.faults.body = None
        self._services.trouble.release()
        self._control.close()
        if self._listener is not None:
            self._listener.close()
        for task in list(self._transports):
            task.cancel()
        await asyncio.gather(*self._transports, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        # A connection that was accepted while we close would never be cancelled.
        if task is None or self._is_closing or len(self._transports) >= MAX_TRANSPORTS:
            writer.close()
            return
        identity = Identity(name="virtual_phone", model=MODEL.replace(" ", "_"), device="virtual")
        made = Transport(
            reader,
            writer,
            identity=identity,
            open_service=self._services.open,
            gate=self._services.trouble.gate,
        )
        self._transports[task] = made
        try:
            with contextlib.suppress(asyncio.CancelledError):
                await made.serve()
        finally:
            self._transports.pop(task, None)

    # faults

    def begin(self, fault: Fault) -> None:
        """Break what a fault breaks; from any thread, and done when it returns."""
        self._in_loop(lambda: self._break(fault))

    def end(self, name: str) -> None:
        """Mend what the end of a fault mends; from any thread, and done when it returns."""
        self._in_loop(lambda: self._mend(name))

    def _in_loop(self, act: Callable[[], None]) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop() is loop:
                act()
                return

        async def run() -> None:
            act()

        asyncio.run_coroutine_threadsafe(run(), loop).result(START_S)

    def _break(self, fault: Fault) -> None:
        services, loop = self._services, asyncio.get_running_loop()
        match fault.name:
            case "drop":
                self._abort_all()
            case "hang":
                services.trouble.hold()
                if fault.seconds:
                    loop.call_later(fault.seconds, self.phone.faults.clear, "hang")
            case "server-killed":
                services.server.kill()

    def _mend(self, name: str) -> None:
        if name == "hang":
            self._services.trouble.release()

    def _abort_all(self) -> None:
        for transport in list(self._transports.values()):
            transport.abort()


def _listening_socket(port: int) -> socket.socket:
    if port in EMULATOR_PORTS or not 0 <= port <= 65535:
        raise UsageError(
            f"port {port} cannot be used: adb servers look for emulators on 5554 to 5585",
            hint="choose another port, or 0 for a free one",
        )
    while True:
        made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((HOST, port))
        except OSError as error:
            made.close()
            raise DeviceUnavailable(
                f"port {port} is taken: {error}", hint="choose another port, or 0 for a free one", code="port_taken"
            ) from error
        if port or made.getsockname()[1] not in EMULATOR_PORTS:
            made.listen(64)
            return made
        made.close()


@contextmanager
def running_phone(
    *,
    seed: int = 0,
    port: int = 0,
    transition_ms: int = TRANSITION_MS,
    move_ms: int = MOVE_MS,
    home: Path | None = None,
    clock: Clock | None = None,
    scene: Script | None = None,
) -> Iterator[VirtualPhone]:
    """Run a phone in a thread for the length of a `with`; it is registered where a state folder is given.

    Raises:
        UsageError, DeviceUnavailable: the port cannot be used.
    """
    phone = Phone(seed=seed, transition_ms=transition_ms, move_ms=move_ms, clock=clock)
    if scene is not None:
        show(phone, scene)
    ready: list[registry.Entry | BaseException] = []
    is_ready = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        server, over = PhoneServer(phone), asyncio.Event()
        loop = asyncio.get_running_loop()
        loops.append((loop, over))
        ready.append(await server.listen(port))
        is_ready.set()
        await over.wait()
        await server.close()

    def run() -> None:
        try:
            asyncio.run(main())
        except BaseException as error:  # noqa: BLE001 # carried to the thread that waits, at the start and at the end
            ready.append(error)
            is_ready.set()

    thread = threading.Thread(target=run, name="virtual-phone", daemon=True)
    thread.start()
    if not is_ready.wait(START_S):
        raise DeviceUnavailable("the virtual phone did not start", hint="is the machine overloaded?")
    entry = ready[0]
    if isinstance(entry, BaseException):
        raise entry
    try:
        if home is not None:
            registry.register(home, entry)
        yield VirtualPhone(entry.serial, entry.port, phone, entry)
    finally:
        if home is not None:
            registry.remove(home, entry)
        loop, over = loops[0]
        with contextlib.suppress(RuntimeError):  # the loop is closed already: what ended it is raised below
            loop.call_soon_threadsafe(over.set)
        thread.join(START_S)
    failure = ready[-1]
    if isinstance(failure, BaseException):
        raise failure


def serve(
    home: Path,
    *,
    port: int = 0,
    seed: int = 0,
    transition_ms: int = TRANSITION_MS,
    scene: Script | None = None,
    on_ready: Callable[[registry.Entry], registry.Entry | None],
) -> None:
    """Run a phone in the foreground until SIGINT, SIGTERM or SIGHUP, registered under `home`.

    `on_ready` is called once in a thread of its own while the phone already answers; an entry that it returns (with the
    private adb server in it) replaces the registered one.

    Raises:
        UsageError, DeviceUnavailable: the port cannot be used.
    """
    phone = Phone(seed=seed, transition_ms=transition_ms)
    if scene is not None:
        show(phone, scene)
    asyncio.run(_serve(home, phone, port=port, on_ready=on_ready))


async def _serve(
    home: Path,
    phone: Phone,
    *,
    port: int,
    on_ready: Callable[[registry.Entry], registry.Entry | None],
) -> None:
    server, over = PhoneServer(phone), asyncio.Event()
    loop = asyncio.get_running_loop()
    entry = await server.listen(port)
    with _signals_end(lambda: loop.call_soon_threadsafe(over.set)):
        registry.register(home, entry)
        try:
            told = await loop.run_in_executor(None, on_ready, entry)
            if told is not None:
                registry.register(home, told)
            await over.wait()
        finally:
            registry.remove(home, entry)
            await server.close()


@contextmanager
def _signals_end(end: Callable[[], object]) -> Iterator[None]:
    """Call `end` instead of dying when a signal asks the process to go; leave the handlers as they were."""
    # By name, since not every system has SIGHUP; by `signal`, since not every event loop takes handlers.
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {number: signal.signal(number, lambda *_: end()) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
