"""The ledger: writes of which nobody knows yet whether they happened, over all sessions, and their resolution.

A projection of the transcripts (B09 to B15): an unknown outcome stays one until a line says what was found, whatever
time passes (INV-82). It never asks a phone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from droidpilot.core.clock import Clock
from droidpilot.core.errors import UsageError
from droidpilot.core.events import OutcomeResolved
from droidpilot.transcript.meta import MetaFile
from droidpilot.transcript.projections import CallState, CallView, calls, unknown_writes
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.sessions import SessionEntry, session_directory, sessions
from droidpilot.transcript.writer import TranscriptWriter

Found = Literal["done", "not_done"]


@dataclass(frozen=True, slots=True)
class OpenAction:
    """A write of a session that may or may not have happened."""

    session: str
    serial: str
    call: CallView

    @property
    def name(self) -> str:
        """How a person names it: session and call."""
        return f"{self.session} {self.call.call_id}"


def open_actions(home: Path, *, phone: str | None = None) -> list[OpenAction]:
    """List the unknown writes of all sessions that do not run, oldest first; of one `phone` where it is named.

    A session whose files cannot be read is left out: what it did is not on record.
    """
    found = []
    for entry in sessions(home):
        if not _may_have_some(entry, phone):
            continue
        try:
            unknown = unknown_writes(read_events(entry.directory).lines)
        except UsageError:
            continue
        serial = entry.meta.serial if entry.meta is not None else ""
        found += [OpenAction(entry.id, serial, view) for view in unknown]
    return found


def resolve(home: Path, session_id: str, call_id: str, found: Found, *, clock: Clock, key: bytes = b"") -> CallView:
    """Write down what became of an unknown write; return the call as it was before.

    A call that is resolved already is left as it is, and returned (INV-83). `key` is the audit key.

    Raises:
        UsageError: there is no such call, or nothing about it is unknown, or the session still runs.
        TranscriptError: the transcript does not verify or cannot be written.
    """
    directory = session_directory(home, session_id)
    views = {view.call_id: view for view in calls(read_events(directory).lines)}
    view = views.get(call_id)
    if view is None:
        known = ", ".join(one.call_id for one in views.values() if one.state is CallState.UNKNOWN) or "none"
        raise UsageError(f"session {session_id} has no call {call_id}", hint=f"unknown in it: {known}")
    if view.state in (CallState.DONE, CallState.NOT_DONE):
        return view
    if view.state is not CallState.UNKNOWN:
        raise UsageError(
            f"what became of {call_id} is known: {view.state.value}", hint="only an unknown one is resolved"
        )
    meta_file = MetaFile(directory)
    meta = meta_file.read()
    if meta.is_alive:
        raise UsageError(f"session {session_id} still runs", hint="wait for its end, or stop it")
    with TranscriptWriter.reopen(home, session_id, clock=clock, redactor=Redactor(), key=key) as writer:
        writer.append(OutcomeResolved(call_id=call_id, outcome=found, by="person"))
    left = sum(one.state is CallState.UNKNOWN for one in views.values()) - 1
    meta_file.write(meta.model_copy(update={"unknown": left}))
    return view


def _may_have_some(entry: SessionEntry, phone: str | None) -> bool:
    meta = entry.meta
    if meta is None:
        return phone is None  # whose it was is not known
    if meta.is_alive or (phone is not None and phone != (meta.phone or meta.serial)):
        return False
    return meta.unknown != 0  # not counted: killed, or of a version that did not count
