"""The list of apps that come with the phone beside launcher, Settings and Messages.

This file must never know what an app does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.apps.contacts import Contacts
from droidpilot.virtual.apps.login import Login
from droidpilot.virtual.apps.notes import Notes
from droidpilot.virtual.host import App, Host

APPS: Final[tuple[Callable[[Host], App], ...]] = (
    Contacts,
    Login,
    Notes,
)


def more_apps(host: Host) -> list[App]:
    """Make every app anew, as after a factory reset."""
    return [make(host) for make in APPS]
