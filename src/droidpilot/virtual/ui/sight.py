"""What is seen of a phone: the windows that accessibility reports, and the hierarchy as XML; kept while it is still.

This file must never know an input or who asks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from droidpilot.virtual.scenes.port import Scene
from droidpilot.virtual.scenes.scan import as_text
from droidpilot.virtual.schedule import Schedule
from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.hierarchy import SeenNode, see, to_xml
from droidpilot.virtual.ui.stack import Stack
from droidpilot.virtual.ui.tasks import HOME
from droidpilot.virtual.ui.windows import Window


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


class Sight:
    """Looks at the windows of one phone. Everything here is called under the phone's lock."""

    def __init__(self, schedule: Schedule, stack: Stack, display: Callable[[], Display]) -> None:
        self._schedule = schedule
        self._stack = stack
        self._display = display
        self.scene: Scene | None = None
        self._look: Look | None = None
        self._xml: tuple[Look, int, str] | None = None
        self.stale_dumps = 0
        """So many dumps still show the launcher while another app has focus."""

    def look(self) -> Look:
        """Return what accessibility sees now."""
        if self.scene is not None:
            # Asked each time: it may go to another page by itself.
            self._look = Look(self._schedule.version, self._schedule.is_still, self.scene.roots())
            return self._look
        kept = self._look
        if kept is not None and kept.is_still and kept.version == self._schedule.version:
            return kept
        seen: list[Shown] = []
        for window in reversed(self._stack.shown()):
            root = self.see(window)
            if root is not None:
                seen.append(Shown(window, root))
            # What is below such a window, or all of it covered, can neither be touched nor is it reported.
            if window.is_modal or (root is not None and root.bounds == self._display().rect):
                break
        is_still = self._schedule.is_still and not self._stack.is_restless
        self._look = Look(self._schedule.version, is_still, [shown.root for shown in seen], tuple(seen))
        return self._look

    def see(self, window: Window) -> SeenNode | None:
        """Build a window as it is now; None where nothing of it can be seen."""
        room = self._stack.room(window, self._display())
        return see(window.tree(self._schedule.now_ms(), room), window.package, room.screen)

    def dump(self, max_depth: int) -> str:
        """Return the UI hierarchy as XML."""
        if self.scene is not None:
            return as_text(self.scene.dump())
        rotation = self._display().rotation
        if self.stale_dumps > 0 and self._stack.tasks.front != HOME:
            self.stale_dumps -= 1
            late = self.see(self._stack.tasks[HOME][0])
            return to_xml([late] if late is not None else [], rotation=rotation, max_depth=max_depth)
        look = self.look()
        if self._xml is None or self._xml[0] is not look or self._xml[1] != max_depth:
            self._xml = (look, max_depth, to_xml(look.roots, rotation=rotation, max_depth=max_depth))
        return self._xml[2]

    def dump_bytes(self, max_depth: int) -> bytes:
        """Return what `uiautomator dump` writes: of a scene byte for byte, else the window with focus alone.

        What lies over that one is not in it. Source: DumpCommand of AOSP (getRootInActiveWindow).
        """
        if self.scene is not None:
            return self.scene.dump()
        if self.stale_dumps > 0:
            return self.dump(max_depth).encode("utf-8")
        active = [shown.root for shown in self.look().windows if shown.window is self._stack.top]
        return to_xml(active, rotation=self._display().rotation, max_depth=max_depth).encode("utf-8")
