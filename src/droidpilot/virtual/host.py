"""What an app of the virtual phone gets from the phone, and what the phone wants from an app.

This file must never know a concrete app or the phone itself.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol

from droidpilot.virtual.motion import Slide
from droidpilot.virtual.store import Settings
from droidpilot.virtual.wifi import Wifi
from droidpilot.virtual.windows import Window


class Host(Protocol):
    """The phone, as an app sees it. Everything that changes the picture goes through `later`, `open` or `close`."""

    @property
    def seed(self) -> int: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def wifi(self) -> Wifi: ...

    def random(self, purpose: str) -> Random:
        """Return a generator that depends on the seed and the purpose only."""
        ...

    def open(self, window: Window) -> None:
        """Open a window on top, after the usual delay."""
        ...

    def close(self, window: Window) -> None:
        """Close a window and all on top of it, after the usual delay."""
        ...

    def later(self, act: Callable[[], None]) -> None:
        """Do something when the phone would begin to show it."""
        ...

    def slide(self, *, dx: int = 0, dy: int = 0) -> Slide | None:
        """Start a slide now; None where transitions are off."""
        ...

    def back(self) -> None: ...

    def start(self, package: str) -> bool:
        """Bring an app to the front, after the usual delay; tell whether there is such an app."""
        ...

    def recent_apps(self) -> list[tuple[str, str]]:
        """Return (package, label) of recent apps, last used first."""
        ...

    def launchable_apps(self) -> list[tuple[str, str]]:
        """Return (package, label) of the apps with an icon, by label."""
        ...

    def forget_recents(self) -> None:
        """Close all recent apps and go home, after the usual delay."""
        ...

    def toast(self, text: str) -> None: ...

    def reset(self) -> None:
        """Erase all data, as the settings page does."""
        ...


class App(Protocol):
    """An installed app with a launcher icon."""

    @property
    def package(self) -> str: ...

    @property
    def activity(self) -> str:
        """Name of the launcher's activity, beginning with a dot where it is in the package."""
        ...

    @property
    def label(self) -> str: ...

    def first(self) -> Window:
        """Make the window that the launcher opens."""
        ...

    def clear(self) -> None:
        """Forget the app's data, as `pm clear` does."""
        ...

    def state(self) -> dict[str, object]:
        """Return the app's part of the truth."""
        ...
