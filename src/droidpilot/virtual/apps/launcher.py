"""The launcher: a page of app icons, and the overview of recent apps."""

from __future__ import annotations

from droidpilot.virtual.apps.packages import LAUNCHER
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import FILL, View
from droidpilot.virtual.ui.widgets import button, label
from droidpilot.virtual.ui.windows import NAVIGATION_BAR, STATUS_BAR, Window

ICON_WIDTH = 240
LINE_HEIGHT = 300
CARD_HEIGHT = 360
MOST_CARDS = 4


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
        # A screen that lies, or is small, has room for other rows: as many icons as fit, and closer where they must.
        a_row = max(1, (screen.width - 120) // ICON_WIDTH)
        lines = max(1, -(-len(apps) // a_row))
        if screen.width > screen.height:
            grid.pad = (60, 20, 60, 0)
        room = screen.height - STATUS_BAR - NAVIGATION_BAR - grid.pad[1]
        height = min(LINE_HEIGHT, room // lines)
        for begin in range(0, len(apps), a_row):
            line = View("android.view.ViewGroup", layout="row", height=height)
            line.children = [self._icon(package, name, height - 20) for package, name in apps[begin : begin + a_row]]
            grid.children.append(line)
        return grid

    def _icon(self, package: str, name: str, height: int) -> View:
        return View(
            "android.widget.TextView",
            text=name,
            desc=name,
            size=36,
            width=ICON_WIDTH,
            height=height,
            pad=(20, max(0, height - 80), 20, 20),
            on_click=lambda: self._start(package),
            on_long_click=lambda: self._host.toast(name),
        )

    def _recents(self) -> View:
        recent = self._host.recent_apps()
        column = View(
            "android.widget.FrameLayout", f"{LAUNCHER}:id/overview_panel", height=FILL, pad=(120, 200, 120, 0)
        )
        room = self._host.display.rect.height - STATUS_BAR - NAVIGATION_BAR - 200 - 132
        for package, name in recent[: max(1, min(MOST_CARDS, room // CARD_HEIGHT))]:
            card = View("android.widget.FrameLayout", f"{LAUNCHER}:id/task", height=CARD_HEIGHT, pad=(30, 30, 30, 30))
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
