"""Runtime permissions: who was granted what, how often somebody said no, and the dialog that asks.

Source for ids and words: the permission controller of Android 14. This file must never know a concrete app.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.ui.tasks import Tasks
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import button, label
from droidpilot.virtual.ui.windows import Window

CONTROLLER: Final = "com.android.permissioncontroller"
ACTIVITY: Final = f"{CONTROLLER}.permission.ui.GrantPermissionsActivity"
WHILE_IN_USE: Final = frozenset({"CAMERA", "RECORD_AUDIO", "ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION"})
"""These are offered for now only, or while the app is used, never for always."""
ASKS: Final[dict[str, str]] = {
    "ACCESS_COARSE_LOCATION": "access this device\u2019s location?",
    "ACCESS_FINE_LOCATION": "access this device\u2019s location?",
    "CALL_PHONE": "make and manage phone calls?",
    "CAMERA": "take pictures and record video?",
    "POST_NOTIFICATIONS": "send you notifications?",
    "READ_CALENDAR": "access your calendar?",
    "WRITE_CALENDAR": "access your calendar?",
    "READ_CONTACTS": "access your contacts?",
    "WRITE_CONTACTS": "access your contacts?",
    "READ_MEDIA_IMAGES": "access photos and videos on this device?",
    "READ_SMS": "send and view SMS messages?",
    "SEND_SMS": "send and view SMS messages?",
    "RECORD_AUDIO": "record audio?",
}
TIMES_TO_ASK: Final = 2
"""After two times no, Android asks no more. Source: Android 11 behaviour changes, permission dialog visibility."""
OnAnswer = Callable[[bool], None]


def full_name(permission: str) -> str:
    """Return `android.permission.X` for `X`; a full name stays as it is."""
    return permission if "." in permission else f"android.permission.{permission}"


@dataclass(slots=True)
class Permissions:
    """What every package was granted. A package that never asked and was never granted has nothing here."""

    granted: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Package to permission (in full) to whether it is granted."""
    refused: dict[tuple[str, str], int] = field(default_factory=dict)

    def is_granted(self, package: str, permission: str) -> bool:
        return self.granted.get(package, {}).get(full_name(permission), False)

    def declare(self, package: str, permissions: Sequence[str]) -> None:
        """Say which permissions a package may ask for, so that lists name them before anybody asked."""
        for permission in permissions:
            self.granted.setdefault(package, {}).setdefault(full_name(permission), False)

    def put(self, package: str, permission: str, is_granted: bool) -> None:
        """Grant or revoke, as `pm grant` and `pm revoke` do."""
        self.granted.setdefault(package, {})[full_name(permission)] = is_granted
        if is_granted:
            self.refused.pop((package, full_name(permission)), None)

    def refuse(self, package: str, permission: str) -> None:
        """Note a no."""
        self.put(package, permission, False)
        key = (package, full_name(permission))
        self.refused[key] = self.refused.get(key, 0) + 1

    def has_refused(self, package: str, permission: str) -> bool:
        """Tell whether somebody said no before: the next no is the last."""
        return self.refused.get((package, full_name(permission)), 0) > 0

    def may_ask(self, package: str, permission: str) -> bool:
        """Tell whether a dialog would still be shown."""
        return self.refused.get((package, full_name(permission)), 0) < TIMES_TO_ASK

    def clear(self, package: str) -> None:
        """Take everything back, as `pm clear` does."""
        for name in self.granted.get(package, {}):
            self.granted[package][name] = False
            self.refused.pop((package, name), None)

    def state(self) -> dict[str, dict[str, bool]]:
        return {package: dict(sorted(kept.items())) for package, kept in sorted(self.granted.items())}


def permission_window(app_label: str, permission: str, answer: OnAnswer, *, is_last_time: bool = False) -> Window:
    """Make the dialog that asks. `answer` is called with what was tapped; going back calls nothing."""
    name = full_name(permission).rpartition(".")[2]
    asks = ASKS.get(name, f"use {name.replace('_', ' ').lower()}?")

    def choice(text: str, id: str, is_yes: bool) -> View:
        return button(text, id=f"{CONTROLLER}:id/{id}", on_click=lambda: answer(is_yes), width=840)

    def body() -> View:
        message = label(
            f"Allow {app_label} to {asks}", id=f"{CONTROLLER}:id/permission_message", size=54, pad=(63, 30, 63, 60)
        )
        choices = View("android.widget.LinearLayout", pad=(40, 30, 40, 0))
        if name in WHILE_IN_USE:
            choices.children = [
                choice("While using the app", "permission_allow_foreground_only_button", True),
                choice("Only this time", "permission_allow_one_time_button", True),
            ]
        else:
            choices.children = [choice("Allow", "permission_allow_button", True)]
        no = "permission_deny_and_dont_ask_again_button" if is_last_time else "permission_deny_button"
        choices.children.append(choice("Don\u2019t allow", no, False))
        grant = View("android.widget.LinearLayout", f"{CONTROLLER}:id/grant_dialog", pad=(0, 42, 0, 42))
        grant.children = [message, choices]
        return View("android.widget.LinearLayout", f"{CONTROLLER}:id/grant_singleton", children=[grant])

    return Window(
        CONTROLLER, ACTIVITY, "Permission", f"permission/{permission}", body, is_dialog=True, closes_outside=False
    )


class Asking:
    """Asks the person, where somebody still has to be asked."""

    def __init__(
        self, permissions: Permissions, tasks: Tasks, schedule: Schedule, label_of: Callable[[str], str]
    ) -> None:
        self._permissions = permissions
        self._tasks = tasks
        self._schedule = schedule
        self._label_of = label_of

    def ask(self, package: str, permission: str, on_answer: OnAnswer) -> None:
        """Show the dialog over the app, or answer at once where it is not shown any more."""
        permissions, schedule = self._permissions, self._schedule
        permissions.declare(package, [permission])
        if permissions.is_granted(package, permission) or not permissions.may_ask(package, permission):
            on_answer(permissions.is_granted(package, permission))
            return

        def answered(is_yes: bool | None) -> None:
            # Of two fast taps the first one answers, and an app that is gone is told nothing.
            if not self._tasks.has(window):
                return
            self._tasks.close(window)
            if is_yes:
                permissions.put(package, permission, True)
            elif is_yes is not None:
                permissions.refuse(package, permission)
            on_answer(bool(is_yes))

        window = permission_window(
            self._label_of(package),
            permission,
            lambda is_yes: schedule.later(lambda: answered(is_yes)),
            is_last_time=permissions.has_refused(package, permission),
        )
        window.on_back = lambda: answered(None)
        schedule.later(lambda: self._tasks.open(window, task=package))
