"""`doctor --repair`: puts back what dead runs left changed on phones, and clears what ended phones left behind here.

It must never touch what a running session holds, and never end a server whose owner may still live.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

from droidpilot.cli.findings import Finding, fail, failure, ok, warn
from droidpilot.cli.target import VIRTUAL, Known, attached_phones, reap_dead, virtual_phones
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceBusy, DeviceError, Exit, UsageError
from droidpilot.core.text import one_line, plural, shorten
from droidpilot.device import keeper
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.adb_server import is_orphan, private_servers_of, reap_private_server
from droidpilot.device.keeper import Left, Repaired
from droidpilot.device.kept import ChangeList
from droidpilot.device.lease import Lease
from droidpilot.device.left_files import sweep
from droidpilot.virtual import registry

#: Seconds that one phone gets to take everything back.
REPAIR_S = 30.0
_ID_S = 5.0
_STEP = "droidpilot doctor --repair"
_LOOPBACK = "127.0.0.1:"


def left(home: Path, clock: Clock) -> Iterator[Finding]:
    """Tell what runs that ended without cleaning up left changed on phones; nothing is touched."""
    for one in keeper.left_behind(home, clock):
        if one.problem:
            yield warn("left behind", "unreadable", shorten(one_line(one.problem), 300), f"run: {_STEP}").of(
                "left behind"
            )
            continue
        before = "not set" if one.before is None else shorten(one_line(one.before), 100)
        where = f"{_shown(one.what)} on {_shown(one.serial)}"
        text = f"{where} was changed by a run that ended; it was {before} ({_shown(one.since)})"
        yield warn("left behind", "changed", text, f"run: {_STEP}").of("left behind", _shown(one.serial))


def repair(home: Path, device: str | None, adb_port: int, clock: Clock) -> Iterator[Finding]:
    """Put everything back that can be: one finding each, a failure for what cannot."""
    yield from _changed(home, device, adb_port, clock)
    # Last, since asking whether a phone is in use makes a lock file.
    yield from (one.of("left behind") for one in _clear(home))


def _changed(home: Path, device: str | None, adb_port: int, clock: Clock) -> Iterator[Finding]:
    behind = keeper.left_behind(home, clock)
    ended = [one for one in behind if _is_of_ended_phone(one, home)]
    for one in ended:
        yield _forgotten(home, one)
    rest = [one for one in behind if one not in ended]
    if device is not None:
        rest = [one for one in rest if one.serial in ("", device)]
    if not rest:
        if not ended:
            yield ok("repair", "no phone was left changed", "nothing").of("left behind")
        return
    try:
        phones = _reachable(home, device, adb_port, clock)
    except DeviceError as error:
        yield failure("repair", error).of("left behind")
        return
    yield from _put_back(home, rest, phones, clock)


def _put_back(home: Path, rest: list[Left], phones: list[Known], clock: Clock) -> Iterator[Finding]:
    """Repair each phone that is meant by its serial or its own id; what is left over has no phone here."""
    away = [one for one in rest if not one.problem]
    attached = {one.device.serial for one in phones}
    for known in phones:
        serial, server = known.device.serial, AdbServer(known.adb_port)
        own_id = _own_id(server, serial, clock)
        meant = [one for one in away if one.serial == serial or (own_id and one.phone_id == own_id)]
        if not meant and not any(one.problem for one in rest):
            continue
        try:
            with ExitStack() as stack:
                lease = stack.enter_context(Lease.take(home, serial, clock=clock))
                if own_id:
                    lease.add_phone(own_id)
                # Cheap phones share one id: what was changed on another attached phone is not looked for on this one.
                for other in {one.serial for one in meant if one.serial in attached} - {serial}:
                    with suppress(DeviceBusy):
                        stack.enter_context(Lease.take(home, other, clock=clock))
                link = PhoneLink(server, serial)
                done = keeper.Keeper(home, link, clock).restore(Deadline.after(clock, REPAIR_S), is_asked=True)
        except (DeviceError, UsageError) as error:
            yield failure("repair", error).of("left behind", serial)
            away = [one for one in away if one.serial != serial]
            continue
        yield from (_became(one).of("left behind", serial) for one in done)
        away = [one for one in away if one not in meant or (one.serial != serial and one.serial in attached)]
    yield from map(_away, away)
    yield from map(_away, (one for one in keeper.left_behind(home, clock) if one.problem))


def _became(one: Repaired) -> Finding:
    words = shorten(one_line(one.words), 300)
    if one.became == "failed":
        hint = "see what the phone says above; choose it by hand in its settings if it stays so"
        return fail("repair", "failed", words, hint, Exit.FAILED)
    return ok("repair", words, one.became)


def _away(one: Left) -> Finding:
    if one.problem:
        return fail("repair", "unreadable", shorten(one_line(one.problem), 300), "move that file away", Exit.FAILED).of(
            "left behind"
        )
    text = f"{_shown(one.what)} on {_shown(one.serial)} was left changed, and that phone is not here"
    hint = f"attach it, unlock it, and run it again: {_STEP}"
    return fail("repair", "away", text, hint).of("left behind", _shown(one.serial))


def _reachable(home: Path, device: str | None, adb_port: int, clock: Clock) -> list[Known]:
    """List the ready phones, or the one named."""
    found = virtual_phones(home)
    if device is None or device not in {one.device.serial for one in found}:
        found = [*attached_phones(adb_port, clock), *found]
    unique = {one.device.serial: one for one in found if one.device.is_ready}
    return [one for one in unique.values() if device in (None, VIRTUAL, one.device.serial)]


def _own_id(server: AdbServer, serial: str, clock: Clock) -> str:
    try:
        return PhoneLink(server, serial).shell(("getprop", "ro.serialno"), Deadline.after(clock, _ID_S)).text.strip()
    except DeviceError:
        return ""


def _is_of_ended_phone(one: Left, home: Path) -> bool:
    """Tell whether a change was made on a virtual phone whose process is gone, and its settings with it."""
    if not one.serial.startswith(_LOOPBACK) or not one.phone_id.startswith("VIRTUAL"):
        return False
    return all(entry.serial != one.serial for entry in registry.entries(home) if entry.is_alive)


def _forgotten(home: Path, one: Left) -> Finding:
    text = f"{_shown(one.what)} on {_shown(one.serial)}: that virtual phone has ended, and the change with it"
    try:
        listed = ChangeList(home, one.phone_id)
        for change in listed.read():
            if change.serial == one.serial and change.what == one.what:
                listed.remove(change)
    except UsageError as error:
        return fail("repair", error.code, error.message, error.hint, Exit.FAILED).of("left behind")
    return ok("repair", text, "ended").of("left behind")


def _clear(home: Path) -> Iterator[Finding]:
    """End private adb servers whose owner is dead, and remove the files of phones that have ended."""
    for entry in reap_dead(home):
        yield ok("leftovers", f"virtual phone {entry.serial} was killed; forgotten, its adb server ended", "reaped")
    alive = [entry for entry in registry.entries(home) if entry.is_alive]
    known = {entry.adb_pid for entry in alive}
    ports = {entry.adb_port for entry in alive if entry.adb_port is not None}
    for pid, port in private_servers_of(home / "adb"):
        if pid in known:
            continue
        if is_orphan(pid) and reap_private_server(pid, None, port):
            yield ok(
                "leftovers", f"a private adb server (process {pid}, port {port}) had no owner any more; ended", "ended"
            )
        else:
            ports.add(port)
            text = f"a private adb server (process {pid}, port {port}) belongs to no virtual phone, and its owner lives"
            yield warn("leftovers", "server", text, f"unless a command is just starting one: kill {pid}")
    serials, ids = [entry.serial for entry in alive], [entry.phone_id for entry in alive]
    gone = sweep(home, serials=serials, phone_ids=ids, adb_ports=ports)
    if gone:
        yield ok("leftovers", f"removed {plural(gone, 'file')} of virtual phones that have ended", "files")


def _shown(text: str) -> str:
    return shorten(one_line(text), 100)
