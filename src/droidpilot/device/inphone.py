"""uiautomator2's server on the phone: pushed, started, restarted and stopped by uiautomator2 itself.

The only file that names uiautomator2, whose errors are translated here. Calls to the running server are rpc.py's.
"""

from __future__ import annotations

import atexit
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import (
    DeviceError,
    DeviceLost,
    DeviceRefused,
    DeviceTimeout,
    DeviceUnavailable,
    ScreenUnreadable,
)
from droidpilot.core.text import one_line, shorten
from droidpilot.device import rpc
from droidpilot.device.adb import PhoneLink
from droidpilot.device.adb_trouble import translated

#: How long a server that was told to stop may still answer.
STOP_PATIENCE_S = 2.0
_POLL_S = 0.05


class PhoneServer:
    """The in-phone server of one phone. One per phone and process: uiautomator2 keeps a lock and a thread for it."""

    def __init__(self, link: PhoneLink, clock: Clock) -> None:
        self._link = link
        self._clock = clock
        self._device: Any = None

    def start(self, deadline: Deadline, *, progress: Callable[[str], None] | None = None) -> None:
        """Bring the server up, pushing the jar where the phone does not have it.

        Raises:
            DeviceRefused: code `helper_failed` or `helper_blocked` (another UI automation holds the phone).
        """
        device = self._link.device(deadline, progress=progress)
        with _translated("starting the helper on the phone"):
            try:
                if self._device is None:
                    self._device = _connected(device)
                else:
                    self._device.start_uiautomator()
            except BaseException:
                self._link.close_streams()
                raise
        if self._link.has_streams:
            self._do_not_wait(deadline)

    def restart(self, deadline: Deadline) -> None:
        """Stop the server, wait until it is gone, and start it again: once, whatever comes of it."""
        self.stop()
        patience = deadline.sooner(STOP_PATIENCE_S)
        if self._answers(patience):
            # Not our stream, so not ours to close; but a server whose accessibility is gone serves nobody.
            self._ask("/stop", patience)
            while self._answers(patience) and not patience.is_over():
                self._clock.sleep(_POLL_S)
        self.start(deadline)

    def stop(self) -> None:
        """Close the stream that keeps our server alive; never raises, needs no answer from the phone."""
        self._link.close_streams()
        if self._device is not None:
            try:
                self._device.stop_uiautomator(wait=False)
            except (OSError, DeviceError) as error:
                logging.getLogger(__name__).debug("stopping the in-phone server: %s", error)

    def _do_not_wait(self, deadline: Deadline) -> None:
        """Tell a server that we started not to wait for an idle screen or a missing field: we look again ourselves.

        Its own default is 10 s for each, which a screen that never rests would cost at every look and key. This is a
        setting of the server's process, not of the phone.
        """
        try:
            now = rpc.post(self._link, "getConfigurator", (), deadline)
            if isinstance(now, dict):
                told = {**now, "waitForIdleTimeout": 0, "waitForSelectorTimeout": 0}
                rpc.post(self._link, "setConfigurator", (told,), deadline)
        except DeviceRefused:
            return  # an older server cannot be told; its waits end at our deadlines

    def _answers(self, deadline: Deadline) -> bool:
        return self._ask("/ping", deadline) == b"pong"

    def _ask(self, path: str, deadline: Deadline) -> bytes:
        try:
            return rpc.get(self._link, path, deadline)
        except DeviceError:
            return b""


def _connected(device: Any) -> Any:
    """Have uiautomator2 push and start its server, and keep it from doing anything at exit."""
    import uiautomator2

    logging.getLogger("uiautomator2").addHandler(logging.NullHandler())
    connected = uiautomator2.connect(device)
    # stop() does its work; with the hook every phone of a long-lived process would stay in memory.
    atexit.unregister(connected.stop_uiautomator)
    return connected


@contextmanager
def _translated(doing: str) -> Iterator[None]:
    """Translate whatever uiautomator2 raises in the body, and what comes through it from below."""
    from uiautomator2.exceptions import BaseException as U2Error

    with translated(doing):
        try:
            yield
        except U2Error as error:
            raise translate(error, doing) from error


def translate(error: Exception, doing: str) -> DeviceError:
    """Turn an error of uiautomator2 into one of ours; `doing` opens the message."""
    from uiautomator2 import exceptions as u2

    said = shorten(one_line(" ".join(str(part) for part in error.args)), 300) or type(error).__name__
    text = f"{doing}: {said}"
    if isinstance(error, u2.HTTPTimeoutError):
        return DeviceTimeout(text, hint="is the phone frozen?")
    if isinstance(error, u2.ConnectError):
        return DeviceUnavailable(text, hint="see `droidpilot devices`")
    if isinstance(error, u2.AccessibilityServiceAlreadyRegisteredError):
        return DeviceRefused(
            text,
            code="helper_blocked",
            hint="another UI automation tool runs on the phone; stop it or restart the phone",
        )
    if isinstance(error, u2.LaunchUiAutomationError):
        # What it says itself is a piece of the phone's log, cut anywhere.
        text = f"{doing}: the helper ended as soon as it was started"
        return DeviceRefused(text, code="helper_failed", hint="restart the phone, and see whether it has memory left")
    if isinstance(error, u2.UiAutomationNotConnectedError):
        return DeviceRefused(text, code="not_connected")
    if isinstance(error, u2.HierarchyEmptyError):
        return ScreenUnreadable(text, code="empty")
    if isinstance(error, u2.UiObjectNotFoundError | u2.XPathElementNotFoundError):
        return DeviceRefused(text, code="not_found")
    if isinstance(error, u2.HTTPError | u2.AdbShellError | u2.AdbBroadcastError):
        return DeviceLost(text, hint="check the cable or network")
    return DeviceRefused(text, code="phone_error")
