"""Small files that ended virtual phones leave in the state folder: locks, refs, empty lists, notes of adb servers.

It must never know a phone, and never remove what somebody holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from droidpilot.device.kept import FOLDER as CHANGED
from droidpilot.device.kept import ChangeList
from droidpilot.device.lease import FOLDER, file_name, forget_lease

#: How the locks of virtual phones are named, under their serial and under the id that they say themselves.
_LEASE = re.compile(r"(?P<key>127\.0\.0\.1_\d{1,5}|phone_VIRTUAL[0-9]{1,9})-[0-9a-f]{16}")
_PHONE_ID = re.compile(r"(VIRTUAL[0-9]{1,9})-[0-9a-f]{16}")
#: Where the refs of the last look at each phone lie. They are the pipeline's, which stands above this room.
_REFS = "refs"
_SERVER_NOTE = re.compile(r"adb\.(\d{1,5})")


def forget_phone(home: Path, serial: str, phone_id: str, adb_port: int | None) -> None:
    """Remove the files of one virtual phone that has ended. What is held stays."""
    forget_lease(home, serial)
    forget_lease(home, f"phone {phone_id}")
    _remove(home / _REFS / f"{file_name(serial)}.json")
    ChangeList(home, phone_id).forget()
    if adb_port is not None:
        _remove(_notes(home) / f"adb.{adb_port}")


def sweep(home: Path, *, serials: Iterable[str], phone_ids: Iterable[str], adb_ports: Iterable[int]) -> int:
    """Remove the files of all virtual phones but those that run, as named here; return how many went."""
    phone_ids = tuple(phone_ids)
    running = {file_name(key) for key in (*serials, *(f"phone {one}" for one in phone_ids))}
    ids = {file_name(one) for one in phone_ids}
    ports = {str(port) for port in adb_ports}
    gone = 0
    for path in _listed(home / _REFS, "127.0.0.1_*.json"):
        if _LEASE.fullmatch(path.stem) and path.stem not in running:
            gone += _remove(path)
    for path in _listed(home / CHANGED, "VIRTUAL*.lock"):
        found = _PHONE_ID.fullmatch(path.stem)
        if found is not None and path.stem not in ids:
            gone += ChangeList(home, found[1]).forget()
    for path in _listed(home / FOLDER, "*.lock"):
        found = _LEASE.fullmatch(path.stem)
        if found is not None and path.stem not in running:
            key = found["key"].replace("_", ":" if found["key"].startswith("127") else " ", 1)
            forget_lease(home, key)
            gone += not path.exists()
    for path in _listed(_notes(home), "adb.*"):
        found = _SERVER_NOTE.fullmatch(path.name)
        if found is not None and found[1] not in ports:
            gone += _remove(path)
    return gone


def _notes(home: Path) -> Path:
    """Where a private adb server writes a file `adb.PORT` beside its keys. Source: adb 36."""
    return home / "adb" / ".android"


def _listed(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(folder.glob(pattern))
    except OSError:
        return []


def _remove(path: Path) -> bool:
    try:
        path.unlink()
    except OSError:
        return False
    return True
