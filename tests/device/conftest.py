"""A private adb server for this folder's tests, and virtual phones behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.android import AndroidDriver, connect, reach
from droidpilot.device.attached import connect_tcp
from droidpilot.device.plain import PlainDriver
from droidpilot.virtual.server import VirtualPhone, running_phone


@pytest.fixture(scope="session")
def adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    """The real adb server, private to this run."""
    private = start_private_server(tmp_path_factory.mktemp("adb-home"), SystemClock())
    yield private.server
    private.stop()


@pytest.fixture
def within() -> Callable[[float], Deadline]:
    """Make a real deadline."""
    return lambda seconds: Deadline.after(SystemClock(), seconds)


@pytest.fixture
def phone(adb: AdbServer) -> Iterator[VirtualPhone]:
    """A virtual phone without transitions, known to the adb server."""
    with running_phone(transition_ms=0) as running:
        connect_tcp(adb, running.serial, Deadline.after(SystemClock(), 10))
        yield running
        adb.ask(f"host:disconnect:{running.serial}", Deadline.after(SystemClock(), 10))


@pytest.fixture
def driver(adb: AdbServer, phone: VirtualPhone) -> Iterator[AndroidDriver]:
    """A driver on that phone."""
    clock = SystemClock()
    made = connect(adb, phone.serial, clock=clock, deadline=Deadline.after(clock, 20))
    yield made
    made.close()


@pytest.fixture
def plain_driver(adb: AdbServer, phone: VirtualPhone) -> Iterator[PlainDriver]:
    """A driver by plain ADB on that phone."""
    clock = SystemClock()
    reached = reach(adb, phone.serial, clock=clock, deadline=Deadline.after(clock, 10))
    made = PlainDriver(reached.link, clock, reached.facts, reached.line)
    yield made
    made.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"
