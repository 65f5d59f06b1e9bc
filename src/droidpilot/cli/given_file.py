"""Writes a file under a name that a person gave: whole or not at all, and never through a link."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from droidpilot.core.errors import UsageError

_HINT = "give the name of a file in a folder that can be written to"


def check_given(path: Path, what: str) -> None:
    """Find out before anything is done whether `path` can be written.

    Raises:
        UsageError: it is a folder, a link or no ordinary file, or its folder is missing or closed to us.
    """
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            kind = "a link" if path.is_symlink() else "a folder" if path.is_dir() else "no ordinary file"
            raise UsageError(f"{path} is {kind}; the {what} is not written there", hint=_HINT)
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent}; the {what} is not written", hint=_HINT)
        if not os.access(path.parent, os.W_OK | os.X_OK):
            raise UsageError(f"the folder {path.parent} cannot be written to", hint=_HINT)
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write the {what} to {path}: {error}", hint=_HINT) from error


def write_given(path: Path, data: bytes, what: str) -> None:
    """Put `data` at `path`, for its owner alone; a file that is there is replaced at once and whole.

    Raises:
        UsageError: see check_given, or the disk is full.
    """
    check_given(path, what)
    try:
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".droidpilot-", suffix=".new")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write the {what} to {path}: {error}", hint=_HINT) from error
