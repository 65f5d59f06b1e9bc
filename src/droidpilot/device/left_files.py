"""Small files that ended phones leave in the state folder: lock files of leases, notes of private adb servers.

A lock file goes only while we hold its lock: who opened it before waits for a file that has no name any more, sees
that, and opens the new one (filelock looks for it). It must never know a phone.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from filelock import FileLock, Timeout

from droidpilot.device.lease import file_name

_LOOPBACK_LEASE = re.compile(r"127\.0\.0\.1_\d{1,5}-[0-9a-f]{16}")
_SERVER_NOTE = re.compile(r"adb\.(\d{1,5})")


def forget_phone(home: Path, serial: str, adb_port: int | None) -> int:
    """Remove the files of one virtual phone that has ended; return how many went. One that is held stays."""
    gone = _unlock_and_remove(home / "leases" / f"{file_name(serial)}.lock")
    return gone + (_remove(home / "adb" / ".android" / f"adb.{adb_port}") if adb_port is not None else 0)


def sweep(home: Path, *, serials: Iterable[str], adb_ports: Iterable[int]) -> int:
    """Remove the files of all virtual phones but those that run, by serial and adb port; return how many went."""
    leases = {file_name(serial) for serial in serials}
    ports = {str(port) for port in adb_ports}
    gone = 0
    for path in _listed(home / "leases", "*.lock"):
        if _LOOPBACK_LEASE.fullmatch(path.stem) and path.stem not in leases:
            gone += _unlock_and_remove(path)
    for path in _listed(home / "adb" / ".android", "adb.*"):
        found = _SERVER_NOTE.fullmatch(path.name)
        if found is not None and found[1] not in ports:
            gone += _remove(path)
    return gone


def _listed(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _unlock_and_remove(path: Path) -> int:
    if not path.exists():
        return 0
    with contextlib.suppress(OSError, Timeout, NotImplementedError):
        lock = FileLock(path, mode=0o600, fallback_to_soft=False, preserve_lock_file=True)
        with lock.acquire(blocking=False):
            gone = _remove(path)
            _remove(path.with_suffix(".json"))
            return gone
    return 0


def _remove(path: Path) -> int:
    try:
        path.unlink()
    except OSError:
        return 0
    return 1
