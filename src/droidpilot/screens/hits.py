"""What is really under a finger, and where a finger meets a node. It must never know refs, rules or tools.

Within a window the order of painting is known: children over their parent, later ones (by drawing order) over earlier
ones. Between windows it is known only where the dump gives layers; else a keyboard, and of others the smaller window,
counts as the upper one.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import pairwise
from operator import itemgetter

from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node
from droidpilot.screens.labels import clean, raw_label
from droidpilot.screens.screen import MIN_SIDE, display_of, keyboard_windows

_BANDS = 32  # across the height of the display
_MAX_CELLS = 20_000
#: Windows, topmost first, that are looked at: more are made to cost time.
_MAX_WINDOWS = 32
_SAMPLES = 24  # points a side where there are too many cells to look at each


class Layout:
    """The touchable areas of one hierarchy in the order of painting; made once, asked often."""

    def __init__(self, hierarchy: Hierarchy, display: Bounds | None = None) -> None:
        self.hierarchy = hierarchy
        self.display = display_of(hierarchy) if display is None else display
        self._height = max(1, self.display.bottom)
        self.windows = window_order(hierarchy)  # topmost first
        self._areas = _areas(hierarchy, self.display)
        self._ranks = _paint_ranks(hierarchy, self.windows)
        roots = [root for root in hierarchy.roots() if self.is_touchable(root)]
        self._roots = sorted(roots, key=lambda root: -self._ranks[root.index])[:_MAX_WINDOWS]
        self._points: dict[int, tuple[int, int] | None] = {}
        # what takes taps, by bands of the display, topmost first
        self._bands: list[list[tuple[int, Node, Bounds]]] = [[] for _ in range(_BANDS)]
        takers = [
            (self._ranks[node.index], node, self._areas[node.index])
            for node in hierarchy.nodes
            if node.is_tappable and self.is_touchable(node)
        ]
        for taker in sorted(takers, key=itemgetter(0), reverse=True):
            for band in self._bands_of(taker[2]):
                self._bands[band].append(taker)

    def area(self, node: Node) -> Bounds:
        """Return the part of `node` that can be touched if nothing lies over it; possibly empty."""
        return self._areas[node.index]

    def is_touchable(self, node: Node) -> bool:
        area = self._areas[node.index]
        return node.visible and area.width >= MIN_SIDE and area.height >= MIN_SIDE

    def rank(self, node: Node) -> int:
        """Return its place in the order of painting; higher lies over lower."""
        return self._ranks[node.index]

    def at(self, x: int, y: int) -> tuple[Node, ...]:
        """Return all nodes at a point, topmost first."""
        hit = [node for node in self.hierarchy.nodes if self.area(node).contains(x, y) and self.is_touchable(node)]
        return tuple(sorted(hit, key=lambda node: -self._ranks[node.index]))

    def blockers(self, node: Node) -> list[Node]:
        """Return what would take some tap meant for `node`: usable nodes and windows painted over it."""
        area, rank = self.area(node), self._ranks[node.index]
        left, top, right, bottom = area.left, area.top, area.right, area.bottom
        above: dict[int, Node] = {}
        for band in self._bands_of(area):
            for other_rank, other, over in self._bands[band]:
                if other_rank <= rank:
                    break
                # Written out, since screens with thousands of nodes over each other ask this millions of times.
                if over.left < right and over.right > left and over.top < bottom and over.bottom > top:
                    above[other.index] = other
        return [*above.values(), *self._windows_over(node)]

    def taker_over(self, node: Node, x: int, y: int) -> Node | None:
        """Return the topmost node that would take a tap meant for `node` at one point, None where none would."""
        rank = self._ranks[node.index]
        over = [root for root in self._windows_over(node) if self.area(root).contains(x, y)]
        for other_rank, other, other_area in self._bands[self._band(y)]:
            if other_rank <= rank:
                break
            if other_area.contains(x, y):
                over.append(other)
                break
        return max(over, key=self.rank, default=None)

    def point_of(self, node: Node) -> tuple[int, int] | None:
        """Return what `tap_point` does; found once for each node, since every rendering of a screen asks for all."""
        if node.index not in self._points:
            self._points[node.index] = self._find_point(node)
        return self._points[node.index]

    def _find_point(self, node: Node) -> tuple[int, int] | None:
        if not self.is_touchable(node):
            return None
        area = self.area(node)
        taker = self.taker_over(node, *area.center)
        if taker is None:
            return area.center
        if self.area(taker).clip(area) == area:
            return None
        rects = {self.area(other).clip(area) for other in self.blockers(node)}
        point = _free_point(area, [rect for rect in rects if not rect.is_empty])
        return point if point is not None and self.taker_over(node, *point) is None else None

    def _windows_over(self, node: Node) -> list[Node]:
        if len(self._roots) == 1:
            return []
        rank = self._ranks[node.index]
        return [root for root in self._roots if root.window != node.window and self._ranks[root.index] > rank]

    def _bands_of(self, area: Bounds) -> range:
        return range(self._band(area.top), self._band(area.bottom - 1) + 1)

    def _band(self, y: int) -> int:
        return min(_BANDS - 1, max(0, y * _BANDS // self._height))


@lru_cache(maxsize=8)
def layout_of(hierarchy: Hierarchy, display: Bounds | None = None) -> Layout:
    """Return the layout of a hierarchy; the last few are kept, since one screen is asked about many times."""
    return Layout(hierarchy, display)


def window_order(hierarchy: Hierarchy) -> tuple[int, ...]:
    """Return the numbers of the windows, topmost first; a guess where `is_window_order_known` is false."""
    roots = hierarchy.roots()
    if is_window_order_known(hierarchy):
        return tuple(root.window for root in sorted(roots, key=lambda root: -root.window_layer))
    # A keyboard lies over apps and what floats over them. Source: WindowManagerPolicy.getWindowLayerFromTypeLw.
    keyboards = keyboard_windows(hierarchy, None)
    ranked = sorted(roots, key=lambda root: (root.window not in keyboards, root.bounds.width * root.bounds.height))
    return tuple(root.window for root in ranked)


def is_window_order_known(hierarchy: Hierarchy) -> bool:
    """Tell whether the dump says which window lies over which."""
    layers = [root.window_layer for root in hierarchy.roots()]
    return len(layers) < 2 or (min(layers) >= 0 and len(set(layers)) == len(layers))


def nodes_at(hierarchy: Hierarchy, x: int, y: int, display: Bounds | None = None) -> tuple[Node, ...]:
    """Return every visible node at a point, topmost first: window by window, in each the last painted first.

    Where the order of the windows is not known, all those at the point are candidates, whatever their place here.
    """
    return layout_of(hierarchy, display).at(x, y)


def target_nodes(hierarchy: Hierarchy, x: int, y: int, display: Bounds | None = None) -> tuple[Node, ...]:
    """Return the nodes that a tap at a point is about, topmost first.

    In each window: the topmost node that takes taps, its ancestors that do, and of its descendants those at the point.
    Where none of these says anything, labelled nodes lying at the point beside it count too (a label painted over or
    under a bare button). Where nothing takes taps, every labelled node at the point. Only the topmost window counts,
    but where the order of the windows is not known, all do.
    """
    layout = layout_of(hierarchy, display)
    hit = layout.at(x, y)
    if not hit:
        return ()
    by_window: dict[int, list[Node]] = {}
    for node in hit:
        by_window.setdefault(node.window, []).append(node)
    windows = [window for window in layout.windows if window in by_window]
    if is_window_order_known(hierarchy):
        windows = windows[:1]
    found: list[Node] = []
    for window in windows:
        found.extend(_targets_of_window(hierarchy, by_window[window]))
    return tuple(found)


def _targets_of_window(hierarchy: Hierarchy, hit: list[Node]) -> list[Node]:
    taker = next((node for node in hit if node.is_tappable), None)
    if taker is None:
        return [node for node in hit if clean(raw_label(node))] or hit[:1]
    above = {ancestor.index for ancestor in hierarchy.ancestors(taker) if ancestor.is_tappable}
    inside = range(taker.index, taker.end)
    chosen = [node for node in hit if node.index in inside or node.index in above]
    if any(clean(raw_label(node)) for node in chosen if node.index in inside):
        return chosen
    beside = {node.index for node in hit if not node.is_usable and clean(raw_label(node))}
    kept = {node.index for node in chosen} | beside
    return [node for node in hit if node.index in kept]


def tap_point(hierarchy: Hierarchy, node: Node, display: Bounds | None = None) -> tuple[int, int] | None:
    """Return a visible point of `node` where a tap reaches it, None where there is none.

    The centre if it is free, else the middle of the largest free part; never a point that a clickable descendant, a
    node painted over it or another window above would take.
    """
    return layout_of(hierarchy, display).point_of(node)


def covered_by(hierarchy: Hierarchy, node: Node, display: Bounds | None = None) -> Node | None:
    """Return the topmost node that would take a tap on the middle of `node`; None where the middle is free."""
    layout = layout_of(hierarchy, display)
    return layout.taker_over(node, *layout.area(node).center)


def _free_point(area: Bounds, rects: list[Bounds]) -> tuple[int, int] | None:
    """Return the middle of the largest cell of the grid that the rectangles' edges draw, among cells under none."""
    xs = sorted({area.left, area.right, *(rect.left for rect in rects), *(rect.right for rect in rects)})
    ys = sorted({area.top, area.bottom, *(rect.top for rect in rects), *(rect.bottom for rect in rects)})
    if len(xs) * len(ys) > _MAX_CELLS:
        xs = _sample(area.left, area.right)
        ys = _sample(area.top, area.bottom)
    best: tuple[int, int, int, int] | None = None
    for top, bottom in pairwise(ys):
        taken = [rect for rect in rects if rect.top < bottom and rect.bottom > top]
        for left, right in _gaps(xs, taken):
            width, height = right - left, bottom - top
            size = (min(width, height), width * height, -top, -left)
            if best is None or size > best:
                best, point = size, ((left + right) // 2, (top + bottom) // 2)
    return None if best is None else point


def _gaps(xs: list[int], taken: list[Bounds]) -> Iterable[tuple[int, int]]:
    """Yield the free stretches of one row, neighbouring free cells joined."""
    start: int | None = None
    for left, right in pairwise(xs):
        is_free = not any(rect.left < right and rect.right > left for rect in taken)
        if is_free and start is None:
            start = left
        if not is_free and start is not None:
            yield start, left
            start = None
    if start is not None:
        yield start, xs[-1]


def _sample(low: int, high: int) -> list[int]:
    return sorted({low + (high - low) * step // _SAMPLES for step in range(_SAMPLES + 1)})


def _areas(hierarchy: Hierarchy, display: Bounds) -> list[Bounds]:
    """Return each node's bounds clipped by all its ancestors and the display, by index."""
    areas: list[Bounds] = []
    clips: list[Bounds] = []
    for node in hierarchy.nodes:
        clip = clips[node.parent] if node.parent >= 0 else display
        area = bounds = node.bounds
        # almost every node lies inside its parent: no new value is needed
        is_inside = clip.left <= bounds.left and bounds.right <= clip.right
        if not (is_inside and clip.top <= bounds.top and bounds.bottom <= clip.bottom):
            area = bounds.clip(clip)
        areas.append(area)
        clips.append(clip if bounds.is_empty else area)
    return areas


def _paint_ranks(hierarchy: Hierarchy, windows: tuple[int, ...]) -> list[int]:
    """Return each node's place in the order of painting, by index."""
    children: list[list[Node]] = [[] for _ in hierarchy.nodes]
    roots: dict[int, Node] = {}
    for node in hierarchy.nodes:
        if node.parent >= 0:
            children[node.parent].append(node)
        else:
            roots[node.window] = node
    ranks = [0] * len(hierarchy.nodes)
    rank = 0
    waiting = [roots[window] for window in windows]  # the last one is painted first
    while waiting:
        node = waiting.pop()
        ranks[node.index] = rank
        rank += 1
        below = children[node.index]
        if len(below) > 1 and all(child.drawing_order >= 0 for child in below):
            below.sort(key=lambda child: child.drawing_order)
        waiting.extend(reversed(below))
    return ranks
