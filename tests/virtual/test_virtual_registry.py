"""The registry of running phones, the control port, and a phone in a process of its own."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from droidpilot.core.errors import DeviceLost, DeviceUnavailable, UsageError
from droidpilot.virtual import registry
from droidpilot.virtual.server import PhoneServer, running_phone
from droidpilot.virtual.wire.listening import EMULATOR_PORTS

GONE = 2**22 - 3
"""No process has this id: it is above the kernel's default limit of ids on small machines, and asked for below."""


def made_entry(**changes: object) -> registry.Entry:
    entry = registry.Entry("127.0.0.1:40001", 40001, os.getpid(), registry.process_started(os.getpid()), 3, 1, "t")
    return dataclasses.replace(entry, **changes)  # type: ignore[arg-type] # any field, by name


def test_an_entry_is_kept_privately_and_read_back(tmp_path: Path) -> None:
    registry.register(tmp_path, made_entry())
    (path,) = (tmp_path / "virtual").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert registry.entries(tmp_path) == [made_entry()]
    assert registry.find(tmp_path, "127.0.0.1:40001") == made_entry()
    registry.remove(tmp_path, made_entry())
    assert registry.entries(tmp_path) == []


def test_an_entry_is_dead_when_its_process_is_gone_or_another_one(tmp_path: Path) -> None:
    assert made_entry().is_alive
    assert not made_entry(pid=GONE).is_alive
    assert not made_entry(pid_started=1).is_alive
    registry.register(tmp_path, made_entry(pid_started=1))
    assert [entry.is_alive for entry in registry.entries(tmp_path)] == [False]
    with pytest.raises(DeviceUnavailable, match="no virtual phone"):
        registry.find(tmp_path, "127.0.0.1:40001")


def test_a_process_that_only_waits_to_be_noticed_is_dead() -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    entry = made_entry(pid=process.pid, pid_started=registry.process_started(process.pid))
    assert entry.is_alive
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)  # it has ended; nobody has asked for its exit code
    assert not entry.is_alive
    process.wait()


def test_an_entry_of_another_process_on_the_same_port_is_not_removed(tmp_path: Path) -> None:
    registry.register(tmp_path, made_entry())
    registry.remove(tmp_path, made_entry(pid=GONE))
    assert len(registry.entries(tmp_path)) == 1


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"serial": 1}', "x" * 20_000, '{"serial": "a", "port": "b"}'])
def test_a_file_that_is_no_entry_is_passed_over(tmp_path: Path, text: str) -> None:
    registry.register(tmp_path, made_entry())
    (tmp_path / "virtual" / "phone-1.json").write_text(text)
    assert registry.entries(tmp_path) == [made_entry()]


def test_the_private_adb_server_is_known_to_the_entry() -> None:
    assert not made_entry().is_adb_alive
    assert made_entry(adb_pid=os.getpid()).is_adb_alive
    assert not made_entry(adb_pid=os.getpid(), adb_pid_started=1).is_adb_alive


def test_the_state_is_told_to_who_knows_the_token_only(tmp_path: Path) -> None:
    with running_phone(home=tmp_path, seed=9) as vp:
        entry = registry.find(tmp_path, vp.serial)
        assert registry.ask(entry, "state")["seed"] == 9
        with pytest.raises(DeviceUnavailable):
            registry.ask(dataclasses.replace(entry, token="wrong"), "state")
        with pytest.raises(DeviceUnavailable):
            registry.ask(entry, "nothing")
    assert registry.entries(tmp_path) == []
    with pytest.raises(DeviceLost):
        registry.ask(entry, "state")


@pytest.mark.parametrize("line", [b"\n", b"nonsense\n", b"[]\n", b'{"token": 1}\n', b"[" * 50_000 + b"\n"])
def test_the_control_port_answers_nonsense_with_an_error(line: bytes) -> None:
    with (
        running_phone() as vp,
        socket.create_connection(("127.0.0.1", vp.entry.control_port), timeout=5) as connection,
    ):
        connection.sendall(line)
        assert json.loads(connection.makefile().readline())["ok"] is False


def test_the_phone_never_listens_where_adb_looks_for_emulators() -> None:
    for port in (5554, 5555, 5585):
        with pytest.raises(UsageError, match="5554"), running_phone(port=port):
            pass
    with running_phone() as vp:
        assert vp.port not in EMULATOR_PORTS
        with pytest.raises(UsageError, match="taken"), running_phone(port=vp.port):
            pass


SERVE = """
import dataclasses, sys
from pathlib import Path
from droidpilot.virtual.server import PhonePlan, serve

def ready(entries):
    return [dataclasses.replace(entry, adb_port=1234) for entry in entries]

def served(entries):
    sys.stdout.write(entries[0].serial + "\\n")
    sys.stdout.flush()

serve(Path(sys.argv[1]), [PhonePlan(seed=4)], on_ready=ready, on_served=served)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_phone_in_its_own_process_serves_until_a_signal_and_unregisters(tmp_path: Path, number: int) -> None:
    command = [sys.executable, "-c", SERVE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        serial = process.stdout.readline().strip()
        entry = registry.find(tmp_path, serial)
        assert registry.ask(entry, "state")["seed"] == 4
        process.send_signal(number)
        assert process.wait(10) == 0
    assert registry.entries(tmp_path) == []


def test_a_phone_that_was_killed_is_dead_in_the_registry(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SERVE, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.kill()
        process.wait(10)
    (entry,) = registry.entries(tmp_path)
    assert not entry.is_alive


def test_what_breaks_after_the_start_is_raised_to_who_uses_the_phone(monkeypatch: pytest.MonkeyPatch) -> None:
    close = PhoneServer.close

    async def broken(server: PhoneServer) -> None:
        await close(server)
        raise OSError("the port was taken away")

    monkeypatch.setattr(PhoneServer, "close", broken)
    with pytest.raises(OSError, match="taken away"), running_phone():
        pass
