"""How the display is turned: by the settings, by a program that freezes it, by a hand that turns the phone.

Source: accelerometer_rotation and user_rotation of WindowManager, UiAutomation.setRotation. This file must never know a
window.
"""

from __future__ import annotations

from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.store import Settings
from droidpilot.virtual.ui.display import Display

SYSTEM_UI = "com.android.systemui"


class Orientation:
    """Turns the display of one phone."""

    def __init__(self, display: Display, settings: Settings, schedule: Schedule) -> None:
        self._display = display
        self._settings = settings
        self._schedule = schedule
        self._wanted = display.rotation
        self.held = 0
        """How the phone is held in the hand, in quarter turns; counts while the screen turns by itself."""

    @property
    def turns_by_itself(self) -> bool:
        return self._settings.is_on("system", "accelerometer_rotation")

    def follow(self) -> None:
        """Turn the display as the settings say now, after the usual delay."""
        said = self._settings.get("system", "user_rotation") or "0"
        locked = int(said) if said in ("0", "1", "2", "3") else self._wanted
        wanted = self.held if self.turns_by_itself else locked
        if wanted != self._wanted:
            self._wanted = wanted
            self._schedule.later(lambda: self._display.turn(wanted))

    def hold(self, rotation: int) -> None:
        """Turn the phone in the hand; where it does not turn by itself, tap the button that Android offers then.

        Raises:
            ValueError: not 0, 1, 2 or 3.
        """
        if rotation not in (0, 1, 2, 3):
            raise ValueError(f"no rotation {rotation}: 0, 1, 2 or 3")
        self.held = rotation
        if self.turns_by_itself:
            self.follow()
        else:
            self._settings.put("system", "user_rotation", str(rotation), source=SYSTEM_UI)

    def freeze(self, rotation: int | None = None) -> None:
        """Hold the display turned as given, or as it is now, whatever the hand does."""
        self._settings.put(
            "system", "user_rotation", str(self._wanted if rotation is None else rotation), source="shell"
        )
        self._settings.put("system", "accelerometer_rotation", "0", source="shell")

    def thaw(self) -> None:
        """Let the display follow the hand."""
        self._settings.put("system", "accelerometer_rotation", "1", source="shell")
