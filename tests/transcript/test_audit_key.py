"""An audit key: who does not have it can neither change, add, cut nor rewrite a transcript without being seen."""

from __future__ import annotations

from pathlib import Path

import pytest

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import TranscriptError
from droidpilot.core.events import Noted
from droidpilot.transcript import chain
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.verify import verify, verify_bytes
from droidpilot.transcript.writer import TranscriptWriter

KEY, OTHER = b"0123456789abcdef", b"fedcba9876543210"
SESSION = "20260101-000000-aaaaa"


def written(home: Path, *, key: bytes = KEY, count: int = 4) -> Path:
    with TranscriptWriter.create(home, SESSION, clock=ManualClock(), redactor=Redactor(), key=key) as writer:
        for number in range(count):
            writer.append(Noted(text=f"line {number} \u2028"))
        return writer.directory


def rewritten(directory: Path, texts: list[str], *, key: bytes = b"") -> tuple[bytes, bytes]:
    """Make a whole new transcript and head, as somebody can who may write both."""
    lines, head = b"", chain.START
    for seq, text in enumerate(texts):
        fields = {"v": 1, "seq": seq, "ts": "2026", "session": SESSION, "kind": "noted", "text": text}
        line, digest = chain.seal(fields, head.hash, key=key)
        lines, head = lines + line, chain.Head(seq, digest)
    return lines, chain.head_record(head, key=key)


def test_a_sealed_transcript_verifies_with_its_key_and_its_chain_without(tmp_path: Path) -> None:
    directory = written(tmp_path)
    with_key, without = verify(directory, key=KEY), verify(directory)
    assert with_key.ok and with_key.is_seal_checked
    assert without.ok and without.is_sealed and not without.is_seal_checked
    assert next(line.event for line in read_events(directory).lines) == Noted(text="line 0 \u2028")


def test_another_key_and_a_transcript_without_one_are_bad_from_the_first_line(tmp_path: Path) -> None:
    for found in (verify(written(tmp_path / "a"), key=OTHER), verify(written(tmp_path / "b", key=b""), key=KEY)):
        assert not found.ok and found.first_bad_line == 1 and "mac" in found.reason


def test_a_rewrite_of_chain_and_head_is_seen_with_the_key_only(tmp_path: Path) -> None:
    directory = written(tmp_path)
    for key in (b"", OTHER):
        lines, head = rewritten(directory, ["forged", "all of it"], key=key)
        assert verify_bytes(lines, head, session=SESSION).ok
        assert not verify_bytes(lines, head, session=SESSION, key=KEY).ok


@pytest.mark.parametrize("keep", [0, 1, 2, 3])
def test_lines_that_are_cut_off_with_a_new_head_are_seen(tmp_path: Path, keep: int) -> None:
    directory = written(tmp_path)
    lines = (directory / "transcript.jsonl").read_bytes().splitlines(keepends=True)[:keep]
    last = chain.unseal(lines[-1].rstrip(b"\n")) if lines else None
    head = chain.head_record(chain.Head(keep - 1, last.claimed) if last is not None else chain.START)
    found = verify_bytes(b"".join(lines), head, session=SESSION, key=KEY)
    assert not found.ok and found.first_bad_line == keep + 1


def test_a_line_added_behind_the_head_is_seen(tmp_path: Path) -> None:
    directory = written(tmp_path)
    data, head = (directory / "transcript.jsonl").read_bytes(), (directory / "HEAD").read_bytes()
    end = verify(directory).end
    fields = {"v": 1, "seq": end.seq + 1, "ts": "2026", "session": SESSION, "kind": "noted", "text": "added"}
    forged = data + chain.seal(fields, end.hash)[0]
    assert verify_bytes(forged, head, session=SESSION).ok  # looks like a kill between line and head
    assert verify_bytes(forged, head, session=SESSION, key=KEY).first_bad_line == 5


def test_a_mac_moved_to_another_line_does_not_fit(tmp_path: Path) -> None:
    directory = written(tmp_path)
    lines = (directory / "transcript.jsonl").read_bytes().splitlines()
    first = chain.unseal(lines[0])
    assert first is not None
    second = chain.Sealed({**first.fields, "text": "other"}, first.prev, "", "", first.mac)
    assert chain.is_sealed_with(KEY, first) and not chain.is_sealed_with(KEY, second)


def test_going_on_needs_the_same_key(tmp_path: Path) -> None:
    written(tmp_path)
    for key in (b"", OTHER):
        with pytest.raises(TranscriptError):
            TranscriptWriter.reopen(tmp_path, SESSION, clock=ManualClock(), redactor=Redactor(), key=key)
    with TranscriptWriter.reopen(tmp_path, SESSION, clock=ManualClock(), redactor=Redactor(), key=KEY) as writer:
        writer.append(Noted(text="more"))
    assert verify(writer.directory, key=KEY).is_seal_checked
