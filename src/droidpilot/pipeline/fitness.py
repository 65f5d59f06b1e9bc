"""Fitness: whether a phone in this state can be acted on at all, whatever the call is about. Pure.

A locked phone swallows touches or opens the camera with them; a phone that is off wakes by some of them; a tree that
is not that of the app in front says nothing about what a finger would hit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from droidpilot.core.calls import Effect
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Aim, Tool

#: Keys that wake a phone, or let it sleep: the only things that can be done to one that is off or locked.
WAKING = frozenset({"power", "wakeup"})

#: Keys that need no tree: they lead away from whatever is there, and press nothing of it.
LEAVING = frozenset({"home", "back", "recents"})

_WAKE = "press wakeup wakes it"


@dataclass(frozen=True, slots=True)
class Unfit:
    """Why nothing was sent."""

    code: str  # screen_off, locked, state_unknown, foreign_tree
    reason: str


def unfit(
    tool: Tool, arguments: Any, aim: Aim | None, screen: Screen, *, is_lock_allowed: bool = False
) -> Unfit | None:
    """Say why `tool` must not be run on a phone in this state; None where it may.

    `is_lock_allowed`: a person allowed to act on the lock screen.
    """
    if tool.effect is not Effect.WRITE or not tool.needs_screen:
        return None
    key = getattr(arguments, "key", None)
    if key in WAKING:
        return None
    health = screen.health
    if health.is_off:
        return Unfit("screen_off", f"the phone's display is off, so nothing was sent; {_WAKE}")
    if health.is_locked and not is_lock_allowed:
        return Unfit(
            "locked",
            "the phone is locked, so nothing was sent; a person must unlock it (or allow it with lock_screen = true)",
        )
    if health.is_state_unknown:
        return Unfit(
            "state_unknown",
            "the phone does not say whether it is locked or off, so nothing was sent; look again, and if it stays so "
            "have a person look at the phone",
        )
    if health.is_foreign and key not in LEAVING:
        return Unfit(
            "foreign_tree",
            f"what can be read is not of {screen.package or 'the app in front'}, so nothing was sent; look again",
        )
    return None
