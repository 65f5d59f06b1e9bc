"""Presence: whether somebody else is at the phone. A change of app or page that no write of ours explains.

It goes by the app and the page in front, so that clocks, badges, toasts and notifications never count. It must never
loosen what another gate says: what it adds is a pause and a no.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.clock import Clock
from droidpilot.device.pace import Pace
from droidpilot.screens.screen import Screen, is_helper_package

#: Seconds after a write in which a change is its late result.
OURS_S = 3.0
#: How many usual answers of the phone that is at least.
_ANSWERS = 6
#: What shows that a page is still on its way to another one.
_LOADING = ("ProgressBar", "ProgressIndicator")


@dataclass(frozen=True, slots=True)
class Taken:
    """What was in front, and what is now."""

    was: Screen
    now: Screen
    after_s: float  # since our last write, or since the first look


class Presence:
    """Remembers the last page that is accounted for, and when we last did something."""

    def __init__(self, clock: Clock, pace: Pace) -> None:
        self._clock = clock
        self._pace = pace
        self._known: Screen | None = None
        self._wrote_at = clock.monotonic()
        self._is_waiting = False  # our last write has shown no result yet

    def wrote(self) -> None:
        """Note that a write was sent, or may have been."""
        self._wrote_at = self._clock.monotonic()
        self._is_waiting = True

    def account(self, screen: Screen, *, has_result: bool = False) -> None:
        """Take what is in front as known: it was looked at after a write, or whoever asks was told."""
        self._known = screen
        if has_result:
            self._is_waiting = False

    def taken(self, screen: Screen) -> Taken | None:
        """Return what somebody else brought to the front; None where it is the same, or may be our doing."""
        was = self._known
        if was is None or not _is_elsewhere(was, screen):
            return None
        after_s = self._clock.monotonic() - self._wrote_at
        if after_s <= max(OURS_S, _ANSWERS * self._pace.usual_s):
            return None
        if self._is_waiting or _is_on_its_way(was):
            return None  # nothing was seen of our last write until now, or the page was loading
        return Taken(was, screen, after_s)


def _is_elsewhere(was: Screen, now: Screen) -> bool:
    """Tell whether another app or page is in front; where that is not known, nothing is said."""
    if was.package is None or now.package is None or is_helper_package(now.package):
        return False
    if was.package != now.package:
        return True
    return was.activity is not None and now.activity is not None and was.activity != now.activity


def _is_on_its_way(screen: Screen) -> bool:
    health = screen.health
    if not health.is_settled or health.is_never_idle:
        return True
    return any(node.visible and node.cls.endswith(_LOADING) for node in screen.nodes)
