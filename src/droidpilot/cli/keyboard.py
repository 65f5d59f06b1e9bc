"""Lines typed at the terminal, with a time limit and a way to throw away what was typed before. Knows no question."""

from __future__ import annotations

import os
import sys
from typing import Protocol

from droidpilot.core.clock import Clock

#: A line longer than this is read in parts.
_MAX_LINE_BYTES = 4096


class Keyboard(Protocol):
    """Where answers are typed."""

    def flush(self) -> None:
        """Throw away everything typed so far, half a line included."""
        ...

    def line(self, timeout_s: float) -> str | None:
        """Return the next line without its end; None when none came in time.

        Raises:
            EOFError: nobody will type any more.
        """
        ...


if sys.platform == "win32":
    import msvcrt

    _POLL_S = 0.02

    class Terminal:
        """The console, character by character, since it cannot be waited for."""

        def __init__(self, clock: Clock) -> None:
            self._clock = clock
            self._typed = ""

        def flush(self) -> None:
            while msvcrt.kbhit():
                msvcrt.getwch()
            self._typed = ""

        def line(self, timeout_s: float) -> str | None:
            end = self._clock.monotonic() + timeout_s
            while True:
                while msvcrt.kbhit():
                    character = msvcrt.getwche()
                    if character == "\x03":
                        raise KeyboardInterrupt
                    if character == "\x1a":
                        raise EOFError
                    if character in "\r\n":
                        msvcrt.putwch("\n")
                        line, self._typed = self._typed, ""
                        return line
                    self._typed = self._typed[:-1] if character == "\b" else self._typed + character
                if self._clock.monotonic() >= end:
                    return None
                self._clock.sleep(_POLL_S)

else:
    import select
    import termios

    class Terminal:
        """The terminal on stdin, line by line; its own line editing stays on."""

        def __init__(self, clock: Clock) -> None:
            self._fd = sys.stdin.fileno()

        def flush(self) -> None:
            termios.tcflush(self._fd, termios.TCIFLUSH)

        def line(self, timeout_s: float) -> str | None:
            ready, _, _ = select.select([self._fd], [], [], max(0.0, timeout_s))
            if not ready:
                return None
            data = os.read(self._fd, _MAX_LINE_BYTES)
            if not data:
                raise EOFError
            return data.decode("utf-8", errors="replace").rstrip("\r\n")
