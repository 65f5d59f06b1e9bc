"""Waiting for a screen on evidence, not on a fixed sleep. Pure apart from the clock and the reader it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from droidpilot.core.clock import Clock

T = TypeVar("T")

#: Two looks this far apart with the same fingerprint are a screen at rest. A transition changes every frame (16 ms,
#: 33 ms on a slow phone): one that has begun to show never passes for rest, and a longer gap would add to every call.
SETTLE_GAP_S = 0.05
#: Without a change, a write has had this long to show one. Transitions start to show within 300 ms.
QUIET_S = 0.5
#: After this a screen that never rests is taken as it is, and said to be so.
CAP_S = 3.0
#: A phone so slow that fewer looks fit into that time gets as many: two would prove nothing about it.
LEAST_READS = 4
#: But never more time than this.
MOST_S = 15.0


@dataclass(frozen=True, slots=True)
class Settled(Generic[T]):
    """The last look, and what was learned by waiting for it."""

    value: T
    is_settled: bool  # two equal fingerprints one gap apart, and a change or time enough for one
    is_changed: bool  # some look differed from `before`; false where there was no before
    waited_s: float  # from the call to the return, reads included
    reads: int


def settle(
    read: Callable[[], T],
    fingerprint: Callable[[T], str],
    *,
    before: str | None,
    clock: Clock,
    is_slight: Callable[[T], bool] = lambda value: False,
    gap_s: float = SETTLE_GAP_S,
    quiet_s: float = QUIET_S,
    cap_s: float = CAP_S,
) -> Settled[T]:
    """Read until the screen rests: after a write (`before` is the fingerprint it was judged on), or for a plain look.

    `is_slight` tells of a look that differs from before whether the touch alone explains it, as it does moved focus.
    That proves nothing about what the touch sets off, so the time for a change is waited for all the same.

    The gap lies between the end of one read and the start of the next, so that both are at least that far apart however
    long a read takes. What `read` raises is not caught.
    """
    started = clock.monotonic()
    previous: str | None = None
    is_changed = is_answered = False
    reads = 0
    slowest_s = 0.0
    while True:
        read_at = clock.monotonic() - started
        value = read()
        reads += 1
        slowest_s = max(slowest_s, clock.monotonic() - started - read_at)
        end_s = max(cap_s, min(MOST_S, LEAST_READS * (slowest_s + gap_s)))
        now = fingerprint(value)
        if before is not None and now != before:
            is_changed = True
            is_answered = is_answered or not is_slight(value)
        is_resting = now == previous
        is_settled = is_resting and (before is None or is_answered or read_at >= quiet_s)
        waited_s = clock.monotonic() - started
        if is_settled or waited_s + gap_s >= end_s:
            return Settled(value, is_settled, is_changed, waited_s, reads)
        previous = now
        clock.sleep(gap_s)
