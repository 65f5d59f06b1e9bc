"""What apps ask of the phone, answered: the methods of `Host` that need nothing but the phone's parts.

The phone is made of this and of what puts those parts together. This file must never know the shell or what is seen.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from droidpilot.virtual.apps.packages import FIRST_ICONS, Package
from droidpilot.virtual.host import App
from droidpilot.virtual.logbook import Level, Logbook, LogLine
from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.ui.failing import Failing
from droidpilot.virtual.ui.motion import Slide
from droidpilot.virtual.ui.notifications import Notification, Notifications
from droidpilot.virtual.ui.permissions import Asking, Permissions
from droidpilot.virtual.ui.stack import Stack
from droidpilot.virtual.ui.tasks import HOME, Tasks
from droidpilot.virtual.ui.windows import Window

FIRST_PID, FIRST_UID = 2_000, 10_000


class Hosting:
    """The phone as its apps see it. Whoever inherits makes the parts."""

    lock: threading.RLock
    time: Schedule
    apps: Mapping[str, App]
    packages: Mapping[str, Package]
    tasks: Tasks
    stack: Stack
    notifications: Notifications
    permissions: Permissions
    asking: Asking
    failing: Failing
    logbook: Logbook
    last_toast: str | None

    def now_ms(self) -> int:
        return self.time.now_ms()

    def later(self, act: Callable[[], None]) -> None:
        self.time.later(act)

    def after(self, delay_ms: int, act: Callable[[], None]) -> None:
        self.time.after(delay_ms, act)

    def slide(self, *, dx: int = 0, dy: int = 0) -> Slide | None:
        return self.time.slide(dx=dx, dy=dy)

    def never_idle_until(self, until_ms: int | None) -> None:
        self.time.restless_until(until_ms)

    def open(self, window: Window) -> None:
        self.later(lambda: self.tasks.open(window))

    def close(self, window: Window) -> None:
        self.later(lambda: self.tasks.close(window))

    def back(self) -> None:
        self.later(self.stack.back)

    def start(self, package: str) -> bool:
        if package not in self.apps:
            return False
        self.later(lambda: self.tasks.show(package))
        return True

    @property
    def recents(self) -> list[str]:
        return self.tasks.recents

    def recent_apps(self) -> list[tuple[str, str]]:
        return [(package, self.apps[package].label) for package in self.recents]

    def launchable_apps(self) -> list[tuple[str, str]]:
        apps = [(app.package, app.label) for app in self.apps.values() if app.package != HOME]
        return sorted(apps, key=lambda app: (app[0] not in FIRST_ICONS, app[1]))

    def forget_recents(self) -> None:
        self.later(self.tasks.forget_recents)

    def show_overlay(self, window: Window) -> None:
        self.later(lambda: self.stack.overlays.append(window))

    def hide_overlay(self, window: Window) -> None:
        self.later(lambda: self.stack.overlays.remove(window) if window in self.stack.overlays else None)

    def toast(self, text: str) -> None:
        self.last_toast = text

    def label_of(self, package: str) -> str:
        """Return the name that a person knows an app by."""
        app = self.apps.get(package)
        return app.label if app is not None else self.packages[package].label if package in self.packages else package

    def pid_of(self, package: str) -> int:
        """Return the process id that an app has while it runs; 0 for an unknown one."""
        return FIRST_PID + self.packages[package].uid - FIRST_UID if package in self.packages else 0

    def notify(self, title: str, text: str, *, package: str, on_click: Callable[[], None] | None = None) -> None:
        with self.lock:
            self.notifications.post(title, text, package=package, now_ms=self.now_ms(), on_click=on_click)
            self.time.changed()

    def _picked(self, notification: Notification) -> None:
        if notification.on_click is not None:
            notification.on_click()
        else:
            self.start(notification.package)

    def is_granted(self, package: str, permission: str) -> bool:
        return self.permissions.is_granted(package, permission)

    def ask_permission(self, package: str, permission: str, on_answer: Callable[[bool], None]) -> None:
        with self.lock:
            self.asking.ask(package, permission, on_answer)

    def crash(self, package: str, reason: str) -> None:
        with self.lock:
            self.failing.crash(package, reason)

    def hang(self, package: str) -> None:
        with self.lock:
            self.failing.hang(package)

    def log(self, tag: str, text: str, level: Level = "I") -> None:
        with self.lock:
            self.logbook.write(tag, text, at_ms=self.now_ms(), level=level)

    @property
    def log_lines(self) -> tuple[LogLine, ...]:
        """What `logcat` prints, oldest first."""
        return self.logbook.lines
