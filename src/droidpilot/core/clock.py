"""The only place that knows the time. Others are handed a Clock; tests hand in ManualClock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol


class Clock(Protocol):
    """Two readings of time and a way to let it pass."""

    def monotonic(self) -> float:
        """Return seconds since an arbitrary start; never goes back."""
        ...

    def now(self) -> datetime:
        """Return the wall-clock time, in UTC."""
        ...

    def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        ...


class SystemClock:
    """The machine's own clock."""

    def monotonic(self) -> float:
        return time.monotonic()

    def now(self) -> datetime:
        return datetime.now(UTC)

    def sleep(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)


class ManualClock:
    """A clock for tests: time passes only by `sleep` and `advance`."""

    def __init__(self, *, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self._start = start
        self._elapsed = 0.0

    def monotonic(self) -> float:
        return self._elapsed

    def now(self) -> datetime:
        return self._start + timedelta(seconds=self._elapsed)

    def sleep(self, seconds: float) -> None:
        self.advance(max(0.0, seconds))

    def advance(self, seconds: float) -> None:
        self._elapsed += seconds


@dataclass(frozen=True, slots=True)
class Deadline:
    """A point in `clock.monotonic()` time that is passed down and becomes a socket timeout at the bottom."""

    clock: Clock
    at: float

    @classmethod
    def after(cls, clock: Clock, seconds: float) -> Deadline:
        return cls(clock, clock.monotonic() + seconds)

    def left_s(self) -> float:
        """Return the seconds left, never negative."""
        return max(0.0, self.at - self.clock.monotonic())

    def is_over(self) -> bool:
        return self.clock.monotonic() >= self.at

    def sooner(self, seconds: float) -> Deadline:
        """Return the earlier of this deadline and one `seconds` from now."""
        return Deadline(self.clock, min(self.at, self.clock.monotonic() + seconds))


def timestamp(clock: Clock) -> str:
    """Format now as UTC ISO 8601 with milliseconds, `2026-01-01T00:00:00.000Z`."""
    return clock.now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
