"""The notification shade and the quick settings: one window of System UI that comes down over everything.

Source for ids: SystemUI of Android 14. This file must never know an app.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.store import Settings
from droidpilot.virtual.ui.keyguard import NAME, PACKAGE
from droidpilot.virtual.ui.notifications import Notification, Notifications
from droidpilot.virtual.ui.views import FILL, View
from droidpilot.virtual.ui.widgets import button, label
from droidpilot.virtual.ui.windows import Window

TILES: Final = (
    ("Internet", "global", "wifi_on"),
    ("Bluetooth", "global", "bluetooth_on"),
    ("Auto-rotate", "system", "accelerometer_rotation"),
    ("Airplane mode", "global", "airplane_mode_on"),
    ("Mobile data", "global", "mobile_data"),
    ("Adaptive brightness", "system", "screen_brightness_mode"),
)
FIRST_TILES: Final = 4
"""So many tiles are shown above the notifications; all of them when the quick settings are pulled down whole."""


class Shade:
    """The shade of one phone."""

    def __init__(
        self,
        schedule: Schedule,
        settings: Settings,
        notifications: Notifications,
        *,
        label_of: Callable[[str], str],
        on_pick: Callable[[Notification], None],
    ) -> None:
        self._schedule = schedule
        self._settings = settings
        self._notifications = notifications
        self._label_of = label_of
        self._on_pick = on_pick
        self.is_open = False
        self.is_quick = False
        """Whether the quick settings fill it."""
        self.window = Window(PACKAGE, NAME, "Notification shade", "shade", self._body, kind="shade")
        self.window.on_back = self.close

    def open(self, *, is_quick: bool = False) -> None:
        """Come down."""
        if not self.is_open:
            self.window.slide = self._schedule.slide(dy=-600)
        self.is_open, self.is_quick = True, is_quick

    def close(self) -> None:
        """Go up again."""
        self.is_open = self.is_quick = False

    def _body(self) -> View:
        panel = View("android.widget.LinearLayout", f"{PACKAGE}:id/notification_panel", height=FILL)
        tiles = View(
            "android.view.ViewGroup",
            f"{PACKAGE}:id/quick_settings_panel" if self.is_quick else f"{PACKAGE}:id/quick_qs_panel",
        )
        shown = TILES if self.is_quick else TILES[:FIRST_TILES]
        for begin in range(0, len(shown), 2):
            line = View("android.widget.LinearLayout", layout="row", height=200, pad=(30, 10, 30, 10))
            line.children = [self._tile(*tile) for tile in shown[begin : begin + 2]]
            tiles.children.append(line)
        panel.children = [tiles]
        if not self.is_quick:
            panel.children.append(self._listed())
        return panel

    def _tile(self, name: str, namespace: str, key: str) -> View:
        is_on = self._settings.is_on(namespace, key)

        def turn() -> None:
            value = "0" if self._settings.is_on(namespace, key) else "1"
            self._settings.put(namespace, key, value, source=PACKAGE)

        # As System UI has it: the whole tile is the switch, with its words inside.
        tile = View("android.widget.Switch", f"{PACKAGE}:id/tile", desc=name, weight=1, height=180)
        tile.pad, tile.on_click = (150, 30, 30, 20), lambda: self._schedule.later(turn)
        tile.is_checkable, tile.is_checked = True, is_on
        tile.children = [
            label(name, id=f"{PACKAGE}:id/tile_label", size=42),
            label("On" if is_on else "Off", id=f"{PACKAGE}:id/secondary_label", size=36),
        ]
        return tile

    def _listed(self) -> View:
        posted = self._notifications.shown
        listed = View(
            "android.view.ViewGroup",
            f"{PACKAGE}:id/notification_stack_scroller",
            weight=1,
            pad=(30, 30, 30, 0),
            scroll=self.window.scroll("notifications"),
        )
        listed.children = [self._notification(n) for n in posted]
        if posted:
            listed.children.append(
                button("Clear all", id=f"{PACKAGE}:id/dismiss_text", on_click=lambda: self._schedule.later(self._clear))
            )
        else:
            listed.children.append(label("No notifications", id=f"{PACKAGE}:id/no_notifications", pad=(66, 60, 66, 60)))
        return listed

    def _notification(self, notification: Notification) -> View:
        def pick() -> None:
            self.close()
            self._notifications.remove(notification)
            self._on_pick(notification)

        made = View(
            "android.widget.FrameLayout",
            f"{PACKAGE}:id/expandableNotificationRow",
            pad=(40, 30, 40, 30),
            on_click=lambda: self._schedule.later(pick),
        )
        made.children = [
            label(self._label_of(notification.package), id="android:id/app_name_text", size=34),
            label(notification.title, id="android:id/title", size=46),
            label(notification.text, id="android:id/text", size=40),
        ]
        return made

    def _clear(self) -> None:
        self._notifications.clear()
        self.close()
