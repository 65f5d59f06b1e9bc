"""The launcher: a page of app icons, and the overview of recent apps."""

from __future__ import annotations

from droidpilot.virtual.apps.packages import LAUNCHER
from droidpilot.virtual.host import Host
from droidpilot.virtual.views import FILL, View
from droidpilot.virtual.widgets import button, label
from droidpilot.virtual.windows import Window

ICON_WIDTH = 240


class Launcher:
    """The home screen."""

    package = LAUNCHER
    activity = ".uioverrides.QuickstepLauncher"
    label = "Launcher"

    def __init__(self, host: Host) -> None:
        self._host = host

    def first(self) -> Window:
        return Window(LAUNCHER, f"{LAUNCHER}{self.activity}", "Home", "home", self._home)

    def overview(self) -> Window:
        """Make the overview of recent apps."""
        return Window(LAUNCHER, "com.android.quickstep.RecentsActivity", "Recent apps", "recents", self._recents)

    def clear(self) -> None:
        """Do nothing: the launcher keeps nothing."""

    def state(self) -> dict[str, object]:
        return {}

    def _home(self) -> View:
        apps = self._host.launchable_apps()
        grid = View("android.view.ViewGroup", f"{LAUNCHER}:id/workspace", height=FILL, pad=(60, 300, 60, 0))
        screen = self._host.display.rect
        # A screen that lies has room for more icons beside each other, and for fewer rows.
        a_row = max(1, (screen.width - 120) // ICON_WIDTH)
        if screen.width > screen.height:
            grid.pad = (60, 120, 60, 0)
        for begin in range(0, len(apps), a_row):
            line = View("android.view.ViewGroup", layout="row", height=300)
            line.children = [self._icon(package, name) for package, name in apps[begin : begin + a_row]]
            grid.children.append(line)
        return grid

    def _icon(self, package: str, name: str) -> View:
        return View(
            "android.widget.TextView",
            text=name,
            desc=name,
            size=36,
            width=ICON_WIDTH,
            height=280,
            pad=(20, 200, 20, 20),
            on_click=lambda: self._start(package),
            on_long_click=lambda: self._host.toast(name),
        )

    def _recents(self) -> View:
        recent = self._host.recent_apps()
        column = View(
            "android.widget.FrameLayout", f"{LAUNCHER}:id/overview_panel", height=FILL, pad=(120, 200, 120, 0)
        )
        for package, name in recent[:4]:
            card = View("android.widget.FrameLayout", f"{LAUNCHER}:id/task", height=360, pad=(30, 30, 30, 30))
            card.desc = name
            card.on_click = lambda package=package: self._start(package)
            card.children = [label(name, size=50)]
            column.children.append(card)
        if recent:
            column.children.append(button("Clear all", id=f"{LAUNCHER}:id/clear_all", on_click=self._clear_all))
        else:
            column.children.append(label("No recent items", size=50))
        return column

    def _start(self, package: str) -> None:
        self._host.start(package)

    def _clear_all(self) -> None:
        self._host.forget_recents()
