"""What is done with a dump between the phone and a model: read, numbered, written, compared, pressed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from droidpilot.core.errors import DroidpilotError
from droidpilot.screens.diff import diff_of
from droidpilot.screens.hierarchy import Hierarchy
from droidpilot.screens.hits import target_nodes
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.render import framed, screen_json
from droidpilot.screens.restless import Restless
from droidpilot.screens.screen import Screen, make_screen
from tests.fuzz.mutations import Recipe, applied

OWN = Path(__file__).parents[1] / "data" / "dumps"
#: Seconds of CPU that one dump, however hostile, may take. A quiet machine needs a tenth of that at most.
MOST_CPU_S = 20.0
WIDTH, HEIGHT = 1080, 2400
_MOST_REFS = 40
LIMIT_BYTES = 60_000


@dataclass
class Count:
    """What came of the tries."""

    tries: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    slowest: list[tuple[float, int, str, Recipe]] = field(default_factory=list)
    """CPU seconds, bytes, dump and recipe, the slowest first."""

    def note(self, took_s: float, size: int, name: str, recipe: Recipe) -> None:
        self.tries += 1
        self.slowest = sorted([*self.slowest, (took_s, size, name, recipe)], key=lambda one: -one[0])[:5]


def dumps_in(*folders: Path) -> dict[str, bytes]:
    """Return the dumps of some folders by name."""
    return {path.name: path.read_bytes() for folder in folders for path in sorted(folder.glob("*.xml"))}


def screen(hierarchy: Hierarchy, book: RefBook, number: int) -> Screen:
    def make(refs: dict[int, int] | None) -> Screen:
        return make_screen(
            number=number,
            hierarchy=hierarchy,
            foreground_package=None,
            activity=None,
            width=WIDTH,
            height=HEIGHT,
            rotation=hierarchy.rotation,
            refs=refs,
        )

    bare = make(None)
    return make(book.assign(hierarchy, bare.display, front=bare.package))


def look(data: bytes, before: Screen | None, book: RefBook) -> Screen:
    """Go the whole way that a dump goes.

    Raises:
        DroidpilotError: it cannot be read, which is an answer.
    """
    hierarchy = parse_hierarchy(data)
    after = screen(hierarchy, book, 2)
    rendering = framed(after, limit_bytes=LIMIT_BYTES)
    text = rendering.text.encode()  # a lone surrogate would end the run here: what is sent must be UTF-8
    assert len(text) < LIMIT_BYTES + 4_000
    screen_json(after)
    if before is not None:
        diff_of(before, after)
        diff_of(after, before)
    restless = Restless()
    restless.learn((hierarchy, hierarchy if before is None else before.hierarchy))
    restless.moving_in(hierarchy)
    display = after.display
    for x, y in ((0, 0), (540, 1200), (1079, 2399), (200, 300)):
        target_nodes(hierarchy, x, y, display)
    for ref in list(after.refs)[:_MOST_REFS]:
        try:
            book.find(ref, hierarchy, display, front=after.package)
        except DroidpilotError:
            continue
    return after


@lru_cache(maxsize=256)
def _before(data: bytes) -> tuple[Screen | None, str]:
    """Return the screen of a dump before it is damaged, and the book that its refs stand in."""
    book = RefBook()
    try:
        return screen(parse_hierarchy(data), book, 1), book.to_json()
    except DroidpilotError:
        return None, book.to_json()  # some of the dumps are no dump to begin with


def try_one(name: str, data: bytes, recipe: Recipe, count: Count) -> None:
    """Look at one damaged dump; only an error of our tree may come of it, in bounded time."""
    damaged = applied(recipe, data)
    before, refs = _before(data)
    started = time.process_time()
    try:
        look(damaged, before, RefBook.from_json(refs))
    except DroidpilotError as error:
        assert error.code and error.message
        count.errors[error.code] = count.errors.get(error.code, 0) + 1
    took = time.process_time() - started
    count.note(took, len(damaged), name, recipe)
    assert took < MOST_CPU_S, f"{name} took {took:.1f} s of CPU: {recipe}"
