"""What an app of the virtual phone gets from the phone, and what the phone wants from an app.

This file must never know a concrete app or the phone itself.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Protocol, runtime_checkable

from droidpilot.virtual.logbook import Level
from droidpilot.virtual.store import Settings
from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.motion import Slide
from droidpilot.virtual.ui.windows import Window
from droidpilot.virtual.wifi import Wifi


class Host(Protocol):
    """The phone, as an app sees it. Everything that changes the picture goes through `later`, `open` or `close`."""

    @property
    def seed(self) -> int: ...

    @property
    def settings(self) -> Settings: ...

    @property
    def wifi(self) -> Wifi: ...

    @property
    def display(self) -> Display:
        """The display as it is now: a page is as wide as `display.rect`."""
        ...

    def now_ms(self) -> int:
        """Return the phone's own time in ms."""
        ...

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

    def after(self, delay_ms: int, act: Callable[[], None]) -> None:
        """Do something when so many ms of the phone's time have passed; until then the phone may well be idle."""
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
        """Return (package, label) of the apps with an icon, as they stand on the home screen."""
        ...

    def forget_recents(self) -> None:
        """Close all recent apps and go home, after the usual delay."""
        ...

    def toast(self, text: str) -> None: ...

    def reset(self) -> None:
        """Erase all data, as the settings page does."""
        ...

    def notify(self, title: str, text: str, *, package: str, on_click: Callable[[], None] | None = None) -> None:
        """Post a notification of a package; a tap on it in the shade calls `on_click`, or else starts the app."""
        ...

    def ask_permission(self, package: str, permission: str, on_answer: Callable[[bool], None]) -> None:
        """Ask the person for a runtime permission, such as `READ_CONTACTS`, after the usual delay.

        `on_answer` is called once, when the answer is known: at once where it was granted before, or where two times no
        mean that nobody is asked any more. Going back counts as no.
        """
        ...

    def is_granted(self, package: str, permission: str) -> bool:
        """Tell whether a package has a permission now."""
        ...

    def crash(self, package: str, reason: str) -> None:
        """Let an app die of an uncaught exception: its process and windows are gone, the log has the trace."""
        ...

    def hang(self, package: str) -> None:
        """Let an app's main thread stop: it takes no input any more, until it is stopped; a dialog says so."""
        ...

    def log(self, tag: str, text: str, level: Level = "I") -> None:
        """Write to the log that `logcat` prints."""
        ...

    def show_overlay(self, window: Window) -> None:
        """Show a window of `kind` "overlay" above all apps, after the usual delay. It never has focus."""
        ...

    def hide_overlay(self, window: Window) -> None:
        """Take an overlay away, after the usual delay."""
        ...

    def never_idle_until(self, until_ms: int | None) -> None:
        """Say that the picture changes with every frame until that time of the phone; None is until further notice.

        A body that shows `now_ms()` is then built anew for each look. 0 ends it.
        """
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


@runtime_checkable
class Viewer(Protocol):
    """An app that shows pages of the web: `am start -a android.intent.action.VIEW -d URL` goes to the first of them."""

    def view(self, url: str) -> None:
        """Come to the front with the page of a URL."""
        ...
