"""Fingers: tap, long press, swipe, scroll. What lies under the points is judged, not what the caller calls it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.errors import TargetError
from droidpilot.core.text import shorten
from droidpilot.screens.hierarchy import Bounds, Node, root_of
from droidpilot.screens.hits import covered_by, tap_point, target_nodes
from droidpilot.screens.labels import clean, label_of, raw_label
from droidpilot.screens.screen import Screen, is_page, keyboard_windows, visible_bounds
from droidpilot.tools.enter import default_buttons, is_on_keyboard, may_be_enter
from droidpilot.tools.registry import Aim, Arguments, Done, Phone, Scene

#: A finger that moves less than this presses instead of dragging. Source: ViewConfiguration touch slop, 8 dp at 3x.
TOUCH_SLOP_PX = 24
#: How much of a list's size the finger moves for each step of scroll. It keeps away from the edges, where gestures
#: belong to the system and rows may be cut.
SHARES = {"part": 0.2, "page": 0.75}
#: An area smaller than one part in so many of the display is not what is meant by "the list".
_LEAST_PART = 8
#: Whose rules a gesture that presses answers to as well.
_AS_PRESS = ("tap", "long_press")
#: How far apart the points of a swipe's path are judged.
_PATH_STEP_PX = 60

PICTURE = Field(
    default=None, ge=1, description="number of the picture that x and y are px of; leave out for px of the screen"
)
REF = Field(default=None, ge=0, description="ref of a line on the screen", examples=[12])


class _Gesture:
    """What gestures have in common."""

    effect: ClassVar[Effect] = Effect.WRITE
    tier: ClassVar[Tier] = Tier.PARTIAL
    needs_screen: ClassVar[bool] = True

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        return None


class PointArguments(Arguments):
    ref: int | None = REF
    x: int | None = Field(default=None, ge=0, description="px from the left, only where no ref fits")
    y: int | None = Field(default=None, ge=0, description="px from the top")
    picture: int | None = PICTURE

    @model_validator(mode="after")
    def one_target(self) -> Self:
        if (self.ref is None) == (self.x is None) or (self.x is None) != (self.y is None):
            raise ValueError("give either ref, or both x and y")
        if self.picture is not None and self.x is None:
            raise ValueError("picture goes with x and y, not with ref")
        return self


def name_of(screen: Screen, node: Node) -> str:
    """Say which node, in a few words that a person would use: its label in quotes, else its id, else its kind."""
    label = label_of(screen.hierarchy, node).cleaned
    return in_quotes(label) if label else _kind_of(node)


def _kind_of(node: Node) -> str:
    kind = node.cls.rpartition(".")[2] or ("window" if node.is_place_only else "element")
    identity = node.resource_id.rpartition("/")[2]
    return f"the unnamed {kind} {identity}".strip() if identity else f"an unnamed {kind}"


def _name_at(screen: Screen, nodes: tuple[Node, ...]) -> str:
    """Say what lies under a place: the topmost node, or where that has no label the thing that takes the press.

    The bare edge of a row is that row; a whole page that takes presses is not called by all that stands on it.
    """
    if not nodes:
        return "unlabelled ground"
    top = nodes[0]
    taker = next((node for node in nodes if node.is_usable), top)
    if is_page(taker, screen.display):
        return in_quotes(clean(raw_label(top))) if clean(raw_label(top)) else _kind_of(top)
    return name_of(screen, top if label_of(screen.hierarchy, top).cleaned else taker)


def in_quotes(label: str, limit: int = 60) -> str:
    """Return a label as it stands in a sentence: cut, in quotes that it cannot close by itself."""
    return f'"{shorten(label, limit).replace(chr(34), chr(39))}"'


def check_point(screen: Screen, x: int, y: int) -> None:
    """Refuse a point outside the display (A12)."""
    if not screen.display.contains(x, y):
        raise TargetError(
            f"({x}, {y}) is outside the display of {screen.width} x {screen.height}",
            code="off_screen",
            hint="scroll until it is on the screen",
        )


def place(scene: Scene, x: int, y: int, picture: int | None) -> tuple[int, int]:
    """Return px of the display for what was given: they are those already, unless a picture is named.

    Raises:
        TargetError: no_picture, outside_picture, mismatched_picture, stale_picture, off_screen.
    """
    if picture is not None:
        x, y = scene.picture(picture).on_display(x, y, scene.screen)
    check_point(scene.screen, x, y)
    return x, y


def seen_on(scene: Scene, picture: int | None) -> Screen | None:
    """Return the look that places in a picture were read from, None where they were not."""
    return None if picture is None else scene.picture(picture).screen


def refuse_disabled(screen: Screen, nodes: tuple[Node, ...]) -> None:
    """Refuse where the node that would take the press is disabled, by coordinates too."""
    taker = next((node for node in nodes if node.is_usable), None)
    if taker is not None and not taker.enabled:
        raise TargetError(f"{name_of(screen, taker)} is disabled", code="disabled", hint="something must come first")


def refuse_unseen(screen: Screen, nodes: tuple[Node, ...]) -> None:
    """Refuse a press on a window of which the phone tells the place alone: no rule can know what is pressed there."""
    unseen = next((node for node in nodes if node.is_place_only), None)
    if unseen is None:
        return
    if unseen.window in keyboard_windows(screen.hierarchy, screen.package):
        raise TargetError("that place is covered by the keyboard", code="covered", hint="press back hides the keyboard")
    raise TargetError(
        f"that place is covered by a window of {shorten(unseen.package, 100) or 'an unnamed package'}, and what is in "
        "it cannot be seen",
        code="covered",
        hint="press back, or have a person close that window",
    )


def aim_at_ref(scene: Scene, ref: int) -> tuple[Node, int, int]:
    """Find a ref's node and a visible point of it that nothing else covers.

    Raises:
        TargetError: no_ref, stale_ref, ambiguous_ref, covered, disabled, off_screen.
    """
    screen = scene.screen
    node = scene.find(ref)
    if not node.enabled:
        raise TargetError(f"{name_of(screen, node)} is disabled", code="disabled", hint="something must come first")
    if visible_bounds(screen.hierarchy, node, screen.display).is_empty:
        raise TargetError(
            f"{name_of(screen, node)} is not on the screen now", code="off_screen", hint="scroll until it is"
        )
    point = tap_point(screen.hierarchy, node, screen.display)
    if point is None:
        above = covered_by(screen.hierarchy, node, screen.display)
        if above is not None and above.window in keyboard_windows(screen.hierarchy, screen.package):
            raise TargetError(
                f"{name_of(screen, node)} is covered by the keyboard",
                code="covered",
                hint="press back hides the keyboard; or scroll until it is clear of it",
            )
        by = f"{name_of(screen, above)} ({above.package})" if above is not None else "something else"
        raise TargetError(f"{name_of(screen, node)} is covered by {by}", code="covered", hint="deal with that first")
    return node, *point


def package_at(screen: Screen, nodes: tuple[Node, ...]) -> str | None:
    """Return the package that a touch goes to: the app in front, where the topmost node or its window is of it.

    Else that of the window: what a node says of itself is its app's to choose.
    """
    top = next((node for node in nodes if node.package), None)
    if top is None:
        return screen.package
    window = root_of(screen.hierarchy, top).package or top.package
    return screen.package if screen.package == top.package else window


def as_enter(screen: Screen, aim: Aim) -> Aim:
    """Return the aim of a finger on what may be a keyboard's action key: it answers for all that enter does (A29).

    The key goes to the app in front, whose rules count beside the keyboard's.
    """
    buttons = tuple(default_buttons(screen.hierarchy))
    return replace(
        aim,
        sentence=f"{aim.sentence}, a key that may be enter",
        package=screen.package or aim.package,
        maybe=buttons,
        words=("enter",),
        also_as=(*aim.also_as, "press"),
        is_blind=not buttons,
        is_gesture_over=False,
    )


def _may_press_enter(screen: Screen, start: tuple[int, int], end: tuple[int, int], *, is_press: bool) -> bool:
    """Tell whether a stroke may press a keyboard's action key.

    Keyboards take the key that the finger leaves, so one that goes from key to key may; one that leaves the keyboard
    presses nothing. Source: PointerTracker of AOSP LatinIME.
    """
    first, last = (target_nodes(screen.hierarchy, *point, screen.display) for point in (start, end))
    if not is_on_keyboard(screen, first):
        return False
    ends = (first, last) if is_press or is_on_keyboard(screen, last) else ()
    return any(may_be_enter(screen, nodes) for nodes in ends)


class _Press(_Gesture):
    verb: ClassVar[str]
    arguments: ClassVar[type[Arguments]] = PointArguments

    def aim(self, arguments: PointArguments, scene: Scene) -> Aim:
        screen = scene.screen
        if arguments.ref is not None:
            node, x, y = aim_at_ref(scene, arguments.ref)
            what = name_of(screen, node)
        else:
            assert arguments.x is not None and arguments.y is not None  # one_target
            x, y = place(scene, arguments.x, arguments.y, arguments.picture)
            what = ""
        nodes = target_nodes(screen.hierarchy, x, y, screen.display)
        refuse_unseen(screen, nodes)
        refuse_disabled(screen, nodes)
        if not what:
            what = f"({x}, {y}), on {_name_at(screen, nodes)}"
        aim = Aim(
            sentence=f"{self.verb} {what}",
            package=package_at(screen, nodes),
            points=((x, y),),
            nodes=nodes,
            is_matchable=True,
            is_by_place=arguments.ref is None,
            seen_on=seen_on(scene, arguments.picture),
        )
        return as_enter(screen, aim) if may_be_enter(screen, nodes) else aim


class Tap(_Press):
    name: ClassVar[str] = "tap"
    summary: ClassVar[str] = "Tap one thing on the screen, by its ref; by x and y only where no ref fits."
    tier: ClassVar[Tier] = Tier.RECONCILABLE
    verb: ClassVar[str] = "Tap"

    def run(self, arguments: PointArguments, aim: Aim, phone: Phone) -> Done:
        phone.driver.tap(*aim.points[0], phone.deadline)
        return Done(text="")

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """A toggle that turned was tapped; one that did not turn is no proof (it may turn late)."""
        toggle = next((node for node in aim.nodes if node.checkable), None)
        if toggle is None:
            return None
        same = [
            node
            for node in after.nodes
            if node.checkable
            and (node.cls, node.resource_id, node.bounds) == (toggle.cls, toggle.resource_id, toggle.bounds)
        ]
        return True if len(same) == 1 and same[0].checked != toggle.checked else None


class LongPress(_Press):
    name: ClassVar[str] = "long_press"
    summary: ClassVar[str] = "Press one thing and hold, by its ref or by x and y."
    verb: ClassVar[str] = "Long-press"

    def run(self, arguments: PointArguments, aim: Aim, phone: Phone) -> Done:
        phone.driver.long_press(*aim.points[0], phone.deadline)
        return Done(text="")


class SwipeArguments(Arguments):
    x1: int = Field(ge=0, description="start, px from the left", examples=[540])
    y1: int = Field(ge=0, description="start, px from the top", examples=[1600])
    x2: int = Field(ge=0, description="end, px from the left", examples=[540])
    y2: int = Field(ge=0, description="end, px from the top", examples=[600])
    duration_ms: int = Field(default=300, ge=50, le=10_000, description="how long it takes", examples=[300])
    picture: int | None = PICTURE


def path(start: tuple[int, int], end: tuple[int, int]) -> tuple[tuple[int, int], ...]:
    """Return points along a straight line, both ends included, at most one step apart."""
    (x1, y1), (x2, y2) = start, end
    steps = max(1, max(abs(x2 - x1), abs(y2 - y1)) // _PATH_STEP_PX)
    return tuple((x1 + (x2 - x1) * i // steps, y1 + (y2 - y1) * i // steps) for i in range(steps + 1))


def nodes_along(screen: Screen, points: tuple[tuple[int, int], ...]) -> tuple[Node, ...]:
    """Return the nodes under all the points, each once, in the order in which they are met."""
    found: dict[int, Node] = {}
    for x, y in points:
        for node in target_nodes(screen.hierarchy, x, y, screen.display):
            found.setdefault(node.index, node)
    return tuple(found.values())


class Swipe(_Gesture):
    name: ClassVar[str] = "swipe"
    summary: ClassVar[str] = "Move a finger from one point to another. To reach more of a list, use scroll."
    arguments: ClassVar[type[Arguments]] = SwipeArguments

    def aim(self, arguments: SwipeArguments, scene: Scene) -> Aim:
        screen = scene.screen
        start = place(scene, arguments.x1, arguments.y1, arguments.picture)
        end = place(scene, arguments.x2, arguments.y2, arguments.picture)
        nodes = nodes_along(screen, path(start, end))
        under_start = target_nodes(screen.hierarchy, *start, screen.display)
        is_press = presses(screen, start, end)
        if is_press:
            refuse_unseen(screen, under_start)
            refuse_disabled(screen, under_start)
        sentence = f"Swipe from {start} to {end}"
        aim = Aim(
            sentence=f"{sentence}, from {name_of(screen, under_start[0])}" if under_start else sentence,
            package=package_at(screen, under_start),
            points=(start, end),
            nodes=nodes,
            is_matchable=True,
            is_by_place=True,
            seen_on=seen_on(scene, arguments.picture),
            # A drag that starts inside a scrolling container scrolls it; anything else may press or slide a control.
            is_gesture_over=not is_press and _scrolls(screen, under_start, _axis(start, end)),
            also_as=_AS_PRESS if is_press else (),
        )
        return as_enter(screen, aim) if _may_press_enter(screen, start, end, is_press=is_press) else aim

    def run(self, arguments: SwipeArguments, aim: Aim, phone: Phone) -> Done:
        phone.driver.swipe(*aim.points[0], *aim.points[1], arguments.duration_ms, phone.deadline)
        return Done(text="")


def presses(screen: Screen, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Tell whether a stroke presses what lies under it: one that hardly moves, or that stays on one thing.

    Source: View.onTouchEvent clicks while the finger stays within the view, unless a container takes the drag over.
    """
    if max(abs(start[0] - end[0]), abs(start[1] - end[1])) < TOUCH_SLOP_PX:
        return True
    first, last = (target_nodes(screen.hierarchy, *point, screen.display) for point in (start, end))
    taker = next((node for node in first if node.is_tappable or node.is_place_only), None)
    if taker is None or taker not in last:
        return False
    if taker.is_place_only:
        return True  # there may be anything in it
    return not _scrolls(screen, (taker,), _axis(start, end)) and not is_page(taker, screen.display)


def _axis(start: tuple[int, int], end: tuple[int, int]) -> str:
    return "x" if abs(start[0] - end[0]) > abs(start[1] - end[1]) else "y"


def _scrolls(screen: Screen, nodes: tuple[Node, ...], axis: str = "") -> bool:
    """Tell whether the topmost node scrolls or lies in something that does, along `axis` where that can be told."""
    around = [above for node in nodes[:1] for above in (node, *screen.hierarchy.ancestors(node)) if above.scrollable]
    return any(axis in ("", _axis_of(screen, one)) or not _axis_of(screen, one) for one in around)


def _axis_of(screen: Screen, node: Node) -> str:
    """Return the axis along which a container scrolls, "" where neither its kind nor its children tell."""
    kind = node.cls.rpartition(".")[2]
    if "Horizontal" in kind or "ViewPager" in kind:
        return "x"
    if kind.endswith(("ScrollView", "ListView")):
        return "y"
    tops = {inner.bounds.top for inner in screen.hierarchy.subtree(node) if inner.parent == node.index}
    lefts = {inner.bounds.left for inner in screen.hierarchy.subtree(node) if inner.parent == node.index}
    if len(tops) > 1 and len(lefts) == 1:
        return "y"
    return "x" if len(lefts) > 1 and len(tops) == 1 else ""


class ScrollArguments(Arguments):
    direction: Literal["up", "down", "left", "right"] = Field(
        description="where the wanted content lies: down shows what is further down", examples=["down"]
    )
    ref: int | None = Field(default=None, ge=0, description="ref of the list; the largest one if left out")
    step: Literal["part", "page"] = Field(
        default="part",
        description="part moves a fifth of what is visible and tells only a few new lines; page moves most of it",
    )


class Scroll(_Gesture):
    name: ClassVar[str] = "scroll"
    summary: ClassVar[str] = "Scroll a list towards the content wanted: down shows what is further down."
    arguments: ClassVar[type[Arguments]] = ScrollArguments
    duration_ms: ClassVar[int] = 300

    def aim(self, arguments: ScrollArguments, scene: Scene) -> Aim:
        screen = scene.screen
        area = self._area(arguments, scene)
        start, end = _finger(area, arguments.direction, SHARES[arguments.step])
        nodes = nodes_along(screen, path(start, end))
        under_start = target_nodes(screen.hierarchy, *start, screen.display)
        is_press = presses(screen, start, end)
        if is_press:
            refuse_unseen(screen, under_start)
        aim = Aim(
            sentence=f"Scroll {arguments.direction}" + (" by a page" if arguments.step == "page" else ""),
            package=package_at(screen, under_start),
            points=(start, end),
            nodes=nodes,
            is_matchable=True,
            is_gesture_over=not is_press and _scrolls(screen, under_start),
            also_as=_AS_PRESS if is_press else (),
        )
        return as_enter(screen, aim) if _may_press_enter(screen, start, end, is_press=is_press) else aim

    def run(self, arguments: ScrollArguments, aim: Aim, phone: Phone) -> Done:
        phone.driver.swipe(*aim.points[0], *aim.points[1], self.duration_ms, phone.deadline)
        return Done(text="")

    def _area(self, arguments: ScrollArguments, scene: Scene) -> Bounds:
        screen = scene.screen
        if arguments.ref is not None:
            node = scene.find(arguments.ref)
            area = visible_bounds(screen.hierarchy, node, screen.display)
            if area.is_empty:
                raise TargetError(f"{name_of(screen, node)} is not on the screen now", code="off_screen")
            # A page that does not say that it scrolls (WebView, game) may be tried; a thing on it may not.
            if not _scrolls(screen, (node,)) and not is_page(node, screen.display):
                raise TargetError(
                    f"{name_of(screen, node)} does not scroll",
                    code="not_scrollable",
                    hint="give the ref of a line that says scroll, or none",
                )
            return area
        areas = [visible_bounds(screen.hierarchy, node, screen.display) for node in screen.nodes if node.scrollable]
        # Where nothing but a small part says that it scrolls (WebView, game), the whole display is tried.
        largest = max((area for area in areas if not area.is_empty), key=_size, default=screen.display)
        return largest if _size(largest) * _LEAST_PART >= _size(screen.display) else screen.display


def _size(area: Bounds) -> int:
    return area.width * area.height


def _finger(area: Bounds, direction: str, share: float) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return start and end of the finger: it moves against the direction in which the content is wanted.

    The middle of the way is the middle of the list.
    """
    x, y = area.center
    across, along = (
        min(size, max(round(size * share), 3 * TOUCH_SLOP_PX)) // 2 for size in (area.width - 1, area.height - 1)
    )
    match direction:
        case "down":
            return (x, y + along), (x, y - along)
        case "up":
            return (x, y - along), (x, y + along)
        case "right":
            return (x + across, y), (x - across, y)
        case _:
            return (x - across, y), (x + across, y)
