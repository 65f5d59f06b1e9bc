"""The virtual phone: its windows, its time, its inputs and the truth about all of it.

One lock guards everything, so a test may ask for the state while the server's thread drives. This file must never know
a socket, a shell or a wire format.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import asdict, dataclass
from random import Random

from droidpilot.core.clock import Clock, SystemClock
from droidpilot.virtual.apps.launcher import Launcher
from droidpilot.virtual.apps.messages import Messages
from droidpilot.virtual.apps.more import more_apps
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
from droidpilot.virtual.scene_port import Scene
from droidpilot.virtual.scene_scan import as_text
from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.store import LATIN_IME, Files, Settings
from droidpilot.virtual.tasks import HOME, Tasks
from droidpilot.virtual.wifi import Wifi, networks_in_reach
from droidpilot.virtual.windows import Room, Window

__all__ = ["HOME", "MODEL", "SDK", "TRANSITION_MS", "Look", "Phone", "Shown"]
TRANSITION_MS = 280
"""A change begins to show 0 to so many ms after the input that made it."""
SDK = 34
RELEASE = "14"
MODEL = "Virtual Phone"


@dataclass(frozen=True, slots=True)
class Shown:
    """A window that accessibility reports, and what it sees of it."""

    window: Window
    root: SeenNode


@dataclass(frozen=True, slots=True)
class Look:
    """What accessibility sees at one moment, and whether it would see the same later.

    Roots come top to bottom. Source: AccessibilityWindowManager reports windows in descending layers; the server in the
    phone keeps them in a hash set, whose order nobody promises, and a dump of a phone with three windows has this one.
    """

    version: int
    is_still: bool
    roots: list[SeenNode]
    windows: tuple[Shown, ...] = ()
    """The same top to bottom with their windows; none where a scene is shown."""

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
        self._look: Look | None = None
        self._xml: tuple[Look, int, str] | None = None
        self._scene: Scene | None = None
        self.screen_on = True
        self.clipboard = ""
        self.last_toast: str | None = None
        self.resets = 0
        self._display = Display(on_change=self.changed)
        self.logbook = Logbook()
        self._start_over()

    def _start_over(self) -> None:
        self.settings = Settings(on_change=self.changed)
        self.files = Files(is_full=lambda: self.faults.is_set("storage-full"))
        self.wifi = Wifi(self.settings, networks_in_reach(self.random("wifi")))
        self.packages: dict[str, Package] = {p.name: p for p in installed_packages(self.random("packages"))}
        made: list[App] = [
            Launcher(self),
            SettingsApp(self, tuple(self.packages.values())),
            Messages(self),
            *more_apps(self),
        ]
        self.apps: dict[str, App] = {app.package: app for app in made}
        self.tasks = Tasks(self.apps, self.time, on_start=self._started)
        self.notifications = Notifications()
        self.permissions = Permissions()
        self.hung: set[str] = set()
        self.overlays: list[Window] = []
        self.changed()

    # time

    def now_ms(self) -> int:
        return self.time.now_ms()

    def wall_s(self) -> int:
        """Return the wall clock of the phone in seconds since 1970."""
        return self.time.wall_s()

    def random(self, purpose: str) -> Random:
        return Random(f"{self.seed}/{purpose}")

    @property
    def transition_ms(self) -> int:
        return self.time.transition_ms

    def later(self, act: Callable[[], None]) -> None:
        self.time.later(act)

    def after(self, delay_ms: int, act: Callable[[], None]) -> None:
        self.time.after(delay_ms, act)

    def advance(self) -> None:
        """Do what became due since the last call."""
        self.time.advance()

    def changed(self) -> None:
        """Say that the picture may be another one now."""
        self.time.changed()

    def slide(self, *, dx: int = 0, dy: int = 0) -> Slide | None:
        return self.time.slide(dx=dx, dy=dy)

    def moving_until(self, end_ms: int) -> None:
        """Say that something moves until then."""
        self.time.moving_until(end_ms)

    def never_idle_until(self, until_ms: int | None) -> None:
        self.time.restless_until(until_ms)

    @property
    def is_idle(self) -> bool:
        """Tell whether nothing moves and no change is on its way."""
        with self.lock:
            return self.time.is_idle and not self._is_restless()

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
            self._scene = scene
            self.changed()

    @property
    def front(self) -> str:
        """The package whose task is in front."""
        return self.tasks.front

    @property
    def top(self) -> Window:
        """The window that has focus."""
        return self.tasks.top

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
        return [*self.tasks.shown, *self.overlays]

    def room(self, window: Window) -> Room:
        """Return where a window is laid out now."""
        return Room(self.display.rect)

    def _is_restless(self) -> bool:
        return any(window.is_restless() for window in self.windows())

    def open(self, window: Window) -> None:
        self.later(lambda: self.tasks.open(window))

    def close(self, window: Window) -> None:
        self.later(lambda: self.tasks.close(window))

    def back(self) -> None:
        self.later(self._back)

    def _back(self) -> None:
        if self.top.on_back is not None:
            self.top.on_back()
        else:
            self.tasks.back()

    def home(self) -> None:
        """Go to the launcher, after the usual delay."""
        self.later(self.tasks.home)

    def show_recents(self) -> None:
        """Open the overview of recent apps, after the usual delay."""
        self.later(self.tasks.overview)

    def start(self, package: str) -> bool:
        if package not in self.apps:
            return False
        self.later(lambda: self.tasks.show(package))
        return True

    def _started(self, package: str) -> None:
        """Do what happens when an app was started anew."""

    def stop(self, package: str) -> None:
        """Stop an app at once, as `am force-stop` does."""
        with self.lock:
            self.tasks.stop(package)
            self.hung.discard(package)
            self.changed()

    @property
    def recents(self) -> list[str]:
        return self.tasks.recents

    def recent_apps(self) -> list[tuple[str, str]]:
        return [(package, self.apps[package].label) for package in self.recents]

    def launchable_apps(self) -> list[tuple[str, str]]:
        return sorted(
            ((app.package, app.label) for app in self.apps.values() if app.package != HOME), key=lambda pair: pair[1]
        )

    def forget_recents(self) -> None:
        self.later(self.tasks.forget_recents)

    def show_overlay(self, window: Window) -> None:
        self.later(lambda: self.overlays.append(window))

    def hide_overlay(self, window: Window) -> None:
        self.later(lambda: self.overlays.remove(window) if window in self.overlays else None)

    def toast(self, text: str) -> None:
        self.last_toast = text

    def restart(self) -> None:
        """Start anew, as after a reboot: no app runs, nothing is recent, the clipboard is empty."""
        with self.lock:
            self.time.forget()
            self.tasks = Tasks(self.apps, self.time, on_start=self._started)
            self.overlays = []
            self.hung.clear()
            self.clipboard, self.last_toast = "", None
            self.notifications = Notifications()
            self.screen_on = True
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

        def answered(is_yes: bool | None) -> None:
            if not self.tasks.has(window):
                return
            self.tasks.close(window)
            if is_yes:
                self.permissions.put(package, permission, True)
            elif is_yes is not None:
                self.permissions.refuse(package, permission)
            on_answer(bool(is_yes))

        app = self.apps.get(package)
        window = permission_window(
            app.label if app is not None else package,
            permission,
            lambda is_yes: self.later(lambda: answered(is_yes)),
            is_last_time=self.permissions.has_refused(package, permission),
        )
        window.on_back = lambda: answered(None)
        self.later(lambda: self.tasks.open(window, task=package))

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

    # what is seen

    def look(self) -> Look:
        """Return what accessibility sees now."""
        with self.lock:
            self.advance()
            if self._scene is not None:
                # Asked each time: it may go to another page by itself.
                self._look = Look(self.time.version, self.time.is_still, self._scene.roots())
                return self._look
            kept = self._look
            if kept is not None and kept.is_still and kept.version == self.time.version:
                return kept
            seen: list[Shown] = []
            for window in reversed(self.windows()):
                root = self.see(window)
                if root is not None:
                    seen.append(Shown(window, root))
                # What is below such a window can neither be touched nor is it reported.
                if window.is_modal:
                    break
            is_still = self.time.is_still and not self._is_restless()
            self._look = Look(self.time.version, is_still, [shown.root for shown in seen], tuple(seen))
            return self._look

    def see(self, window: Window) -> SeenNode | None:
        """Build a window as it is now; None where nothing of it can be seen."""
        room = self.room(window)
        return see(window.tree(self.now_ms(), room), window.package, room.screen)

    def dump(self, max_depth: int, *, is_compressed: bool = False) -> str:
        """Return the UI hierarchy as XML, compressed where that is asked for; a scene is what it is."""
        with self.lock:
            if self._scene is not None:
                return as_text(self._scene.dump())
            look = self.look()
            if is_compressed:
                return to_xml(look.roots, rotation=self.display.rotation, max_depth=max_depth, is_compressed=True)
            if self._xml is None or self._xml[0] is not look or self._xml[1] != max_depth:
                self._xml = (look, max_depth, to_xml(look.roots, rotation=self.display.rotation, max_depth=max_depth))
            return self._xml[2]

    def dump_bytes(self, max_depth: int, *, is_compressed: bool = False) -> bytes:
        """Return the UI hierarchy as a file has it: of a scene byte for byte, whatever those bytes are."""
        with self.lock:
            if self._scene is not None:
                return self._scene.dump()
            return self.dump(max_depth, is_compressed=is_compressed).encode("utf-8")

    def state(self) -> dict[str, object]:
        """Return the truth, ready for JSON: what is in front, what was set and sent, which inputs were executed."""
        with self.lock:
            self.look()
            window = self.top
            told: dict[str, object] = {
                "seed": self.seed,
                "model": MODEL,
                "screen_on": self.screen_on,
                "package": self.package,
                "activity": self.activity,
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
            if self._scene is not None:
                told["scene"] = self._scene.state()
            return told
