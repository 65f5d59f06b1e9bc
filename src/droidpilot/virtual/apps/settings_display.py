"""The Display pages of Settings: brightness, dark theme, rotation, font size, screen timeout.

All of it is in the settings provider; what the shell writes there shows here.
"""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.apps.packages import SETTINGS
from droidpilot.virtual.apps.parts import padded
from droidpilot.virtual.apps.settings_rows import bound_switch, choice_rows, settings_page
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import Painted, View
from droidpilot.virtual.ui.widgets import dialog, row
from droidpilot.virtual.ui.windows import DIALOG_WIDTH, Window

MOST_BRIGHT: Final = 255
BAR_WIDTH: Final = DIALOG_WIDTH - 200
TIMEOUTS: Final[dict[str, str]] = {
    "15000": "15 seconds",
    "30000": "30 seconds",
    "60000": "1 minute",
    "120000": "2 minutes",
    "300000": "5 minutes",
    "600000": "10 minutes",
    "1800000": "30 minutes",
}
FONTS: Final[dict[str, str]] = {"0.85": "Small", "1.0": "Default", "1.15": "Large", "1.3": "Largest"}


class DisplayPages:
    """Makes the windows that have to do with the display."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def page(self) -> Window:
        """Make the Display page."""
        return settings_page(self._host, "Display", self._rows)

    def timeout_page(self) -> Window:
        """Make the page where the screen timeout is chosen."""
        return self._choices("Screen timeout", "screen_off_timeout", TIMEOUTS)

    def font_page(self) -> Window:
        """Make the page where the font size is chosen."""
        return self._choices("Font size", "font_scale", FONTS)

    def _choices(self, title: str, key: str, choices: dict[str, str]) -> Window:
        return settings_page(self._host, title, lambda: choice_rows(self._host, "system", key, choices))

    def _rows(self) -> list[View]:
        host = self._host
        timeout = TIMEOUTS.get(host.settings.get("system", "screen_off_timeout") or "", "Custom")
        font = FONTS.get(host.settings.get("system", "font_scale") or "", "Custom")
        return [
            row(
                "Brightness level",
                f"{self._level() * 100 // MOST_BRIGHT}%",
                on_click=lambda: host.open(self.brightness_dialog()),
            ),
            bound_switch(host, "Dark theme", "", "secure", "ui_night_mode", ("1", "2")),
            bound_switch(host, "Adaptive brightness", "", "system", "screen_brightness_mode"),
            bound_switch(host, "Auto-rotate screen", "", "system", "accelerometer_rotation"),
            row("Font size", font, on_click=lambda: host.open(self.font_page())),
            row(
                "Screen timeout",
                f"After {timeout} of inactivity",
                on_click=lambda: host.open(self.timeout_page()),
            ),
        ]

    def _level(self) -> int:
        """Return the brightness, 0..255; what is no number counts as 0."""
        kept = self._host.settings.get("system", "screen_brightness") or ""
        return min(MOST_BRIGHT, int(kept)) if kept.isascii() and kept.isdigit() and len(kept) < 9 else 0

    def brightness_dialog(self) -> Window:
        """Make the dialog with the slider. A tap on it sets the level; it cannot be dragged."""

        def set_to(x: int) -> None:
            level = max(1, min(MOST_BRIGHT, x * MOST_BRIGHT // BAR_WIDTH))
            self._host.later(
                lambda: self._host.settings.put("system", "screen_brightness", str(level), source=SETTINGS)
            )

        def body() -> View:
            bar = View("android.widget.SeekBar", "com.android.systemui:id/slider", width=BAR_WIDTH, height=120)
            bar.desc, bar.text = "Display brightness", f"{self._level() * 100 // MOST_BRIGHT}%"
            bar.on_touch = lambda x, _: set_to(x)
            filled = max(1, self._level() * BAR_WIDTH // MOST_BRIGHT)
            bar.paints = [Painted(Rect(0, 40, BAR_WIDTH, 80)), Painted(Rect(0, 40, filled, 80), is_lit=True)]
            return dialog("Brightness level", [padded(bar, (30, 20, 30, 20))], [])

        activity = f"{SETTINGS}.Settings$BrightnessActivity"
        return Window(SETTINGS, activity, "Brightness level", "brightness dialog", body, is_dialog=True)
