"""When two calls are the same, and when a target is still what it was. Digests only.

A person's no and an unknown outcome hold against a call by any name: by ref, by place, by holding, by enter.
"""

from __future__ import annotations

import hashlib
import json

from droidpilot.core.calls import Effect
from droidpilot.pipeline.case import Case, labels_under, said_within
from droidpilot.screens.hierarchy import Node
from droidpilot.screens.screen import Screen, is_helper_package
from droidpilot.tools.registry import Aim

_PRESSES = frozenset({"tap", "long_press"})
#: Places nearer to each other than half of this are the same where nothing tells what lies there.
_CELL_PX = 96


def same_call_keys(case: Case) -> frozenset[str]:
    """Return the digests of all that a call may do; two calls that share one are the same.

    State does not count (a toggle that turned is still the same toggle), nor where exactly a node was touched.
    """
    aim, tool, screen = case.aim, case.call.tool, case.scene.screen if case.scene is not None else None
    assert aim is not None and case.arguments is not None
    keys = {key for node in aim.maybe for key in _press_keys(screen, aim, node)}
    if tool in _PRESSES or "tap" in aim.also_as:
        if "press" in aim.also_as:
            keys.add(_digest(["key", "confirm" if aim.maybe else {"key": "enter"}, aim.package]))
        return frozenset({*keys, *_press_keys(screen, aim, _taker(aim.nodes))})
    given = case.arguments.model_dump(exclude={"ref", "x", "y", "picture", "app", "duration_ms"})
    match tool:
        case "swipe" | "scroll":
            start, end = aim.points
            across, along = end[0] - start[0], end[1] - start[1]
            way = "xy"[abs(along) > abs(across)], (across if abs(across) >= abs(along) else along) > 0
            keys |= {_digest(["drag", way, key]) for key in _press_keys(screen, aim, _taker(aim.nodes), start)}
        case "press":
            keys.add(_digest(["key", "confirm" if aim.maybe else given, aim.package]))
        case "type_text":
            keys.add(_digest(["type", aim.package, _said(screen, aim.nodes[0]), aim.words]))
        case "open_app":
            keys.add(_digest(["open", aim.package]))
        case _:
            keys.add(_digest([tool, given]))
    return frozenset(keys)


def written_keys(case: Case) -> list[str]:
    """Return what a transcript keeps of `same_call_keys`, so that a later session knows the call again.

    Of what presses something, or adds to a text: doing that twice is not as doing it once. A screen that is scrolled,
    an app that is opened, a field that is filled again is no harm, and must not wait for a person. Of a secret that is
    typed there is not even a digest.
    """
    aim, given = case.aim, case.arguments
    if aim is None or given is None or case.effect is Effect.READ or aim.is_secret:
        return []
    is_press = case.call.tool in _PRESSES or bool(aim.maybe) or bool(aim.also_as) or aim.is_blind
    is_addition = getattr(given, "mode", "") == "append"
    return sorted(same_call_keys(case)) if is_press or is_addition else []


def refused_keys(case: Case) -> frozenset[str]:
    """Return what a no holds against: the same call, as long as the text fields hold what they held."""
    screen = case.scene.screen if case.scene is not None else None
    fields = [node.text for node in screen.nodes if node.is_editable] if screen is not None else []
    return frozenset(_digest([key, fields]) for key in same_call_keys(case))


def target_key(case: Case, aim: Aim, screen: Screen) -> str:
    """Digest the fields that the call depends on (B15): the app, the nodes under the finger, their state and words.

    Where somebody was asked, they decided on the whole screen that they saw: every text and state of it but those of
    the keyboard and the system's bars (A35, INV-88).
    """
    under = (*aim.nodes, *aim.maybe)
    nodes = [[*node_identity(node), *_state(node)] for node in under]
    said = [label.raw for label in (*labels_under(screen, under), *said_within(screen, aim.nodes))]
    decided_on = _decided_on(screen, under) if case.was_asked else []
    return _digest([aim.package, screen.package, screen.activity, nodes, said, aim.words, decided_on])


def node_identity(node: Node) -> list[str]:
    """Return what makes a node the one it is, wherever it lies and whatever its state or typed text."""
    return [node.cls, node.resource_id, node.package, "" if node.is_editable else node.text, node.desc]


def _state(node: Node) -> list[object]:
    return [node.hint, node.enabled, node.checked, node.selected]


def _decided_on(screen: Screen, under: tuple[Node, ...]) -> list[object]:
    """Return what the screen says, without what lies over apps.

    That goes by windows, since an app may have its nodes say that they are of the system's bars. The window under the
    finger counts whatever it says of itself, and all do where none is of the app in front.
    """
    roots = screen.hierarchy.roots()
    touched = {node.window for node in under}
    has_front = any(root.package == screen.package for root in roots)
    over = {
        root.window
        for root in roots
        if has_front and is_helper_package(root.package) and root.package != screen.package
    } - touched
    return [[node.text, node.desc, *_state(node)] for node in screen.nodes if node.window not in over]


def _taker(nodes: tuple[Node, ...]) -> Node | None:
    return next((node for node in nodes if node.is_usable), next(iter(nodes), None))


def _press_keys(screen: Screen | None, aim: Aim, node: Node | None, point: tuple[int, int] | None = None) -> list[str]:
    """Return the digests of a press: of what is pressed, with its row; of the place where nothing says what it is."""
    x, y = point or (aim.points[0] if aim.points else (0, 0))
    if node is not None:
        said = _said(screen, node)
        own = ["press", node.package or aim.package, node.cls, node.resource_id, said, _row_of(screen, node)]
        if said or (node.resource_id and not aim.points):
            return [_digest(own)]
    else:
        own = ["press", aim.package]
    # Four grids, so that two near places share a cell in one of them.
    half = _CELL_PX // 2
    cells = [(grid, (x + grid % 2 * half) // _CELL_PX, (y + grid // 2 * half) // _CELL_PX) for grid in range(4)]
    return [_digest([*own, *cell]) for cell in cells]


def _said(screen: Screen | None, node: Node) -> str:
    """Return the words that a node is known by: its own, else the first inside, which are a row's title."""
    if node.is_editable:
        return node.hint or node.desc or node.resource_id
    if node.text or node.desc or screen is None:
        return node.text or node.desc
    return _first_text(screen, node, leave_out=None)


def _row_of(screen: Screen | None, node: Node) -> str:
    """Return the title of the list row that a node stands in, "" where it stands in none or is one itself."""
    if screen is None:
        return ""
    row = node
    for above in screen.hierarchy.ancestors(node):
        if above.scrollable:
            return _first_text(screen, row, leave_out=node) if row is not node else ""
        row = above
    return ""


def _first_text(screen: Screen, node: Node, *, leave_out: Node | None) -> str:
    skipped = range(leave_out.index, leave_out.end) if leave_out is not None else range(0)
    inside = (inner for inner in screen.hierarchy.subtree(node) if inner.index not in skipped and not inner.is_editable)
    return next((inner.text or inner.desc for inner in inside if inner.text or inner.desc), "")


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, sort_keys=True, default=str).encode()).hexdigest()[:32]
