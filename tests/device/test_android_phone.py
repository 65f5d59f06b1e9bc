"""AndroidDriver on a virtual phone behind a real adb server: connecting, restarting, speed, a frozen phone, silence."""

from __future__ import annotations

import os
import signal
import socket
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceError, DeviceRefused, DeviceTimeout, DeviceUnavailable
from droidpilot.device import rpc
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.android import AndroidDriver, connect
from droidpilot.device.attached import connect_tcp
from droidpilot.device.inphone import PhoneServer
from droidpilot.virtual.server import VirtualPhone

Within = Callable[[float], Deadline]

PHONE_PROCESS = """
import sys
from pathlib import Path
from droidpilot.virtual.server import PhonePlan, serve
def told(entries):
    print(entries[0].serial, flush=True)
serve(Path(sys.argv[1]), [PhonePlan(transition_ms=0)], on_ready=lambda entries: entries, on_served=told)
"""

CLIENT = """
import sys
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import AdbServer
from droidpilot.device.android import connect
clock = SystemClock()
driver = connect(AdbServer(int(sys.argv[1])), sys.argv[2], clock=clock, deadline=Deadline.after(clock, 20))
assert b"<hierarchy" in driver.dump(Deadline.after(clock, 10))
driver.tap(5, 5, Deadline.after(clock, 10))
driver.press("home", Deadline.after(clock, 10))
if sys.argv[3] == "close":
    driver.close()
"""


@pytest.fixture
def other_process(adb: AdbServer, home: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A virtual phone in a process of its own, known to the adb server."""
    process = subprocess.Popen([sys.executable, "-c", PHONE_PROCESS, str(home)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    serial = process.stdout.readline().strip()
    connect_tcp(adb, serial, Deadline.after(SystemClock(), 10))
    yield process, serial
    process.kill()
    process.communicate(timeout=10)
    adb.ask(f"host:disconnect:{serial}", Deadline.after(SystemClock(), 10))


def is_helper_running(phone: PhoneLink, deadline: Deadline) -> bool:
    try:
        return rpc.get(phone, "/ping", deadline) == b"pong"
    except DeviceError:
        return False


def test_connecting_tells_what_takes_long_and_leaves_nothing_behind(
    adb: AdbServer, phone: VirtualPhone, within: Within
) -> None:
    said: list[str] = []
    link = PhoneLink(adb, phone.serial)
    for expected in (["copying", "starting"], ["starting"]):
        said.clear()
        driver = connect(adb, phone.serial, clock=SystemClock(), deadline=within(20), progress=said.append)
        assert [words.split()[0] for words in said] == expected
        assert is_helper_running(link, within(5))
        driver.close()
        with pytest.raises(DeviceRefused) as caught:
            while not within(5).is_over():
                rpc.get(link, "/ping", within(5))
        assert caught.value.code == "no_listener"
    assert phone.phone.state()["settings_changed"] == []


def test_a_stopped_helper_is_restarted_by_the_next_read(
    adb: AdbServer, phone: VirtualPhone, driver: AndroidDriver, within: Within
) -> None:
    link = PhoneLink(adb, phone.serial)
    rpc.get(link, "/stop", within(5))
    with pytest.raises(DeviceRefused) as caught:
        driver.tap(5, 5, within(5))
    assert (caught.value.code, caught.value.sent) == ("no_listener", "no")
    assert b"<hierarchy" in driver.dump(within(10))
    driver.tap(5, 5, within(5))


def test_a_helper_of_another_program_is_used_and_left_running(
    adb: AdbServer, phone: VirtualPhone, within: Within
) -> None:
    link = PhoneLink(adb, phone.serial)
    others = PhoneServer(link, SystemClock())
    others.start(within(20))
    try:
        ours = connect(adb, phone.serial, clock=SystemClock(), deadline=within(20))
        assert b"<hierarchy" in ours.dump(within(5))
        ours.close()
        assert is_helper_running(link, within(5))
    finally:
        others.stop()


def test_field_14_our_helper_waits_for_no_idle_screen_and_no_missing_field(
    adb: AdbServer, phone: VirtualPhone, driver: AndroidDriver, within: Within
) -> None:
    told = rpc.post(PhoneLink(adb, phone.serial), "getConfigurator", (), within(5))
    assert (told["waitForIdleTimeout"], told["waitForSelectorTimeout"]) == (0, 0)


def test_connections_to_the_phone_do_not_wait_for_a_delayed_ack(
    adb: AdbServer, phone: VirtualPhone, driver: AndroidDriver, within: Within
) -> None:
    with PhoneLink(adb, phone.serial).open_port(rpc.HELPER_PORT, within(5)) as sock:
        assert sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    clock = SystemClock()
    took: list[float] = []
    for _ in range(30):
        started = clock.monotonic()
        driver.tap(5, 5, within(5))
        took.append(clock.monotonic() - started)
    assert statistics.median(took) < 0.03, "40 ms is what Nagle's algorithm costs"


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (lambda driver, deadline: driver.dump(deadline), "no"),
        (lambda driver, deadline: driver.foreground(deadline), "no"),
        (lambda driver, deadline: driver.tap(5, 5, deadline), None),
        (lambda driver, deadline: driver.start_app("com.android.settings", deadline), "no"),
    ],
)
def test_a_frozen_phone_ends_every_call_at_its_deadline(
    adb: AdbServer,
    other_process: tuple[subprocess.Popen[str], str],
    within: Within,
    call: Callable[[AndroidDriver, Deadline], object],
    sent: str | None,
) -> None:
    process, serial = other_process
    clock = SystemClock()
    driver = connect(adb, serial, clock=clock, deadline=within(20))
    process.send_signal(signal.SIGSTOP)
    started = clock.monotonic()
    with pytest.raises(DeviceTimeout) as caught:
        call(driver, within(0.6))
    assert 0.5 <= clock.monotonic() - started < 2.0
    # A tap may or may not get as far as its request: adb opens the stream only when the phone answers.
    assert caught.value.sent == sent if sent else caught.value.sent in ("no", "unknown")
    started = clock.monotonic()
    driver.close()
    assert clock.monotonic() - started < 2.0


def test_connecting_to_a_frozen_phone_ends_at_the_deadline(
    adb: AdbServer, other_process: tuple[subprocess.Popen[str], str], within: Within
) -> None:
    process, serial = other_process
    process.send_signal(signal.SIGSTOP)
    clock = SystemClock()
    started = clock.monotonic()
    with pytest.raises(DeviceTimeout):
        connect(adb, serial, clock=clock, deadline=within(0.6))
    assert clock.monotonic() - started < 2.0


def test_a_phone_that_adb_does_not_know_is_named(adb: AdbServer, within: Within) -> None:
    with pytest.raises(DeviceUnavailable) as caught:
        connect(adb, "adb-R5AA (2)._adb-tls-connect._tcp", clock=SystemClock(), deadline=within(5))
    assert "adb-R5AA (2)._adb-tls-connect._tcp" in str(caught.value)
    assert caught.value.code == "not_found_by_adb"


@pytest.mark.parametrize("how", ["close", "exit"])
def test_field_40_nothing_is_printed_and_no_proxy_is_asked(adb: AdbServer, phone: VirtualPhone, how: str) -> None:
    proxy = "http://127.0.0.1:9"
    environment = {**os.environ, "HTTP_PROXY": proxy, "HTTPS_PROXY": proxy, "ALL_PROXY": proxy, "http_proxy": proxy}
    done = subprocess.run(
        [sys.executable, "-c", CLIENT, str(adb.port), phone.serial, how],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
