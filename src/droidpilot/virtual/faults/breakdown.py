"""How faults reach the running phone: its connections, its in-phone server, its trust, its keyboards.

A fault may be set from any thread; what it does is done in the phone's event loop, and done when the call returns.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import Final

from droidpilot.virtual.apps.packages import Package
from droidpilot.virtual.faults.faults import Fault
from droidpilot.virtual.wire.auth import Auth
from droidpilot.virtual.wire.listening import Listener
from droidpilot.virtual.wire.services import Services

ADBD_RESTART_S: Final = 0.5
"""So long adbd is away when it starts anew."""
AT_MOST_S: Final = 10.0
KEYBOARD: Final = "com.github.uiautomator"


class Breakdown:
    """What faults do to one phone, as `faults.Body` says."""

    def __init__(self, services: Services, listener: Listener, auth: Auth) -> None:
        self._services = services
        self._phone = services.phone
        self._listener = listener
        self._auth = auth
        self._loop = asyncio.get_running_loop()
        self._hang_ends: asyncio.TimerHandle | None = None
        self._keyboard: Package | None = None

    def begin(self, fault: Fault) -> None:
        """Break what the fault breaks."""
        self._in_loop(lambda: self._break(fault))

    def end(self, name: str) -> None:
        """Mend what the end of the fault mends."""
        self._in_loop(lambda: self._mend(name))

    def _in_loop(self, act: Callable[[], None]) -> None:
        with contextlib.suppress(RuntimeError):
            if asyncio.get_running_loop() is self._loop:
                act()
                return

        async def run() -> None:
            act()

        if not self._loop.is_closed():
            asyncio.run_coroutine_threadsafe(run(), self._loop).result(AT_MOST_S)

    def _break(self, fault: Fault) -> None:
        match fault.name:
            case "drop":
                self._listener.abort_all()
            case "kill-adb-connection":
                self._listener.refuse(ADBD_RESTART_S, lambda: None)
            case "offline":
                self._listener.refuse(fault.seconds, lambda: self._phone.faults.is_over("offline"))
            case "reboot":
                self._services.server.kill()
                self._phone.restart()
                self._listener.refuse(fault.seconds, lambda: self._phone.faults.is_over("reboot"))
            case "unauthorized":
                self._auth.refuse(True)
                self._listener.abort_all()
            case "hang":
                self._services.trouble.hold()
                if self._hang_ends is not None:
                    self._hang_ends.cancel()
                if fault.seconds:
                    self._hang_ends = self._loop.call_later(fault.seconds, self._phone.faults.clear, "hang")
            case "server-killed" | "no-helper":
                self._services.server.kill()
            case "ime-unknown":
                self._keyboard = self._phone.packages.get(KEYBOARD, self._keyboard)
                self._phone.uninstall(KEYBOARD)

    def _mend(self, name: str) -> None:
        match name:
            case "offline" | "reboot":
                self._listener.come_back()
            case "unauthorized":
                self._auth.refuse(False)
            case "hang":
                self._services.trouble.release()
            case "ime-unknown":
                if self._keyboard is not None and KEYBOARD not in self._phone.packages:
                    self._phone.install(self._keyboard)
