"""Where sessions lie and how they are named and found. Opens nothing but the small meta files (INV-43)."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from pathlib import Path

from droidpilot.core.clock import Clock
from droidpilot.core.errors import UsageError
from droidpilot.core.text import quoted
from droidpilot.transcript.files import SESSIONS
from droidpilot.transcript.meta import Meta, MetaFile

# Without letters that are read as one another (i l o 0 1).
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
#: In the order in which they sort.
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_ID = re.compile(r"\d{8}-\d{6}-[a-z0-9]{4,16}")
_PREFIX = re.compile(r"[0-9a-z-]{1,40}")


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """One session as its directory and meta file tell it. `problem` says why there is no `meta`."""

    id: str
    directory: Path
    meta: Meta | None
    problem: str = ""


def new_session_id(clock: Clock) -> str:
    """Make an id that sorts by time to the millisecond, `20261130-211455-cpk3f` (UTC): two letters are the fraction."""
    now = clock.now()
    high, low = divmod(now.microsecond // 1000, len(_DIGITS))
    random = "".join(secrets.choice(_LETTERS) for _ in range(3))
    return f"{now:%Y%m%d-%H%M%S}-{_DIGITS[high]}{_DIGITS[low]}{random}"


def check_id(session_id: str) -> str:
    """Return `session_id` unchanged. Raises UsageError where it is not the id of a session (and so no path either)."""
    if not _ID.fullmatch(session_id):
        raise UsageError(f"{quoted(session_id)} is not a session id", hint="ids look like 20261130-211455-k3f9")
    return session_id


def session_directory(home: Path, session_id: str) -> Path:
    """Return where the session of that id lies, whether or not it exists."""
    return home / SESSIONS / session_id


def session_ids(home: Path) -> list[str]:
    """List the ids of all sessions, oldest first; opens no file."""
    folder = home / SESSIONS
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if _ID.fullmatch(path.name) and path.is_dir())


def find_session(home: Path, prefix: str | None = None) -> str:
    """Return the id that begins with `prefix`, of the last session where it is None.

    Raises UsageError where there is none, or more than one: then the message lists them.
    """
    ids = session_ids(home)
    if not ids:
        raise UsageError("there is no session yet", hint="start one with `droidpilot run` or `droidpilot demo`")
    if prefix is None:
        return ids[-1]
    if not _PREFIX.fullmatch(prefix):
        raise UsageError(f"{quoted(prefix)} is no beginning of a session id", hint="ids look like 20261130-211455-k3f9")
    found = [known for known in ids if known.startswith(prefix)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(f"no session begins with {prefix}", hint="`droidpilot session list` shows them all")
    shown = ", ".join(found[-8:]) + (", ..." if len(found) > 8 else "")
    raise UsageError(f"{len(found)} sessions begin with {prefix}: {shown}", hint="give more of the id")


def sessions(home: Path) -> list[SessionEntry]:
    """List all sessions, oldest first, reading only their meta files. An unreadable one is listed with its problem."""
    found = []
    for session_id in session_ids(home):
        directory = session_directory(home, session_id)
        try:
            found.append(SessionEntry(session_id, directory, MetaFile(directory).read()))
        except UsageError as error:
            found.append(SessionEntry(session_id, directory, None, str(error)))
    return found
