"""How long this phone takes to answer, and how long one of its optional answers is therefore waited for.

A phone behind a slow line is not a broken one: what is no more than helpful gets a multiple of what the phone has
proved to need, and never decides whether the work goes on.
"""

from __future__ import annotations

#: How many times as long as usual an optional answer may take.
TIMES = 8.0
#: Seconds that it gets in any case, and at most.
LEAST_S = 3.0
MOST_S = 20.0
#: How much the newest answer counts; a slow one counts whole at once, since a line gets worse faster than better.
_WEIGHT = 0.25


class Pace:
    """The phone's pace, as measured. `first_s` is a round trip that was measured when it was reached, 0 for none."""

    def __init__(self, first_s: float = 0.0) -> None:
        self._usual_s: float | None = first_s or None

    @property
    def usual_s(self) -> float:
        """Seconds that an answer usually takes, 0 where none was measured."""
        return self._usual_s or 0.0

    @property
    def patience_s(self) -> float:
        """Seconds that an optional answer is waited for."""
        if self._usual_s is None:
            return MOST_S
        return min(MOST_S, max(LEAST_S, TIMES * self._usual_s))

    def note(self, seconds: float) -> None:
        """Take one more measurement into account."""
        usual = self._usual_s
        if usual is None or seconds > usual:
            self._usual_s = seconds
        else:
            self._usual_s = usual + (seconds - usual) * _WEIGHT
