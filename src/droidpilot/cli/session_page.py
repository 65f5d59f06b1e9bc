"""The page of a session as a file, and files handed to the system's own viewer. It never knows what a page says."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from droidpilot.core.errors import UsageError

#: Where a page goes that was asked for without a name; in the state folder.
PAGES = "pages"
#: More windows than this would be no help.
MOST_OPENED = 20
#: An opener that fails says so at once; one that is still there by then shows the file itself.
_OPENER_S = 3.0


def write_page(path: Path, html: str) -> int:
    """Put a page at `path` at once and whole, for its owner alone; return its size in bytes.

    Raises UsageError where `path` cannot be a file.
    """
    hint = "give the name of a file in a folder that can be written to"
    data = html.encode()
    try:
        if path.is_symlink() or (path.exists() and not path.is_file()):
            what = "a folder" if path.is_dir() else "no ordinary file"
            raise UsageError(f"{path} is {what}; the page was not written", hint=hint)
        if not path.parent.is_dir():
            raise UsageError(f"there is no folder {path.parent}; the page was not written", hint=hint)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".page-", suffix=".new")
        temporary = Path(name)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            temporary.replace(path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        said = (error.strerror if isinstance(error, OSError) else None) or str(error)  # not the temporary file's name
        raise UsageError(f"cannot write the page to {path}: {said}", hint=hint) from error
    return len(data)


def own_page_path(home: Path, session_id: str) -> Path:
    """Return where the page of a session goes when no name was given; makes the folder.

    Raises UsageError where that cannot be made.
    """
    folder = home / PAGES
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error}", hint="give a file: --html FILE") from error
    return folder / f"{session_id}.html"


def open_files(paths: Sequence[Path], env: Mapping[str, str]) -> None:
    """Hand each file to the system's opener and do not wait for it to be closed.

    Raises UsageError where there is no opener, or it says that it cannot open them.
    """
    opener = _opener(env)
    started = []
    try:
        for path in paths:
            started.append(
                subprocess.Popen(
                    [*opener, str(path.absolute())],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            )
        code = started[0].wait(timeout=_OPENER_S) if started else 0
    except subprocess.TimeoutExpired:
        return  # it shows the file itself
    except OSError as error:
        raise UsageError(f"{opener[0]} cannot be started: {error}", hint="open the files yourself") from error
    if code != 0:
        raise UsageError(f"{opener[0]} could not open {paths[0]} (exit {code})", hint="open it yourself")


def _opener(env: Mapping[str, str]) -> tuple[str, ...]:
    if sys.platform == "win32":
        return ("rundll32", "url.dll,FileProtocolHandler")
    name = "open" if sys.platform == "darwin" else "xdg-open"
    found = shutil.which(name, path=env.get("PATH", os.defpath))
    if found is None:
        raise UsageError(f"there is no {name} on this machine to open files with", hint="open the files yourself")
    return (found,)
