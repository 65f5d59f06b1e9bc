"""The record of one session while it runs: transcript, artifacts, meta file and log, with one redactor for all of them.

It must never know what makes a session begin or end, only how that is written.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from droidpilot.core.clock import Clock, timestamp
from droidpilot.core.events import EVENTS, Event, SessionEnded, SessionStarted
from droidpilot.core.progress import Progress
from droidpilot.core.stop import Stop
from droidpilot.transcript import files
from droidpilot.transcript.meta import Meta, MetaFile, process_started
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.writer import TranscriptWriter

#: The file in a session's directory that holds the tracebacks of our own faults.
LOG = "log.txt"


class SessionRecord:
    """Writes one session and tells the listener each line once it is on disk, secrets hidden."""

    def __init__(
        self, writer: TranscriptWriter, *, redactor: Redactor, clock: Clock, stop: Stop, progress: Progress
    ) -> None:
        self._writer = writer
        self._redactor = redactor
        self._clock = clock
        self._stop = stop
        self._progress = progress
        self._meta_file = MetaFile(writer.directory, redactor=redactor)
        self._meta = Meta(id=writer.session, started=timestamp(clock))
        self.is_ended = False

    @property
    def id(self) -> str:
        return self._writer.session

    @property
    def directory(self) -> Path:
        return self._writer.directory

    def begin(self, line: SessionStarted, *, title: str = "", phone: str = "") -> None:
        """Write the first line and the meta file.

        `title` names a session without a goal in a list, `phone` the phone where its serial does not.
        """
        self._update(
            goal=line.goal,
            title=title,
            serial=line.serial,
            phone=phone,
            model=line.model,
            pid=os.getpid(),
            pid_started=process_started(os.getpid()),
            is_running=True,
        )
        self.append(line)

    def end(self, line: SessionEnded, *, unknown: int = 0) -> None:
        """Write the last line and the meta file; `unknown` writes may or may not have happened."""
        self.is_ended = True
        self.append(line)
        self._update(
            ended=timestamp(self._clock),
            outcome=line.outcome,
            exit_code=line.exit_code,
            turns=line.turns,
            actions=line.actions,
            unknown=unknown,
            tokens=line.tokens,
            usd=line.usd,
            is_running=False,
        )

    def append(self, event: Event) -> None:
        """Write one line.

        Raises:
            TranscriptError: it could not be written; nothing may be done any more.
        """
        with self._stop.shielded():
            self._writer.append(event)
        if self._progress.on_event is not None:
            # What a person sees is what was recorded.
            self._progress.on_event(EVENTS.validate_python(self._redactor.fields(event)))

    def keep(self, data: bytes, suffix: str) -> str:
        """Keep an artifact and return its digest."""
        return self._writer.artifacts.put(data, suffix)

    def hide(self, secret: str) -> None:
        """Treat `secret` as one from now on, in all that is written."""
        self._redactor.add_secret(secret)

    def redact(self, text: str) -> str:
        return self._redactor.text(text)

    def log(self, text: str) -> None:
        """Add to the session's log, which is for our own faults only."""
        log = files.open_private(self.directory / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            files.write_all(log, f"{timestamp(self._clock)}\n{self._redactor.text(text)}\n".encode())
        finally:
            os.close(log)

    def _update(self, **changes: Any) -> None:
        self._meta = self._meta.model_copy(update=changes)
        self._meta_file.write(self._meta)
