"""A scene: a uiautomator dump that is shown as the phone's screen, byte for byte, and what fingers and keys do to it.

Nothing in it scrolls or opens by itself. A tap, a key or some time may lead to another page, where the scene's file
says so; typed text stands in its field, and in the dump, while every other byte stays as it is in the file. This file
must never know a wire.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from droidpilot.virtual.phone import Phone
from droidpilot.virtual.scenes.file import Move, Script
from droidpilot.virtual.scenes.page import TAKERS, SceneNode, ShownPage
from droidpilot.virtual.scenes.port import DumpRefused
from droidpilot.virtual.scenes.scan import Found, Scan
from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.editing import CHARACTERS, KEY_DELETE
from droidpilot.virtual.ui.hierarchy import SeenNode
from droidpilot.virtual.ui.views import TextField

NEAR: Final = 60
"""px; so near to a place is at it, where no node takes the finger."""
_ERROR: Final = re.compile(r"(?i)(?:error|exception|killed|illegal|java\.|android\.)")


class Scene:
    """Pages made of dumps, one of which is on the screen."""

    def __init__(self, script: Script, *, now_ms: Callable[[], int] = lambda: 0) -> None:
        self._script = script
        self.now_ms = now_ms
        """The time of the phone that shows it."""
        self.on_change: Callable[[], None] = lambda: None
        """Is told when the screen may be another one."""
        self._page = ShownPage(next(iter(script.pages.values())))
        self._since_ms = now_ms()

    # what is there

    @property
    def page(self) -> ShownPage:
        """The page that is shown now: the one that time has led to."""
        for _ in range(len(self._script.pages)):
            waits = [move.after_ms for move in self._moves() if move.after_ms is not None]
            if not waits or self.now_ms() - self._since_ms < min(waits):
                break
            move = next(move for move in self._moves() if move.after_ms == min(waits))
            self._go(move, at_ms=self._since_ms + min(waits))
        return self._page

    @property
    def display(self) -> Display:
        return self.page.display

    @property
    def package(self) -> str:
        return self.page.package

    @property
    def activity(self) -> str:
        return self.page.activity

    @property
    def has_keyboard(self) -> bool:
        return self.page.has_keyboard

    @property
    def is_secure(self) -> bool:
        """Tell whether the page forbids pictures of itself."""
        return self.page.page.is_secure

    def dump(self) -> bytes:
        """Return the dump as it lies in the file, with what was typed and where the cursor went since.

        Raises:
            DumpRefused: the file is the message of a dump that failed.
        """
        self._check()
        return self.page.dump()

    def roots(self) -> list[SeenNode]:
        """Return the windows in the order of the file, with all their nodes."""
        return [node for node in self.page.nodes() if node.parent is None]

    def state(self) -> dict[str, object]:
        """Return the scene's part of the truth: the page that is shown, and what was typed into its fields."""
        page = self.page
        return {"page": page.page.name, "fields": page.typed()}

    # what fingers and keys do: each returns the name of what it hit

    def tap(self, x: float, y: float) -> str | None:
        """Tap a point: a field gets the cursor, and the page that follows is shown."""
        found = self._press(x, y)
        name = self.page.name(found) if found is not None else None
        if found is None or found.is_on("enabled", default=True):
            move = next((move for move in self._moves() if self._is_meant(move, found, x, y)), None)
            if move is not None:
                self._go(move)
        return name

    def long_press(self, x: float, y: float, lasts_ms: int) -> str | None:
        """Hold a point: a field gets the cursor; it leads nowhere."""
        found = self._press(x, y)
        return self.page.name(found) if found is not None else None

    def swipe(self, points: list[tuple[float, float]], lasts_ms: int) -> str | None:
        """Swipe or drag: nothing moves."""
        found = self.page.under(*points[0], "scrollable")
        return self.page.name(found) if found is not None else None

    def key(self, code: int) -> None:
        """Press a key: it leads to another page, or writes into the field with the cursor."""
        page, field = self.page, self.focus
        move = next((move for move in self._moves() if move.key == code), None)
        if move is not None:
            self._go(move)
        elif field is not None and page.focus is not None:
            if code == KEY_DELETE:
                page.put(page.focus, field.text[:-1])
            elif code in CHARACTERS:
                page.put(page.focus, field.text + CHARACTERS[code])

    @property
    def focus(self) -> TextField | None:
        """The field with the cursor."""
        page = self.page
        return page.text_field(page.focus) if page.focus is not None else None

    def type_text(self, text: str) -> bool:
        """Add text at the end of the field with the cursor; tell whether there is one."""
        field = self.focus
        return field is not None and self._put(field.text + text)

    def clear_text(self) -> bool:
        """Empty the field with the cursor; tell whether there is one."""
        return self._put("")

    def set_text(self, node: SeenNode, text: str) -> bool:
        """Replace the text of a node, as the accessibility action does; tell whether it can be edited."""
        page = self.page
        if not isinstance(node, SceneNode) or not page.is_editable(node.found):
            return False
        if not node.found.is_on("enabled", default=True):
            return False
        page.put(node.found, text)
        return True

    # inside

    def _put(self, text: str) -> bool:
        page = self.page
        if page.focus is not None:
            page.put(page.focus, text)
        return page.focus is not None

    def _check(self) -> None:
        line = error_line(self.page.scan)
        if line is not None:
            raise DumpRefused(line)

    def _moves(self) -> Iterator[Move]:
        name = self._page.page.name
        return (move for move in self._script.moves if move.page == name)

    def _go(self, move: Move, *, at_ms: int | None = None) -> None:
        self._page = ShownPage(self._script.pages[move.go])
        self._since_ms = self.now_ms() if at_ms is None else at_ms
        self.on_change()

    def _press(self, x: float, y: float) -> Found | None:
        """Return what takes a finger at a point; an enabled field gets the cursor."""
        page = self.page
        found = page.under(x, y, *TAKERS)
        if found is not None and page.is_editable(found) and found.is_on("enabled", default=True):
            page.focus_on(found)
        return found

    def _is_meant(self, move: Move, found: Found | None, x: float, y: float) -> bool:
        page = self.page
        if move.label is not None:
            return found is not None and move.label in page.names(found)
        if move.point is None:
            return False
        if found is not None:
            return page.under(*move.point, *TAKERS) is found
        return abs(move.point[0] - x) <= NEAR and abs(move.point[1] - y) <= NEAR


def error_line(scan: Scan) -> str | None:
    """Return the message that stands in place of a dump; None for a dump, for nothing, and for what is neither."""
    if scan.is_hierarchy:
        return None
    said = scan.text().strip(" \t\r\n\0\ufeff")
    first = said.splitlines()[0] if said else ""
    return first[:2_000] if _ERROR.match(first) else None


def show(phone: Phone, script: Script) -> Scene:
    """Show a scene on a phone; return it."""
    scene = Scene(script, now_ms=phone.now_ms)
    scene.on_change = phone.changed
    phone.scene = scene
    return scene
