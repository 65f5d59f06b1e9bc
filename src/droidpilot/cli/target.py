"""Which phone a command drives, and the adb server that knows it.

`virtual` starts a virtual phone for the length of the command; a serial registered in the state folder is reached
through the adb server of its own; any other through the user's, used as it is. It must never know what is done there.
"""

from __future__ import annotations

import contextlib
import difflib
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from droidpilot.cli import output
from droidpilot.core.clock import Clock, Deadline, SystemClock
from droidpilot.core.errors import DeviceError, DeviceUnavailable
from droidpilot.core.text import quoted
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import PrivateServer, ensure_server, reap_private_server, start_private_server
from droidpilot.device.adb_trouble import adb_command
from droidpilot.device.attached import AttachedDevice, choose_device, connect_tcp, list_devices
from droidpilot.device.discovery import Service, find_moved, find_phone, services
from droidpilot.device.left_files import forget_phone
from droidpilot.pipeline.ref_store import forget_refs
from droidpilot.virtual import registry
from droidpilot.virtual.registry import Entry

#: What `--device` takes for a virtual phone of one's own.
VIRTUAL = "virtual"
#: Where adb itself looks for its server.
_USUAL_PORT = 5037
#: How the serial of a virtual phone begins.
_LOOPBACK = "127.0.0.1:"
#: Seconds an adb server may take for one answer.
ANSWER_S = 10.0
#: Seconds that a port of this machine may take to take a connection.
_PROBE_S = 0.5
#: Seconds that it may take to forget a phone that has ended: nothing depends on it.
_LET_GO_S = 2.0


@dataclass(frozen=True, slots=True)
class Target:
    """One phone and the port of the adb server on 127.0.0.1 through which it is reached."""

    serial: str
    adb_port: int
    is_virtual: bool
    key: str = ""  # names this one among virtual phones that had or will have its serial


@dataclass(frozen=True, slots=True)
class Known:
    """A phone that some adb server knows, the user's or a virtual phone's own."""

    device: AttachedDevice
    adb_port: int
    is_virtual: bool


@contextmanager
def chosen_phone(device: str | None, *, adb_port: int, home: Path, clock: Clock) -> Iterator[Target]:
    """Find the phone, or start one, and let go of it afterwards.

    Raises:
        DeviceError: no phone, several, or one that is not ready; the hint says what to do.
    """
    dead = reap_dead(home)
    if any(entry.serial == device for entry in dead):
        raise ended(str(device))
    if device == VIRTUAL:
        with started_phone(home, seed=0, clock=clock) as target:
            output.note(f"virtual phone {target.serial}: its state ends with this command", style="dim")
            yield target
        return
    chosen = _chosen(device, adb_port=adb_port, home=home, clock=clock)
    try:
        serial = chosen.device.serial
        yield Target(
            serial, chosen.adb_port, chosen.is_virtual, _virtual_key(home, serial) if chosen.is_virtual else ""
        )
    except DeviceError as error:
        if chosen.is_virtual and not is_virtual_alive(home, chosen.device.serial):
            raise ended(chosen.device.serial) from error
        raise
    else:
        if chosen.is_virtual and not is_virtual_alive(home, chosen.device.serial):
            output.note(str(ended(chosen.device.serial)), style="warn")


def ended(serial: str) -> DeviceUnavailable:
    """Make the error for a virtual phone whose process is gone: no cable and no adb will bring it back."""
    return DeviceUnavailable(
        f"this virtual phone has ended: {quoted(serial)[1:-1]}",
        hint=f"start one with: {output.program()} virtual start",
        code="no_virtual_phone",
    )


def _elsewhere(serial: str, home: Path) -> DeviceUnavailable:
    """Make the error for something that answers where a virtual phone would, and that nothing here knows."""
    return DeviceUnavailable(
        f"no virtual phone {quoted(serial)[1:-1]} in this state folder ({home})",
        hint=f"set DROIDPILOT_HOME to the one it was started with, or start one with: {output.program()} virtual start",
        code="no_virtual_phone",
    )


def _answers(serial: str) -> bool:
    """Tell whether anything listens on the port of a virtual phone's serial."""
    port = serial.removeprefix(_LOOPBACK)
    if not (port.isascii() and port.isdigit() and 0 < int(port[:6]) < 65536):
        return False
    try:
        with socket.create_connection(("127.0.0.1", int(port)), timeout=_PROBE_S):
            return True
    except OSError:
        return False


def _virtual_key(home: Path, serial: str) -> str:
    """Name a virtual phone by its process: the next one with its serial is another phone."""
    found = next((entry for entry in registry.entries(home) if entry.serial == serial), None)
    return f"{serial} {found.pid} {found.pid_started}" if found is not None else serial


def is_virtual_alive(home: Path, serial: str) -> bool:
    """Tell whether a virtual phone of this serial runs."""
    return any(entry.is_alive for entry in registry.entries(home) if entry.serial == serial)


def _chosen(device: str | None, *, adb_port: int, home: Path, clock: Clock) -> Known:
    virtual = virtual_phones(home)
    known = {one.device.serial: one for one in virtual}
    if device not in known:
        known = {one.device.serial: one for one in [*attached_phones(adb_port, clock), *virtual]}
    if device is not None and device not in known:
        if device.startswith(_LOOPBACK):
            raise _elsewhere(device, home) if _answers(device) else ended(device)
        if (announced := _announced(device, adb_port, clock)) is not None:
            raise DeviceUnavailable(
                f"{quoted(device)} is not connected; it announces itself at {announced.address}",
                hint=f"connect it with: {output.program()} connect {announced.address}",
                code="not_found_by_adb",
            )
        near = difflib.get_close_matches(device, [VIRTUAL, *known], n=1)
        if near:
            attached = ", ".join(known) or "none"
            raise DeviceUnavailable(
                f"no phone {quoted(device)} is attached; attached: {attached}",
                hint=f"did you mean --device {near[0]}?",
                code="not_found_by_adb",
            )
    return known[choose_device([one.device for one in known.values()], device).serial]


def _announced(device: str, adb_port: int, clock: Clock) -> Service | None:
    """Find a phone that is not connected, but announces itself: under that name, or at that host with another port."""
    seen = [one for one in services(AdbServer(adb_port), Deadline.after(clock, ANSWER_S)) if one.kind != "pairing"]
    at_host = find_moved(seen, device.rpartition(":")[0].strip("[]"))
    return find_phone(seen, device) or next(iter(at_host), None)


@contextmanager
def started_phone(home: Path, *, seed: int, clock: Clock) -> Iterator[Target]:
    """Run a virtual phone of our own with a private adb server for the length of a `with`.

    Raises:
        DeviceError: one of the two does not start.
    """
    from droidpilot.virtual.server import running_phone

    with ExitStack() as stack:
        phone = stack.enter_context(running_phone(seed=seed))
        server, entry = with_private_server(home, phone.entry, clock)
        stack.callback(forget_phone, home, entry.serial, entry.phone_id, server.port)
        stack.callback(server.stop)
        stack.callback(registry.remove, home, entry)
        stack.callback(forget_refs, home, entry.serial)
        yield Target(entry.serial, server.port, is_virtual=True, key=_virtual_key(home, entry.serial))


def with_private_server(home: Path, entry: Entry, clock: Clock) -> tuple[PrivateServer, Entry]:
    """Start an adb server for one virtual phone, connect it, and register the phone with it.

    Registering comes before connecting: should we be killed, a later command finds the server and ends it.
    """
    server = start_private_server(home / "adb", clock)
    try:
        entry = replace(entry, adb_port=server.port, adb_pid=server.pid, adb_pid_started=server.started)
        registry.register(home, entry)
        connect_tcp(server.server, entry.serial, Deadline.after(clock, ANSWER_S))
    except BaseException:
        server.stop()
        registry.remove(home, entry)
        raise
    return server, entry


def reap_dead(home: Path) -> list[Entry]:
    """Forget virtual phones whose process is gone, and end the adb servers that a kill left behind; return them."""
    dead = [entry for entry in registry.entries(home) if not entry.is_alive]
    for entry in dead:
        if entry.adb_pid is not None and entry.adb_port is not None:
            reap_private_server(entry.adb_pid, entry.adb_pid_started, entry.adb_port)
        elif entry.adb_port is not None:
            _let_go(entry.serial, entry.adb_port)
        registry.remove(home, entry)
        forget_refs(home, entry.serial)
        forget_phone(home, entry.serial, entry.phone_id, entry.adb_port)
    return dead


def _let_go(serial: str, adb_port: int) -> None:
    """Have the user's adb server forget a phone of ours that is dead. One that answers has its port only by chance."""
    server, deadline = AdbServer(adb_port), Deadline.after(SystemClock(), _LET_GO_S)
    with contextlib.suppress(DeviceError):
        if any(one.serial == serial and not one.is_ready for one in list_devices(server, deadline)):
            server.ask(f"host:disconnect:{serial}", deadline)


def virtual_phones(home: Path) -> list[Known]:
    """List the running virtual phones of this state folder that can be reached."""
    return [
        Known(AttachedDevice(entry.serial, "device", "tcp", "Virtual Phone"), entry.adb_port, is_virtual=True)
        for entry in registry.entries(home)
        if entry.is_alive and entry.adb_port is not None
    ]


def as_adb_has_it(known: Known) -> Known:
    """Return a virtual phone in the state that its adb server has it in, which may not be trusted or not be reached."""
    with contextlib.suppress(DeviceError):
        listed = list_devices(AdbServer(known.adb_port), Deadline.after(SystemClock(), _LET_GO_S))
        state = next((one.state for one in listed if one.serial == known.device.serial), "offline")
        return replace(known, device=replace(known.device, state=state))
    return known


def attached_phones(adb_port: int, clock: Clock) -> list[Known]:
    """List the phones that the user's adb server knows; it is started only where none answers.

    Raises:
        DeviceLost: there is no server and none can be started.
    """
    server = user_server(adb_port, clock)
    devices = list_devices(server, Deadline.after(clock, ANSWER_S))
    return [Known(device, adb_port, is_virtual=False) for device in devices]


def user_server(adb_port: int, clock: Clock) -> AdbServer:
    """Return the user's adb server; it is started only where none answers, which is said.

    Raises:
        DeviceLost: there is none and none can be started.
    """
    server = AdbServer(adb_port)
    if ensure_server(server, clock):
        stop = f"{adb_command()} {'' if adb_port == _USUAL_PORT else f'-P {adb_port} '}kill-server"
        output.note(f"started an adb server on port {adb_port}; it stays; to stop it: {stop}", style="dim")
    return server
