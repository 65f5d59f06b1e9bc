"""Pebbles: a game on a canvas. Accessibility sees one view without words; the board is in the picture only.

A tap on the lit pebble scores, any other tap on the board is a miss; which one is lit next depends on the seed only.
"""

from __future__ import annotations

from droidpilot.virtual.apps.packages import GAME
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import FILL, Painted, View
from droidpilot.virtual.ui.windows import Window

SIDE = 3
CELL, GAP = 250, 20
LEFT, TOP = 140, 120
WINS_AT = 10


class Game:
    """Nine pebbles, one of them lit."""

    package = GAME
    activity = ".GameActivity"
    label = "Pebbles"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        self._random = self._host.random("game")
        self._score = 0
        self._misses = 0
        self._lit = self._random.randrange(SIDE * SIDE)

    def state(self) -> dict[str, object]:
        return {
            "game": {
                "score": self._score,
                "misses": self._misses,
                "lit": self._lit,
                "won": self._score >= WINS_AT,
            }
        }

    def first(self) -> Window:
        return Window(GAME, f"{GAME}{self.activity}", "Pebbles", "game", self._body)

    def _body(self) -> View:
        surface = View("android.view.SurfaceView", f"{GAME}:id/surface", height=FILL, on_touch=self._touched)
        words = "You win!" if self._score >= WINS_AT else f"Score {self._score}"
        surface.paints = [Painted(Rect(LEFT, 10, LEFT + SIDE * (CELL + GAP), TOP - 10), words)]
        surface.paints += [
            Painted(cell_box(number), is_lit=number == self._lit and self._score < WINS_AT)
            for number in range(SIDE * SIDE)
        ]
        return surface

    def _touched(self, x: int, y: int) -> None:
        hit = next((number for number in range(SIDE * SIDE) if cell_box(number).has(x, y)), None)
        if hit is not None and self._score < WINS_AT:
            self._host.later(lambda: self._play(hit))

    def _play(self, hit: int) -> None:
        if hit != self._lit:
            self._misses += 1
            return
        self._score += 1
        self._lit = self._random.choice([number for number in range(SIDE * SIDE) if number != hit])


def cell_box(number: int) -> Rect:
    """Return where a pebble lies, in px of the surface; they are counted row by row from 0."""
    left = LEFT + number % SIDE * (CELL + GAP)
    top = TOP + number // SIDE * (CELL + GAP)
    return Rect(left, top, left + CELL, top + CELL)
