"""The setting of an end-to-end test: a virtual phone behind a private adb server, and the shipped policies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.attached import connect_tcp
from droidpilot.virtual.server import VirtualPhone, running_phone

SHIPPED = Path(__file__).resolve().parents[2] / "policies"


@dataclass(frozen=True)
class Setting:
    """A phone that is really there, over ADB."""

    phone: VirtualPhone
    adb_port: int

    def truth(self, part: str) -> dict[str, Any]:
        """Return one part of what is true on the phone, whatever anybody was told."""
        value = self.phone.phone.state()[part]
        assert isinstance(value, dict)
        return value


@contextmanager
def virtual_setting(folder: Path, *, transition_ms: int = 0, seed: int = 0) -> Iterator[Setting]:
    clock = SystemClock()
    private = start_private_server(folder, clock)
    try:
        with running_phone(seed=seed, transition_ms=transition_ms) as phone:
            connect_tcp(private.server, phone.serial, Deadline.after(clock, 10))
            yield Setting(phone, private.port)
    finally:
        private.stop()


def find(label: str, screen_text: str) -> int:
    """Return the ref of the line that shows `label`."""
    for line in screen_text.splitlines():
        number, _, rest = line.removeprefix("+").removeprefix("~").partition(" ")
        if number.isdigit() and rest.startswith(label):
            return int(number)
    raise AssertionError(f"no {label!r} in:\n{screen_text}")
