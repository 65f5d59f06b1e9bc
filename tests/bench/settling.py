"""Settling on a virtual phone in simulated time: is the screen that is returned the final one, and what did it cost?"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from random import Random
from statistics import median

from droidpilot.core.clock import ManualClock
from droidpilot.device.settle import settle
from droidpilot.pipeline.observer import is_slight
from droidpilot.screens.hierarchy import Hierarchy
from droidpilot.screens.hits import tap_point
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.screen import fingerprint_of
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.touch import Touch

#: How long transitions last, in ms; one begins to show within 300 ms. 0: everything happens at once.
TRANSITIONS_MS = (0, 100, 300, 1000)
#: What one read of the hierarchy takes, as on the real stack.
READ_S = 0.012
_KEYS = (4, 3)  # back, home
_HOME = 3
#: The apps in which every touch has one result. Others of the phone answer in two steps, or move for ever, on purpose:
#: what is final then is no question of settling.
_APPS = frozenset(
    (
        "com.android.launcher3",
        "com.android.settings",
        "com.google.android.apps.messaging",
        "com.google.android.contacts",
    )
)
_DEPTH = 50


@dataclass(slots=True)
class Settling:
    """What came of the taps at one length of transitions."""

    transition_ms: int
    inputs: int = 0  # taps, and the keys between them
    finals: int = 0  # of them, those after which the screen that was returned was the final one
    extra_ms: list[float] = field(default_factory=list)  # from the moment it was final to the return

    @property
    def final_share(self) -> float:
        return self.finals / self.inputs

    @property
    def median_extra_ms(self) -> float:
        return median(self.extra_ms)


def _is_slight(before: Hierarchy, dump: str) -> bool:
    return is_slight(before, parse_hierarchy(dump.encode()))


def settling(transition_ms: int, *, taps: int, seed: int = 0) -> Settling:
    """Tap through the phone at random, back and home in between, and settle after each tap as the road does."""
    clock = ManualClock()
    phone = Phone(seed=seed, transition_ms=min(transition_ms, 300), move_ms=transition_ms, clock=clock)
    touch, random, result = Touch(phone), Random(f"{seed}/{transition_ms}"), Settling(transition_ms)

    def read() -> str:
        dump = phone.dump(_DEPTH)
        clock.advance(READ_S)
        return dump

    def fingerprint(dump: str) -> str:
        return fingerprint_of(parse_hierarchy(dump.encode()))

    before = read()
    tapped = 0
    while tapped < taps:
        hierarchy = parse_hierarchy(before.encode())
        nodes = [hierarchy.nodes[index] for index in RefBook().assign(hierarchy).values()]
        if phone.package not in _APPS:
            touch.key(_HOME)
            clock.advance(5)
            before = phone.dump(_DEPTH)
            continue
        points = [point for node in nodes if node.is_tappable and (point := tap_point(hierarchy, node)) is not None]
        if not points or random.random() < 0.1:
            touch.key(random.choice(_KEYS))
        else:
            touch.tap(*random.choice(points))
            tapped += 1
        outcome = settle(
            read,
            fingerprint,
            before=fingerprint(before),
            is_slight=partial(_is_slight, hierarchy),
            clock=clock,
        )
        before = outcome.value
        if phone.stack.is_restless:
            # A spinner or a stopwatch has no final screen: what the look at it says is another test's question.
            touch.key(_KEYS[1])
            clock.advance(5)
            before = phone.dump(_DEPTH)
            continue
        result.inputs += 1
        result.extra_ms.append(phone.now_ms() - phone.still_since_ms)
        clock.advance(5)
        final = phone.dump(_DEPTH)
        result.finals += final == before
        before = final
    return result
