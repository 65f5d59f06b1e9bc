"""The ledger: writes of which nobody knows yet whether they happened, over all sessions, and their resolution.

A projection of the transcripts (B09 to B15): an unknown outcome stays one until a line says what was found, whatever
time passes (INV-82). It never asks a phone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from droidpilot.core.clock import Clock
from droidpilot.core.errors import ConfigError, UsageError
from droidpilot.core.events import OutcomeResolved
from droidpilot.transcript.meta import MetaFile
from droidpilot.transcript.projections import CallState, CallView, calls, unknown_writes
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.sessions import SessionEntry, session_directory, sessions
from droidpilot.transcript.verify import stands, verify
from droidpilot.transcript.writer import TranscriptWriter

Found = Literal["done", "not_done"]


@dataclass(frozen=True, slots=True)
class OpenAction:
    """A write of a session that may or may not have happened."""

    session: str
    serial: str
    call: CallView
    doubt: str = ""  # why the transcript is not believed where it says what became of it

    @property
    def name(self) -> str:
        """How a person names it: session and call."""
        return f"{self.session} {self.call.call_id}"


def open_actions(home: Path, *, phone: str | None = None, key: bytes = b"") -> list[OpenAction]:
    """List the unknown writes of all sessions that do not run, oldest first; of one `phone` where it is named.

    A resolution in a transcript that does not verify is not believed: anybody may have written it. `key` is the audit
    key. A session whose files cannot be read is left out: what it did is not on record.
    """
    found = []
    for entry in sessions(home):
        if not _may_have_some(entry, phone):
            continue
        try:
            lines = read_events(entry.directory).lines
        except UsageError:
            continue
        unknown, doubt = unknown_writes(lines), ""
        unresolved = [line for line in lines if not isinstance(line.event, OutcomeResolved)]
        if len(unresolved) < len(lines) and not (verification := stands(entry.directory, key=key)).ok:
            unknown, doubt = unknown_writes(unresolved), verification.reason
        serial = entry.meta.serial if entry.meta is not None else ""
        found += [OpenAction(entry.id, serial, view, doubt) for view in unknown]
    return found


def resolve(home: Path, session_id: str, call_id: str, found: Found, *, clock: Clock, key: bytes = b"") -> CallView:
    """Write down what became of an unknown write; return the call as it was before.

    A call that is resolved already is left as it is, and returned (INV-83). `key` is the audit key.

    Raises:
        UsageError: there is no such call, or nothing about it is unknown, or the session still runs, or its transcript
            does not verify.
        ConfigError: the transcript is sealed with another audit key than the one given, or with none.
        TranscriptError: the transcript cannot be written.
    """
    directory = session_directory(home, session_id)
    views = {view.call_id: view for view in calls(read_events(directory).lines)}
    view = views.get(call_id)
    if view is None:
        known = ", ".join(one.call_id for one in views.values() if one.state is CallState.UNKNOWN) or "none"
        raise UsageError(f"session {session_id} has no call {call_id}", hint=f"unknown in it: {known}")
    if view.state in (CallState.DONE, CallState.NOT_DONE):
        _check(session_id, directory, key)
        return view
    if view.state is not CallState.UNKNOWN:
        raise UsageError(
            f"what became of {call_id} is known: {view.state.value}", hint="only an unknown one is resolved"
        )
    meta_file = MetaFile(directory)
    meta = meta_file.read()
    if meta.is_alive:
        raise UsageError(f"session {session_id} still runs", hint="wait for its end, or stop it")
    _check(session_id, directory, key)
    with TranscriptWriter.reopen(home, session_id, clock=clock, redactor=Redactor(), key=key) as writer:
        writer.append(OutcomeResolved(call_id=call_id, outcome=found, by="person"))
    left = sum(one.state is CallState.UNKNOWN for one in views.values()) - 1
    meta_file.write(meta.model_copy(update={"unknown": left}))
    return view


def _check(session_id: str, directory: Path, key: bytes) -> None:
    """Refuse a transcript that does not verify, saying whether it is the key that does not fit."""
    found = verify(directory, key=key)
    if found.ok and found.is_sealed == bool(key):
        return
    plain = verify(directory)
    whose = f"the transcript of {session_id}"
    if not plain.ok:
        raise UsageError(
            f"{whose} was changed: {plain.reason}",
            hint=f"it is not written to any more; when you know what became of the call, move {directory} away",
            code="transcript_changed",
        )
    if plain.is_sealed:
        other = " other than the one in DROIDPILOT_AUDIT_KEY" if key else ""
        raise ConfigError(
            f"{whose} is sealed with an audit key{other}",
            hint="set DROIDPILOT_AUDIT_KEY to the one it was written with",
        )
    raise ConfigError(f"{whose} was written without an audit key", hint="leave out DROIDPILOT_AUDIT_KEY for this")


def _may_have_some(entry: SessionEntry, phone: str | None) -> bool:
    meta = entry.meta
    if meta is None:
        return phone is None  # whose it was is not known
    if meta.is_alive or (phone is not None and phone != (meta.phone or meta.serial)):
        return False
    return meta.unknown != 0  # not counted: killed, or of a version that did not count
