"""`droidpilot virtual`: many phones, faults by name, the user's own adb server, and what is left behind: nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import AdbServer
from droidpilot.device.attached import AttachedDevice, list_devices
from droidpilot.device.fallback import connect
from droidpilot.device.lease import file_name
from droidpilot.virtual import registry
from droidpilot.virtual.registry import Entry
from tests.cli.cli_shell import Shell
from tests.cli.known_phone import virtual_phone
from tests.fakes.stand_in_adb import StandInAdb
from tests.fakes.stand_in_adb import served as served_adb


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def served(shell: Shell, *words: str, lines: int) -> tuple[subprocess.Popen[str], list[dict[str, Any]]]:
    process = shell.start("virtual", "start", "--json", *words)
    assert process.stdout is not None
    return process, [json.loads(process.stdout.readline()) for _ in range(lines)]


def ended(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 0


def test_many_phones_are_one_process_and_one_adb_server(shell: Shell) -> None:
    process, phones = served(shell, "--count", "3", "--seed", "7", lines=3)
    try:
        assert [one["seed"] for one in phones] == [7, 8, 9]
        assert len({one["serial"] for one in phones}) == 3
        assert {one["pid"] for one in phones} == {process.pid}
        assert len({one["adb_port"] for one in phones}) == 1
        for one in phones:
            assert shell.json("virtual", "state", one["serial"])["seed"] == one["seed"]
    finally:
        ended(process)
    assert not list((shell.home / "virtual").iterdir())


def test_faults_are_set_told_and_cleared(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", "--fault", "tap-lost@3", "--profile", "fast", lines=1)
    try:
        serial = phone["serial"]
        told = shell.json("virtual", "fault", serial, "--list")
        assert told["active"] == [{"name": "slow", "word": "fast"}]
        assert [(one["name"], one["at"], one["kind"]) for one in told["scheduled"]] == [("tap-lost", 3, "input")]
        told = shell.json("virtual", "fault", serial, "dump-error", "idle", "times=2")
        assert told["active"][-1] == {"name": "dump-error", "word": "idle", "left": 2}
        shell.json("virtual", "fault", serial, "drop@rpc:+5")
        assert shell.json("virtual", "state", serial)["faults"]["scheduled"][-1]["name"] == "drop"
        assert "dump-error" not in str(shell.json("virtual", "fault", serial, "dump-error", "--clear"))
        told = shell.json("virtual", "fault", serial, "--clear")
        assert told["active"] == told["scheduled"] == []
        assert "nothing is broken" in shell.quick("virtual", "fault", serial, "--list").stderr
    finally:
        ended(process)


def test_a_person_can_be_at_the_phone(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", lines=1)
    try:
        serial = phone["serial"]
        assert shell.quick("virtual", "do", serial, "rotate", "1").returncode == 0
        end = time.monotonic() + 10
        while time.monotonic() < end and shell.json("virtual", "state", serial)["display"]["rotation"] != 1:
            time.sleep(0.02)  # it turns after the usual delay, in another process
        assert shell.json("virtual", "state", serial)["display"]["rotation"] == 1
        done = shell.quick("virtual", "do", serial, "rotate", "9")
        assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1
        assert "known: " in shell.quick("virtual", "do", serial, "dance").stderr
        assert "rotate" in shell.quick("virtual", "actions").stdout
    finally:
        ended(process)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("virtual", "start", "--fault", "tap-lots"), "did you mean tap-lost"),
        (("virtual", "start", "--fault", "tap-lost@x"), "no call 'x'"),
        (("virtual", "start", "--fault", "drop,sideways"), "now|before|after|cut"),
        (("virtual", "start", "--profile", "ancient"), "fast|middling|old"),
        (("virtual", "start", "--auth", "maybe"), "none, accept, reject"),
        (("virtual", "fault", "127.0.0.1:1", "tap-lots"), "did you mean tap-lost"),
        (("virtual", "fault", "127.0.0.1:1"), "droidpilot virtual faults"),
    ],
)
def test_a_bad_word_is_a_line_with_what_there_is(shell: Shell, words: tuple[str, ...], said: str) -> None:
    done = shell.quick(*words)
    assert done.returncode == 2
    assert said in done.stderr and len(done.stderr.strip().splitlines()) == 1
    assert not list((shell.home / "virtual").glob("*"))


def test_every_fault_is_listed_on_a_line(shell: Shell) -> None:
    from droidpilot.virtual.faults.faults import FORMS

    done = shell.quick("virtual", "faults")
    assert [line.split()[0] for line in done.stdout.splitlines()[1:]] == list(FORMS)


def test_a_taken_port_is_a_usage_error(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", lines=1)
    try:
        done = shell.quick("virtual", "start", "--port", str(phone["port"]))
        assert done.returncode == 2 and "is taken" in done.stderr
    finally:
        ended(process)


def test_connect_joins_the_servers_of_the_user_and_starts_none(shell: Shell) -> None:
    done = shell.quick("virtual", "start", "--connect")
    assert done.returncode == 3 and "--connect starts none" in done.stderr
    shell.quick("devices")  # starts the user's
    try:
        process, phones = served(shell, "--connect", "--count", "2", lines=2)
        try:
            assert {one["adb_port"] for one in phones} == {shell.adb_port}
            listed = shell.json("devices")["devices"]
            assert {one["serial"] for one in listed} == {one["serial"] for one in phones}
            assert all(one["is_ready"] for one in listed)
        finally:
            ended(process)
        assert shell.json("devices")["devices"] == [], "disconnected, and the server still answers"
    finally:
        shell.end_adb_server()


def test_plain_state_uses_the_words_of_json(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", lines=1)
    try:
        lines = shell.quick("virtual", "state", phone["serial"]).stdout.splitlines()
        assert "screen_on = true" in lines and "toast = null" in lines and "faults.active = []" in lines
    finally:
        ended(process)


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="without a shell the next command ends the server")
def test_a_killed_phone_takes_its_adb_server_with_it(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", lines=1)
    entry = json.loads((shell.home / "virtual" / f"phone-{phone['port']}.json").read_text())
    process.kill()
    process.wait()
    end = time.monotonic() + 10
    while time.monotonic() < end and Path(f"/proc/{entry['adb_pid']}/cmdline").exists():
        if not Path(f"/proc/{entry['adb_pid']}/cmdline").read_bytes():
            break  # it ended, and only waits for its parent to hear of it
        time.sleep(0.02)
    else:
        with pytest.raises(ProcessLookupError):
            os.kill(entry["adb_pid"], 0)


@pytest.mark.parametrize("mode", ["accept", "reject"])
def test_a_phone_that_looks_at_keys_starts_whatever_it_makes_of_ours(shell: Shell, mode: str) -> None:
    with shell.serving("virtual", "start", "--auth", mode) as (_, serial):
        assert serial.startswith("127.0.0.1:")
        assert shell.json("virtual", "state", serial)["seed"] == 0


def test_a_start_that_fails_leaves_nothing_in_the_adb_server_of_the_user(shell: Shell) -> None:
    with served_adb(StandInAdb()) as told:
        done = shell.quick("virtual", "start", "--connect", ANDROID_ADB_SERVER_PORT=str(told.port))
    assert done.returncode == 3 and "adb cannot connect" in done.stderr
    assert told.asked[-1].startswith("host:disconnect:127.0.0.1:")


def test_a_killed_phone_is_forgotten_by_the_adb_server_of_the_user(shell: Shell) -> None:
    shell.quick("devices")  # starts it
    try:
        process, _ = served(shell, "--connect", "--count", "2", lines=2)
        process.kill()
        process.wait()
        _wait_until(lambda: not _attached(shell))
    finally:
        shell.end_adb_server()


def test_a_later_command_has_a_dead_phone_of_ours_forgotten(shell: Shell) -> None:
    def entry(serial: str, adb_port: int) -> Entry:
        return Entry(serial, int(serial.rpartition(":")[2]), 2**22 + 1, 1, 0, 1, "t", adb_port)

    phones = {"127.0.0.1:40001": "offline", "127.0.0.1:40002": "device", "192.168.1.7:5555": "offline"}
    with served_adb(StandInAdb(phones=phones)) as told:
        for serial in list(phones)[:2]:
            registry.register(shell.home, entry(serial, told.port))
        done = shell.quick("doctor", "--repair", ANDROID_ADB_SERVER_PORT=str(told.port))
    assert done.returncode == 0, done.stderr
    assert list(told.phones) == ["127.0.0.1:40002", "192.168.1.7:5555"], "one answers, one is not ours"


def _attached(shell: Shell) -> list[AttachedDevice]:
    return list_devices(AdbServer(shell.adb_port), Deadline.after(SystemClock(), 5))


def _wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)  # it happens in another process


@pytest.mark.parametrize("how", ["--connect", "own"])
def test_a_phone_that_ended_leaves_no_file(shell: Shell, how: str) -> None:
    shell.quick("devices")  # starts the user's adb server
    try:
        process, (phone,) = served(shell, "--count", "1", *([how] if how == "--connect" else []), lines=1)
        words = ("look", "--device", phone["serial"])
        assert shell.quick(*words, DROIDPILOT_ANIMATIONS="off").returncode == 0
        assert list((shell.home / "refs").iterdir()) and list((shell.home / "changed").iterdir())
        ended(process)
        assert _left(shell) == []
    finally:
        shell.end_adb_server()


def test_repair_removes_what_ended_phones_left(shell: Shell) -> None:
    for name in (
        f"refs/{file_name('127.0.0.1:40001')}.json",
        f"refs/{file_name('192.168.1.7:5555')}.json",
        f"changed/{file_name('VIRTUAL00000003')}.lock",
    ):
        (shell.home / name).parent.mkdir(parents=True, exist_ok=True)
        (shell.home / name).touch()
    assert "removed 2 files" in shell.quick("doctor", "--repair").stdout
    assert [path.name[:11] for path in _left(shell)] == ["192.168.1.7"]


def test_a_phone_of_another_state_folder_has_not_ended(shell: Shell, tmp_path: Path) -> None:
    with shell.serving("virtual", "start") as (_, serial):
        for words in (("look", "--device", serial), ("virtual", "state", serial)):
            done = shell.quick(*words, DROIDPILOT_HOME=str(tmp_path / "other"))
            assert done.returncode == 3 and f"no virtual phone {serial} in this state folder" in done.stderr
    shell.end_adb_server()


def _left(shell: Shell) -> list[Path]:
    return [path for name in ("refs", "changed") for path in (shell.home / name).glob("*")]


def test_what_a_person_does_is_refused_with_what_would_do(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", lines=1)
    try:
        serial = phone["serial"]
        assert shell.quick("virtual", "fault", serial, "--list").stdout == "", "nothing broken is no line"
        for words, said in {
            ("tap", "-5", "10"): "not a whole number from 0 on: '-5'",
            ("tap", "5", "99999"): "is not on the screen",
            ("set-lock", "pin"): "set-lock pin 1234",
        }.items():
            done = shell.quick("virtual", "do", serial, *words)
            assert done.returncode == 2 and said in done.stderr, done.stderr
        assert shell.json("virtual", "state", serial)["inputs"]["count"] == 0
    finally:
        ended(process)


def test_ports_that_do_not_suffice_are_told_with_the_reason(shell: Shell) -> None:
    done = shell.quick("virtual", "start", "--count", "2", "--port", "65535")
    assert done.returncode == 2 and "65535, the last there is" in done.stderr


def test_plain_state_is_a_line_for_each_value(shell: Shell) -> None:
    process, (phone,) = served(shell, "--count", "1", lines=1)
    try:
        shell.quick("virtual", "do", phone["serial"], "toast", "one\ntwo")
        lines = shell.quick("virtual", "state", phone["serial"]).stdout.splitlines()
        assert 'toast = "one\\ntwo"' in lines and all(" = " in line for line in lines)
    finally:
        ended(process)


def test_a_phone_that_does_not_trust_us_is_not_called_ready(shell: Shell) -> None:
    with shell.serving("virtual", "start", "--auth", "reject") as (_, serial):
        done = shell.quick("devices")
        assert f"{serial}  unauthorized" in done.stdout and "Allow USB debugging" in done.stderr
        assert shell.json("devices")["devices"][0]["is_ready"] is False
        assert f"{serial} (Virtual Phone, virtual) is ready" not in shell.quick("doctor").stdout
    shell.end_adb_server()


def test_a_phone_that_hangs_is_said_to_be_waited_for(shell: Shell) -> None:
    told: list[str] = []
    with virtual_phone(shell) as (running, link):
        running.phone.faults.set("hang", "4")
        deadline = Deadline.after(SystemClock(), 40)
        driver = connect(
            link.server, running.serial, clock=SystemClock(), deadline=deadline, note=told.append, progress=told.append
        )
        driver.close()
    assert told[0] == f"waiting for {running.serial} to answer"


def test_a_call_is_told_as_json(shell: Shell) -> None:
    with shell.serving("virtual", "start") as (_, serial):
        told = shell.json("call", "press", "key=home", "--device", serial)
        assert (told["tool"], told["status"], told["exit_code"]) == ("press", "ok", 0)
        shell.quick("call", "open_app", "app=Settings", "--device", serial)
        shell.quick("virtual", "fault", serial, "drop@input:+1", "after")
        done = shell.quick("call", "press", "key=home", "--device", serial)
        assert done.returncode == 0 and done.stdout.startswith("Done."), done.stderr
        assert "nobody knows" not in done.stderr
        assert shell.json("session", "actions", "list")["actions"] == []


def test_one_fault_is_told_with_its_arguments(shell: Shell) -> None:
    assert shell.quick("virtual", "faults", "hang").stdout.startswith("hang [now|before|after] [SECONDS]\n")
    done = shell.quick("virtual", "faults", "hong")
    assert done.returncode == 2 and "did you mean hang" in done.stderr
