"""The exclusive hold on a phone, across processes. Released by the operating system if its holder is killed.

It is a lock of the kernel, so that nothing has to beat and no long call can delay it: a holder that is suspended keeps
it, however old, and one that is dead has lost it. It is taken on the serial, and once the phone said who it is on that
too, for one phone may have two serials (cable and network, or a port that changed). Who holds a lease is written beside
the lock for people only; nothing is decided by it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from droidpilot.core.clock import Clock, timestamp
from droidpilot.core.errors import DeviceBusy, UsageError
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb_server import is_running, process_started

_MAX_OWNER_BYTES = 4096
#: Seconds that another process may take to open a lock, or to sweep those of ended phones.
_DOOR_S = 5.0
#: Where the locks lie under the state folder.
FOLDER = "leases"
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lease: for people to read."""

    pid: int
    since: str  # UTC, ISO 8601
    session: str  # id of the session, empty where there is none
    serial: str = ""  # under which serial it holds the phone
    pid_started: int | None = None  # when the process began, in the kernel's ticks; None where that is not told

    @property
    def words(self) -> str:
        """Say who it is: `process 12 since ..., session ...`."""
        session = f", session {shorten(self.session, 60)}" if self.session else ""
        return f"process {self.pid} since {shorten(self.since, 40)}{session}"


def file_name(serial: str) -> str:
    """Return a file name for a serial: its harmless characters to recognise it, a digest to keep serials apart."""
    digest = hashlib.sha256(serial.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_UNSAFE.sub('_', serial)[:40].strip('.')}-{digest}"


class Lease:
    """A held lease. `with Lease.take(...)` releases it at the end; so does the end of the process, however it comes."""

    def __init__(self, home: Path, owner: Owner) -> None:
        self._home = home
        self._owner = owner
        self._held: list[tuple[FileLock, Path]] = []

    @classmethod
    def take(cls, home: Path, serial: str, *, clock: Clock, session: str = "") -> Lease:
        """Hold `serial`, or say at once who does.

        Raises:
            DeviceBusy: another process, or another session of this one, holds it.
            UsageError: code `no_locks`, the folder cannot be written or its file system has no locks.
        """
        pid = os.getpid()
        lease = cls(home, Owner(pid, timestamp(clock), session, serial, process_started(pid)))
        lease._hold(serial, f"{serial} is in use")
        return lease

    def add_phone(self, phone: str) -> None:
        """Hold the phone under the id that it says itself too, whatever its serials are.

        Raises:
            DeviceBusy: it is held under another serial.
        """
        self._hold(_phone_key(phone), f"the phone behind {self._owner.serial} is in use under another serial")

    def _hold(self, key: str, busy: str) -> None:
        folder = self._home / FOLDER
        owner_path = folder / f"{file_name(key)}.json"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with _door(folder):
                lock = _lock(folder / f"{file_name(key)}.lock")
                lock.acquire(blocking=False)
        except Timeout as error:
            raise DeviceBusy(
                f"{busy}{_in_words(owner_path)}", hint="wait for it to end, or choose another phone"
            ) from error
        except (OSError, NotImplementedError) as error:  # the second is how filelock says that there are no locks here
            raise UsageError(
                f"leases cannot be kept in {folder}: {error}",
                hint="set DROIDPILOT_HOME to a folder on a local disk that you may write",
                code="no_locks",
            ) from error
        self._held.append((lock, owner_path))
        _write_owner(owner_path, self._owner)

    def release(self) -> None:
        """Let go; doing it twice is fine."""
        while self._held:
            lock, owner_path = self._held.pop()
            with contextlib.suppress(OSError):
                owner_path.unlink(missing_ok=True)
            lock.release(force=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def holder_of(home: Path, serial: str) -> Owner | None:
    """Return who holds the phone of a serial, for people to read; None where nobody does or it cannot be told.

    The lock itself is not touched: looking must never take it from somebody who is just about to.
    """
    for key in (serial, _phone_key(serial)):  # on a cable the serial is the phone's own id
        owner = _read_owner(home / FOLDER / f"{file_name(key)}.json")
        if owner is not None and is_running(owner.pid, owner.pid_started):
            return owner
    return None


def forget_lease(home: Path, serial: str) -> None:
    """Remove the lock of a phone that will not come back, a virtual one that has ended, unless somebody holds it."""
    folder = home / FOLDER
    path = folder / f"{file_name(serial)}.lock"
    # The last is how filelock says that there are no locks here; then nobody holds one that could be removed.
    with contextlib.suppress(OSError, Timeout, NotImplementedError):
        if path.exists():
            # A lock that is removed while another process opens it could be held twice: the door keeps them apart.
            with _door(folder), _lock(path).acquire(blocking=False):
                path.with_suffix(".json").unlink(missing_ok=True)
                path.unlink()


def _phone_key(phone: str) -> str:
    return f"phone {phone}"


def _lock(path: Path) -> FileLock:
    # A soft lock would outlive a kill -9; a lock file that is deleted can be locked twice.
    return FileLock(path, mode=0o600, fallback_to_soft=False, preserve_lock_file=True)


@contextlib.contextmanager
def _door(folder: Path) -> Iterator[None]:
    """Be the only process that opens or removes locks in this folder, for the length of a `with`."""
    with _lock(folder / "door.lock").acquire(timeout=_DOOR_S):
        yield


def _write_owner(path: Path, owner: Owner) -> None:
    """Write who holds it; a message without a name is better than a lease refused for lack of it."""
    with contextlib.suppress(OSError):
        partial = path.with_suffix(f".{owner.pid}")
        partial.write_text(json.dumps(asdict(owner)), encoding="utf-8")
        partial.chmod(0o600)
        partial.replace(path)


def _read_owner(path: Path) -> Owner | None:
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(_MAX_OWNER_BYTES))
        started = told.get("pid_started")
        return Owner(
            int(told["pid"]),
            one_line(str(told["since"])),
            one_line(str(told["session"])),
            one_line(str(told.get("serial", ""))),
            int(started) if started is not None else None,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        return None  # the last two: brackets without end, and a number that is none (1e999)


def _in_words(path: Path) -> str:
    """Say who holds it, or nothing where that cannot be read."""
    owner = _read_owner(path)
    if owner is None:
        return " by another process"
    under = f" as {shorten(owner.serial, 60)}" if owner.serial and file_name(owner.serial) != path.stem else ""
    return f"{under} by {owner.words}"
