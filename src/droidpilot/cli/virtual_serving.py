"""The adb server through which virtual phones that are being served are reached: one of our own, or the user's.

It must never start or stop the user's server.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from droidpilot.cli.private_end import ended_with_us, let_go_with_us
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import is_server_there, start_private_server
from droidpilot.device.attached import connect_tcp
from droidpilot.device.left_files import forget_phone
from droidpilot.virtual import registry
from droidpilot.virtual.registry import Entry

#: Seconds an adb server may take for one answer.
ANSWER_S = 10.0


@contextmanager
def own_server(home: Path, entries: list[Entry], clock: Clock) -> Iterator[list[Entry]]:
    """Start one private adb server for all phones and connect them; give their entries with it.

    Registering comes before connecting: should we be killed where nothing watches over the server, a later command
    finds it and ends it.
    """
    private = start_private_server(home / "adb", clock)
    try:
        with ended_with_us(private.pid):
            served = [
                replace(entry, adb_port=private.port, adb_pid=private.pid, adb_pid_started=private.started)
                for entry in entries
            ]
            for entry in served:
                registry.register(home, entry)
            for entry in served:
                _connect(private.server, entry, clock)
            yield served
    finally:
        private.stop()
        for entry in entries:
            forget_phone(home, entry.serial, entry.phone_id, private.port)


@contextmanager
def users_server(home: Path, entries: list[Entry], port: int, clock: Clock) -> Iterator[list[Entry]]:
    """Connect the phones to an adb server that runs already, and disconnect them afterwards.

    Raises:
        DeviceLost: code `no_adb_server`, none answers on the port.
    """
    server = AdbServer(port)
    if not is_server_there(server, Deadline.after(clock, ANSWER_S)):
        raise DeviceLost(
            f"no adb server answers on port {port}, and --connect starts none",
            hint="start yours with: adb start-server; or leave out --connect",
            code="no_adb_server",
        )
    with let_go_with_us(port, [entry.serial for entry in entries]):
        try:
            for entry in entries:
                _connect(server, entry, clock)
            yield [replace(entry, adb_port=port) for entry in entries]
        finally:
            # All of them: adb lists a phone that it could not connect to as well.
            for entry in entries:
                with contextlib.suppress(DeviceError):
                    server.ask(f"host:disconnect:{entry.serial}", Deadline.after(clock, ANSWER_S))
                forget_phone(home, entry.serial, entry.phone_id, None)


def _connect(server: AdbServer, entry: Entry, clock: Clock) -> None:
    """Connect one phone. One that does not trust us is attached all the same, as unauthorized."""
    deadline = Deadline.after(clock, ANSWER_S)
    try:
        connect_tcp(server, entry.serial, deadline)
    except DeviceError as error:
        if error.code != "unauthorized":
            raise
