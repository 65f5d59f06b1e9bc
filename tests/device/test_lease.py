"""Lease: one holder per serial on this machine, whatever becomes of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import DeviceBusy, UsageError
from droidpilot.device.lease import Lease, file_name, forget_lease, holder_of

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


# the phone itself, whatever it is called


def test_field_35_one_phone_under_two_serials_is_held_once(tmp_path: Path) -> None:
    clock = ManualClock()
    with Lease.take(tmp_path, "R5AA", clock=clock, session="on the cable") as cable:
        cable.add_phone("R5AA")
        network = Lease.take(tmp_path, "10.0.0.7:41234", clock=clock)
        with network, pytest.raises(DeviceBusy) as caught:
            network.add_phone("R5AA")
        assert "10.0.0.7:41234" in str(caught.value) and "as R5AA by process" in str(caught.value)
        assert "session on the cable" in str(caught.value)
    with Lease.take(tmp_path, "10.0.0.7:41234", clock=clock) as network:
        network.add_phone("R5AA")


def test_a_holder_that_is_suspended_keeps_it_and_one_that_is_dead_has_lost_it(tmp_path: Path) -> None:
    holder = start_holder(tmp_path, "R5AA")
    try:
        holder.send_signal(signal.SIGSTOP)
        clock = ManualClock()
        clock.advance(30 * 24 * 3600)  # age proves nothing
        with pytest.raises(DeviceBusy):
            Lease.take(tmp_path, "R5AA", clock=clock)
        held_by = holder_of(tmp_path, "R5AA")
        assert held_by is not None and (held_by.pid, held_by.session) == (holder.pid, "s-other")
    finally:
        end(holder)
    assert holder_of(tmp_path, "R5AA") is None
    Lease.take(tmp_path, "R5AA", clock=ManualClock()).release()


def test_looking_who_holds_a_phone_never_takes_it(tmp_path: Path) -> None:
    assert holder_of(tmp_path, "R5AA") is None
    assert not (tmp_path / "leases").exists()
    with Lease.take(tmp_path, "10.0.0.7:5", clock=ManualClock()) as lease:
        lease.add_phone("R5AA")
        held_by = holder_of(tmp_path, "R5AA")
        assert held_by is not None and held_by.serial == "10.0.0.7:5", "the same phone on its cable"
    assert holder_of(tmp_path, "R5AA") is None


def test_an_owner_whose_number_another_process_has_now_holds_nothing(tmp_path: Path) -> None:
    with Lease.take(tmp_path, "R5AA", clock=ManualClock()):
        path = tmp_path / "leases" / f"{file_name('R5AA')}.json"
        told = json.loads(path.read_text())
        assert holder_of(tmp_path, "R5AA") is not None
        path.write_text(json.dumps({**told, "pid_started": 1}))
        assert holder_of(tmp_path, "R5AA") is None


def test_the_lock_of_an_ended_phone_is_removed_but_never_from_under_a_holder(tmp_path: Path) -> None:
    Lease.take(tmp_path, "127.0.0.1:40001", clock=ManualClock()).release()
    with Lease.take(tmp_path, "127.0.0.1:40002", clock=ManualClock()):
        for serial in ("127.0.0.1:40001", "127.0.0.1:40002", "never seen"):
            forget_lease(tmp_path, serial)
        names = {path.name for path in (tmp_path / "leases").iterdir()}
        assert f"{file_name('127.0.0.1:40002')}.lock" in names
        assert not [name for name in names if name.startswith(file_name("127.0.0.1:40001"))]
        with pytest.raises(DeviceBusy):
            Lease.take(tmp_path, "127.0.0.1:40002", clock=ManualClock())
    forget_lease(tmp_path, "127.0.0.1:40002")
    assert {path.name for path in (tmp_path / "leases").iterdir()} == {"door.lock"}
