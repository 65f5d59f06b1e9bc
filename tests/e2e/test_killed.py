"""kill -9 at each line of the road: nothing is lost, every call reads as what it is, nothing is sent twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.setting import Setting, virtual_setting

from droidpilot.core.events import SessionEnded
from droidpilot.transcript.files import TRANSCRIPT
from droidpilot.transcript.projections import calls
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.sessions import find_session, session_directory
from droidpilot.transcript.verify import verify

ROOT = Path(__file__).resolve().parents[2]
#: More lines than the run writes: the last parameter is a run that is not killed.
MOST_LINES = 40


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


def run_killed(home: Path, setting: Setting, after: int) -> int:
    """Run the child; return its exit status: -9 where it was killed, 0 where it came to its end."""
    words = [
        sys.executable,
        "-m",
        "tests.e2e.killed_run",
        str(home),
        setting.phone.serial,
        str(setting.adb_port),
        str(after),
    ]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, timeout=60, check=False, text=True)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode


@pytest.mark.timeout(300)
def test_killed_at_every_line(setting: Setting, tmp_path: Path) -> None:
    states_seen: set[str] = set()
    for after in range(1, MOST_LINES):
        home = tmp_path / str(after)
        home.mkdir()
        setting.phone.phone.home()
        before = presses(setting)
        status = run_killed(home, setting, after)
        directory = session_directory(home, find_session(home))
        transcript = read_events(directory / TRANSCRIPT)
        assert verify(directory).ok
        sent = presses(setting) - before
        if status != -signal.SIGKILL:
            ended = transcript.lines[-1].event
            assert isinstance(ended, SessionEnded) and ended.outcome == "done"
            break
        assert len(transcript.lines) == after, "nothing that was written before the kill is lost"
        views = calls(transcript.lines)
        states_seen |= {view.state for view in views}
        writes = [view for view in views if view.tool in ("tap", "press")]
        least = sum(view.state == "ok" for view in writes)
        most = least + sum(view.state == "unknown" for view in writes)
        assert least <= sent <= most, f"after {after}: {[view.state for view in views]} but {sent} were sent"
    else:
        raise AssertionError("the run never came to its end")
    assert {"not_sent", "unknown", "stopped", "ok"} <= states_seen


def presses(setting: Setting) -> int:
    """How many inputs the phone itself executed."""
    return int(setting.truth("inputs")["count"])
