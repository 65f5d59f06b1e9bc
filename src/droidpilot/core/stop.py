"""The stop signal: a person asked once (finish the present call) or twice (now). Only cli/ installs signal handlers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from droidpilot.core.errors import Interrupted


class Stop:
    """Counts requests to stop. The loop looks between calls; `interruptible` parts are cut at the first request."""

    def __init__(self) -> None:
        self._requests = 0
        self._interruptible = 0
        self._shields = 0
        self._is_held_back = False

    @property
    def is_requested(self) -> bool:
        return self._requests > 0

    def request(self) -> None:
        """Note one more request; called from a signal handler on the main thread.

        Raises:
            Interrupted: at once inside an `interruptible` part, and from the second request on anywhere.
        """
        self._requests += 1
        if self._interruptible or self._requests > 1:
            if self._shields:
                self._is_held_back = True
                return
            raise Interrupted("stopped")

    @contextmanager
    def shielded(self) -> Iterator[None]:
        """Mark a part that must not be cut in two (a line and its head); a request that came meanwhile is raised after.

        Raises:
            Interrupted: at the end.
        """
        self._shields += 1
        try:
            yield
        finally:
            self._shields -= 1
        if not self._shields and self._is_held_back:
            self._is_held_back = False
            raise Interrupted("stopped")

    def check(self) -> None:
        """Raise Interrupted if a stop was requested."""
        if self._requests:
            raise Interrupted("stopped")

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Mark a part that may be cut anywhere: a streaming reply, a question to a person."""
        self.check()
        self._interruptible += 1
        try:
            yield
        finally:
            self._interruptible -= 1
