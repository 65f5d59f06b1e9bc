"""The ledger over sessions: what is unknown stays so until somebody says what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import ConfigError, Exit, UsageError
from droidpilot.core.events import FORMAT, Event, OutcomeResolved, ToolCalled, ToolReturned
from droidpilot.transcript import chain
from droidpilot.transcript.ledger import open_actions, resolve
from droidpilot.transcript.meta import Meta, MetaFile
from droidpilot.transcript.projections import CallState
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.verify import verify
from droidpilot.transcript.writer import TranscriptWriter

ID = "20260101-000000-aaaa"
KEY, OTHER = b"0123456789abcdef" * 2, b"fedcba9876543210" * 2


def called(call_id: str, *, effect: Literal["read", "write"] = "write") -> ToolCalled:
    return ToolCalled(
        call_id=call_id, origin="model", turn_kind="user", tool="tap", effect=effect, tier="blind", arguments={},
        sentence=f"Tap {call_id}", screen=1, target=None, signals=[], verdicts=[], send_key=f"key-{call_id}",
        same_as=[f"same-{call_id}"],
    )  # fmt: skip


def returned(call_id: str, status: Literal["unknown", "ok"] = "unknown") -> ToolReturned:
    return ToolReturned(
        call_id=call_id, tool="tap", status=status, sent="unknown", code="", text="", artifact="", screen=None, ms=1,
        ends="",
    )  # fmt: skip


def session(home: Path, *events: Event, name: str = ID, key: bytes = b"", **meta: object) -> Path:
    with TranscriptWriter.create(home, name, clock=ManualClock(), redactor=Redactor(), key=key) as writer:
        for event in events:
            writer.append(event)
    MetaFile(writer.directory).write(Meta(id=name, started="2026", serial="S1", **meta))
    return writer.directory


def names(home: Path, phone: str | None = None) -> list[str]:
    return [one.name for one in open_actions(home, phone=phone)]


def test_an_unknown_write_is_open_until_it_is_resolved(tmp_path: Path) -> None:
    directory = session(
        tmp_path, called("a"), returned("a"), called("b"), returned("b", "ok"), outcome="unknown", unknown=1
    )
    (action,) = open_actions(tmp_path, phone="S1")
    assert (action.name, action.call.same_as) == (f"{ID} a", ("same-a",))
    before = resolve(tmp_path, ID, "a", "not_done", clock=ManualClock())
    assert before.state is CallState.UNKNOWN
    assert names(tmp_path) == [] and verify(directory).ok
    assert MetaFile(directory).read().unknown == 0


def test_inv_83_a_second_resolution_writes_nothing_and_says_what_stands(tmp_path: Path) -> None:
    directory = session(tmp_path, called("a"), returned("a"))
    resolve(tmp_path, ID, "a", "done", clock=ManualClock())
    size = (directory / "transcript.jsonl").stat().st_size
    assert resolve(tmp_path, ID, "a", "not_done", clock=ManualClock()).state is CallState.DONE
    assert (directory / "transcript.jsonl").stat().st_size == size


def test_a_killed_session_leaves_its_unanswered_write_open(tmp_path: Path) -> None:
    session(tmp_path, called("a"), called("read", effect="read"), is_running=True, pid=1, pid_started="0")
    assert names(tmp_path, "S1") == [f"{ID} a"]


def test_only_the_phone_that_is_named_counts(tmp_path: Path) -> None:
    session(tmp_path, called("a"), returned("a"))
    session(tmp_path, called("b"), returned("b"), name="20260101-000001-bbbb", phone="S1 77 1")
    assert names(tmp_path, "S1") == [f"{ID} a"]
    assert names(tmp_path, "S1 77 1") == ["20260101-000001-bbbb b"]
    assert len(names(tmp_path)) == 2
    assert names(tmp_path, "S2") == []


def test_a_session_without_unknown_writes_is_not_opened(tmp_path: Path) -> None:
    directory = session(tmp_path, called("a"), returned("a"), outcome="done", unknown=0)
    (directory / "transcript.jsonl").unlink()
    assert names(tmp_path) == []


@pytest.mark.parametrize("call", ["nosuch", "b"])
def test_what_is_not_unknown_cannot_be_resolved(tmp_path: Path, call: str) -> None:
    session(tmp_path, called("a"), returned("a"), called("b"), returned("b", "ok"))
    with pytest.raises(UsageError) as caught:
        resolve(tmp_path, ID, call, "done", clock=ManualClock())
    assert caught.value.hint


def forged(directory: Path) -> None:
    """Write behind the writer's back what became of the write `a`."""
    path = directory / "transcript.jsonl"
    own = {"v": FORMAT, "seq": 2, "ts": "2026", "session": ID}
    resolved = OutcomeResolved(call_id="a", outcome="done", by="person").model_dump(mode="json")
    line, _ = chain.seal({**own, **resolved}, chain.GENESIS)
    path.write_bytes(path.read_bytes() + line)


def test_a_resolution_in_a_transcript_that_was_changed_is_not_believed(tmp_path: Path) -> None:
    directory = session(tmp_path, called("a"), returned("a"))
    forged(directory)
    assert not verify(directory).ok
    (action,) = open_actions(tmp_path, phone="S1")
    assert action.name == f"{ID} a" and action.doubt
    with pytest.raises(UsageError) as caught:
        resolve(tmp_path, ID, "a", "done", clock=ManualClock())
    assert "was changed" in caught.value.message and str(directory) in caught.value.hint


@pytest.mark.parametrize(("written", "given"), [(KEY, b""), (KEY, OTHER), (b"", KEY)])
def test_a_key_that_does_not_fit_is_a_matter_of_settings(tmp_path: Path, written: bytes, given: bytes) -> None:
    session(tmp_path, called("a"), returned("a"), key=written)
    with pytest.raises(ConfigError) as caught:
        resolve(tmp_path, ID, "a", "done", clock=ManualClock(), key=given)
    assert "DROIDPILOT_AUDIT_KEY" in caught.value.hint and caught.value.exit is Exit.USAGE
    assert names(tmp_path) == [f"{ID} a"]
    resolve(tmp_path, ID, "a", "done", clock=ManualClock(), key=written)
    assert open_actions(tmp_path, key=KEY) == [], "one written before there was a key stays resolved"
