"""The list of apps that come with the phone beside launcher, Settings and Messages.

This file must never know what an app does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.apps.bank import Bank
from droidpilot.virtual.apps.browser import Browser
from droidpilot.virtual.apps.bubbles import Bubbles
from droidpilot.virtual.apps.calendar import Calendar
from droidpilot.virtual.apps.clock import Clock
from droidpilot.virtual.apps.contacts import Contacts
from droidpilot.virtual.apps.courier import Courier
from droidpilot.virtual.apps.faulty import Faulty
from droidpilot.virtual.apps.fields import Fields
from droidpilot.virtual.apps.game import Game
from droidpilot.virtual.apps.loader import Loader
from droidpilot.virtual.apps.login import Login
from droidpilot.virtual.apps.meals import Meals
from droidpilot.virtual.apps.notes import Notes
from droidpilot.virtual.apps.scout import Scout
from droidpilot.virtual.apps.shop import Shop
from droidpilot.virtual.host import App, Host

APPS: Final[tuple[Callable[[Host], App], ...]] = (
    *(Contacts, Clock, Calendar, Notes, Browser),
    *(Login, Bank, Shop, Game, Courier, Meals),
    *(Fields, Loader, Faulty, Bubbles, Scout),
)


def more_apps(host: Host) -> list[App]:
    """Make every app anew, as after a factory reset."""
    return [make(host) for make in APPS]
