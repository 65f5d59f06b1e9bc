"""The phone's time: what is about to happen, when the picture changed last, and whether anything moves.

With a ManualClock or `transition_ms=0` everything here depends on the inputs and the seed only. This file must never
know a window or an app.
"""

from __future__ import annotations

import heapq
import threading
from collections import deque
from collections.abc import Callable
from random import Random

from droidpilot.core.clock import Clock
from droidpilot.virtual.ui.motion import Slide

MAX_WAITING = 64
MAX_TIMERS = 1_000
"""So many things wait for their time; what is above never happens."""
FOREVER = 1 << 62
"""A time that never comes, in ms."""
Act = Callable[[], None]


class Schedule:
    """Time of one phone. Changes come in the order of the inputs that made them; timers come when they are due."""

    def __init__(
        self, clock: Clock, lock: threading.RLock, delays: Random, *, transition_ms: int, move_ms: int
    ) -> None:
        self.transition_ms = transition_ms
        self.version = 0
        self._move_ms = move_ms
        self._clock = clock
        self._lock = lock
        self._delays = delays
        self._began = clock.monotonic()
        self._acting_ms: int | None = None
        self._waiting: deque[tuple[int, Act]] = deque()
        self._timers: list[tuple[int, int, Act]] = []
        self._timer_count = 0
        self._moving_until = 0
        self._restless_until = 0
        self._changed_ms = 0

    def now_ms(self) -> int:
        """Return ms since the phone was made; while a delayed change happens, the time it was due."""
        if self._acting_ms is not None:
            return self._acting_ms
        return int((self._clock.monotonic() - self._began) * 1000)

    def wall_s(self) -> int:
        """Return the wall clock of the phone in seconds since 1970."""
        return int(self._clock.now().timestamp())

    def later(self, act: Act) -> None:
        """Do something when the phone would begin to show it."""
        with self._lock:
            # What follows from a change that is being shown is shown with it: the delay is that of an input.
            if self.transition_ms <= 0 or self._acting_ms is not None:
                act()
                self.changed()
                return
            while len(self._waiting) >= MAX_WAITING:
                self._act(*self._waiting.popleft())
            due = self.now_ms() + self._delays.randint(0, self.transition_ms)
            if self._waiting:
                due = max(due, self._waiting[-1][0])
            self._waiting.append((due, act))

    def after(self, delay_ms: int, act: Act) -> None:
        """Do something when so many ms have passed; until then the phone may well be idle."""
        with self._lock:
            if len(self._timers) < MAX_TIMERS:
                self._timer_count += 1
                heapq.heappush(self._timers, (self.now_ms() + delay_ms, self._timer_count, act))

    def advance(self) -> None:
        """Do what became due since the last call, in the order in which it was due."""
        with self._lock:
            while True:
                change = self._waiting[0][0] if self._waiting else FOREVER
                timer = self._timers[0][0] if self._timers else FOREVER
                if min(change, timer) > self.now_ms():
                    return
                if change <= timer:
                    self._act(*self._waiting.popleft())
                else:
                    due, _, act = heapq.heappop(self._timers)
                    self._act(due, act)

    def forget(self) -> None:
        """Drop all that is still to come, as a restart does."""
        with self._lock:
            self._waiting.clear()
            self._timers.clear()
            self._restless_until = 0

    def _act(self, due: int, act: Act) -> None:
        before, self._acting_ms = self._acting_ms, due
        try:
            act()
        finally:
            self.changed()
            self._acting_ms = before

    def changed(self) -> None:
        """Say that the picture may be another one now."""
        self.version += 1
        self._changed_ms = self.now_ms()

    def slide(self, *, dx: int = 0, dy: int = 0, lasts_ms: int | None = None) -> Slide | None:
        """Start a slide now; None where transitions are off."""
        if self.transition_ms <= 0:
            return None
        made = Slide(self.now_ms(), dx, dy, self._move_ms if lasts_ms is None else lasts_ms)
        self.moving_until(made.end_ms)
        return made

    def moving_until(self, end_ms: int) -> None:
        """Say that something moves until then."""
        self._moving_until = max(self._moving_until, end_ms)

    def restless_until(self, until_ms: int | None) -> None:
        """Say that the picture changes with every frame until then; None is until further notice, 0 ends it."""
        self._restless_until = FOREVER if until_ms is None else until_ms
        self.changed()

    @property
    def is_still(self) -> bool:
        """Tell whether nothing moves at this moment."""
        return self.now_ms() >= max(self._moving_until, self._restless_until)

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing moves and no change is on its way."""
        with self._lock:
            self.advance()
            return not self._waiting and self.is_still

    @property
    def still_since_ms(self) -> int:
        """Return when the last change was made or the last movement ends, as `now_ms` counts."""
        return max(self._changed_ms, self._moving_until)
