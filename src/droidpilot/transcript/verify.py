"""Judges whether a transcript is as it was written: nothing changed, deleted, inserted, reordered or cut.

The artifacts that its lines name are part of it: each must be there and be what its digest says. What it cannot see
is a rewrite of the whole chain and of its head by somebody who may write both; the head's hash, kept elsewhere, shows
that too, and so does an audit key that the writer had and that is given here. A torn line counts as torn, not as
tampered with, in two places only: at the very end of the file, without a newline; and before a `noted` line that
vouches for its exact bytes, which the writer leaves as it goes on after a kill.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from droidpilot.core.errors import UsageError
from droidpilot.transcript import chain
from droidpilot.transcript.artifacts import ArtifactStore, is_digest
from droidpilot.transcript.files import HEAD, TRANSCRIPT
from droidpilot.transcript.redaction import Redactor

#: Fields of events that name an artifact by its digest.
_ARTIFACT_FIELDS = ("artifact", "picture")


@dataclass(frozen=True, slots=True)
class Verification:
    """The result. `first_bad_line` counts the file's lines from 1; one past the end means that lines were cut off."""

    ok: bool
    first_bad_line: int | None
    reason: str
    lines: int
    torn: bool = False  # the last line was not finished; the call it belonged to was not sent or not answered
    is_head_behind: bool = False  # killed between the last line and the head
    is_sealed: bool = False  # written with an audit key
    is_seal_checked: bool = False  # and every line was checked with it
    notes: tuple[str, ...] = ()
    end: chain.Head = chain.START
    torn_block: bytes = b""  # the bytes of the torn end, for a writer that goes on
    needs_newline: bool = False


def stands(directory: Path, *, key: bytes = b"") -> Verification:
    """Verify a transcript as it was written: with the audit `key` only where it is sealed with one.

    One of the time before there was a key is no worse than it was then.
    """
    found = verify(directory, key=key)
    if found.ok or not key:
        return found
    plain = verify(directory)
    return plain if plain.ok and not plain.is_sealed else found


@dataclass(slots=True)
class _Walk:
    """Where the walk through the lines stands."""

    session: str
    key: bytes = b""
    is_sealed: bool = False  # the first line has a mac
    hashes: list[str] = field(default_factory=list)  # of each good line, by seq
    numbers: list[int] = field(default_factory=list)  # line numbers of the good lines
    kinds: list[object] = field(default_factory=list)  # of each good line, by seq
    kept: dict[str, int] = field(default_factory=dict)  # digests of artifacts, by the first line that names them
    pending: list[tuple[int, bytes]] = field(default_factory=list)  # unreadable lines not yet vouched for
    notes: list[str] = field(default_factory=list)

    @property
    def end(self) -> chain.Head:
        return chain.Head(len(self.hashes) - 1, self.hashes[-1]) if self.hashes else chain.START

    @property
    def block(self) -> bytes:
        return b"\n".join(raw for _, raw in self.pending)


def verify(directory: Path, *, key: bytes = b"") -> Verification:
    """Verify the transcript in a session's directory; names the first bad line. Raises nothing for what it finds.

    With an audit `key` a transcript that was not written with it is bad from the first line on.
    """
    try:
        head_bytes = (directory / HEAD).read_bytes()
    except OSError:
        head_bytes = None
    try:
        data = (directory / TRANSCRIPT).read_bytes()
    except FileNotFoundError:
        if not head_bytes:
            return Verification(False, 1, "there is no transcript, and no head that says how long it was", 0)
        data = b""  # killed between the two files
    except OSError as error:
        return Verification(False, 1, f"the transcript cannot be read: {error}", 0)
    walk = _Walk(directory.resolve().name, key)
    found = _verify_lines(walk, data, head_bytes)
    return found if not found.ok else _with_artifacts(found, walk, directory)


def verify_bytes(data: bytes, head_bytes: bytes | None, *, session: str, key: bytes = b"") -> Verification:
    """Verify the bytes of a transcript and of its head file (None where it is missing), artifacts left out."""
    return _verify_lines(_Walk(session, key), data, head_bytes)


def _with_artifacts(found: Verification, walk: _Walk, directory: Path) -> Verification:
    """Look at every artifact that a line names."""
    store = ArtifactStore(directory, redactor=Redactor())
    for digest, number in walk.kept.items():
        try:
            store.get(digest)
        except UsageError as error:
            what = "was changed" if error.code == "artifact_changed" else "is missing or cannot be read"
            reason = f"what it names, artifact {digest[:12]}, {what}"
            return replace(found, ok=False, first_bad_line=number, reason=reason)
    return found


def _verify_lines(walk: _Walk, data: bytes, head_bytes: bytes | None) -> Verification:
    lines = chain.split(data)
    for number, raw in enumerate(lines, 1):
        fault = _step(walk, number, raw)
        if fault is not None:
            return Verification(False, fault[0], fault[1], len(lines), notes=tuple(walk.notes))
    if walk.pending and data.endswith(b"\n"):
        return Verification(
            False, walk.pending[0][0], "it is no line of a transcript", len(lines), notes=tuple(walk.notes)
        )
    return _against_head(walk, head_bytes, len(lines), needs_newline=bool(data) and not data.endswith(b"\n"))


def _step(walk: _Walk, number: int, raw: bytes) -> tuple[int, str] | None:
    """Take one more line; return line number and reason of a fault, None where it fits."""
    sealed = chain.unseal(raw)
    if sealed is None:
        walk.pending.append((number, raw))
        return None
    if not sealed.is_intact:
        return number, "its hash does not fit its content: it was changed"
    if not walk.hashes:
        walk.is_sealed = bool(sealed.mac)
    if walk.key and not chain.is_sealed_with(walk.key, sealed):
        what = "is not the one of the audit key" if sealed.mac else "is missing"
        return number, f"its mac {what}: written with another key or none, or by somebody else"
    fields = sealed.fields
    if walk.pending:
        first, block = walk.pending[0][0], walk.block
        text = fields.get("text")
        if fields.get("kind") != "noted" or not isinstance(text, str) or not chain.is_torn_note(text, block):
            return first, "it is no line of a transcript, and no note behind it vouches for it"
        walk.notes.append(f"line {first} was torn by a kill and is vouched for by line {number}")
        walk.pending.clear()
    end = walk.end
    seq = fields.get("seq")
    if seq != end.seq + 1 or isinstance(seq, bool):
        return number, f"it has number {seq!r} where {end.seq + 1} is due: a line was deleted, inserted or moved"
    if sealed.prev != end.hash:
        return number, "it does not continue the line before it: one of the two was changed or replaced"
    if fields.get("session") != walk.session:
        return number, f"it belongs to session {fields.get('session')!r}"
    for name in _ARTIFACT_FIELDS:
        digest = fields.get(name)
        if isinstance(digest, str) and is_digest(digest):
            walk.kept.setdefault(digest, number)
    walk.kinds.append(fields.get("kind"))
    walk.hashes.append(sealed.claimed)
    walk.numbers.append(number)
    return None


def _against_head(walk: _Walk, head_bytes: bytes | None, count: int, *, needs_newline: bool) -> Verification:
    end, notes, torn = walk.end, tuple(walk.notes), bool(walk.pending)
    last = walk.numbers[-1] if walk.numbers else 0

    def bad(line: int, reason: str) -> Verification:
        return Verification(False, line, reason, count, torn=torn, notes=notes, end=end)

    head = None if head_bytes is None else chain.read_head(head_bytes)
    if head is None:
        what = "is missing" if head_bytes is None else "cannot be read"
        return bad(last + 1, f"the head file {what}: whether lines were cut off here cannot be told")
    if walk.key and not chain.is_head_sealed_with(walk.key, head):
        return bad(last + 1, "the head was not written with the audit key: whether lines were cut off cannot be told")
    if head.seq > end.seq:
        missing = head.seq - end.seq
        return bad(last + 1, f"{missing} line(s) from here on were cut off: the head names line number {head.seq}")
    if head.seq < end.seq - 1:
        first = walk.numbers[head.seq + 1]
        return bad(
            first, f"from here on {end.seq - head.seq} lines lie behind the head: not written by us, or power was lost"
        )
    anchored = walk.hashes[head.seq] if head.seq >= 0 else chain.GENESIS
    if head.hash != anchored:
        return bad(walk.numbers[head.seq] if head.seq >= 0 else 1, "the head names another hash: it was replaced")
    if head.seq == end.seq - 1 >= 0 and walk.kinds[head.seq] == "session_ended":
        return bad(last, "it stands behind the end of the session, and the head does not know it: it was added")
    return Verification(
        True,
        None,
        "",
        count,
        torn=torn,
        is_head_behind=head.seq < end.seq,
        is_sealed=walk.is_sealed,
        is_seal_checked=walk.is_sealed and bool(walk.key),
        notes=notes,
        end=end,
        torn_block=walk.block,
        needs_newline=needs_newline,
    )
