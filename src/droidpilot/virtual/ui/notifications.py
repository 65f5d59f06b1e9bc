"""Notifications that apps posted: what the shade lists and `dumpsys notification` prints.

This file must never know a window or a clock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MOST_KEPT = 50
"""So many are kept; Android drops what is above. Source: NotificationManagerService, MAX_PACKAGE_NOTIFICATIONS."""


@dataclass(frozen=True, slots=True)
class Notification:
    """One posted notification. `posted_ms` is the phone's own time."""

    number: int
    package: str
    title: str
    text: str
    posted_ms: int
    on_click: Callable[[], None] | None = None

    @property
    def key(self) -> str:
        """Name it as the notification service does: user|package|id|tag|uid."""
        return f"0|{self.package}|{self.number}|null|10000"


class Notifications:
    """All posted notifications, the newest first."""

    def __init__(self) -> None:
        self._kept: list[Notification] = []
        self._count = 0

    @property
    def shown(self) -> tuple[Notification, ...]:
        return tuple(self._kept)

    def post(
        self, title: str, text: str, *, package: str, now_ms: int, on_click: Callable[[], None] | None = None
    ) -> Notification:
        """Keep a notification and return it."""
        self._count += 1
        made = Notification(self._count, package, title, text, now_ms, on_click)
        self._kept.insert(0, made)
        del self._kept[MOST_KEPT:]
        return made

    def remove(self, notification: Notification) -> None:
        if notification in self._kept:
            self._kept.remove(notification)

    def clear(self, package: str | None = None) -> None:
        """Remove all, or all of one package."""
        self._kept = [kept for kept in self._kept if package is not None and kept.package != package]

    def state(self) -> list[dict[str, object]]:
        return [{"package": n.package, "title": n.title, "text": n.text} for n in self._kept]
