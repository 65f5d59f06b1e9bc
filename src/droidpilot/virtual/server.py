"""Runs a phone: listens on the loopback, in a thread of this process or in the foreground.

This file must never know an app, and nothing in it may be reachable from another machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from droidpilot.core.clock import Clock
from droidpilot.core.errors import DeviceUnavailable
from droidpilot.virtual import registry
from droidpilot.virtual.asked import requests_of
from droidpilot.virtual.control import Control
from droidpilot.virtual.faults.breakdown import Breakdown
from droidpilot.virtual.faults.faults import read_option
from droidpilot.virtual.phone import MODEL, SDK, TRANSITION_MS, Phone
from droidpilot.virtual.scenes.file import Script
from droidpilot.virtual.scenes.scene import show
from droidpilot.virtual.ui.motion import MOVE_MS
from droidpilot.virtual.wire.auth import Auth, Trust
from droidpilot.virtual.wire.listening import HOST, Listener
from droidpilot.virtual.wire.services import Services
from droidpilot.virtual.wire.transport import Identity, Transport

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

    def __init__(self, phone: Phone, *, trust: Trust = "none") -> None:
        self.phone = phone
        self._services = Services.of(phone)
        self._auth = Auth(trust)
        self._token = secrets.token_hex(16)
        self._control = Control(self._token, requests_of(phone))
        self._listener = Listener(self._transport)
        self.at_start: list[tuple[str, list[str]]] = []
        """Faults to set once the phone is attached."""

    def break_at_start(self) -> None:
        """Set the faults that were asked for from the start."""
        for name, args in self.at_start:
            self.phone.faults.set(name, *args)

    async def listen(self, port: int) -> registry.Entry:
        """Start to listen and return the phone's registry entry.

        Raises:
            UsageError: the port is taken, or one where adb servers look for emulators, or no port.
        """
        port = await self._listener.listen(port)
        control_port = await self._control.listen()
        self.phone.faults.body = Breakdown(self._services, self._listener, self._auth)
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
        self.phone.faults.body = None
        self._control.close()
        await self._listener.close()

    def _transport(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Transport:
        identity = Identity(name="virtual_phone", model=MODEL.replace(" ", "_"), device="virtual")
        services = self._services
        return Transport(
            reader,
            writer,
            identity=identity,
            auth=self._auth,
            open_service=services.open,
            gate=services.trouble.gate,
        )


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
    trust: Trust = "none",
    sdk: int = SDK,
) -> Iterator[VirtualPhone]:
    """Run a phone in a thread for the length of a `with`; it is registered where a state folder is given.

    Raises:
        UsageError: the port cannot be used.
    """
    phone = Phone(seed=seed, transition_ms=transition_ms, move_ms=move_ms, clock=clock, sdk=sdk)
    if scene is not None:
        show(phone, scene)
    ready: list[registry.Entry | BaseException] = []
    is_ready = threading.Event()
    loops: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def main() -> None:
        server, over = PhoneServer(phone, trust=trust), asyncio.Event()
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


@dataclass(frozen=True, slots=True)
class PhonePlan:
    """A phone that is to be served. `faults` are texts as `--fault` takes them: NAME[@CALL][,ARG...]."""

    port: int = 0
    seed: int = 0
    trust: Trust = "none"
    faults: tuple[str, ...] = ()
    transition_ms: int = TRANSITION_MS
    scene: Script | None = None

    def make(self) -> PhoneServer:
        """Make the phone and break what is to be broken from the start.

        Raises:
            UsageError: a fault that does not exist.
        """
        phone = Phone(seed=self.seed, transition_ms=self.transition_ms)
        if self.scene is not None:
            show(phone, self.scene)
        server = PhoneServer(phone, trust=self.trust)
        for text in self.faults:
            name, call, args = read_option(text)
            if call is None:
                server.at_start.append((name, args))
            else:
                phone.faults.schedule(name, call, *args)
        return server


OnReady = Callable[[list[registry.Entry]], list[registry.Entry]]


OnServed = Callable[[list[registry.Entry]], None]


def serve(home: Path, plans: Sequence[PhonePlan], *, on_ready: OnReady, on_served: OnServed) -> None:
    """Run phones in the foreground until SIGINT, SIGTERM or SIGHUP, registered under `home`.

    `on_ready` is called once in a thread of its own while the phones already answer; the entries that it returns (with
    their adb server in them) replace the registered ones. Then what is to be broken from the start is broken, and
    `on_served` is called in a thread too.

    Raises:
        UsageError: a port cannot be used, or there is no such fault.
    """
    asyncio.run(_serve(home, plans, on_ready, on_served))


async def _serve(home: Path, plans: Sequence[PhonePlan], on_ready: OnReady, on_served: OnServed) -> None:
    servers, over = [plan.make() for plan in plans], asyncio.Event()
    loop = asyncio.get_running_loop()
    entries: list[registry.Entry] = []
    with _signals_end(lambda: loop.call_soon_threadsafe(over.set)):
        try:
            for plan, server in zip(plans, servers, strict=True):
                entries.append(await server.listen(plan.port))
                registry.register(home, entries[-1])
            served = await loop.run_in_executor(None, on_ready, list(entries))
            for told in served:
                registry.register(home, told)
            for server in servers:
                server.break_at_start()
            await loop.run_in_executor(None, on_served, served)
            await over.wait()
        finally:
            for entry in entries:
                registry.remove(home, entry)
            await asyncio.gather(*(server.close() for server in servers))


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
