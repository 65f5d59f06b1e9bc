"""What a doctor reads of adb and of a phone, and that it leaves the in-phone server as it found it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceError, DeviceLost
from droidpilot.device import rpc
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.adb_programs import adb_program
from droidpilot.device.adb_server import private_servers_of, start_private_server
from droidpilot.device.android import AndroidDriver
from droidpilot.device.doctor import read_phone, try_server
from droidpilot.virtual.server import VirtualPhone

Within = Callable[[float], Deadline]


def is_running(adb: AdbServer, serial: str, deadline: Deadline) -> bool:
    try:
        return rpc.get(PhoneLink(adb, serial), "/ping", deadline) == b"pong"
    except DeviceError:
        return False


def test_the_adb_program_tells_its_version() -> None:
    program = adb_program()
    assert Path(program.path).is_file()
    assert program.internal == 41 and program.release


@pytest.mark.parametrize("content", [None, "#!/bin/sh\nexit 1\n", "no program"])
def test_an_adb_program_that_does_not_run_is_an_error_with_a_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    binary = tmp_path / "adb"
    if content is not None:
        binary.write_text(content)
        binary.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(binary))
    with pytest.raises(DeviceError) as caught:
        adb_program()
    assert str(binary) in caught.value.message and caught.value.hint


def test_a_phone_is_read_without_starting_anything_on_it(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    facts = read_phone(adb, phone.serial, SystemClock())
    assert (facts.sdk, facts.release) == (34, "14")
    assert facts.keyboard == "com.android.inputmethod.latin/.LatinIME"
    assert facts.accessibility == () and not facts.is_jar_there
    assert not is_running(adb, phone.serial, within(5))


def test_a_server_that_was_started_for_the_question_is_stopped_again(
    adb: AdbServer, phone: VirtualPhone, within: Within
) -> None:
    told: list[str] = []
    answer = try_server(adb, phone.serial, SystemClock(), within(20), progress=told.append)
    assert answer.start_ms is not None and answer.ping_ms > 0
    assert any("copying" in text for text in told)
    assert not is_running(adb, phone.serial, within(5))
    assert read_phone(adb, phone.serial, SystemClock()).is_jar_there


def test_a_server_that_ran_before_is_only_asked(
    adb: AdbServer, phone: VirtualPhone, driver: AndroidDriver, within: Within
) -> None:
    answer = try_server(adb, phone.serial, SystemClock(), within(20))
    assert answer.start_ms is None
    assert is_running(adb, phone.serial, within(5))
    assert b"<hierarchy" in driver.dump(within(10))


def test_a_phone_that_is_not_there_is_an_error(adb: AdbServer, within: Within) -> None:
    with pytest.raises(DeviceError):
        read_phone(adb, "nosuch", SystemClock())
    with pytest.raises(DeviceError):
        try_server(adb, "nosuch", SystemClock(), within(5))


def test_private_servers_are_found_by_the_folder_of_their_keys(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    private = start_private_server(mine, SystemClock())
    try:
        assert private_servers_of(mine) == [(private.pid, private.port)]
        assert private_servers_of(other) == []
    finally:
        private.stop()
    assert private_servers_of(mine) == []
    assert os.getpid() not in dict(private_servers_of(mine))


def test_nothing_is_started_where_no_server_is(within: Within) -> None:
    with pytest.raises(DeviceLost):
        read_phone(AdbServer(1), "any", SystemClock())
