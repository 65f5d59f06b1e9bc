"""Apps that fail: a crash ends the process and leaves a trace in the log, a hang takes no input, and dialogs say so.

Source: AppErrors, AppErrorDialog and AppNotRespondingDialog of Android 14. This file must never know a concrete app.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.logbook import Logbook
from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.store import Settings
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import button, label
from droidpilot.virtual.ui.windows import Window

ANDROID: Final = "android"
"""Package of the system's own dialogs; its name has no dot."""
ANR_MS: Final = 5_000
"""An input that is not taken for so long makes the dialog. Source: DEFAULT_DISPATCHING_TIMEOUT."""
CRASH_INTERVAL_MS: Final = 60_000
"""A second crash within this time is said aloud; the first one only when `show_first_crash_dialog` is on."""


class Failing:
    """The failures of one phone's apps."""

    def __init__(
        self,
        schedule: Schedule,
        settings: Settings,
        logbook: Logbook,
        *,
        anr_ms: int = ANR_MS,
        label_of: Callable[[str], str],
        pid_of: Callable[[str], int],
        stop: Callable[[str], None],
        start: Callable[[str], object],
    ) -> None:
        self._schedule = schedule
        self._settings = settings
        self._logbook = logbook
        self._anr_ms = anr_ms
        self._label_of, self._pid_of, self._stop, self._start = label_of, pid_of, stop, start
        self._crashed: dict[str, int] = {}
        self._waiting: set[str] = set()
        self.hung: set[str] = set()
        self.dialogs: list[Window] = []
        """What the system says about them, the newest on top."""

    def crash(self, package: str, reason: str) -> None:
        """End an app as an uncaught exception does."""
        now, pid = self._schedule.now_ms(), self._pid_of(package)
        trace = reason if "\n" in reason else f"{reason}\n\tat {package}.MainActivity.onClick(MainActivity.java:42)"
        self._logbook.write(
            "AndroidRuntime",
            f"FATAL EXCEPTION: main\nProcess: {package}, PID: {pid}\n{trace}",
            at_ms=now,
            pid=pid,
            level="E",
            buffer="crash",
        )
        last = self._crashed.get(package)
        self._crashed[package] = now
        self._stop(package)
        is_repeated = last is not None and now - last < CRASH_INTERVAL_MS
        if is_repeated or self._settings.is_on("global", "show_first_crash_dialog"):
            self._say_crashed(package, is_repeated=is_repeated)

    def hang(self, package: str) -> None:
        """Let an app take no input any more."""
        self.hung.add(package)

    def recover(self, package: str) -> None:
        """Let it take input again, and forget what was said about it."""
        self.hung.discard(package)
        self._waiting.discard(package)
        self._close_about(package)

    def ignored(self, package: str) -> None:
        """Note that an input went to an app that hangs."""
        if package in self._waiting or package not in self.hung:
            return
        self._waiting.add(package)
        self._schedule.after(self._anr_ms, lambda: self._say_hung(package))

    def _say_hung(self, package: str) -> None:
        if package not in self._waiting or package not in self.hung:
            return
        pid, now = self._pid_of(package), self._schedule.now_ms()
        text = f"ANR in {package}\nPID: {pid}\nReason: Input dispatching timed out"
        self._logbook.write("ActivityManager", text, at_ms=now, level="E", buffer="system")
        choices = [
            self._choice("Close app", "aerr_close", package, lambda: self._stop(package)),
            self._choice("Wait", "aerr_wait", package, lambda: None),
        ]
        self._say(f"{self._label_of(package)} isn't responding", f"Application Not Responding: {package}", choices)

    def _say_crashed(self, package: str, *, is_repeated: bool) -> None:
        restart = self._choice("Open app again", "aerr_restart", package, lambda: self._start(package))
        close = self._choice("Close app", "aerr_close", package, lambda: None)
        said = "keeps stopping" if is_repeated else "has stopped"
        self._say(
            f"{self._label_of(package)} {said}",
            f"Application Error: {package}",
            [close] if is_repeated else [restart, close],
        )

    def _choice(self, text: str, id: str, package: str, act: Callable[[], object]) -> View:
        def chosen() -> None:
            self._waiting.discard(package)
            self._close_about(package)
            act()

        return button(text, id=f"android:id/{id}", width=840, on_click=lambda: self._schedule.later(chosen))

    def _close_about(self, package: str) -> None:
        self.dialogs = [dialog for dialog in self.dialogs if not dialog.activity.endswith(f": {package}")]

    def _say(self, title: str, name: str, choices: list[View]) -> None:
        def body() -> View:
            head = label(title, id="android:id/alertTitle", size=58, pad=(66, 50, 66, 30))
            panel = View("android.widget.LinearLayout", pad=(40, 10, 40, 30), children=choices)
            return View("android.widget.LinearLayout", "android:id/parentPanel", children=[head, panel])

        made = Window(ANDROID, name, title, name, body, is_dialog=True, kind="system", closes_outside=False)
        made.on_back = lambda: None
        if all(dialog.key != name for dialog in self.dialogs):
            made.slide = self._schedule.slide(dy=160)
            self.dialogs.append(made)
