"""What the phone wrote into its log: the lines `logcat` prints. Bounded. This file must never know an app."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

Level = Literal["V", "D", "I", "W", "E", "F"]
Buffer = Literal["main", "crash", "events", "system"]
KEPT = 2_000
MAX_LINE = 4_000
"""Longer lines are cut, as logd does. Source: LOGGER_ENTRY_MAX_PAYLOAD of liblog, 4068 bytes."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One line of the log. `at_ms` is the phone's own time."""

    at_ms: int
    pid: int
    level: Level
    tag: str
    text: str
    buffer: Buffer = "main"


class Logbook:
    """The last lines of all buffers, oldest first."""

    def __init__(self) -> None:
        self._lines: deque[LogLine] = deque(maxlen=KEPT)
        self.count = 0
        """How many lines were ever written: a reader that follows the log sees by it what is new."""

    @property
    def lines(self) -> tuple[LogLine, ...]:
        return tuple(self._lines)

    def write(
        self, tag: str, text: str, *, at_ms: int, pid: int = 0, level: Level = "I", buffer: Buffer = "main"
    ) -> None:
        """Write a text; each of its lines becomes a line of the log."""
        for line in text.split("\n"):
            self._lines.append(LogLine(at_ms, pid, level, tag, line[:MAX_LINE], buffer))
            self.count += 1

    def clear(self) -> None:
        self._lines.clear()
