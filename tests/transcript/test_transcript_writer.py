"""Writing: modes, order, one line per event whatever the text, one writer, kills and full disks."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import TranscriptError, UsageError
from droidpilot.core.events import Noted
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.verify import verify
from droidpilot.transcript.writer import TranscriptWriter

SESSION = "20261130-211455-k3f9"


def create(home: Path, session: str = SESSION) -> TranscriptWriter:
    return TranscriptWriter.create(home, session, clock=ManualClock(), redactor=Redactor())


def reopen(home: Path) -> TranscriptWriter:
    return TranscriptWriter.reopen(home, SESSION, clock=ManualClock(), redactor=Redactor())


def texts(directory: Path) -> list[str]:
    return [line.event.text for line in read_events(directory).lines if isinstance(line.event, Noted)]


def test_a_line_has_the_form_that_is_promised(tmp_path: Path) -> None:
    with create(tmp_path / "home") as writer:
        assert writer.append(Noted(text="one")) == 0
        assert writer.append(Noted(text="two")) == 1
    first, second = (writer.directory / "transcript.jsonl").read_bytes().splitlines()
    fields = json.loads(first)
    assert list(fields) == ["v", "seq", "ts", "session", "kind", "text", "prev", "hash"]
    assert (fields["v"], fields["seq"], fields["session"], fields["kind"]) == (1, 0, SESSION, "noted")
    assert fields["ts"] == "2026-01-01T00:00:00.000Z"
    assert fields["prev"] == "0" * 64
    assert json.loads(second)["prev"] == fields["hash"]
    assert b": " not in first


def test_the_hash_is_what_its_description_says(tmp_path: Path) -> None:
    import hashlib

    with create(tmp_path) as writer:
        writer.append(Noted(text="one"))
    line = (writer.directory / "transcript.jsonl").read_bytes().rstrip(b"\n")
    without = line[: line.rindex(b',"hash":')] + b"}"
    assert hashlib.sha256(b"0" * 64 + without).hexdigest() == json.loads(line)["hash"]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o277])
def test_files_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        with create(tmp_path / "deep" / "home") as writer:
            writer.append(Noted(text="one"))
            writer.artifacts.put(b"data", "txt")
    finally:
        os.umask(before)
    for path in (tmp_path / "deep").rglob("*"):
        expected = 0o700 if path.is_dir() else 0o600
        assert stat.S_IMODE(path.stat().st_mode) == expected, path


@given(st.text(max_size=200))
def test_any_text_stays_one_line_and_comes_back(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    text = f"a\u2028\u2029\x85\r\n\x1b[31m{text}"
    with create(tmp_path_factory.mktemp("home")) as writer:
        writer.append(Noted(text=text))
    data = writer.path.read_bytes()
    assert len(data.decode().splitlines()) == 1
    assert b"\x1b" not in data
    assert texts(writer.directory) == [text]


def test_odd_arguments_of_a_model_are_written(tmp_path: Path) -> None:
    from droidpilot.core.events import CommandGiven

    deep: object = "end"
    for _ in range(100):
        deep = [deep]
    arguments = {"deep": deep, "nan": float("nan"), "big": 10**100, "half": "\ud800", "none": None, "": [True, 1.5]}
    with create(tmp_path) as writer:
        writer.append(CommandGiven(tool="x", arguments=arguments, call_id="c1"))
    (line,) = read_events(writer.directory).lines
    assert verify(writer.directory).ok
    assert isinstance(line.event, CommandGiven)
    assert line.event.arguments["nan"] == "nan"
    assert line.event.arguments["half"] == "\ud800"
    assert line.event.arguments["big"] == "[number too long]"


def test_a_directory_is_made_once(tmp_path: Path) -> None:
    create(tmp_path).close()
    with pytest.raises(TranscriptError, match="cannot make"):
        create(tmp_path)
    with pytest.raises(UsageError, match="not a session id"):
        create(tmp_path, "../../etc")


def test_inv_96_two_writers_cannot_fork_the_chain(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(Noted(text="one"))
        with pytest.raises(TranscriptError, match="another process"):
            reopen(tmp_path)
        writer.append(Noted(text="two"))
    with reopen(tmp_path) as again:
        assert again.append(Noted(text="three")) == 2
    assert verify(again.directory).ok


def test_inv_96_another_process_that_writes_keeps_us_out_until_it_is_gone(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib\n"
        "from droidpilot.core.clock import SystemClock\n"
        "from droidpilot.core.events import Noted\n"
        "from droidpilot.transcript.redaction import Redactor\n"
        "from droidpilot.transcript.writer import TranscriptWriter\n"
        "home = pathlib.Path(sys.argv[1])\n"
        f"w = TranscriptWriter.create(home, {SESSION!r}, clock=SystemClock(), redactor=Redactor())\n"
        "w.append(Noted(text='other'))\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None and other.stdout.readline() == b"ready\n"
        with pytest.raises(TranscriptError, match="another process"):
            reopen(tmp_path)
        other.kill()
        other.wait()
    with reopen(tmp_path) as writer:
        writer.append(Noted(text="ours"))
    assert texts(writer.directory) == ["other", "ours"]
    assert verify(writer.directory).ok


def test_a_session_that_is_not_there_is_not_made_by_reopening(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no session"):
        reopen(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_inv_42_after_a_kill_at_any_byte_everything_before_is_read_and_writing_goes_on(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(Noted(text="one"))
        kept, head = writer.path.read_bytes(), (writer.directory / "HEAD").read_bytes()
        writer.append(Noted(text="two"))
    whole = writer.path.read_bytes()
    for cut in range(len(kept), len(whole)):
        writer.path.write_bytes(whole[:cut])
        (writer.directory / "HEAD").write_bytes(head)
        found = verify(writer.directory)
        assert found.ok, (cut, found)
        # Without its newline a line is whole already.
        assert found.torn == (len(kept) < cut < len(whole) - 1)
        assert texts(writer.directory)[0] == "one"
        with reopen(tmp_path) as again:
            again.append(Noted(text="after"))
        found = verify(writer.directory)
        assert found.ok and not found.torn, (cut, found)
        assert texts(writer.directory)[-1] == "after"
        assert writer.path.read_bytes().startswith(whole[:cut])
        assert len(found.notes) == (1 if len(kept) < cut < len(whole) - 1 else 0)


def test_inv_42_kills_while_going_on_after_a_kill(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(Noted(text="one"))
        kept, head = writer.path.read_bytes(), (writer.directory / "HEAD").read_bytes()
    torn = kept + b'{"v":1,"seq":1,"ts":"20'
    writer.path.write_bytes(torn)
    reopen(tmp_path).close()
    noted = writer.path.read_bytes()
    for cut in range(len(torn) + 2, len(noted) - 1):
        writer.path.write_bytes(noted[:cut])
        (writer.directory / "HEAD").write_bytes(head)
        with reopen(tmp_path) as again:
            again.append(Noted(text="after"))
        assert verify(writer.directory).ok, cut
        assert texts(writer.directory)[-1] == "after"


def test_a_head_that_a_crash_left_behind_is_mended(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(Noted(text="one"))
        head = (writer.directory / "HEAD").read_bytes()
        writer.append(Noted(text="two"))
    (writer.directory / "HEAD").write_bytes(head)
    assert verify(writer.directory).is_head_behind
    reopen(tmp_path).close()
    assert not verify(writer.directory).is_head_behind
    assert verify(writer.directory).ok


def test_a_transcript_that_was_changed_is_not_written_to(tmp_path: Path) -> None:
    with create(tmp_path) as writer:
        writer.append(Noted(text="one"))
    writer.path.write_bytes(writer.path.read_bytes().replace(b"one", b"two"))
    with pytest.raises(TranscriptError, match="was changed"):
        reopen(tmp_path)
    with pytest.raises(TranscriptError, match="was changed"):
        reopen(tmp_path)  # the lock was let go


def test_a_full_disk_ends_the_session_loudly(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib, resource, signal\n"
        "from droidpilot.core.clock import SystemClock\n"
        "from droidpilot.core.errors import TranscriptError\n"
        "from droidpilot.core.events import Noted\n"
        "from droidpilot.transcript.redaction import Redactor\n"
        "from droidpilot.transcript.writer import TranscriptWriter\n"
        "home = pathlib.Path(sys.argv[1])\n"
        f"w = TranscriptWriter.create(home, {SESSION!r}, clock=SystemClock(), redactor=Redactor())\n"
        "w.append(Noted(text='one'))\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]\n"
        "for limit in (600, hard):  # the second time there is room again, and the gap stays unrecorded\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))\n"
        "    try:\n"
        "        w.append(Noted(text='x' * 500))\n"
        "    except TranscriptError as error:\n"
        "        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    assert done.stdout.count("cannot write to") == 2
    with reopen(tmp_path) as writer:
        writer.append(Noted(text="after"))
    assert texts(writer.directory)[0] == "one"
    assert texts(writer.directory)[-1] == "after"
    assert verify(writer.directory).ok


def test_a_closed_writer_refuses(tmp_path: Path) -> None:
    writer = create(tmp_path)
    writer.close()
    writer.close()
    with pytest.raises(TranscriptError, match="is closed"):
        writer.append(Noted(text="one"))


def test_a_planted_link_is_not_followed(tmp_path: Path) -> None:
    create(tmp_path).close()
    directory = tmp_path / "sessions" / SESSION
    (directory / "transcript.jsonl").unlink()
    (tmp_path / "victim").write_bytes(b"")
    (directory / "transcript.jsonl").symlink_to(tmp_path / "victim")
    with pytest.raises(TranscriptError, match="cannot open"):
        reopen(tmp_path)
    assert (tmp_path / "victim").read_bytes() == b""
