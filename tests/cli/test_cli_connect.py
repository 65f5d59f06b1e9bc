"""`connect`, `disconnect`, `pair` and what `devices` tells of the network, against a stand-in adb server."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from droidpilot.cli import qr
from droidpilot.core.clock import SystemClock
from droidpilot.core.errors import UsageError
from droidpilot.device.lease import Lease
from tests.cli.cli_shell import COMMAND, Shell
from tests.fakes.stand_in_adb import StandInAdb, served

READY = {"10.0.0.7:5555": "device"}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def on(adb: StandInAdb) -> dict[str, Any]:
    return {"ANDROID_ADB_SERVER_PORT": str(adb.port)}


def test_connect_shows_the_line_of_the_phone_and_says_if_it_was_connected(shell: Shell) -> None:
    with served(StandInAdb(listening=dict(READY))) as adb:
        done = shell.quick("connect", "10.0.0.7", **on(adb))
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[1].split() == ["10.0.0.7:5555", "ready", "tcp", "Pixel", "9"]
        assert "connected to 10.0.0.7:5555" in done.stderr and "already" not in done.stderr
        assert "already connected to" in shell.quick("connect", "10.0.0.7:5555", **on(adb)).stderr
        told = shell.json("connect", "10.0.0.7", **on(adb))
    assert (told["serial"], told["is_ready"], told["was_connected"], told["moved_from"]) == (
        "10.0.0.7:5555",
        True,
        True,
        None,
    )


def test_connect_follows_a_port_that_changed_and_says_so(shell: Shell) -> None:
    adb = StandInAdb(listening={"10.0.0.7:41234": "device"})
    adb.announce("adb-R5AA-x", "connect", "10.0.0.7:41234")
    with served(adb):
        done = shell.quick("connect", "10.0.0.7:37123", **on(adb))
        assert shell.json("connect", "R5AA", **on(adb))["serial"] == "10.0.0.7:41234"
    assert done.returncode == 0 and "the phone announces 10.0.0.7:41234" in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "part"),
    [
        (("connect", "10.0.0.9"), 3, "Connection refused"),
        (("connect", "10.0.0.8"), 3, "Allow USB debugging"),
        (("connect", "http://10.0.0.7"), 2, "HOST:PORT"),
        (("disconnect", "10.0.0.9"), 3, "no phone '10.0.0.9:5555' is connected"),
        (("pair",), 2, "--qr"),
        (("pair", "10.0.0.7"), 2, "port is missing"),
        (("pair", "10.0.0.7:1"), 2, "pairing code is missing"),
        (("pair", "10.0.0.7:1", "12"), 2, "six digits"),
        (("pair", "10.0.0.7:1", "123456"), 3, "was not paired"),
    ],
)
def test_what_goes_wrong_is_one_line_and_an_exit_code(
    shell: Shell, words: tuple[str, ...], code: int, part: str
) -> None:
    with served(StandInAdb(listening={"10.0.0.8:5555": "auth"})) as adb:
        done = shell.quick(*words, **on(adb))
    assert done.returncode == code and part in done.stderr, done.stderr
    assert done.stderr.count("droidpilot: ") == 1 and done.stdout == ""


def test_disconnect_lets_go_by_the_name_of_devices(shell: Shell) -> None:
    with served(StandInAdb(phones=dict(READY))) as adb:
        assert shell.json("disconnect", "10.0.0.7", **on(adb)) == {"serial": "10.0.0.7:5555", "is_connected": False}
    assert adb.phones == {}


def test_pair_by_code_connects_to_where_the_phone_announces_itself(shell: Shell) -> None:
    codes = {"10.0.0.7:40001": ("123456", "adb-R5AA-x", "10.0.0.7:41234")}
    with served(StandInAdb(listening={"10.0.0.7:41234": "device"}, codes=codes)) as adb:
        done = shell.quick("pair", "10.0.0.7:40001", "123456", **on(adb))
    assert done.returncode == 0, done.stderr
    assert "paired with adb-R5AA-x" in done.stderr and "10.0.0.7:41234" in done.stdout
    assert "123456" not in done.stdout + done.stderr


def test_a_code_that_is_asked_for_is_not_echoed_and_is_in_no_process_arguments(shell: Shell) -> None:
    codes = {"10.0.0.7:40001": ("482913", "adb-R5AA-x", "10.0.0.7:41234")}
    with served(StandInAdb(listening={"10.0.0.7:41234": "device"}, codes=codes)) as adb:
        ours, theirs = pty.openpty()
        process = subprocess.Popen(
            [COMMAND, "pair", "10.0.0.7:40001"],
            cwd=shell.cwd,
            env=shell.environment(**on(adb)),
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown = bytearray()
        typed = threading.Event()

        def read() -> None:
            try:
                while piece := os.read(ours, 4096):
                    shown.extend(piece)
                    if b"code that the phone shows" in shown and not typed.is_set():
                        typed.set()
                        os.write(ours, b"482913\n")
            except OSError:
                pass

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        assert process.wait(60) == 0, shown.decode()
        reader.join(5)
        os.close(ours)
    assert typed.is_set() and b"482913" not in shown
    assert "host:pair:482913:10.0.0.7:40001" in adb.asked


def test_devices_names_who_announces_itself_and_how_to_reach_it(shell: Shell) -> None:
    adb = StandInAdb(phones={"R5AA": "device", "10.0.0.8:5000": "device"})
    adb.announce("adb-R5AA-x", "connect", "10.0.0.7:41234")  # on the cable already
    adb.announce("adb-Q9-y", "connect", "10.0.0.8:5000")  # connected already
    adb.announce("adb-Z1-z", "connect", "10.0.0.9:37000")
    adb.announce("adb-NEW-z", "pairing", "10.0.0.4:40000")
    with served(adb):
        done = shell.quick("devices", **on(adb))
        told = shell.json("devices", **on(adb))["announced"]
    assert "droidpilot connect 10.0.0.9:37000" in done.stderr
    assert "droidpilot pair 10.0.0.4:40000" in done.stderr
    assert "10.0.0.7:41234" not in done.stderr and "10.0.0.8" not in done.stderr
    assert [one["address"] for one in told] == ["10.0.0.9:37000", "10.0.0.4:40000"]


def test_devices_says_who_holds_a_phone(shell: Shell) -> None:
    with served(StandInAdb(phones={"R5AA": "device", "Q9": "device"})) as adb:
        assert "HELD BY" not in shell.quick("devices", **on(adb)).stdout
        with Lease.take(shell.home, "R5AA", clock=SystemClock(), session="s-1"):
            done = shell.quick("devices", **on(adb))
            told = shell.json("devices", **on(adb))["devices"]
        assert shell.json("devices", **on(adb))["devices"][0]["held_by"] is None
    assert f"process {os.getpid()} since" in done.stdout and "session s-1" in done.stdout
    assert (told[0]["held_by"]["pid"], told[0]["held_by"]["session"]) == (os.getpid(), "s-1")
    assert told[1]["held_by"] is None


# the QR code


def test_without_the_library_the_next_step_is_said(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "segno", None)  # as where it is not installed
    with pytest.raises(UsageError) as caught:
        qr.matrix_of("x")
    assert "droidpilot[qr]" in caught.value.hint and "droidpilot pair HOST:PORT" in caught.value.hint
    with served(StandInAdb()) as adb:
        done = shell.quick("pair", "--qr", **on(adb))
    assert done.returncode == 2 and "droidpilot[qr]" in done.stderr and adb.asked == []


def test_the_library_makes_a_code_with_its_three_corners_and_room_around_it() -> None:
    matrix = qr.matrix_of("WIFI:T:ADB;S:studio-abc;P:0123456789;;")
    size, edge = len(matrix), qr.QUIET
    assert all(len(row) == size for row in matrix) and (size - 2 * edge - 17) % 4 == 0
    assert not any(matrix[0]) and not any(row[0] for row in matrix)
    corner = [[True] * 7, [True, *[False] * 5, True]]
    for top, left in ((edge, edge), (edge, size - edge - 7), (size - edge - 7, edge)):
        assert [matrix[top + row][left : left + 7] for row in range(2)] == corner


def test_a_code_is_drawn_two_modules_to_a_character() -> None:
    dark, light = True, False
    matrix = [[dark, light, dark, light], [dark, dark, light, light], [light, dark, light, dark]]
    assert list(qr.lines_of(matrix)) == [" ▀▄█", "█▄█▄"]
    assert list(qr.lines_of(matrix, is_terminal_light=True)) == ["█▄▀ ", " ▀ ▀"]


def test_a_phone_that_is_named_but_not_connected_is_told_where_it_announces_itself(shell: Shell) -> None:
    adb = StandInAdb(phones={"R5AA": "device"})
    adb.announce("adb-Q9-x", "connect", "10.0.0.7:41234")
    with served(adb):
        for device in ("Q9", "10.0.0.7:37123"):
            done = shell.quick("look", "--device", device, **on(adb))
            assert done.returncode == 3 and "connect 10.0.0.7:41234" in done.stderr, done.stderr
        assert "connect 10" not in shell.quick("look", "--device", "other", **on(adb)).stderr
