"""Makes Screens out of dumps, as the pipeline does, for the tests of this folder."""

from __future__ import annotations

from pathlib import Path

from droidpilot.screens.hierarchy import Hierarchy
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.screen import Screen, display_of, make_screen

OWN_DUMPS = Path(__file__).parent.parent / "data" / "dumps"


def screen_of(
    data: bytes | Hierarchy, *, book: RefBook | None = None, front: str | None = None, number: int = 1
) -> Screen:
    """Parse, give refs (by `book` where the test looks more than once) and make a Screen as large as its windows."""
    hierarchy = parse_hierarchy(data) if isinstance(data, bytes) else data
    display = display_of(hierarchy)

    def make(refs: dict[int, int] | None) -> Screen:
        return make_screen(
            number=number,
            hierarchy=hierarchy,
            foreground_package=front,
            activity=None,
            width=display.right,
            height=display.bottom,
            rotation=hierarchy.rotation,
            refs=refs,
        )

    bare = make(None)
    return make((RefBook() if book is None else book).assign(hierarchy, bare.display, front=bare.package))


def own(name: str) -> bytes:
    return (OWN_DUMPS / name).read_bytes()
