"""Ctrl-C and friends: the only signal handlers of the program. A request to stop is all they make."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from droidpilot.core.stop import Stop

_FIRST = b"\ndroidpilot: stopping after this call; Ctrl-C again stops now\n"
_STDERR = 2


@contextmanager
def stop_on_signals(stop: Stop) -> Iterator[None]:
    """Turn SIGINT, SIGTERM and SIGHUP into requests to stop while the block runs; the main thread only.

    The first request lets the present call finish, the second stops at once (core/stop.py raises Interrupted).
    """

    def on_signal(number: int, frame: FrameType | None) -> None:
        if not stop.is_requested and number == signal.SIGINT:
            # Not through sys.stderr: the signal may have come in the middle of a write to it.
            with suppress(OSError):  # nobody to tell, and stopping does not depend on it
                os.write(_STDERR, _FIRST)
        stop.request()

    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        numbers.append(signal.SIGHUP)
    # What whoever started us had us ignore (nohup, a background job of a script) stays ignored.
    heard = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, on_signal) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
