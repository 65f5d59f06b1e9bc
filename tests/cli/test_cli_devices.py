"""`devices` against an adb server that knows phones of every kind, played by a few lines of its protocol."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from droidpilot.device.lease import file_name
from tests.cli.cli_shell import Shell
from tests.fakes.stand_in_adb import StandInAdb, served
from tests.fakes.told_phone import told_phones

PHONES = {"ABC123": "device", "LOCKED1": "unauthorized", "DEAF 2": "offline", "emulator-5600": "device"}


@contextmanager
def adb_server(phones: dict[str, str]) -> Iterator[tuple[int, list[str]]]:
    """Answer `host:` questions as adb does; give the port and what was asked."""
    asked: list[str] = []
    listener = socket.create_server(("127.0.0.1", 0))
    short = "".join(f"{serial}\t{state}\n" for serial, state in phones.items())
    long = "".join(f"{serial.ljust(22)} {state} model:Pixel_9\n" for serial, state in phones.items())
    answers = {"host:version": "0029", "host:devices": short, "host:devices-l": long}

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                words = stream.read(int(stream.read(4), 16)).decode()
                asked.append(words)
                answer = answers.get(words, "").encode()
                connection.sendall(b"OKAY" + f"{len(answer):04x}".encode() + answer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1], asked
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_each_phone_that_is_not_ready_gets_its_next_step(shell: Shell) -> None:
    with told_phones(PHONES) as server:
        done = shell.quick("devices", ANDROID_ADB_SERVER_PORT=str(server.port))
        asked = set(server.services)
        told = shell.json("devices", DROIDPILOT_ADB_PORT=str(server.port))["devices"]
    assert done.returncode == 0, done.stderr
    assert [line.split("  ")[0] for line in done.stdout.splitlines()] == ["SERIAL", *PHONES]
    assert "LOCKED1 is unauthorized: unlock the phone" in done.stderr
    assert "DEAF 2 is offline: unplug it" in done.stderr
    assert "ABC123 is" not in done.stderr
    assert {one["serial"]: one["is_ready"] for one in told} == {
        serial: state == "device" for serial, state in PHONES.items()
    }
    assert told[1]["next_step"]
    # The server was asked and nothing else: not started, not restarted, not told to end.
    assert asked <= {"host:version", "host:devices", "host:devices-l", "host:mdns:services"}
    # With --json the phones that are ready, and they alone, are asked for their card.
    reached = {words for words in server.services if words.startswith("host:tport:")}
    assert reached == {f"host:tport:serial:{serial}" for serial in ("ABC123", "emulator-5600")}
    assert not {words for words in server.services if words.startswith("host:") and "kill" in words}


def test_several_phones_and_no_serial_is_exit_3_and_names_them(shell: Shell) -> None:
    with adb_server(PHONES) as (port, _):
        done = shell.quick("look", ANDROID_ADB_SERVER_PORT=str(port))
        assert done.returncode == 3
        assert "ABC123" in done.stderr and "emulator-5600" in done.stderr and "--device" in done.stderr
        done = shell.quick("look", "--device", "LOCKED1", ANDROID_ADB_SERVER_PORT=str(port))
        assert done.returncode == 3
        assert "unlock the phone" in done.stderr


def test_no_phone_at_all_says_what_to_try(shell: Shell) -> None:
    with adb_server({}) as (port, _):
        done = shell.quick("devices", ANDROID_ADB_SERVER_PORT=str(port))
        assert (done.returncode, done.stdout) == (0, "")
        assert "droidpilot virtual start" in done.stderr
        done = shell.quick("call", "press", "key=home", ANDROID_ADB_SERVER_PORT=str(port))
        assert done.returncode == 3
        assert "--device virtual" in done.stderr


@pytest.mark.parametrize(
    "owner", ["[" * 4000, '{"pid": 1e999, "since": "x", "session": ""}', '{"pid": 1' + "0" * 300 + "}"]
)
@pytest.mark.parametrize("folder", ["leases", "refs", "changed", "virtual"])
def test_a_state_file_that_somebody_wrote_over_is_no_bug(shell: Shell, folder: str, owner: str) -> None:
    name = "phone-40001.json" if folder == "virtual" else f"{file_name('ABC123')}.json"
    (shell.home / folder).mkdir(parents=True)
    (shell.home / folder / name).write_text(owner.replace('"x"', '"x", "serial": "s", "port": 1, "token": "t"'))
    with told_phones(PHONES) as server:
        for command in ("devices", "look", "doctor"):
            words = (command, "--device", "ABC123") if command == "look" else (command,)
            done = shell.quick(*words, ANDROID_ADB_SERVER_PORT=str(server.port))
            assert done.returncode in (0, 3) and "our bug" not in done.stderr, done.stderr


def test_a_phone_of_the_network_that_is_offline_has_no_cable_to_unplug(shell: Shell) -> None:
    with served(StandInAdb(phones={"192.168.1.7:5555": "offline"})) as server:
        done = shell.quick("devices", ANDROID_ADB_SERVER_PORT=str(server.port))
    assert "connect it again" in done.stderr and "plug" not in done.stderr
