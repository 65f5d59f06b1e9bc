"""Private files: made for the owner alone whatever the umask, never through a link; and their names. Knows no event."""

from __future__ import annotations

import os
from pathlib import Path

#: Names of what lies in HOME, and in each session's directory.
SESSIONS = "sessions"
TRANSCRIPT = "transcript.jsonl"
HEAD = "HEAD"
LOCK = "writer.lock"
META = "meta.json"
ARTIFACTS = "artifacts"

DIRECTORY_MODE = 0o700
FILE_MODE = 0o600

# Not every system has these two; what they guard against (a planted link, a stale inode) does not exist there.
_NO_FOLLOW: int = getattr(os, "O_NOFOLLOW", 0)
_CLOSE_ON_EXEC: int = getattr(os, "O_CLOEXEC", 0)


def make_directory(path: Path, *, is_new: bool = False) -> None:
    """Make `path` for its owner alone, parents included.

    Parents that exist keep their mode. Raises FileExistsError where `is_new` and it is there already.
    """
    if not path.parent.is_dir():
        make_directory(path.parent)
    try:
        path.mkdir(mode=DIRECTORY_MODE)
    except FileExistsError:
        if is_new or not path.is_dir():
            raise
    path.chmod(DIRECTORY_MODE)


def open_private(path: Path, flags: int) -> int:
    """Open `path` with mode 0600, whatever the umask; return the descriptor."""
    descriptor = os.open(path, flags | _NO_FOLLOW | _CLOSE_ON_EXEC, FILE_MODE)
    if flags & os.O_CREAT and hasattr(os, "fchmod"):
        os.fchmod(descriptor, FILE_MODE)
    return descriptor


def write_all(descriptor: int, data: bytes) -> None:
    """Write `data` whole. Raises OSError where less could be written (a full disk)."""
    written = os.write(descriptor, data)
    while written < len(data):
        more = os.write(descriptor, data[written:])
        if more == 0:
            raise OSError(28, "no space left on device")
        written += more


def sync(descriptor: int) -> None:
    """Force what was written to the disk; times and other metadata may follow later."""
    (getattr(os, "fdatasync", None) or os.fsync)(descriptor)


def replace(path: Path, data: bytes, *, is_synced: bool) -> None:
    """Put `data` at `path` at once and whole: a reader sees the old file or the new one.

    With `is_synced` the new one is on disk before it takes the name.
    """
    temporary = path.with_name(f"{path.name}.new")
    descriptor = open_private(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    try:
        write_all(descriptor, data)
        if is_synced:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(path)
