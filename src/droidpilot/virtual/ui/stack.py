"""Which windows are shown, in which order, which one has focus, and in which room each is laid out.

Source for the order: WindowManagerPolicy.getWindowLayerFromTypeLw (apps, then the system's dialogs and overlays, then
the input method, then the shade, which is the lock screen too). This file must never know what a window shows.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.failing import Failing
from droidpilot.virtual.ui.keyboard import Keyboard
from droidpilot.virtual.ui.keyguard import Keyguard
from droidpilot.virtual.ui.shade import Shade
from droidpilot.virtual.ui.tasks import Tasks
from droidpilot.virtual.ui.windows import Room, Window


@dataclass(slots=True)
class Stack:
    """The windows of one phone."""

    tasks: Tasks
    keyboard: Keyboard
    keyguard: Keyguard
    shade: Shade
    failing: Failing
    overlays: list[Window] = field(default_factory=list)

    @property
    def top(self) -> Window:
        """The window that has focus. Overlays and the keyboard never have it."""
        locked = self.keyguard.window
        if locked is not None:
            return locked
        if self.shade.is_open:
            return self.shade.window
        return self.failing.dialogs[-1] if self.failing.dialogs else self.tasks.top

    @property
    def has_keyboard(self) -> bool:
        return self.keyboard.is_shown(self.top)

    def shown(self) -> list[Window]:
        """Return the windows that are shown, bottom to top; behind the lock screen nothing is."""
        locked = self.keyguard.window
        if locked is not None:
            return [locked]
        windows = [*self.tasks.shown, *self.overlays, *self.failing.dialogs]
        if self.has_keyboard:
            windows.append(self.keyboard.window)
        if self.shade.is_open:
            windows.append(self.shade.window)
        return windows

    def room(self, window: Window, display: Display) -> Room:
        """Return where a window is laid out now: an app's windows make room for the keyboard."""
        screen = display.rect
        taken = self.keyboard.height(screen) if window.kind == "app" and self.has_keyboard else 0
        return Room(screen, taken)

    @property
    def is_restless(self) -> bool:
        """Tell whether a window that is shown changes with every frame."""
        return any(window.is_restless for window in self.shown())

    def home(self) -> None:
        """Go to the launcher; a locked phone stays where it is."""
        if not self.keyguard.is_showing:
            self.shade.close()
            self.tasks.home()

    def overview(self) -> None:
        """Show the recent apps; a locked phone stays where it is."""
        if not self.keyguard.is_showing:
            self.shade.close()
            self.tasks.overview()

    def back(self) -> None:
        """Do what Back does: hide the keyboard first, then what the window with focus makes of it."""
        top = self.top
        if self.has_keyboard:
            self.keyboard.hide()
        elif top.on_back is not None:
            top.on_back()
        else:
            self.tasks.back()
