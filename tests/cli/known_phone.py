"""A virtual phone in the test's own process that a shell's commands find: its truth and faults are at hand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from droidpilot.cli.target import with_private_server
from droidpilot.core.clock import SystemClock
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.virtual import registry
from droidpilot.virtual.server import VirtualPhone, running_phone
from tests.cli.cli_shell import Shell


@contextmanager
def virtual_phone(shell: Shell, *, seed: int = 5) -> Iterator[tuple[VirtualPhone, PhoneLink]]:
    """Run it behind a private adb server for the length of a `with`."""
    with running_phone(seed=seed, transition_ms=0) as running:
        server, entry = with_private_server(shell.home, running.entry, SystemClock())
        try:
            yield running, PhoneLink(AdbServer(server.port), running.serial)
        finally:
            registry.remove(shell.home, entry)
            server.stop()
