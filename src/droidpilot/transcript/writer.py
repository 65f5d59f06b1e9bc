"""Writes the transcript of one session: append, force to disk, anchor the head. Never edits what is there.

It must never know what an event means; it only sees that nothing secret, torn or out of order is written.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from droidpilot.core.clock import Clock, timestamp
from droidpilot.core.errors import TranscriptError, UsageError
from droidpilot.core.events import FORMAT, Event, Noted
from droidpilot.transcript import chain, files
from droidpilot.transcript.artifacts import ArtifactStore
from droidpilot.transcript.files import HEAD, LOCK, TRANSCRIPT
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.sessions import check_id, session_directory
from droidpilot.transcript.verify import verify

if TYPE_CHECKING:
    from filelock import FileLock

_ENVELOPE = frozenset({"v", "seq", "ts", "session", "mac", "prev", "hash"})


class TranscriptWriter:
    """The one writer of one session's transcript. Make it with `create` or `reopen`, use it as a context manager."""

    def __init__(
        self, directory: Path, session: str, *, clock: Clock, redactor: Redactor, lock: FileLock, key: bytes
    ) -> None:
        self.directory = directory
        self.session = session
        self.path = directory / TRANSCRIPT
        self.redactor = redactor
        self.artifacts = ArtifactStore(directory, redactor=redactor)
        self._clock = clock
        self._lock = lock
        self._key = key
        self._head = chain.START
        self._lines = -1
        self._anchor = -1
        self._broken = ""

    @classmethod
    def create(
        cls, home: Path, session_id: str, *, clock: Clock, redactor: Redactor, key: bytes = b""
    ) -> TranscriptWriter:
        """Make the session's directory and an empty transcript in it; with an audit `key` it is sealed with that.

        Raises TranscriptError where the directory exists already or cannot be made.
        """
        directory = session_directory(home, check_id(session_id))
        try:
            files.make_directory(directory.parent)
            files.make_directory(directory, is_new=True)
        except OSError as error:
            raise TranscriptError(
                f"cannot make the session directory {directory}: {error}",
                hint="check that the state folder can be written and that the disk is not full",
            ) from error
        writer = cls(directory, session_id, clock=clock, redactor=redactor, lock=_lock(directory), key=key)
        writer._open(is_new=True)
        return writer

    @classmethod
    def reopen(
        cls, home: Path, session_id: str, *, clock: Clock, redactor: Redactor, key: bytes = b""
    ) -> TranscriptWriter:
        """Go on with a transcript that was closed or killed.

        Bytes of a torn last line stay as they are; the next line is a `noted` that vouches for them by length and
        digest.
        Raises TranscriptError where another process writes it, where it does not verify (INV-96), and where it was
        sealed with an audit key and that is not given, or the other way round.
        """
        directory = session_directory(home, check_id(session_id))
        writer = cls(directory, session_id, clock=clock, redactor=redactor, lock=_lock(directory), key=key)
        found = verify(directory, key=key)
        if not found.ok:
            writer.close()
            raise TranscriptError(
                f"the transcript of {session_id} was changed: {found.reason}",
                hint=f"look at it with `droidpilot session verify {session_id}`; it is not written to any more",
            )
        if found.is_sealed and not key:
            writer.close()
            raise TranscriptError(
                f"the transcript of {session_id} is sealed with an audit key", hint="set DROIDPILOT_AUDIT_KEY to it"
            )
        writer._open(is_new=False)
        if found.needs_newline and not found.torn_block:
            writer._write(b"\n")
        writer._write_head(found.end)  # mends a head that a crash left one behind
        if found.torn_block:
            writer._note_torn(found.torn_block)
        return writer

    def append(self, event: Event) -> int:
        """Write one event as one line and force it to the disk; return its number.

        Raises TranscriptError where it could not be written. From then on every call raises: what happens next would
        not be on record, so the session must end.
        """
        return self._append(self.redactor.fields(event))

    def close(self) -> None:
        """Force the head to the disk and let go of the directory. May be called twice."""
        if self._anchor >= 0:
            files.sync(self._anchor)
        for descriptor in (self._lines, self._anchor):
            if descriptor >= 0:
                os.close(descriptor)
        self._lines = self._anchor = -1
        self._broken = self._broken or "the transcript is closed"
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _append(self, own: dict[str, Any], *, before: bytes = b"") -> int:
        if self._broken:
            raise TranscriptError(self._broken, hint="nothing more can be recorded; the session must end")
        if not _ENVELOPE.isdisjoint(own):
            raise TranscriptError(f"an event has a field with a reserved name: {sorted(_ENVELOPE & own.keys())}")
        seq = self._head.seq + 1
        envelope = {"v": FORMAT, "seq": seq, "ts": timestamp(self._clock), "session": self.session}
        try:
            line, digest = chain.seal({**envelope, **own}, self._head.hash, key=self._key)
        except (ValueError, TypeError, RecursionError) as error:
            raise self._fail(f"an event of kind {own.get('kind')} cannot be written as JSON: {error}") from error
        if len(line) > chain.MAX_LINE_BYTES:
            raise self._fail(f"an event of kind {own.get('kind')} has {len(line)} bytes, more than a line may have")
        self._write(before + line)
        self._write_head(chain.Head(seq, digest))
        return seq

    def _note_torn(self, block: bytes) -> None:
        # Not redacted: it holds only our own words and a digest, and it must say the digest exactly.
        self._append(Noted(text=chain.torn_note(block)).model_dump(mode="json"), before=b"\n")

    def _open(self, *, is_new: bool) -> None:
        create = os.O_CREAT | os.O_EXCL if is_new else 0
        try:
            # The head comes first: it is there without lines after a kill, lines without it were tampered with.
            self._anchor = files.open_private(self.directory / HEAD, os.O_WRONLY | create)
            if is_new:
                self._write_head(chain.START)
            self._lines = files.open_private(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | create)
        except OSError as error:
            self.close()
            raise TranscriptError(f"cannot open the transcript in {self.directory}: {error}") from error

    def _write(self, data: bytes) -> None:
        try:
            files.write_all(self._lines, data)
            files.sync(self._lines)
        except OSError as error:
            raise self._fail(f"cannot write to {self.path}: {error}") from error

    def _write_head(self, head: chain.Head) -> None:
        # Written over in place, in one piece and without a sync: a kill cannot tear it, and forcing it too would cost
        # as much again per line. The line before it is on the disk already.
        try:
            os.lseek(self._anchor, 0, os.SEEK_SET)
            files.write_all(self._anchor, chain.head_record(head, key=self._key))
        except OSError as error:
            raise self._fail(f"cannot write to {self.directory / HEAD}: {error}") from error
        self._head = head

    def _fail(self, message: str) -> TranscriptError:
        self._broken = message
        return TranscriptError(message, hint="free the disk or choose another DROIDPILOT_HOME; the session must end")


def _lock(directory: Path) -> FileLock:
    """Take the directory for this writer alone; the lock goes away with the process, however it dies."""
    from filelock import FileLock, Timeout

    if not directory.is_dir():
        raise UsageError(f"there is no session in {directory}", hint="`droidpilot session list` shows them")
    path = directory / LOCK
    lock = FileLock(path, timeout=0, mode=files.FILE_MODE, thread_local=False)
    try:
        os.close(files.open_private(path, os.O_RDWR | os.O_CREAT))
        lock.acquire()
    except Timeout as error:
        raise TranscriptError(
            f"another process writes the transcript in {directory}", hint="wait for it to end, or stop it"
        ) from error
    except OSError as error:
        raise TranscriptError(f"cannot lock {directory}: {error}", hint="check who owns it") from error
    return lock
