"""What a scene is to the phone: a foreign screen that stands in for everything the phone would show itself.

While `phone.scene` is set, every look, picture, touch and key goes to it; power keys, settings, files and the shell
stay the phone's own. Called under the phone's lock. This file must never know how a scene is read.
"""

from __future__ import annotations

from typing import Protocol

from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.hierarchy import SeenNode


class DumpRefused(Exception):
    """The scene shows a phone whose screen cannot be read; `line` is what such a phone says."""

    def __init__(self, line: str) -> None:
        super().__init__(line)
        self.line = line


class Scene(Protocol):
    """A screen from outside. After an input the phone looks anew; a scene that changes by itself calls `changed`."""

    @property
    def display(self) -> Display:
        """The display that the scene was taken on."""
        ...

    @property
    def package(self) -> str:
        """Package in front."""
        ...

    @property
    def activity(self) -> str:
        """Activity in front, in full."""
        ...

    @property
    def has_keyboard(self) -> bool:
        """Tell whether a keyboard's window is among its windows."""
        ...

    @property
    def is_secure(self) -> bool:
        """Tell whether pictures of it come out black."""
        ...

    def dump(self) -> bytes:
        """Return the hierarchy as a file has it, byte for byte; the in-phone server sends it as text.

        Raises:
            DumpRefused: there is none.
        """
        ...

    def roots(self) -> list[SeenNode]:
        """Return the nodes that selectors search and pictures show, in the order of the dump; none where unreadable."""
        ...

    def tap(self, x: float, y: float) -> str | None:
        """Take a tap; return a short name of what was hit for the input log, None where nothing was."""
        ...

    def long_press(self, x: float, y: float, lasts_ms: int) -> str | None:
        """Take a long press, as `tap`."""
        ...

    def swipe(self, points: list[tuple[float, float]], lasts_ms: int) -> str | None:
        """Take a swipe or drag along points, as `tap`."""
        ...

    def key(self, code: int) -> None:
        """Take a key that is not a power key."""
        ...

    def type_text(self, text: str) -> bool:
        """Add text to the focused field; tell whether there is one."""
        ...

    def clear_text(self) -> bool:
        """Empty the focused field; tell whether there is one."""
        ...

    def set_text(self, node: SeenNode, text: str) -> bool:
        """Replace the text of one of its nodes; tell whether it can be edited."""
        ...

    def state(self) -> dict[str, object]:
        """Return the scene's part of the truth, ready for JSON."""
        ...
