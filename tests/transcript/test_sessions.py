"""Ids, finding a session by the beginning of its id, and listing from the meta files alone."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import UsageError
from droidpilot.transcript.meta import Meta, MetaFile, process_started
from droidpilot.transcript.sessions import find_session, new_session_id, session_directory, sessions

IDS = ["20260101-000000-aaaa", "20260101-000001-aaab", "20260102-000000-aaaa"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for session in IDS:
        directory = session_directory(tmp_path, session)
        directory.mkdir(parents=True)
        MetaFile(directory).write(Meta(id=session, started="t", goal=f"goal of {session}"))
    (tmp_path / "sessions" / "notes").mkdir()
    (tmp_path / "sessions" / "20260103-000000-file").write_bytes(b"")
    return tmp_path


def test_an_id_tells_the_time_and_sorts_by_it() -> None:
    clock = ManualClock()
    first = new_session_id(clock)
    clock.advance(1)
    second = new_session_id(clock)
    assert re.fullmatch(r"20260101-000000-[a-z0-9]{5}", first)
    assert first[:15] < second[:15]
    assert len({new_session_id(clock) for _ in range(20)}) > 15


def test_without_a_prefix_the_last_session_is_meant(home: Path) -> None:
    assert find_session(home) == IDS[-1]


def test_a_prefix_names_the_one_session_that_begins_with_it(home: Path) -> None:
    assert find_session(home, "20260102") == IDS[2]
    assert find_session(home, IDS[0]) == IDS[0]


def test_a_prefix_of_several_lists_them(home: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_session(home, "20260101")
    assert IDS[0] in str(caught.value) and IDS[1] in str(caught.value)


@pytest.mark.parametrize("prefix", ["2027", "", "..", "../x", "*", "notes", "x" * 100, "20260103"])
def test_a_prefix_of_none_is_an_error(home: Path, prefix: str) -> None:
    with pytest.raises(UsageError):
        find_session(home, prefix)


def test_without_sessions_the_error_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="droidpilot demo"):
        find_session(tmp_path)
    assert sessions(tmp_path) == []


def test_inv_43_a_list_reads_only_meta_files(home: Path) -> None:
    for session in IDS:
        # A directory in its place: whoever opened it would fail.
        (session_directory(home, session) / "transcript.jsonl").mkdir()
    entries = sessions(home)
    assert [entry.id for entry in entries] == IDS
    assert [entry.meta.goal for entry in entries if entry.meta] == [f"goal of {session}" for session in IDS]


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"{}", b"\xff", b'{"id": 5}', b"x" * 300_000])
def test_inv_98_an_unreadable_meta_file_is_reported(home: Path, data: bytes) -> None:
    (session_directory(home, IDS[1]) / "meta.json").write_bytes(data)
    entry = sessions(home)[1]
    assert entry.meta is None
    assert "meta.json" in entry.problem


def test_a_missing_meta_file_is_reported(home: Path) -> None:
    (session_directory(home, IDS[1]) / "meta.json").unlink()
    assert "missing" in sessions(home)[1].problem


def test_a_meta_file_comes_back_as_written_with_a_title(tmp_path: Path) -> None:
    meta = Meta(id=IDS[0], started="t", goal="a\nlong " + "goal " * 30, exit_code=0, usd=0.5, is_running=True)
    MetaFile(tmp_path).write(meta)
    again = MetaFile(tmp_path).read()
    assert again == meta.model_copy(update={"title": again.title})
    assert again.title.startswith("a long goal") and len(again.title) <= 60
    assert [path.name for path in tmp_path.iterdir()] == ["meta.json"]


def test_a_later_versions_meta_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text('{"id": "x", "started": "t", "mood": "good"}')
    assert MetaFile(tmp_path).read().id == "x"


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")
def test_inv_39_a_run_is_alive_as_long_as_its_own_process_is() -> None:
    ours = Meta(id="x", started="t", pid=os.getpid(), pid_started=process_started(os.getpid()), is_running=True)
    assert ours.is_alive
    assert not ours.model_copy(update={"is_running": False}).is_alive
    assert not ours.model_copy(update={"pid_started": "1"}).is_alive  # the number was given to another process
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        theirs = Meta(id="x", started="t", pid=child.pid, pid_started=process_started(child.pid), is_running=True)
        assert theirs.is_alive
        child.kill()
    assert not theirs.is_alive
    assert process_started(-1) == ""
