"""Where a call would touch, as a drawing in device px: over a picture of that very screen, or on the bare outline.

It reads no hierarchy: what a call would touch stands in its own line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from droidpilot.core.errors import DroidpilotError
from droidpilot.core.events import ScreenObserved, Target, TargetNode, ToolCalled, ToolReturned
from droidpilot.transcript.page_text import Paper
from droidpilot.transcript.pictures import PictureFile, read_picture
from droidpilot.transcript.reader import Line

#: Reads an artifact by its digest. Raises DroidpilotError where it is gone or was changed.
ArtifactGetter = Callable[[str], bytes]

_MAX_SIDE = 20_000
_MAX_BOXES = 20
_MAX_POINTS = 8
#: A picture whose shape differs more than this from the display's is of something else: nothing is marked on it.
_SHAPE_TOLERANCE = 0.03
_USUAL_DISPLAY = (1080, 2400)


@dataclass(frozen=True, slots=True)
class Box:
    """One node under the finger. `is_main` is the one that the call names, else the topmost."""

    x: int
    y: int
    width: int
    height: int
    is_main: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """One figure. `picture` is the number of the picture under it, None for a bare outline."""

    width: int
    height: int
    boxes: tuple[Box, ...]
    points: tuple[tuple[int, int], ...]
    caption: str
    picture: int | None = None
    scale_x: float = 1.0  # from the picture's px to device px
    scale_y: float = 1.0

    @property
    def unit(self) -> float:
        """A line's width that looks the same on every display."""
        return max(self.width, self.height) / 400


@dataclass(slots=True)
class PictureShelf:
    """The pictures of one page, each once however often it is shown, and no more than there is room for."""

    artifact: ArtifactGetter
    room_bytes: int
    shown: list[PictureFile] = field(default_factory=list)
    _places: dict[str, int | str] = field(default_factory=dict)

    def place(self, digest: str) -> int | str:
        """Return the number of the picture, or why it cannot be shown."""
        if digest not in self._places:
            self._places[digest] = self._read(digest)
        return self._places[digest]

    def _read(self, digest: str) -> int | str:
        try:
            data = self.artifact(digest)
        except DroidpilotError as error:
            return f"the picture cannot be shown: {error.message}"
        picture = read_picture(data)
        if picture is None:
            return "the picture cannot be shown: it is no JPEG or PNG"
        size = len(picture.url)
        if size > self.room_bytes:
            return "the picture is left out to keep this page small"
        self.room_bytes -= size
        self.shown.append(picture)
        return len(self.shown) - 1


class Looks:
    """What is known of each screen by its number: its size, and the pictures taken of one that was just the same."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._screens: dict[int, ScreenObserved] = {}
        self._pictures: dict[str, list[tuple[int, str]]] = {}  # fingerprint -> line number and digest
        judged_on: dict[str, int | None] = {}
        right = bottom = 0
        for line in lines:
            event = line.event
            if isinstance(event, ScreenObserved):
                self._screens[event.screen] = event
            elif isinstance(event, ToolCalled):
                judged_on[event.call_id] = event.screen
                seen = self._screens.get(event.screen) if event.screen is not None else None
                if event.picture and seen is not None:
                    self._pictures.setdefault(seen.fingerprint, []).append((line.seq, event.picture))
                for node in event.target.nodes if event.target else ():
                    right, bottom = max(right, node.bounds[2]), max(bottom, node.bounds[3])
            elif isinstance(event, ToolReturned) and event.picture:
                number = event.screen if event.screen is not None else judged_on.get(event.call_id)
                screen = self._screens.get(number) if number is not None else None
                if screen is not None:
                    self._pictures.setdefault(screen.fingerprint, []).append((line.seq, event.picture))
        is_usable = 0 < right <= _MAX_SIDE and 0 < bottom <= _MAX_SIDE
        self._guess = (max(right, _USUAL_DISPLAY[0]), max(bottom, _USUAL_DISPLAY[1])) if is_usable else _USUAL_DISPLAY

    def screen(self, number: int | None) -> ScreenObserved | None:
        return self._screens.get(number) if number is not None else None

    def size(self, number: int | None) -> tuple[int, int, bool]:
        """Return width and height of the display at that look, and whether they are known rather than guessed."""
        screen = self.screen(number)
        if screen is not None and 0 < screen.width <= _MAX_SIDE and 0 < screen.height <= _MAX_SIDE:
            return screen.width, screen.height, True
        return *self._guess, False

    def picture(self, number: int | None, seq: int) -> str:
        """Return the digest of a picture of that screen, the last one up to line `seq` if there is one; else ""."""
        screen = self.screen(number)
        taken = self._pictures.get(screen.fingerprint, []) if screen is not None else []
        before = [digest for at, digest in taken if at <= seq]
        return before[-1] if before else taken[0][1] if taken else ""


def draw_target(called: ToolCalled, seq: int, looks: Looks, shelf: PictureShelf) -> Drawing | None:
    """Draw what a call would touch; None where it touches no place."""
    target = called.target
    if target is None or not (target.nodes or target.points):
        return None
    width, height, is_known = looks.size(called.screen)
    boxes = _boxes(target, called.arguments.get("ref"), width, height)
    points = tuple((_within(x, width), _within(y, height)) for x, y in target.points[:_MAX_POINTS])
    if not boxes and not points:
        return None
    where = f"screen {called.screen}" if called.screen is not None else "an unnumbered screen"
    bare = Drawing(width, height, boxes, points, f"The target on {where}; no picture of it was taken.")
    if not is_known:
        return Drawing(width, height, boxes, points, f"{bare.caption} The size of the display is a guess.")
    digest = looks.picture(called.screen, seq)
    if not digest:
        return bare
    place = shelf.place(digest)
    if isinstance(place, str):
        return Drawing(width, height, boxes, points, f"The target on {where}; {place}.")
    picture = shelf.shown[place]
    if abs(picture.width / picture.height / (width / height) - 1) > _SHAPE_TOLERANCE:
        return Drawing(
            width, height, boxes, points, f"The target on {where}; its picture has another shape than the display."
        )
    caption = f"The target on {where}."
    return Drawing(width, height, boxes, points, caption, place, width / picture.width, height / picture.height)


def draw_picture(digest: str, shelf: PictureShelf, paper: Paper) -> Drawing | str:
    """Draw the picture that an answer came with, or say why it cannot be shown."""
    place = shelf.place(digest)
    if isinstance(place, str):
        return paper.line(place, 200)
    picture = shelf.shown[place]
    return Drawing(picture.width, picture.height, (), (), "The picture that was taken.", place)


def _boxes(target: Target, ref: object, width: int, height: int) -> tuple[Box, ...]:
    main = next((node for node in target.nodes if node.ref is not None and node.ref == ref), None)
    main = main or next(iter(target.nodes), None)
    boxes = []
    for node in target.nodes[:_MAX_BOXES]:
        box = _box(node, width, height, is_main=node is main)
        if box is not None:
            boxes.append(box)
    return tuple(sorted(boxes, key=lambda box: box.is_main))


def _box(node: TargetNode, width: int, height: int, *, is_main: bool) -> Box | None:
    left, top, right, bottom = node.bounds
    left, right = _within(left, width), _within(right, width)
    top, bottom = _within(top, height), _within(bottom, height)
    return Box(left, top, right - left, bottom - top, is_main) if right > left and bottom > top else None


def _within(value: int, most: int) -> int:
    return min(max(value, 0), most)
