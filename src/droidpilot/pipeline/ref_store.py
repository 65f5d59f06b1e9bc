"""Keeps the refs of each phone between commands: `look` in one process, `call tap ref=12` in the next."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from droidpilot.device.lease import file_name
from droidpilot.screens.refs import RefBook
from droidpilot.transcript import files

_MAX_BYTES = 4 * 1024 * 1024


def load_refs(home: Path, serial: str) -> RefBook:
    """Return the refs of the last look at this phone; a new book where there is none that can be read.

    A lost book costs one more look: a ref that is not in it is refused, never guessed.
    """
    path = _path(home, serial)
    try:
        with path.open("rb") as file:
            return RefBook.from_json(file.read(_MAX_BYTES).decode())
    except (OSError, ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return RefBook()


def save_refs(home: Path, serial: str, refs: RefBook) -> None:
    """Keep the book. A disk that is full costs the next command a look, so nothing is raised."""
    path = _path(home, serial)
    with suppress(OSError):
        files.make_directory(path.parent)
        files.replace(path, refs.to_json().encode(), is_synced=False)


def forget_refs(home: Path, serial: str) -> None:
    """Drop the book of a phone that will not come back: a virtual one that has ended."""
    with suppress(OSError):
        _path(home, serial).unlink(missing_ok=True)


def _path(home: Path, serial: str) -> Path:
    return home / "refs" / f"{file_name(serial)}.json"
