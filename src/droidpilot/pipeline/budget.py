"""Budget: turns, actions, tokens, money and seconds; reserved before, settled after. Loop and gate share one."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from droidpilot.core.calls import Answer, Effect, Verdict
from droidpilot.core.clock import Clock
from droidpilot.core.text import plural
from droidpilot.pipeline.case import Case
from droidpilot.tools.control import Finish

_ALLOW = Verdict("budget", Answer.ALLOW)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """None is no limit. Seconds spent waiting for a person do not count."""

    turns: int | None = 50
    actions: int | None = 100
    tokens: int | None = 500_000
    usd: float | None = None
    seconds: float | None = 900.0

    def as_dict(self) -> dict[str, float | None]:
        return asdict(self)


class Budget:
    """Counts what was used. Nothing here is ever given back but a reserved action that was provably not sent."""

    name = "budget"

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self.limits = limits
        self._clock = clock
        self._started = clock.monotonic()
        self._waited_s = 0.0
        self._reserved: set[str] = set()
        self.turns = 0
        self.actions = 0
        self.tokens = 0
        self.usd: float | None = 0.0

    @property
    def seconds(self) -> float:
        """Seconds since the start, waiting for a person excluded."""
        return self._clock.monotonic() - self._started - self._waited_s

    @property
    def left_s(self) -> float | None:
        """Seconds left, None where there is no limit."""
        return None if self.limits.seconds is None else max(0.0, self.limits.seconds - self.seconds)

    def waited(self, seconds: float) -> None:
        self._waited_s += seconds

    def judge(self, case: Case) -> Verdict:
        """Reserve what the call needs. `done` needs nothing, so that a run can always end by itself."""
        if case.call.tool == Finish.name:
            return _ALLOW
        spent = self._spent()
        if spent is not None:
            return spent
        if case.effect is Effect.WRITE:
            if self.limits.actions is not None and self.actions >= self.limits.actions:
                return _halt(
                    "actions", f"the limit of {plural(self.limits.actions, 'action')} is reached (--max-actions)"
                )
            self.actions += 1
            self._reserved.add(case.call.id)
        return _ALLOW

    def release(self, case: Case) -> None:
        """Give back the action reserved for a call that did not reach the phone; nothing where none was reserved."""
        if case.call.id in self._reserved:
            self._reserved.discard(case.call.id)
            self.actions -= 1

    def start_turn(self) -> Verdict:
        """Ask for one more model request, and count it where it is allowed."""
        if self.limits.turns is not None and self.turns >= self.limits.turns:
            return _halt("turns", f"the limit of {plural(self.limits.turns, 'turn')} is reached (--max-turns)")
        spent = self._spent()
        if spent is not None:
            return spent
        self.turns += 1
        return _ALLOW

    def add_usage(self, tokens: int, usd: float | None) -> None:
        """Count a request. Negative figures are ignored; an unknown price makes the sum unknown."""
        self.tokens += max(0, tokens)
        if usd is None:
            self.usd = None
        elif self.usd is not None:
            self.usd += max(0.0, usd)

    def _spent(self) -> Verdict | None:
        limits = self.limits
        if limits.seconds is not None and self.seconds >= limits.seconds:
            return _halt("seconds", f"all {limits.seconds:g} seconds are used (--max-seconds)")
        if limits.tokens is not None and self.tokens >= limits.tokens:
            return _halt("tokens", f"{self.tokens} of {limits.tokens} tokens are used (--max-tokens)")
        if limits.usd is not None:
            if self.usd is None:
                return _halt("usd", "the price of a request is unknown, so the money limit cannot be kept")
            if self.usd >= limits.usd:
                return _halt("usd", f"${self.usd:.4f} of ${limits.usd:.4f} is spent (--max-usd)")
        return None


def _halt(code: str, reason: str) -> Verdict:
    return Verdict("budget", Answer.HALT, code=f"budget_{code}", reason=reason)
