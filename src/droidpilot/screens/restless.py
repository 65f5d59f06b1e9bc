"""Restless: which places of a screen move for ever, so that waiting for it to be still is worth it only once.

A screen is known again by the parts of it that stay still. It must never know a clock or a phone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from droidpilot.screens.hierarchy import Hierarchy, Node

#: How many restless screens are remembered; the oldest is forgotten.
MAX_SCREENS = 16
#: Share of the still parts that must be there again.
_ALIKE = 0.7

#: A node's place: digest of the chain of its ancestors' classes and ids, and which of the twins there it is.
_Place = int
_Look = dict[_Place, tuple[object, ...]]


@dataclass(frozen=True, slots=True)
class _Memory:
    still: frozenset[tuple[_Place, int]]  # places with a digest of what they show; of all places, if all of them move
    moving: frozenset[_Place]
    is_by_place: bool  # nothing is still: known by the places alone


class Restless:
    """Remembers the restless screens of one session."""

    def __init__(self) -> None:
        self._memories: list[_Memory] = []

    def learn(self, looks: Sequence[Hierarchy]) -> None:
        """Remember the screen of these looks, one after another, as one that moves where they differ."""
        read = [_look(hierarchy) for hierarchy in looks]
        if len(read) < 2:
            return
        last = read[-1]
        still = {place for place, shows in last.items() if all(look.get(place) == shows for look in read)}
        moving = frozenset(place for look in read for place in look) - still
        if not moving:
            return
        parts = frozenset((place, hash(last[place])) for place in still) or frozenset((place, 0) for place in last)
        self._memories = [*self._memories[1 - MAX_SCREENS :], _Memory(parts, moving, is_by_place=not still)]

    def moving_in(self, hierarchy: Hierarchy) -> frozenset[int]:
        """Return the indexes of the nodes that are known to move for ever on this screen."""
        if not self._memories:
            return frozenset()
        places = _places(hierarchy)
        look = dict(zip(places, map(_shows, hierarchy.nodes), strict=True))
        parts = {(place, hash(shows)) for place, shows in look.items()}
        bare = {(place, 0) for place in look}
        moving: set[_Place] = set()
        for memory in self._memories:
            if len(memory.still & (bare if memory.is_by_place else parts)) >= _ALIKE * len(memory.still):
                moving |= memory.moving
        return frozenset(index for index, place in enumerate(places) if place in moving)


def _look(hierarchy: Hierarchy) -> _Look:
    return dict(zip(_places(hierarchy), map(_shows, hierarchy.nodes), strict=True))


def _places(hierarchy: Hierarchy) -> list[_Place]:
    """Return each node's place, by index."""
    places: list[_Place] = []
    twins: Counter[int] = Counter()
    for node in hierarchy.nodes:
        above = places[node.parent] if node.parent >= 0 else 0
        kind = hash((above, node.package, node.cls, node.resource_id))
        places.append(hash((kind, twins[kind])))
        twins[kind] += 1
    return places


def _shows(node: Node) -> tuple[object, ...]:
    bounds = node.bounds
    states = (node.checked, node.enabled, node.selected, node.visible, node.focused)
    return (node.text, node.desc, bounds.left, bounds.top, bounds.right, bounds.bottom, states)
