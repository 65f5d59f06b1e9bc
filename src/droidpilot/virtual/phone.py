"""The virtual phone: its windows, its time, its inputs and the truth about all of it.

Puts its parts together and is what apps, the shell and tests hold in their hands. One lock guards everything, so a test
may ask for the state while the server's thread drives. This file must never know a socket, a shell or a wire format.
"""

from __future__ import annotations

import threading
from random import Random

from droidpilot.core.clock import Clock, SystemClock
from droidpilot.core.errors import UsageError
from droidpilot.virtual.apps.launcher import Launcher
from droidpilot.virtual.apps.messages import Messages
from droidpilot.virtual.apps.more import more_apps
from droidpilot.virtual.apps.packages import Package, installed_packages
from droidpilot.virtual.apps.settings import SettingsApp
from droidpilot.virtual.faults.faults import Faults
from droidpilot.virtual.host import App
from droidpilot.virtual.hosting import Hosting
from droidpilot.virtual.inputs import InputLog
from droidpilot.virtual.logbook import Logbook
from droidpilot.virtual.person import Person
from droidpilot.virtual.scenes.port import Scene
from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.store import LATIN_IME, Files, Settings
from droidpilot.virtual.truth import truth
from droidpilot.virtual.ui import editing
from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.failing import ANR_MS, Failing
from droidpilot.virtual.ui.hierarchy import SeenNode
from droidpilot.virtual.ui.keyboard import Keyboard
from droidpilot.virtual.ui.keyguard import Keyguard
from droidpilot.virtual.ui.motion import MOVE_MS
from droidpilot.virtual.ui.notifications import Notifications
from droidpilot.virtual.ui.obstructions import KINDS
from droidpilot.virtual.ui.orientation import Orientation
from droidpilot.virtual.ui.permissions import Asking, Permissions
from droidpilot.virtual.ui.shade import Shade
from droidpilot.virtual.ui.sight import Look, Sight
from droidpilot.virtual.ui.stack import Stack
from droidpilot.virtual.ui.tasks import HOME, Tasks
from droidpilot.virtual.ui.views import TextField
from droidpilot.virtual.ui.windows import Room, Window
from droidpilot.virtual.wifi import Wifi, networks_in_reach

__all__ = ["HOME", "MODEL", "RELEASES", "SDK", "TRANSITION_MS", "Look", "Phone"]
TRANSITION_MS = 280
"""A change begins to show 0 to so many ms after the input that made it."""
SDK = 34
RELEASES = {33: "13", 34: "14", 35: "15", 36: "16"}
"""API level to Android version."""
MODEL = "Virtual Phone"


class Phone(Hosting):
    """A whole phone. With a ManualClock or `transition_ms=0` the same inputs make the same dumps, byte for byte."""

    def __init__(
        self,
        *,
        seed: int = 0,
        transition_ms: int = TRANSITION_MS,
        move_ms: int = MOVE_MS,
        clock: Clock | None = None,
        sdk: int = SDK,
        anr_ms: int = ANR_MS,
    ) -> None:
        if sdk not in RELEASES:
            raise UsageError(f"no virtual phone of API level {sdk}", hint=f"known: {', '.join(map(str, RELEASES))}")
        self.seed = seed
        self.sdk = sdk
        self.lock = threading.RLock()
        self.inputs = InputLog()
        self.faults = Faults()
        self.time = Schedule(
            clock if clock is not None else SystemClock(),
            self.lock,
            self.random("delays"),
            transition_ms=transition_ms,
            move_ms=move_ms,
        )
        self._anr_ms = anr_ms
        self._scene: Scene | None = None
        self.screen_on = True
        self.clipboard = ""
        self.last_toast: str | None = None
        self.resets = 0
        self._display = Display(on_change=self.changed)
        self.logbook = Logbook()
        self.person = Person(self)
        self._start_over()

    def _start_over(self) -> None:
        self.settings = Settings(on_change=self._settings_changed)
        self.files = Files(is_full=lambda: self.faults.is_set("storage-full"))
        self.properties: dict[str, str] = {}
        """System properties that were set while the phone ran."""
        self.wifi = Wifi(self.settings, networks_in_reach(self.random("wifi")))
        self.packages: dict[str, Package] = {p.name: p for p in installed_packages(self.random("packages"))}
        made: list[App] = [
            Launcher(self),
            SettingsApp(self, tuple(self.packages.values())),
            Messages(self),
            *more_apps(self),
        ]
        self.apps: dict[str, App] = {app.package: app for app in made}
        self.notifications = Notifications()
        self.permissions = Permissions()
        self._obstructions: list[str] = []
        self._display.rotation = 0
        self.orientation = Orientation(self._display, self.settings, self.time)
        self._put_up_windows()
        self.changed()

    def _put_up_windows(self, keyguard: Keyguard | None = None) -> None:
        self.tasks = Tasks(self.apps, self.time, on_start=self._started)
        self.keyguard = keyguard or Keyguard(self.time, lambda: self.notifications.shown)
        self.keyboard = Keyboard(
            self.time, self.settings, lambda: self.display.rect, press=self.edit_key, type=self._type_on_keyboard
        )
        self.shade = Shade(self.time, self.settings, self.notifications, label_of=self.label_of, on_pick=self._picked)
        self.failing = Failing(
            self.time,
            self.settings,
            self.logbook,
            anr_ms=self._anr_ms,
            label_of=self.label_of,
            pid_of=self.pid_of,
            stop=self.stop,
            start=self.start,
        )
        self.asking = Asking(self.permissions, self.tasks, self.time, self.label_of)
        self.stack = Stack(self.tasks, self.keyboard, self.keyguard, self.shade, self.failing)
        self.sight = Sight(self.time, self.stack, lambda: self.display)
        self.sight.scene = self._scene

    def reset(self) -> None:
        self.resets += 1
        self._start_over()

    def _settings_changed(self) -> None:
        self.orientation.follow()
        self.changed()

    # time

    def wall_s(self) -> int:
        """Return the wall clock of the phone in seconds since 1970."""
        return self.time.wall_s()

    def random(self, purpose: str) -> Random:
        return Random(f"{self.seed}/{purpose}")

    @property
    def transition_ms(self) -> int:
        return self.time.transition_ms

    def advance(self) -> None:
        """Do what became due since the last call."""
        self.time.advance()

    def changed(self) -> None:
        """Say that the picture may be another one now."""
        self.time.changed()

    def moving_until(self, end_ms: int) -> None:
        """Say that something moves until then."""
        self.time.moving_until(end_ms)

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing moves and no change is on its way."""
        with self.lock:
            return self.time.is_idle and not self.stack.is_restless

    @property
    def still_since_ms(self) -> int:
        """Return when the last change was made or the last movement ends, as `now_ms` counts."""
        return self.time.still_since_ms

    # windows

    @property
    def display(self) -> Display:
        """The display as it is now: the phone's, or that of the scene."""
        return self._scene.display if self._scene is not None else self._display

    @property
    def scene(self) -> Scene | None:
        """The foreign screen that is shown instead of the phone's own windows."""
        return self._scene

    @scene.setter
    def scene(self, scene: Scene | None) -> None:
        with self.lock:
            self._scene = self.sight.scene = scene
            self.changed()

    @property
    def top(self) -> Window:
        """The window that has focus."""
        return self.stack.top

    @property
    def front(self) -> str:
        """The package whose task is in front."""
        return self.tasks.front

    @property
    def package(self) -> str:
        """The package in front, whoever shows it."""
        return self._scene.package if self._scene is not None else self.top.package

    @property
    def activity(self) -> str:
        """The activity in front, in full."""
        return self._scene.activity if self._scene is not None else self.top.activity

    @property
    def is_secure(self) -> bool:
        """Tell whether what is in front forbids pictures of itself."""
        return self._scene.is_secure if self._scene is not None else self.top.is_secure

    def windows(self) -> list[Window]:
        """Return the windows that are shown, bottom to top."""
        return self.stack.shown()

    def room(self, window: Window) -> Room:
        """Return where a window is laid out now."""
        return self.stack.room(window, self.display)

    def home(self) -> None:
        """Go to the launcher, after the usual delay."""
        self.later(self.stack.home)

    def show_recents(self) -> None:
        """Open the overview of recent apps, after the usual delay."""
        self.later(self.stack.overview)

    def _started(self, package: str) -> None:
        """Show what waits to get in the way of the app that is started next."""
        if package != HOME:
            for kind in self._obstructions:
                self.tasks.open(KINDS[kind](self, package, self.label_of(package)))
            self._obstructions.clear()

    def obstruct(self, kind: str) -> None:
        """Let something get in the way when an app is started next: one of obstructions.KINDS.

        Raises:
            UsageError: there is no such kind.
        """
        if kind not in KINDS:
            raise UsageError(f"no obstruction {kind[:60]!r}", hint=f"known: {', '.join(KINDS)}")
        with self.lock:
            self._obstructions.append(kind)

    def stop(self, package: str) -> None:
        """Stop an app at once, as `am force-stop` does."""
        with self.lock:
            self.tasks.stop(package)
            self.failing.recover(package)
            self.changed()

    def restart(self) -> None:
        """Start anew, as after a reboot: no app runs, nothing is recent, the clipboard is empty, the screen locked."""
        with self.lock:
            self.time.forget()
            self.notifications = Notifications()
            self.clipboard, self.last_toast = "", None
            self.screen_on = True
            self._put_up_windows(self.keyguard)
            self.keyguard.started()
            self.changed()

    def install(self, package: Package) -> None:
        """Add a package, or put a new version in its place; it has no icon."""
        with self.lock:
            self.packages[package.name] = package
            self.changed()

    def uninstall(self, name: str) -> bool:
        """Take a package off the phone with its windows and permissions; tell whether there was one."""
        with self.lock:
            if self.packages.pop(name, None) is None:
                return False
            self.stop(name)
            self.apps.pop(name, None)
            self.permissions.granted.pop(name, None)
            if (self.settings.get("secure", "default_input_method") or "").startswith(f"{name}/"):
                self.settings.put("secure", "default_input_method", LATIN_IME, source="android")
            self.changed()
            return True

    # text

    def fields(self) -> list[TextField]:
        """Return the text fields in sight, in their order."""
        return [n.view.edits for root in self.look().roots for n in root.walk() if n.view.edits is not None]

    def edit_key(self, code: int) -> None:
        """Give a key to the window that has focus."""
        editing.press(self.top, code, fields=self.fields(), clipboard=self.clipboard)
        self.changed()

    def _type_on_keyboard(self, text: str) -> None:
        field = self.top.focus
        if field is not None:
            field.put(field.text + text)
            self.changed()

    # what is seen

    def look(self) -> Look:
        """Return what accessibility sees now."""
        with self.lock:
            self.advance()
            return self.sight.look()

    def see(self, window: Window) -> SeenNode | None:
        """Build a window as it is now; None where nothing of it can be seen."""
        return self.sight.see(window)

    def dump(self, max_depth: int) -> str:
        """Return the UI hierarchy as XML."""
        with self.lock:
            self.advance()
            return self.sight.dump(max_depth)

    def dump_bytes(self, max_depth: int) -> bytes:
        """Return what `uiautomator dump` writes: of a scene byte for byte, else the window with focus alone."""
        with self.lock:
            self.advance()
            return self.sight.dump_bytes(max_depth)

    def stale_tree(self, dumps: int) -> None:
        """Let so many dumps show the launcher's tree while another app has focus, as real phones do now and then."""
        with self.lock:
            self.sight.stale_dumps = dumps

    def state(self) -> dict[str, object]:
        """Return the truth, ready for JSON: what is in front, what was set and sent, which inputs were executed."""
        with self.lock:
            self.look()
            return truth(self)
