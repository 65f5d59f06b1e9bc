"""What a transcript names is part of it: an artifact that was changed or is gone is found by the line naming it."""

from __future__ import annotations

from pathlib import Path

import pytest

from droidpilot.core.clock import ManualClock
from droidpilot.core.events import Noted, SessionEnded, ToolReturned
from droidpilot.transcript import chain
from droidpilot.transcript.files import HEAD, TRANSCRIPT
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.sessions import new_session_id
from droidpilot.transcript.verify import verify
from droidpilot.transcript.writer import TranscriptWriter


def written(home: Path, *, is_ended: bool = False) -> Path:
    """Write a transcript whose second line names an artifact."""
    clock = ManualClock()
    with TranscriptWriter.create(home, new_session_id(clock), clock=clock, redactor=Redactor()) as writer:
        digest = writer.artifacts.put(b"the whole answer", "txt")
        writer.append(Noted(text="begins"))
        writer.append(
            ToolReturned(
                call_id="c1",
                tool="ui_tree",
                status="ok",
                sent="no",
                code="",
                text="the",
                artifact=digest,
                screen=1,
                ms=1,
                ends="",
            )
        )
        writer.append(Noted(text="goes on"))
        if is_ended:
            writer.append(
                SessionEnded(
                    outcome="done",
                    exit_code=0,
                    reason="",
                    summary="",
                    turns=0,
                    actions=0,
                    tokens=0,
                    usd=None,
                    seconds=0,
                )
            )
    return writer.directory


@pytest.mark.parametrize("how", ["changed", "gone", "swapped for a folder"])
def test_an_artifact_that_is_not_what_was_written_is_found(tmp_path: Path, how: str) -> None:
    directory = written(tmp_path)
    assert verify(directory).ok
    (path,) = (directory / "artifacts").iterdir()
    if how == "changed":
        path.write_bytes(b"the whole answeR")
    else:
        path.unlink()
        if how != "gone":
            path.mkdir()
    found = verify(directory)
    assert (found.ok, found.first_bad_line) == (False, 2)
    assert "artifact" in found.reason


def test_a_line_behind_the_end_that_the_head_does_not_know_was_added(tmp_path: Path) -> None:
    directory = written(tmp_path, is_ended=True)
    lines = (directory / TRANSCRIPT).read_bytes()
    head = chain.read_head((directory / HEAD).read_bytes())
    assert head is not None
    fields = {"v": 1, "seq": head.seq + 1, "ts": "x", "session": directory.name, "kind": "noted", "text": "all is well"}
    line, _ = chain.seal(fields, head.hash)
    (directory / TRANSCRIPT).write_bytes(lines + line)
    found = verify(directory)
    assert (found.ok, found.first_bad_line) == (False, 5)
