"""Which virtual phones run on this machine: one small private file each under the state folder.

An entry is believed only while its process lives and began when the entry says. This file must never know a phone.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import tempfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Final

from droidpilot.core.errors import DeviceLost, DeviceTimeout, DeviceUnavailable, UsageError

FOLDER: Final = "virtual"
#: No process has a higher number: the kernel's own type for it has 31 bits.
MOST_PIDS: Final = 2**31
MAX_ENTRY_BYTES: Final = 16 * 1024
MAX_ANSWER_BYTES: Final = 8 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Entry:
    """One virtual phone. `pid_started` is what the kernel says, None where it says nothing."""

    serial: str
    port: int
    pid: int
    pid_started: int | None
    seed: int
    control_port: int
    token: str
    adb_port: int | None = None
    """Port of the phone's private adb server, where it has one."""
    adb_pid: int | None = None
    adb_pid_started: int | None = None

    @property
    def phone_id(self) -> str:
        """Return what the phone says of itself as `ro.serialno`."""
        return phone_id(self.seed)

    @property
    def is_alive(self) -> bool:
        """Tell whether the phone's process still runs."""
        return is_running(self.pid, self.pid_started)

    @property
    def is_adb_alive(self) -> bool:
        """Tell whether the private adb server still runs."""
        return self.adb_pid is not None and is_running(self.adb_pid, self.adb_pid_started)


def phone_id(seed: int) -> str:
    """Return the id that a phone of this seed says itself; the same seed gives the same phone."""
    return f"VIRTUAL{seed:08d}"[-16:]


def process_started(pid: int) -> int | None:
    """Return when a process began, in the kernel's ticks; None where there is none or the system does not tell.

    Source: field 22 of /proc/PID/stat, proc(5).
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def is_running(pid: int, started: int | None) -> bool:
    """Tell whether a process runs and is the one that began then."""
    if not 0 < pid < MOST_PIDS:
        return False
    if sys.platform == "win32":
        # os.kill would end the process there instead of asking for it.
        import ctypes

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, False, pid)
        return bool(handle) and bool(ctypes.windll.kernel32.CloseHandle(handle))
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    if _is_ended(pid):
        return False
    now = process_started(pid)
    return started is None or now is None or now == started


def _is_ended(pid: int) -> bool:
    """Tell whether a process ended and only waits for its parent to hear of it. Source: field 3, proc(5)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["Z"], ["X"])


def register(home: Path, entry: Entry) -> None:
    """Write or replace the entry of a phone.

    Raises:
        UsageError: it cannot be written.
    """
    try:
        _register(home / FOLDER, _path(home, entry.port), entry)
    except OSError as error:
        raise UsageError(
            f"a virtual phone cannot be written down in {home / FOLDER}: {error.strerror or error}",
            hint="is the disk full? free it, or set DROIDPILOT_HOME to a folder that you may write",
        ) from error


def _register(folder: Path, path: Path, entry: Entry) -> None:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=folder, prefix=".entry-")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(asdict(entry), file)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def remove(home: Path, entry: Entry) -> None:
    """Forget a phone; an entry of another process on the same port stays."""
    kept = _read(_path(home, entry.port))
    if kept is not None and (kept.pid, kept.pid_started) == (entry.pid, entry.pid_started):
        _path(home, entry.port).unlink(missing_ok=True)


def entries(home: Path) -> list[Entry]:
    """Return all entries by port, dead ones too, so that what they left behind can be reaped."""
    folder = home / FOLDER
    found = [_read(path) for path in sorted(folder.glob("phone-*.json"))] if folder.is_dir() else []
    return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.port)


def find(home: Path, serial: str) -> Entry:
    """Return the running phone of a serial.

    Raises:
        DeviceUnavailable: no virtual phone of that serial runs.
    """
    alive = [entry for entry in entries(home) if entry.is_alive]
    for entry in alive:
        if entry.serial == serial:
            return entry
    known = ", ".join(entry.serial for entry in alive) or "none"
    raise DeviceUnavailable(
        f"no virtual phone {serial} in this state folder ({home}; running: {known})",
        hint="start one with: droidpilot virtual start; or set DROIDPILOT_HOME to the folder it was started with",
        code="no_virtual_phone",
    )


def ask(entry: Entry, request: str, *, timeout_s: float = 5.0, **facts: object) -> dict[str, object]:
    """Ask a running phone something over its control port, such as `state`; return its answer.

    Raises:
        DeviceTimeout, DeviceLost: it does not answer.
        UsageError: the request does not fit.
        DeviceUnavailable: it answers with an error.
    """
    line = json.dumps({**facts, "token": entry.token, "do": request}).encode() + b"\n"
    try:
        with socket.create_connection(("127.0.0.1", entry.control_port), timeout=timeout_s) as connection:
            connection.sendall(line)
            answer = bytearray()
            while not answer.endswith(b"\n"):
                got = connection.recv(65536)
                if not got or len(answer) > MAX_ANSWER_BYTES:
                    break
                answer += got
        told = json.loads(answer)
    except TimeoutError as error:
        raise DeviceTimeout(
            f"virtual phone {entry.serial} did not answer in {timeout_s:g} s", hint="is it stopped?"
        ) from error
    except (OSError, ValueError) as error:
        raise DeviceLost(f"virtual phone {entry.serial} cannot be asked: {error}", hint="start it again") from error
    if isinstance(told, dict) and isinstance(told.get("hint"), str):
        raise UsageError(str(told.get("error")), hint=told["hint"])
    if not isinstance(told, dict) or told.get("ok") is not True or not isinstance(told.get("answer"), dict):
        raise DeviceUnavailable(f"virtual phone {entry.serial} refused {request!r}", hint="is it of another version?")
    answered: dict[str, object] = told["answer"]
    return answered


#: What the fields of an entry hold; a file that somebody wrote over may hold anything.
_KINDS: Final[dict[str, type | UnionType]] = {
    "serial": str,
    "token": str,
    **dict.fromkeys(("port", "pid", "seed", "control_port"), int),
    **dict.fromkeys(("pid_started", "adb_port", "adb_pid", "adb_pid_started"), int | None),
}


def _path(home: Path, port: int) -> Path:
    return home / FOLDER / f"phone-{port}.json"


def _read(path: Path) -> Entry | None:
    """Read an entry; a file that is none is as good as absent."""
    with contextlib.suppress(OSError, ValueError, TypeError, RecursionError):
        if path.stat().st_size <= MAX_ENTRY_BYTES:
            kept = json.loads(path.read_text(encoding="utf-8"))
            if isinstance(kept, dict):
                known = {field.name for field in fields(Entry)}
                entry = Entry(**{name: value for name, value in kept.items() if name in known})
                if all(isinstance(getattr(entry, name), kinds) for name, kinds in _KINDS.items()):
                    return entry
    return None
