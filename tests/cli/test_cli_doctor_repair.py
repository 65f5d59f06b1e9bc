"""`doctor --repair` by the real program: what a dead run left is put back, what ended phones left here is cleared."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import PhoneLink
from droidpilot.device.adb_server import is_orphan, private_servers_of, start_private_server
from droidpilot.device.keeper import Keeper
from droidpilot.device.kept import FOLDER, Change, ChangeList
from droidpilot.device.lease import Lease
from droidpilot.virtual.store import ADB_KEYBOARD, LATIN_IME
from tests.cli.cli_shell import Shell
from tests.cli.known_phone import virtual_phone
from tests.fakes.told_phone import told_phones

SCALE = ("global", "window_animation_scale")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def leave(shell: Shell, link: PhoneLink) -> None:
    """Change a keyboard and a setting as a run does that is killed before it can clean up."""
    clock = SystemClock()
    keeper = Keeper(shell.home, link, clock)
    keeper.switch_keyboard(ADB_KEYBOARD, Deadline.after(clock, 20))
    keeper.put_setting(*SCALE, "0", Deadline.after(clock, 20))


def change(
    serial: str, *, key: str = "default_input_method", before: str = LATIN_IME, ours: str = "ours/.Ime"
) -> Change:
    return Change(
        kind="keyboard" if key == "default_input_method" else "setting",
        namespace="secure",
        key=key,
        before=before,
        ours=(ours,),
        since="2026-01-01T00:00:00.000Z",
        pid=1,
        serial=serial,
    )


def repaired(shell: Shell, *words: str, code: int, port: int | None = None) -> list[dict[str, str]]:
    env = {"ANDROID_ADB_SERVER_PORT": str(port)} if port else {}
    done = shell.quick("doctor", "--repair", *words, "--json", **env)
    assert done.returncode == code, done.stdout + done.stderr
    document: Any = json.loads(done.stdout)
    assert document["exit_code"] == code
    checks: list[dict[str, str]] = document["checks"]
    assert {one["group"] for one in checks} <= {"left behind"}
    return checks


def codes(checks: list[dict[str, str]]) -> list[str]:
    return [one["code"] for one in checks]


def test_what_a_dead_run_left_is_told_and_put_back_and_then_there_is_nothing(shell: Shell) -> None:
    with told_phones({}) as no_phones, virtual_phone(shell) as (phone, link):
        leave(shell, link)
        settings = phone.phone.settings
        assert settings.get("secure", "default_input_method") == ADB_KEYBOARD
        told = shell.json("doctor", "--device", phone.serial, ANDROID_ADB_SERVER_PORT=str(no_phones.port))
        behind = [one for one in told["checks"] if one["code"] == "left_behind.changed"]
        assert {one["serial"] for one in behind} == {phone.serial}
        assert all(one["level"] == "warn" and one["next_step"] == "run: droidpilot doctor --repair" for one in behind)
        assert any("secure/default_input_method" in one["text"] and LATIN_IME in one["text"] for one in behind)
        assert settings.get("secure", "default_input_method") == ADB_KEYBOARD, "a look repairs nothing"

        checks = repaired(shell, code=0, port=no_phones.port)
        assert set(codes(checks)) == {"repair.restored"} and len(checks) == len(behind)
        assert settings.get("secure", "default_input_method") == LATIN_IME
        assert settings.get("secure", "enabled_input_methods") == LATIN_IME
        assert settings.get(*SCALE) == "1.0"
        assert codes(repaired(shell, code=0, port=no_phones.port)) == ["repair.nothing"]
        assert phone.phone.inputs.count == 0


def test_only_the_phone_that_is_named_is_repaired(shell: Shell) -> None:
    with (
        told_phones({}) as none,
        virtual_phone(shell, seed=1) as (one, link),
        virtual_phone(shell, seed=2) as (two, other),
    ):
        leave(shell, link)
        leave(shell, other)
        checks = repaired(shell, "--device", one.serial, code=0, port=none.port)
        assert {check["serial"] for check in checks} == {one.serial}
        assert one.phone.settings.get("secure", "default_input_method") == LATIN_IME
        assert two.phone.settings.get("secure", "default_input_method") == ADB_KEYBOARD
        repaired(shell, code=0, port=none.port)
        assert two.phone.settings.get("secure", "default_input_method") == LATIN_IME


def test_two_phones_with_one_id_are_each_put_back(shell: Shell) -> None:
    with told_phones({}) as none, virtual_phone(shell) as (one, link), virtual_phone(shell) as (two, other):
        leave(shell, link)
        leave(shell, other)
        repaired(shell, code=0, port=none.port)
        for phone in (one, two):
            assert phone.phone.settings.get("secure", "default_input_method") == LATIN_IME
            assert phone.phone.settings.get(*SCALE) == "1.0"
        assert codes(repaired(shell, code=0, port=none.port)) == ["repair.nothing"]


def test_a_phone_that_is_away_is_exit_3_and_stays_listed(shell: Shell) -> None:
    ChangeList(shell.home, "R5GONE").put(change("R5GONE"))
    for _ in range(2):
        with told_phones({"R5OTHER": "device", "R5GONE": "unauthorized"}) as told:
            checks = repaired(shell, code=3, port=told.port)
            assert not [command for serial, command in told.commands if serial == "R5OTHER" and "put" in command]
        assert codes(checks) == ["repair.away"]
        assert "R5GONE" in checks[0]["text"] and "attach it" in checks[0]["next_step"]


def test_what_the_phone_does_not_let_be_put_back_is_exit_1(shell: Shell) -> None:
    ChangeList(shell.home, "R5CT").put(change("R5CT1", key="some_setting", before="mine", ours="ours"))
    answers = {
        "getprop ro.serialno": "R5CT\n",
        "settings get secure some_setting": "ours\n",
        "settings put secure some_setting mine": "java.lang.SecurityException: Permission denial\n",
    }
    with told_phones({"R5CT1": "device"}, answers) as told:
        checks = repaired(shell, code=1, port=told.port)
    assert codes(checks) == ["repair.failed"]
    assert "secure/some_setting" in checks[0]["text"] and checks[0]["next_step"]


def test_a_phone_that_came_back_under_another_serial_is_found_by_its_own_id(shell: Shell) -> None:
    ChangeList(shell.home, "R5CT").put(change("192.168.1.7:40001", key="some_setting", before="mine", ours="ours"))
    answers = {"getprop ro.serialno": "R5CT\n", "settings get secure some_setting": "mine\n"}
    with told_phones({"192.168.1.7:49999": "device"}, answers) as told:
        assert codes(repaired(shell, code=0, port=told.port)) == ["repair.already"]
        assert codes(repaired(shell, code=0, port=told.port)) == ["repair.nothing"]


def test_a_phone_that_a_session_holds_is_left_alone(shell: Shell) -> None:
    with told_phones({}) as none, virtual_phone(shell) as (phone, link):
        leave(shell, link)
        with Lease.take(shell.home, phone.serial, clock=SystemClock()):
            assert codes(repaired(shell, code=0, port=none.port)) == ["repair.nothing"]
        assert phone.phone.settings.get("secure", "default_input_method") == ADB_KEYBOARD


def test_a_list_that_cannot_be_read_is_told_and_is_exit_1(shell: Shell) -> None:
    (shell.home / FOLDER).mkdir(parents=True)
    (shell.home / FOLDER / "x.json").write_text("{")
    with told_phones({}) as told:
        found = shell.json("doctor", ANDROID_ADB_SERVER_PORT=str(told.port))["checks"]
        assert [one["level"] for one in found if one["code"] == "left_behind.unreadable"] == ["warn"]
        assert codes(repaired(shell, code=1, port=told.port)) == ["repair.unreadable"]


def test_what_was_changed_on_a_virtual_phone_ends_with_it(shell: Shell) -> None:
    with virtual_phone(shell) as (_, link):
        leave(shell, link)
    with told_phones({}) as told:
        assert (
            {"repair.ended"}
            <= set(codes(repaired(shell, code=0, port=told.port)))
            <= {"repair.ended", "leftovers.files"}
        )
        assert codes(repaired(shell, code=0, port=told.port)) == ["repair.nothing"]


def test_files_of_ended_virtual_phones_go_and_those_of_running_ones_stay(shell: Shell) -> None:
    leases, notes = shell.home / "leases", shell.home / "adb" / ".android"
    with told_phones({}) as told, virtual_phone(shell) as (running, _):
        for serial in ("127.0.0.1:40001", "R5CT1", running.serial):
            Lease.take(shell.home, serial, clock=SystemClock()).release()
        (notes / "adb.40002").touch()
        held = Lease.take(shell.home, "127.0.0.1:40003", clock=SystemClock())
        checks = repaired(shell, code=0, port=told.port)
        assert [one["text"] for one in checks if one["code"] == "leftovers.files"] == [
            "removed 2 files of virtual phones that have ended"
        ]
        left = {path.name.partition("-")[0] for path in leases.glob("*.lock")} - {"door.lock"}
        assert left == {"R5CT1", running.serial.replace(":", "_"), "127.0.0.1_40003"}
        assert [path.name for path in notes.glob("adb.*")] != [] and not (notes / "adb.40002").exists()
        held.release()


def test_a_virtual_phone_that_ends_leaves_no_files_of_its_own(shell: Shell) -> None:
    with told_phones({}) as told, shell.serving("virtual", "start") as (process, serial):
        assert shell.quick("doctor", "--device", serial, ANDROID_ADB_SERVER_PORT=str(told.port)).returncode == 0
        assert list((shell.home / "leases").glob("*.lock"))
        process.send_signal(signal.SIGTERM)
        process.wait(20)
        assert {path.name for path in (shell.home / "leases").iterdir()} <= {"door.lock"}
        assert not list((shell.home / "adb" / ".android").glob("adb.*"))


def test_a_private_server_without_owner_is_ended_and_one_with_an_owner_is_named(shell: Shell) -> None:
    code = (
        "import os, sys, pathlib\nfrom droidpilot.core.clock import SystemClock\n"
        "from droidpilot.device.adb_server import start_private_server\n"
        "private = start_private_server(pathlib.Path(sys.argv[1]), SystemClock())\n"
        "print(private.pid, flush=True)\nos._exit(0)\n"
    )
    folder = shell.home / "adb"
    folder.mkdir(parents=True)
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, check=True, timeout=60
    )
    orphan = int(done.stdout)
    owned = start_private_server(folder, SystemClock())
    try:
        assert is_orphan(orphan) and not is_orphan(owned.pid)
        with told_phones({}) as told:
            checks = repaired(shell, code=0, port=told.port)
        by_code = {one["code"]: one for one in checks}
        assert str(orphan) in by_code["leftovers.ended"]["text"]
        assert f"kill {owned.pid}" in by_code["leftovers.server"]["next_step"]
        os.kill(owned.pid, 0)
        end = time.monotonic() + 10
        while dict(private_servers_of(folder)).get(orphan) is not None and time.monotonic() < end:
            time.sleep(0.02)
        assert [pid for pid, _ in private_servers_of(folder)] == [owned.pid]
    finally:
        owned.stop()


def test_nothing_to_repair_is_one_line_and_exit_0(shell: Shell) -> None:
    done = shell.quick("doctor", "--repair", ANDROID_ADB_SERVER_PORT="1")
    assert done.returncode == 0, done.stderr
    assert [line[:12] for line in done.stdout.splitlines()] == ["      what e", "ok    repair"]
    assert "no phone was left changed" in done.stdout
