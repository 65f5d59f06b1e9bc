"""What `doctor` looks at of adb: the programs, the server, the phones that it knows and what to do about each state."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from droidpilot.cli.findings import Finding, fail, failure, ok, warn
from droidpilot.cli.target import Known, as_adb_has_it, attached_phones, virtual_phones
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_programs import AdbProgram, adb_program, programs_on
from droidpilot.device.adb_server import is_server_there
from droidpilot.device.attached import AttachedDevice

#: Seconds that an adb server which listens gets for its version.
ADB_S = 5.0
_MAX_LISTED = 3


def adb(port: int, env: Mapping[str, str], clock: Clock, *, is_needed: bool) -> Iterator[Finding]:
    """Find the adb programs and the server; the server is not started here. A virtual phone needs none."""
    try:
        found = adb_program()
    except DeviceError as error:
        yield failure("adb program", error)
        return
    yield ok("adb program", f"{found.path} ({found.release or 'version unknown'})")
    yield from _others(found, programs_on(env.get("PATH", ""), separator=os.pathsep))
    server = AdbServer(port)
    try:
        if not is_server_there(server, Deadline.after(clock, ADB_S)):
            then = ", so one is started there; it stays" if is_needed else "; a virtual phone needs none"
            yield ok("adb server", f"none answered on port {port}{then}", "started" if is_needed else "none")
            return
        version = server.version(Deadline.after(clock, ADB_S))
    except DeviceError as error:
        yield failure("adb server", error)
        return
    if found.internal is not None and version != found.internal:
        text = f"the one on port {port} has version {version}, the program {found.internal}"
        hint = "droidpilot uses it as it is; that adb program would restart it and cut every phone off"
        yield warn("adb server", "other_version", text, hint)
    else:
        yield ok("adb server", f"one answers on port {port} with version {version}; it is used as it is")


def _others(used: AdbProgram, on_path: list[AdbProgram]) -> Iterator[Finding]:
    """Warn of programs that restart each other's server."""
    others = [one for one in on_path if one.internal is not None and one.internal != used.internal]
    if others:
        listed = ", ".join(f"{one.path} ({one.internal})" for one in others[:_MAX_LISTED])
        yield warn(
            "adb programs",
            "several_versions",
            f"{used.path} ({used.internal}) is used, and PATH has other versions: {listed}",
            "keep one: each restarts the other's server and cuts every phone off",
        )


def phones(home: Path, adb_port: int, clock: Clock) -> tuple[list[Known], list[Finding]]:
    """List the phones that could be used and say what to do about the others; starts an adb server where none is.

    Where phones are attached and none is ready it is a failure; one that is not ready beside a ready one is a warning.
    """
    virtual = [as_adb_has_it(one) for one in virtual_phones(home)]
    ours = {one.device.serial for one in virtual}
    findings: list[Finding] = []
    try:
        attached = [one for one in attached_phones(adb_port, clock) if one.device.serial not in ours]
    except DeviceError as error:
        attached = []
        findings.append(failure("adb server", error))
    found = [*attached, *virtual]
    ready = [one for one in found if one.device.is_ready]
    for one in found:
        findings.append(_state(one.device, is_virtual=one.is_virtual, is_only_trouble=not ready))
    if not found and not findings:
        hint = "plug one in with USB debugging on, or try: droidpilot doctor --device virtual"
        findings.append(warn("phone", "none", "none is attached", hint))
    return ready, findings


def _state(device: AttachedDevice, *, is_virtual: bool, is_only_trouble: bool) -> Finding:
    serial, model = _shown(device.serial), _shown(device.model)
    kind = "virtual" if is_virtual else device.transport
    about = f"{serial} ({', '.join(filter(None, (model, kind)))})"
    if device.is_ready:
        return ok("phone", f"{about} is ready", "ready").of("adb", serial)
    outcome = _outcome(device.state)
    text = f"{about} {_WORDS.get(outcome, 'is')} {_shown(device.state)}"
    if is_only_trouble:
        return fail("phone", outcome, text, device.next_step).of("adb", serial)
    return warn("phone", outcome, text, device.next_step).of("adb", serial)


#: What stands between the phone and adb's word for its state, where "is" would not do.
_WORDS = {
    "no_permissions": "cannot be opened by this computer:",
    "bootloader": "is in its",
    **dict.fromkeys(("recovery", "sideload", "rescue"), "is in"),
}


def _outcome(state: str) -> str:
    """Make a code of adb's word for a state."""
    known = ("unauthorized", "authorizing", "offline", "bootloader", "recovery", "sideload", "rescue", "connecting")
    if "permissions" in state:
        return "no_permissions"
    return next((one for one in known if one == state), "not_ready")


def _shown(text: str) -> str:
    return shorten(one_line(text), 100)
