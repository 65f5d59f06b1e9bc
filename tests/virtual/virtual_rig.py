"""A virtual phone behind a real adb server, and clients of it: adb's own command, adbutils and uiautomator2."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.attached import connect_tcp
from droidpilot.virtual.server import VirtualPhone, running_phone


@contextmanager
def adb_server(home: Path) -> Iterator[int]:
    """Run a private adb server and give its port."""
    private = start_private_server(home, SystemClock())
    try:
        yield private.port
    finally:
        private.stop()


class Rig:
    """A virtual phone, and clients of it."""

    def __init__(self, vp: VirtualPhone, adb_port: int) -> None:
        import adbutils
        import uiautomator2

        self.vp = vp
        self.faults = vp.phone.faults
        self.adb_port = adb_port
        self.client = adbutils.AdbClient(host="127.0.0.1", port=adb_port)
        self.adb: Any = self.client.device(vp.serial)
        self.u2: Any = uiautomator2.connect(self.adb)

    @property
    def inputs(self) -> int:
        return self.vp.phone.inputs.count

    def wait_attached(self, *, state: str = "device", at_most_s: float = 10.0) -> None:
        end = time.monotonic() + at_most_s
        while time.monotonic() < end:
            if {known.serial: known.state for known in self.client.list()}.get(self.vp.serial) == state:
                return
            time.sleep(0.02)
        raise AssertionError(f"not {state} in {at_most_s} s")

    def cli(self, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        """Run adb's own command against the phone."""
        import adbutils

        command = [adbutils.adb_path(), "-P", str(self.adb_port), "-s", self.vp.serial, *words]
        return subprocess.run(command, input=given, capture_output=True, timeout=30, check=False)


@contextmanager
def attached_rig(adb_port: int, **options: Any) -> Iterator[Rig]:
    """Run a phone, without transitions where none are asked for, attached to the adb server, and clean up."""
    with running_phone(**{"transition_ms": 0, **options}) as vp:
        connect_tcp(AdbServer(adb_port), vp.serial, Deadline.after(SystemClock(), 10))
        made = Rig(vp, adb_port)
        try:
            yield made
        finally:
            made.faults.clear()
            made.u2.stop_uiautomator(wait=False)
            made.client.disconnect(vp.serial)
