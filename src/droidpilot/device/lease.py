"""The exclusive hold on a serial, across processes. Released by the operating system if its holder is killed.

Who holds a lease is written beside the lock for the message only; nothing is decided by it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

from droidpilot.core.clock import Clock, timestamp
from droidpilot.core.errors import DeviceBusy, UsageError
from droidpilot.core.text import one_line, shorten

_MAX_OWNER_BYTES = 4096
_UNSAFE = re.compile(r"[^A-Za-z0-9.-]+")


@dataclass(frozen=True, slots=True)
class Owner:
    """Who holds a lease: for people to read."""

    pid: int
    since: str  # UTC, ISO 8601
    session: str  # id of the session, empty where there is none


def file_name(serial: str) -> str:
    """Return a file name for a serial: its harmless characters to recognise it, a digest to keep serials apart."""
    digest = hashlib.sha256(serial.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return f"{_UNSAFE.sub('_', serial)[:40].strip('.')}-{digest}"


class Lease:
    """A held lease. `with Lease.take(...)` releases it at the end; so does the end of the process, however it comes."""

    def __init__(self, lock: FileLock, owner_path: Path) -> None:
        self._lock = lock
        self._owner_path = owner_path

    @classmethod
    def take(cls, home: Path, serial: str, *, clock: Clock, session: str = "") -> Lease:
        """Hold `serial`, or say at once who does.

        Raises:
            DeviceBusy: another process, or another session of this one, holds it.
            UsageError: code `no_locks`, the folder cannot be written or its file system has no locks.
        """
        folder = home / "leases"
        name = file_name(serial)
        owner_path = folder / f"{name}.json"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            # A soft lock would outlive a kill -9; a lock file that is deleted can be locked twice.
            lock = FileLock(folder / f"{name}.lock", mode=0o600, fallback_to_soft=False, preserve_lock_file=True)
            lock.acquire(blocking=False)
        except Timeout as error:
            raise DeviceBusy(
                f"{serial} is in use{_in_words(owner_path)}", hint="wait for it to end, or choose another phone"
            ) from error
        except (OSError, NotImplementedError) as error:  # the second is how filelock says that there are no locks here
            raise UsageError(
                f"leases cannot be kept in {folder}: {error}",
                hint="set DROIDPILOT_HOME to a folder on a local disk that you may write",
                code="no_locks",
            ) from error
        _write_owner(owner_path, Owner(os.getpid(), timestamp(clock), session))
        return cls(lock, owner_path)

    def release(self) -> None:
        """Let go; doing it twice is fine."""
        if self._lock.is_locked:
            with contextlib.suppress(OSError):
                self._owner_path.unlink(missing_ok=True)
            self._lock.release(force=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _write_owner(path: Path, owner: Owner) -> None:
    """Write who holds it; a message without a name is better than a lease refused for lack of it."""
    with contextlib.suppress(OSError):
        partial = path.with_suffix(f".{owner.pid}")
        partial.write_text(json.dumps(asdict(owner)), encoding="utf-8")
        partial.chmod(0o600)
        partial.replace(path)


def _in_words(path: Path) -> str:
    """Say who holds it, or nothing where that cannot be read."""
    try:
        with path.open("rb") as file:
            told = json.loads(file.read(_MAX_OWNER_BYTES))
        owner = Owner(int(told["pid"]), one_line(str(told["since"])), one_line(str(told["session"])))
    except (OSError, ValueError, KeyError, TypeError):
        return " by another process"
    session = f", session {shorten(owner.session, 60)}" if owner.session else ""
    return f" by process {owner.pid} since {shorten(owner.since, 40)}{session}"
