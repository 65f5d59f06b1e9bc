"""The virtual phone: its windows, its time, its inputs and the truth about all of it.

One lock guards everything, so a test may ask for the state while the server's thread drives. This file must never know
a socket, a shell or a wire format.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import asdict, dataclass
from random import Random

from droidpilot.core.clock import Clock, SystemClock
from droidpilot.virtual.apps.contacts import Contacts
from droidpilot.virtual.apps.launcher import Launcher
from droidpilot.virtual.apps.messages import Messages
from droidpilot.virtual.apps.packages import Package, installed_packages
from droidpilot.virtual.apps.settings import SettingsApp
from droidpilot.virtual.display import Display
from droidpilot.virtual.faults import Faults
from droidpilot.virtual.hierarchy import SeenNode, see, to_xml
from droidpilot.virtual.host import App
from droidpilot.virtual.inputs import InputLog
from droidpilot.virtual.logbook import Level, Logbook, LogLine
from droidpilot.virtual.motion import MOVE_MS, Slide
from droidpilot.virtual.notifications import Notifications
from droidpilot.virtual.permissions import Permissions, permission_window
from droidpilot.virtual.store import Files, Settings
from droidpilot.virtual.wifi import Wifi, networks_in_reach
from droidpilot.virtual.windows import SCREEN, Window

TRANSITION_MS = 280
"""A change begins to show 0 to so many ms after the input that made it."""
MAX_WAITING = 64
FOREVER = 1 << 62
"""A time that never comes, in ms."""
SDK = 34
RELEASE = "14"
MODEL = "Virtual Phone"
HOME = "com.android.launcher3"


@dataclass(frozen=True, slots=True)
class Look:
    """What accessibility sees at one moment, and whether it would see the same later."""

    version: int
    is_still: bool
    roots: list[SeenNode]

    @property
    def root(self) -> SeenNode | None:
        return self.roots[0] if self.roots else None


class Phone:
    """A whole phone. With a ManualClock or `transition_ms=0` the same inputs make the same dumps, byte for byte."""

    def __init__(
        self,
        *,
        seed: int = 0,
        transition_ms: int = TRANSITION_MS,
        move_ms: int = MOVE_MS,
        clock: Clock | None = None,
    ) -> None:
        self.seed = seed
        self.transition_ms = transition_ms
        self.move_ms = move_ms  # how long a window slides, where there are transitions
        self.lock = threading.RLock()
        self.inputs = InputLog()
        self.faults = Faults()
        self._clock: Clock = clock if clock is not None else SystemClock()
        self._began = self._clock.monotonic()
        self._acting_ms: int | None = None
        self._delays = self.random("delays")
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()
        self._version = 0
        self._moving_until = 0
        self._changed_ms = 0
        self._look: Look | None = None
        self._xml: tuple[Look, int, str] | None = None
        self.screen_on = True
        self.clipboard = ""
        self.last_toast: str | None = None
        self.resets = 0
        self.display = Display(on_change=self.changed)
        self.logbook = Logbook()
        self._restless_until = 0
        self._start_over()

    def _start_over(self) -> None:
        self.settings = Settings(on_change=self.changed)
        self.files = Files()
        self.wifi = Wifi(self.settings, networks_in_reach(self.random("wifi")))
        self.packages: dict[str, Package] = {p.name: p for p in installed_packages(self.random("packages"))}
        made: list[App] = [
            Launcher(self),
            SettingsApp(self, tuple(self.packages.values())),
            Messages(self),
            Contacts(self),
        ]
        self.apps: dict[str, App] = {app.package: app for app in made}
        self.tasks: dict[str, list[Window]] = {HOME: [self.apps[HOME].first()]}
        self.front = HOME
        self.recents: list[str] = []
        self.notifications = Notifications()
        self.permissions = Permissions()
        self.hung: set[str] = set()
        self.above: list[Window] = []
        self.changed()

    # time

    def now_ms(self) -> int:
        """Return ms since the phone was made; while a delayed change happens, the time it was due."""
        if self._acting_ms is not None:
            return self._acting_ms
        return int((self._clock.monotonic() - self._began) * 1000)

    def wall_s(self) -> int:
        """Return the wall clock of the phone in seconds since 1970."""
        return int(self._clock.now().timestamp())

    def random(self, purpose: str) -> Random:
        return Random(f"{self.seed}/{purpose}")

    def later(self, act: Callable[[], None]) -> None:
        with self.lock:
            if self.transition_ms <= 0:
                act()
                self.changed()
                return
            while len(self._waiting) >= MAX_WAITING:
                self._act(*self._waiting.popleft())
            due = self.now_ms() + self._delays.randint(0, self.transition_ms)
            if self._waiting:
                due = max(due, self._waiting[-1][0])
            self._waiting.append((due, act))

    def advance(self) -> None:
        """Do what became due since the last call."""
        with self.lock:
            while self._waiting and self._waiting[0][0] <= self.now_ms():
                self._act(*self._waiting.popleft())

    def _act(self, due: int, act: Callable[[], None]) -> None:
        self._acting_ms = due
        try:
            act()
        finally:
            self.changed()
            self._acting_ms = None

    def changed(self) -> None:
        """Say that the picture may be another one now."""
        self._version += 1
        self._changed_ms = self.now_ms()

    def slide(self, *, dx: int = 0, dy: int = 0) -> Slide | None:
        if self.transition_ms <= 0:
            return None
        made = Slide(self.now_ms(), dx, dy, self.move_ms)
        self.moving_until(made.end_ms)
        return made

    def moving_until(self, end_ms: int) -> None:
        """Say that something moves until then."""
        self._moving_until = max(self._moving_until, end_ms)

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing moves and no change is on its way."""
        with self.lock:
            self.advance()
            return not self._waiting and self.now_ms() >= max(self._moving_until, self._restless_until)

    @property
    def still_since_ms(self) -> int:
        """Return when the last change was made or the last movement ends, as `now_ms` counts."""
        return max(self._changed_ms, self._moving_until)

    # windows

    @property
    def top(self) -> Window:
        """The window that has focus."""
        return next((w for w in reversed(self.above) if w.kind != "overlay"), self.tasks[self.front][-1])

    def windows(self) -> list[Window]:
        """Return the windows that are shown, bottom to top."""
        task = self.tasks[self.front]
        begin = next(at for at in range(len(task) - 1, -1, -1) if at == 0 or not task[at].is_dialog)
        return [*task[begin:], *self.above]

    def open(self, window: Window) -> None:
        self.later(lambda: self._open(window))

    def _open(self, window: Window) -> None:
        task = self.tasks.get(window.package)
        if task is None or task[-1].key == window.key:
            return
        window.slide = self.slide(dy=160) if window.is_dialog else self.slide(dx=270)
        task.append(window)
        del task[1:-20]

    def close(self, window: Window) -> None:
        self.later(lambda: self._close(window))

    def _close(self, window: Window) -> None:
        task = self.tasks.get(window.package)
        if task is None or window not in task[1:]:
            return
        del task[task.index(window) :]
        if not window.is_dialog:
            task[-1].slide = self.slide(dx=-270)

    def back(self) -> None:
        self.later(self._back)

    def _back(self) -> None:
        task = self.tasks[self.front]
        if len(task) > 1:
            self._close(task[-1])
        elif self.front != HOME:
            self._show(HOME)

    def home(self) -> None:
        """Go to the launcher, after the usual delay."""
        self.later(self._home)

    def _home(self) -> None:
        del self.tasks[HOME][1:]
        self._show(HOME)

    def show_recents(self) -> None:
        """Open the overview of recent apps, after the usual delay."""
        self.later(self._overview)

    def _overview(self) -> None:
        launcher = self.apps[HOME]
        assert isinstance(launcher, Launcher)
        self._show(HOME)
        self._open(launcher.overview())

    def start(self, package: str) -> bool:
        if package not in self.apps:
            return False
        self.later(lambda: self._show(package))
        return True

    def _show(self, package: str) -> None:
        task = self.tasks.setdefault(package, [])
        if not task:
            task.append(self.apps[package].first())
        if package != HOME:
            self.recents = [package, *(p for p in self.recents if p != package)]
        if self.front != package:
            self.front = package
            if package != HOME:
                del self.tasks[HOME][1:]
            task[-1].slide = self.slide(dy=240)

    def stop(self, package: str) -> None:
        """Stop an app at once, as `am force-stop` does."""
        with self.lock:
            if self.front == package:
                self._home()
            if package != HOME:
                self.tasks.pop(package, None)
            self.hung.discard(package)
            self.changed()

    def recent_apps(self) -> list[tuple[str, str]]:
        return [(package, self.apps[package].label) for package in self.recents]

    def launchable_apps(self) -> list[tuple[str, str]]:
        return sorted(
            ((app.package, app.label) for app in self.apps.values() if app.package != HOME), key=lambda pair: pair[1]
        )

    def forget_recents(self) -> None:
        self.later(self._forget_recents)

    def _forget_recents(self) -> None:
        for package in self.recents:
            self.tasks.pop(package, None)
        self.recents = []
        self._home()

    def toast(self, text: str) -> None:
        self.last_toast = text

    def reset(self) -> None:
        self.resets += 1
        self._start_over()

    # what apps ask of the phone

    def notify(self, title: str, text: str, *, package: str, on_click: Callable[[], None] | None = None) -> None:
        with self.lock:
            self.notifications.post(title, text, package=package, now_ms=self.now_ms(), on_click=on_click)
            self.changed()

    def is_granted(self, package: str, permission: str) -> bool:
        return self.permissions.is_granted(package, permission)

    def ask_permission(self, package: str, permission: str, on_answer: Callable[[bool], None]) -> None:
        if self.is_granted(package, permission) or not self.permissions.may_ask(package, permission):
            on_answer(self.is_granted(package, permission))
            return

        def answer(is_yes: bool) -> None:
            self.later(lambda: answered(is_yes))

        def answered(is_yes: bool) -> None:
            if window in self.above:
                self.above.remove(window)
                if is_yes:
                    self.permissions.put(package, permission, True)
                else:
                    self.permissions.refuse(package, permission)
                on_answer(is_yes)

        app = self.apps.get(package)
        window = permission_window(app.label if app is not None else package, permission, answer)
        window.kind = "system"
        self.later(lambda: self.above.append(window))

    def crash(self, package: str, reason: str) -> None:
        with self.lock:
            text = f"FATAL EXCEPTION: main\nProcess: {package}, PID: 0\n{reason}"
            self.logbook.write("AndroidRuntime", text, at_ms=self.now_ms(), level="E", buffer="crash")
            self.stop(package)

    def hang(self, package: str) -> None:
        with self.lock:
            self.hung.add(package)

    def log(self, tag: str, text: str, level: Level = "I") -> None:
        with self.lock:
            self.logbook.write(tag, text, at_ms=self.now_ms(), level=level)

    @property
    def log_lines(self) -> tuple[LogLine, ...]:
        """What `logcat` prints, oldest first."""
        return self.logbook.lines

    def show_overlay(self, window: Window) -> None:
        self.later(lambda: self.above.append(window))

    def hide_overlay(self, window: Window) -> None:
        self.later(lambda: self.above.remove(window) if window in self.above else None)

    def never_idle_until(self, until_ms: int | None) -> None:
        with self.lock:
            self._restless_until = FOREVER if until_ms is None else until_ms
            self.changed()

    # what is seen

    def look(self) -> Look:
        """Return what accessibility sees now."""
        with self.lock:
            self.advance()
            now = self.now_ms()
            kept = self._look
            if kept is not None and kept.is_still and kept.version == self._version:
                return kept
            # Top to bottom; a dialog takes all touches, so accessibility does not report what is below it.
            roots: list[SeenNode] = []
            for window in reversed(self.windows()):
                seen = see(window.tree(now), window.package, SCREEN)
                if seen is not None:
                    roots.append(seen)
                if window.kind != "overlay":
                    break
            is_still = now >= max(self._moving_until, self._restless_until)
            self._look = Look(self._version, is_still, roots)
            return self._look

    def dump(self, max_depth: int) -> str:
        """Return the UI hierarchy as XML."""
        with self.lock:
            look = self.look()
            if self._xml is None or self._xml[0] is not look or self._xml[1] != max_depth:
                self._xml = (look, max_depth, to_xml(look.roots, max_depth=max_depth))
            return self._xml[2]

    def state(self) -> dict[str, object]:
        """Return the truth, ready for JSON: what is in front, what was set and sent, which inputs were executed."""
        with self.lock:
            self.look()
            window = self.top
            told: dict[str, object] = {
                "seed": self.seed,
                "model": MODEL,
                "screen_on": self.screen_on,
                "package": window.package,
                "activity": window.activity,
                "title": window.title,
                "dialog": window.is_dialog,
                "focus": window.focus.name if window.focus is not None else None,
                "scroll": {name: scroll.offset for name, scroll in sorted(window.scrolls.items())},
                "recents": list(self.recents),
                "settings": {namespace: dict(sorted(v.items())) for namespace, v in self.settings.values.items()},
                "settings_changed": [asdict(change) for change in self.settings.changes],
                "ime_default": self.settings.get("secure", "default_input_method"),
                "wifi": self.wifi.state(),
                "toast": self.last_toast,
                "notifications": self.notifications.state(),
                "permissions": self.permissions.state(),
                "hung": sorted(self.hung),
                "factory_resets": self.resets,
                "inputs": self.inputs.state(),
                "faults": self.faults.state(),
            }
            for app in self.apps.values():
                told |= app.state()
            return told
