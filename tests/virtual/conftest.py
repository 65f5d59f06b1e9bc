"""A user for the tests of the apps: the unmodified uiautomator2, on a virtual phone behind a real adb server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import start_private_server
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.server import running_phone


@dataclass
class User:
    """Somebody who drives the phone from outside, and `phone`, which knows what is true."""

    d: Any
    phone: Phone

    def tap(self, *texts: str) -> None:
        """Tap what has these texts, one after another."""
        for text in texts:
            self.d(text=text).click(timeout=5)

    def tap_id(self, id: str) -> None:
        self.d(resourceId=id).click(timeout=5)

    def fill(self, id: str, text: str) -> bool:
        """Put a text into a field by the accessibility action; tell whether it was taken."""
        return bool(self.d(resourceId=id).set_text(text, timeout=5))

    def sees(self, text: str) -> bool:
        return bool(self.d(text=text).wait(timeout=5))

    def text_of(self, id: str) -> str:
        return str(self.d(resourceId=id).get_text(timeout=5))

    def truth(self, *path: str) -> Any:
        """Return a part of the phone's truth."""
        told: Any = self.phone.state()
        for name in path:
            told = told[name]
        return told


@pytest.fixture(scope="session")
def apps_adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[AdbServer]:
    """The real adb server, private to this run."""
    private = start_private_server(tmp_path_factory.mktemp("apps-adb-home"), SystemClock())
    yield private.server
    private.stop()


@pytest.fixture
def user(apps_adb: AdbServer) -> Iterator[User]:
    """Somebody at a fresh phone without transitions."""
    import adbutils
    import uiautomator2

    client = adbutils.AdbClient(host="127.0.0.1", port=apps_adb.port)
    with running_phone(transition_ms=0, seed=5) as running:
        client.connect(running.serial, timeout=10)
        device = uiautomator2.connect(client.device(running.serial))
        device.settings["wait_timeout"] = 5.0
        yield User(device, running.phone)
        device.stop_uiautomator(wait=False)
        apps_adb.ask(f"host:disconnect:{running.serial}", Deadline.after(SystemClock(), 10))
