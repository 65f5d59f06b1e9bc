"""adbutils under our deadlines: its client, connection and phone, none of which ever starts a server by itself.

It must never know what is asked over them. uiautomator2 is handed the phone that this file makes.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from droidpilot.core.clock import Deadline
from droidpilot.device.wire import LOOPBACK, DeadlineSocket


@functools.cache
def library() -> Any:
    """Load adbutils and derive the classes that keep our deadlines and never start a server by themselves."""
    import adbutils

    logging.getLogger("adbutils").addHandler(logging.NullHandler())

    class Connection(adbutils.AdbConnection):  # type: ignore[misc]  # adbutils ships no types
        """A connection that is made once and closed without adbutils' pause of 10 ms."""

        def __init__(self, port: int, deadline: Deadline | None) -> None:
            self._port = port
            self._deadline = deadline
            super().__init__(LOOPBACK, port)

        def _safe_connect(self) -> DeadlineSocket:
            # adbutils' own version runs `adb start-server` where nobody answers, on a port that need not be this one.
            return DeadlineSocket.connect_to(self._port, self._deadline)

        def close(self) -> None:
            if not self.closed:
                self.conn.hang_up()
                super().close()

    class Client(adbutils.AdbClient):  # type: ignore[misc]  # adbutils ships no types
        """A client of one server; `deadline` bounds the connections made from now on."""

        def __init__(self, port: int, deadline: Deadline | None) -> None:
            super().__init__(host=LOOPBACK, port=port)
            self.deadline = deadline
            self._version: int | None = None

        def make_connection(self, timeout: float | None = None) -> Connection:
            return Connection(self.port, self.deadline)

        def server_version(self) -> int:
            if self._version is None:
                self._version = int(super().server_version())
            return self._version

    class Sync(adbutils.Sync):  # type: ignore[misc]  # adbutils ships no types
        def push(self, src: Any, dst: Any, mode: int = 0o755, check: bool = False) -> int:
            self._device.progress("copying the helper to the phone (once, 4 MB)")
            return int(super().push(src, dst, mode, check))

    class Device(adbutils.AdbDevice):  # type: ignore[misc]  # adbutils ships no types
        """A phone as uiautomator2 wants it, under our deadlines."""

        def __init__(self, client: Client, serial: str) -> None:
            self.client = client
            self.progress: Callable[[str], None] = _ignore
            self.streams: list[Connection] = []
            super().__init__(client, serial=serial)

        @property
        def sync(self) -> Sync:
            return Sync(self)

        def shell(self, cmdargs: Any, stream: bool = False, **options: Any) -> Any:
            if not stream:
                return super().shell(cmdargs, stream=False, **options)
            self.progress("starting the helper on the phone")
            connection = super().shell(cmdargs, stream=True, **options)
            # This stream keeps the in-phone server alive; it is not part of the call that opened it.
            connection.conn.deadline = None
            self.streams.append(connection)
            return connection

        def move_to(self, serial: str) -> None:
            self._serial = serial

        def close_streams(self) -> None:
            while self.streams:
                self.streams.pop().close()

    @dataclass(frozen=True, slots=True)
    class Library:
        client: type[Client]
        device_class: type[Device]

    return Library(Client, Device)


def _ignore(text: str) -> None:
    """Progress that nobody wants to hear."""
