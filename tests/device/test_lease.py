"""Lease: one holder per serial on this machine, whatever becomes of it."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import DeviceBusy, UsageError
from droidpilot.device.lease import Lease, file_name

HOLDER = """
import sys, time
from pathlib import Path
from droidpilot.core.clock import SystemClock
from droidpilot.device.lease import Lease
lease = Lease.take(Path(sys.argv[1]), sys.argv[2], clock=SystemClock(), session="s-other")
print("held", flush=True)
sys.stdin.read()
"""


def start_holder(home: Path, serial: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(home), serial], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def test_a_second_process_is_refused_and_told_who_holds_it(tmp_path: Path) -> None:
    holder = start_holder(tmp_path, "emulator-5554")
    try:
        with pytest.raises(DeviceBusy) as caught:
            Lease.take(tmp_path, "emulator-5554", clock=ManualClock())
        assert f"process {holder.pid}" in str(caught.value)
        assert "session s-other" in str(caught.value)
        Lease.take(tmp_path, "emulator-5556", clock=ManualClock()).release()
    finally:
        end(holder)


def test_a_killed_holder_leaves_nothing_held(tmp_path: Path) -> None:
    holder = start_holder(tmp_path, "R5AA")
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with Lease.take(tmp_path, "R5AA", clock=ManualClock()):
        pass


def test_two_sessions_of_one_process_exclude_each_other(tmp_path: Path) -> None:
    first = Lease.take(tmp_path, "R5AA", clock=ManualClock(), session="one")
    with pytest.raises(DeviceBusy, match="session one"):
        Lease.take(tmp_path, "R5AA", clock=ManualClock())
    first.release()
    Lease.take(tmp_path, "R5AA", clock=ManualClock()).release()


def test_releasing_twice_does_not_take_it_from_the_next_holder(tmp_path: Path) -> None:
    first = Lease.take(tmp_path, "R5AA", clock=ManualClock())
    first.release()
    with Lease.take(tmp_path, "R5AA", clock=ManualClock()):
        first.release()
        with pytest.raises(DeviceBusy):
            Lease.take(tmp_path, "R5AA", clock=ManualClock())


def test_report_b20_serials_make_safe_file_names_that_never_collide() -> None:
    serials = [
        "adb-R5AA (2)._adb-tls-connect._tcp",
        "adb-R5AA_(2)._adb-tls-connect._tcp",
        "../../etc/passwd",
        "..",
        "a/b",
        "a:b",
    ]
    names = [file_name(serial) for serial in serials]
    assert len(set(names)) == len(serials)
    assert all("/" not in name and not name.startswith(".") for name in names)


def test_files_are_private(tmp_path: Path) -> None:
    with Lease.take(tmp_path, "R5AA", clock=ManualClock()):
        modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "leases").iterdir()}
    assert modes == {0o600}
    assert (tmp_path / "leases").stat().st_mode & 0o777 == 0o700


def test_a_damaged_owner_file_costs_only_the_name(tmp_path: Path) -> None:
    with Lease.take(tmp_path, "R5AA", clock=ManualClock()):
        (tmp_path / "leases" / f"{file_name('R5AA')}.json").write_bytes(b"\xff{")
        with pytest.raises(DeviceBusy, match="another process"):
            Lease.take(tmp_path, "R5AA", clock=ManualClock())


def test_a_folder_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "leases").write_text("a file where the folder should be")
    with pytest.raises(UsageError) as caught:
        Lease.take(tmp_path, "R5AA", clock=ManualClock())
    assert caught.value.code == "no_locks"
