"""The written list of what we changed on a phone: one small file per phone, on disk before the phone is touched.

Read back by the next run and by `doctor`. It knows a file and its fields; it must never know a phone, nor decide what
is put back.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

from filelock import FileLock, Timeout

from droidpilot.core.errors import UsageError
from droidpilot.core.text import one_line, shorten
from droidpilot.device.lease import file_name

#: setting: one value. keyboard: the default input method. enabled: an input method that we added to the enabled ones.
Kind = Literal["setting", "keyboard", "enabled"]
KINDS: tuple[Kind, ...] = get_args(Kind)
NAMESPACES = ("system", "secure", "global")
FOLDER = "changed"
FORMAT = 1
_MAX_BYTES = 256 * 1024
#: Longest serial and point in time.
_MAX_WORD = 256
_MAX_PID = 1 << 32
_KEY = re.compile(r"[A-Za-z0-9_][\w.:/-]{0,199}", re.ASCII)
#: NUL, and halves of surrogate pairs, which JSON can say.
_UNSAYABLE = re.compile("[\0\ud800-\udfff]")
#: Two sessions reach one phone by cable and by network at most: a list is held for milliseconds.
_LOCK_TIMEOUT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One thing that we changed, or were about to change when we were killed."""

    kind: Kind
    namespace: str  # system, secure or global
    key: str
    before: str | None  # the whole value that we found; None where it was not set
    ours: tuple[str, ...]  # every value that we may have set; for `enabled` the one id that we added
    since: str  # UTC, ISO 8601
    pid: int
    serial: str  # ADB's name of the phone at that time

    @property
    def what(self) -> str:
        """Return `namespace/key`."""
        return f"{self.namespace}/{self.key}"

    @property
    def name(self) -> tuple[str, ...]:
        """Return what tells two changes on one list apart."""
        return (self.serial, self.kind, self.namespace, self.key, *(self.ours if self.kind == "enabled" else ()))


@dataclass(frozen=True, slots=True)
class Listed:
    """What one file says. `problem` is a sentence where it cannot be read; then there are no changes."""

    path: Path
    phone_id: str
    changes: tuple[Change, ...] = ()
    problem: str = ""
    is_foreign: bool = False  # written by another version of droidpilot, which can read it


class ChangeList:
    """The list of one phone. `phone_id` is its own id (ro.serialno), not ADB's name of it."""

    def __init__(self, home: Path, phone_id: str) -> None:
        self._path = home / FOLDER / f"{file_name(phone_id)}.json"
        self._phone_id = phone_id

    def read(self) -> tuple[Change, ...]:
        """Return the changes, oldest first.

        Raises:
            UsageError: code `list_unreadable`.
        """
        listed = read_file(self._path)
        if listed.problem:
            raise UsageError(listed.problem, code="list_unreadable")
        return listed.changes

    def put(self, change: Change) -> None:
        """Write a change down; returns when it is on disk. One that is on the list keeps the `before` of a person.

        Raises:
            UsageError: it cannot be written: then the phone must not be changed.
        """
        with self._held():
            kept = self.read()
            same = next((one for one in kept if one.name == change.name), None)
            if same is not None:
                # What is found now may be ours; then what a person had is what was found the first time.
                before = same.before if change.before in same.ours else change.before
                change = replace(change, before=before, ours=tuple(dict.fromkeys((*same.ours, *change.ours))))
            self._write([one for one in kept if one.name != change.name] + [change])

    def remove(self, change: Change) -> None:
        """Take a change off the list.

        Raises:
            UsageError: it cannot be written: it stays on the list, which costs a look at the phone next time.
        """
        with self._held():
            self._write([one for one in self.read() if one.name != change.name])

    def set_aside(self) -> Path | None:
        """Move a damaged file out of the way, without losing it; None where there is none, or it is only foreign."""
        listed = read_file(self._path)
        if not listed.problem or listed.is_foreign:
            return None
        with suppress(OSError):
            digest = hashlib.sha256(self._path.read_bytes()).hexdigest()[:8]
            aside = self._path.with_name(f"{self._path.name}.unreadable-{digest}")
            self._path.replace(aside)
            return aside
        return None

    def forget(self) -> int:
        """Remove the files of a list that nothing is on; return how many went. Nothing is raised."""
        paths = (self._path, self._path.with_suffix(".lock"))
        if not any(path.exists() for path in paths):
            return 0
        with suppress(UsageError), self._held():
            gone = [] if self.read() else [path for path in paths if path.exists()]
            for path in gone:
                path.unlink()
            return len(gone)
        return 0

    @contextmanager
    def _held(self) -> Iterator[None]:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(
                self._path.with_suffix(".lock"),
                timeout=_LOCK_TIMEOUT_S,
                mode=0o600,
                fallback_to_soft=False,
                preserve_lock_file=True,
            ):
                yield
        except (OSError, NotImplementedError, Timeout) as error:  # the second: filelock finds no locks in this folder
            raise UsageError(
                f"what is changed on the phone cannot be written down in {self._path.parent}: {error}",
                hint="set DROIDPILOT_HOME to a folder on a local disk that you may write, with room on it",
                code="list_unwritable",
            ) from error

    def _write(self, changes: list[Change]) -> None:
        """Put the list on disk whole and at once; a reader sees the old one or the new one."""
        told = {"v": FORMAT, "phone": self._phone_id, "changes": [asdict(one) for one in changes]}
        partial = self._path.with_suffix(f".{os.getpid()}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(told, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)
        _sync_folder(self._path.parent)


def every_list(home: Path) -> list[Listed]:
    """Read the lists of all phones, those with something on them and those that cannot be read."""
    folder = home / FOLDER
    try:
        paths = sorted(folder.glob("*.json"))
    except OSError:
        return []
    listed = [read_file(path) for path in paths]
    return [one for one in listed if one.changes or one.problem]


def read_file(path: Path) -> Listed:
    """Read one file; one that does not exist is an empty list."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except FileNotFoundError:
        return Listed(path, "")
    except OSError as error:
        return Listed(path, "", problem=_unreadable(path, error.strerror or str(error)))
    try:
        if len(data) > _MAX_BYTES:
            raise ValueError("it is too long")
        told = json.loads(data)
        if told["v"] != FORMAT:
            version = str(told["v"]).encode("ascii", "backslashreplace").decode()
            why = f"it has format {shorten(one_line(version), 20)}, another version's"
            return Listed(path, "", problem=_unreadable(path, why), is_foreign=True)
        return Listed(path, _text(told["phone"]), tuple(_change(one) for one in told["changes"]))
    except (KeyError, TypeError, RecursionError, OverflowError):
        return Listed(path, "", problem=_unreadable(path, "it has not the form of one"))
    except ValueError as error:
        return Listed(path, "", problem=_unreadable(path, shorten(one_line(str(error)), 100)))


def _unreadable(path: Path, why: str) -> str:
    return f"the list of what was changed on a phone cannot be read ({path}: {why})"


def _change(told: Any) -> Change:
    kind, namespace, key, pid = told["kind"], told["namespace"], told["key"], told["pid"]
    if kind not in KINDS or namespace not in NAMESPACES or _KEY.fullmatch(_text(key)) is None:
        raise ValueError("a change of a kind that is not known")
    if type(pid) is not int or not 0 <= pid < _MAX_PID:
        raise ValueError("a process has no such number")
    return Change(
        kind=kind,
        namespace=namespace,
        key=key,
        before=None if told["before"] is None else _text(told["before"]),
        ours=_ours(kind, told["ours"]),
        since=_word(told["since"]),
        pid=pid,
        serial=_word(told["serial"]),
    )


def _ours(kind: Kind, told: Any) -> tuple[str, ...]:
    """Read what we set: at least one value, of `enabled` exactly one, and of a keyboard never an empty one."""
    if not isinstance(told, list):
        raise ValueError("it does not say what was set")
    ours = tuple(_text(one) for one in told)
    if not ours or (kind == "enabled" and len(ours) != 1) or (kind != "setting" and not all(ours)):
        raise ValueError("it does not say what was set")
    return ours


def _text(told: Any) -> str:
    """Take a text that a phone's shell and a file can be given."""
    if not isinstance(told, str):
        raise ValueError("a text is missing")
    if _UNSAYABLE.search(told):
        raise ValueError("a text holds what no phone can be told")
    return told


def _word(told: Any) -> str:
    """Take a short text that a person is shown."""
    if not _text(told).isprintable() or len(told) > _MAX_WORD:
        raise ValueError("a serial or a time is none")
    return str(told)


def _sync_folder(folder: Path) -> None:
    """Put the file's name on disk too, where the system can."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
