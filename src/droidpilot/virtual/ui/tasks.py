"""Task stacks: which windows each running app has, which app is in front, and which were used lately.

This file must never know the display, a touch or what a window shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from droidpilot.virtual.apps.launcher import Launcher
from droidpilot.virtual.host import App
from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.ui.windows import Window

HOME = "com.android.launcher3"
MOST_WINDOWS = 20
"""A task keeps its first window and so many newer ones."""


class Tasks:
    """The tasks of one phone. Iterating gives the packages that run."""

    def __init__(self, apps: Mapping[str, App], schedule: Schedule, *, on_start: Callable[[str], None]) -> None:
        self._apps = apps
        self._schedule = schedule
        self._on_start = on_start
        self._stacks: dict[str, list[Window]] = {HOME: [apps[HOME].first()]}
        self.front = HOME
        self.recents: list[str] = []

    def __iter__(self) -> Iterator[str]:
        return iter(self._stacks)

    def __contains__(self, package: object) -> bool:
        return package in self._stacks

    def __getitem__(self, package: str) -> list[Window]:
        return self._stacks[package]

    @property
    def shown(self) -> list[Window]:
        """The windows of the task in front from the page up to the dialog on top."""
        stack = self._stacks[self.front]
        begin = next(at for at in range(len(stack) - 1, -1, -1) if at == 0 or not stack[at].is_dialog)
        return stack[begin:]

    @property
    def top(self) -> Window:
        return self._stacks[self.front][-1]

    def open(self, window: Window, *, task: str | None = None) -> None:
        """Put a window on top of its package's task, or of another one; not twice the same."""
        stack = self._stacks.get(window.package if task is None else task)
        if stack is None or stack[-1].key == window.key:
            return
        window.slide = self._schedule.slide(dy=160) if window.is_dialog else self._schedule.slide(dx=270)
        stack.append(window)
        del stack[1:-MOST_WINDOWS]

    def close(self, window: Window) -> None:
        """Take a window away, and all on top of it."""
        stack = next((stack for stack in self._stacks.values() if window in stack[1:]), None)
        if stack is None:
            return
        del stack[stack.index(window) :]
        if not window.is_dialog:
            stack[-1].slide = self._schedule.slide(dx=-270)

    def has(self, window: Window) -> bool:
        """Tell whether a window still is in a task."""
        return any(window in stack for stack in self._stacks.values())

    def back(self) -> None:
        """Close the window on top; from an app's first one go to the launcher."""
        stack = self._stacks[self.front]
        if len(stack) > 1:
            self.close(stack[-1])
        elif self.front != HOME:
            self.show(HOME)

    def home(self) -> None:
        del self._stacks[HOME][1:]
        self.show(HOME)

    def overview(self) -> None:
        """Show the recent apps."""
        launcher = self._apps[HOME]
        assert isinstance(launcher, Launcher)
        self.show(HOME)
        self.open(launcher.overview())

    def show(self, package: str) -> None:
        """Bring an app to the front, started where it does not run."""
        stack = self._stacks.get(package)
        is_new = stack is None
        if stack is None:
            stack = self._stacks[package] = [self._apps[package].first()]
        if package != HOME:
            self.recents = [package, *(p for p in self.recents if p != package)]
        if self.front != package:
            self.front = package
            if package != HOME:
                del self._stacks[HOME][1:]
            stack[-1].slide = self._schedule.slide(dy=240)
        if is_new:
            self._on_start(package)

    def stop(self, package: str) -> None:
        """End an app; the launcher only goes back to its first page."""
        if self.front == package:
            self.home()
        if package != HOME:
            self._stacks.pop(package, None)

    def forget_recents(self) -> None:
        """Close all recent apps and go home."""
        for package in self.recents:
            self._stacks.pop(package, None)
        self.recents = []
        self.home()
