"""adb server processes: ours alone, found again after a kill -9, and nobody else's."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceLost, DeviceTimeout
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import (
    FORBIDDEN_PORTS,
    PrivateServer,
    ensure_server,
    process_started,
    reap_private_server,
    start_private_server,
)
from droidpilot.device.adb_trouble import adb_binary

Within = Callable[[float], Deadline]

KILLED = """
import sys
from pathlib import Path
from droidpilot.core.clock import SystemClock
from droidpilot.device.adb_server import start_private_server
private = start_private_server(Path(sys.argv[1]), SystemClock())
print(private.pid, private.started, private.port, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def private(home: Path) -> Iterator[PrivateServer]:
    started = start_private_server(home, SystemClock())
    yield started
    started.stop()


def is_answering(server: AdbServer, deadline: Deadline) -> bool:
    try:
        return server.version(deadline) > 0
    except DeviceLost:
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def wait_until(is_so: Callable[[], bool], seconds: float = 5.0) -> bool:
    deadline = Deadline.after(SystemClock(), seconds)
    while not is_so() and not deadline.is_over():
        SystemClock().sleep(0.01)
    return is_so()


def test_a_private_server_is_up_quickly_and_gone_when_stopped(home: Path, within: Within) -> None:
    clock = SystemClock()
    started = clock.monotonic()
    private = start_private_server(home, clock)
    assert clock.monotonic() - started < 2.5, "3 s is what looking for USB costs"
    assert private.server.version(within(5)) >= 39
    assert private.port not in FORBIDDEN_PORTS
    private.stop()
    private.stop()
    assert not is_answering(private.server, within(5))


def test_a_private_server_keeps_its_files_in_its_home(private: PrivateServer, home: Path, within: Within) -> None:
    private.server.version(within(5))
    assert home.stat().st_mode & 0o777 == 0o700
    assert (home / "adb.log").exists() or any(home.iterdir())
    environ = Path(f"/proc/{private.pid}/environ")
    if environ.exists():
        words = environ.read_bytes().split(b"\0")
        assert f"HOME={home}".encode() in words and b"ADB_USB=0" in words
        assert b"ADB_LOCAL_TRANSPORT_MAX_PORT=5553" in words


def test_a_port_that_is_taken_is_a_typed_error(home: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(DeviceLost) as caught:
        start_private_server(home, SystemClock(), int(taken.getsockname()[1]))
    assert caught.value.code == "no_adb_server"


def test_a_server_left_by_a_killed_process_is_reaped_and_nothing_else(home: Path, within: Within) -> None:
    parent = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(home)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    pid, started, port = (int(word) for word in parent.stdout.readline().split())
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    server = AdbServer(port)
    assert is_answering(server, within(5))
    assert not reap_private_server(pid, started, port + 1)
    assert not reap_private_server(pid, started + 1, port)
    assert not reap_private_server(os.getpid(), process_started(os.getpid()), port)
    assert is_answering(server, within(5))
    assert reap_private_server(pid, started, port)
    assert wait_until(lambda: not is_answering(server, within(5)))
    assert not reap_private_server(pid, started, port)


def test_nothing_on_the_port_of_everybodys_server_is_reaped() -> None:
    assert not reap_private_server(os.getpid(), None, 5037)
    assert not reap_private_server(0, None, 40_000)
    assert not reap_private_server(-1, None, 40_000)


def test_field_38_a_server_that_answers_is_used_as_it_is(private: PrivateServer, within: Within) -> None:
    assert ensure_server(private.server, SystemClock()) is False
    assert process_started(private.pid) == private.started
    assert private.server.version(within(5)) > 0


def test_something_that_listens_and_never_answers_is_no_reason_to_start_a_server() -> None:
    class Impatient(AdbServer):
        def version(self, deadline: Deadline) -> int:
            return super().version(deadline.sooner(0.2))

    with socket.create_server(("127.0.0.1", 0)) as other, pytest.raises(DeviceTimeout):
        ensure_server(Impatient(int(other.getsockname()[1])), SystemClock())


def test_a_server_is_started_where_none_answers(home: Path, within: Within, monkeypatch: pytest.MonkeyPatch) -> None:
    # The environment of the server is the caller's own; here it must not look for USB or take the person's keys.
    home.mkdir()
    for name, value in {"HOME": str(home), "ADB_USB": "0", "ADB_MDNS": "0", "ADB_EMU": "0"}.items():
        monkeypatch.setenv(name, value)
    server = AdbServer(free_port())
    try:
        assert ensure_server(server, SystemClock()) is True
        assert ensure_server(server, SystemClock()) is False
    finally:
        subprocess.run([adb_binary(), "-P", str(server.port), "kill-server"], check=True, timeout=10)
    assert wait_until(lambda: not is_answering(server, within(5)))


def test_a_binary_that_does_nothing_is_named_with_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = tmp_path / "adb"
    binary.write_text("#!/bin/sh\nexit 1\n")
    binary.chmod(0o755)
    monkeypatch.setenv("ADBUTILS_ADB_PATH", str(binary))
    with pytest.raises(DeviceLost) as caught:
        ensure_server(AdbServer(free_port()), SystemClock())
    assert caught.value.code == "no_adb_server" and "start-server" in caught.value.hint
    with pytest.raises(DeviceLost):
        start_private_server(tmp_path / "home", SystemClock())
