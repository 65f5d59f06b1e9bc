"""A UI hierarchy as values: a tree of Node, kept flat in preorder. Pure; knows no phone, no policy and no model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Bounds:
    """A rectangle in device pixels; right and bottom are exclusive, as Android prints them."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def width(self) -> int:
        return max(0, self.right - self.left)

    @property
    def height(self) -> int:
        return max(0, self.bottom - self.top)

    @property
    def is_empty(self) -> bool:
        return self.right <= self.left or self.bottom <= self.top

    @property
    def center(self) -> tuple[int, int]:
        return (self.left + self.right) // 2, (self.top + self.bottom) // 2

    def contains(self, x: int, y: int) -> bool:
        return self.left <= x < self.right and self.top <= y < self.bottom

    def clip(self, other: Bounds) -> Bounds:
        """Return the common part; it may be empty."""
        return Bounds(
            max(self.left, other.left),
            max(self.top, other.top),
            min(self.right, other.right),
            min(self.bottom, other.bottom),
        )


class Node(NamedTuple):
    """One element, with the attributes a dump gives it. Strings are raw: untrusted, not cleaned, possibly empty.

    A named tuple, because it is made six times as fast as a frozen dataclass and every look makes hundreds.
    """

    index: int  # type: ignore[assignment]  # it hides tuple.index, which nobody asks a node for
    # position in preorder; `Hierarchy.nodes[index]` is this node
    parent: int  # index of the parent, -1 for a root
    end: int  # one past the last descendant: `nodes[index + 1 : end]` is the subtree
    depth: int
    window: int  # which root it belongs to, 0 first; later roots were dumped later
    cls: str
    package: str
    resource_id: str
    text: str
    desc: str
    hint: str
    bounds: Bounds
    checkable: bool
    checked: bool
    clickable: bool
    enabled: bool
    focusable: bool
    focused: bool
    scrollable: bool
    long_clickable: bool
    password: bool
    selected: bool
    visible: bool  # visible-to-user; true where the dump does not say
    editable: bool = False  # the dump says so by itself, whatever the class
    is_hint_shown: bool | None = None  # `text` is only the hint, the field is empty; None where the dump does not say
    drawing_order: int = -1  # among its siblings, higher is painted later; -1 where the dump does not say
    window_layer: int = -1  # of a root: higher is nearer to the eye; -1 where the dump does not say
    window_type: str = (
        ""  # of a root: application, input_method, system, ... or a number; "" where the dump does not say
    )

    @property
    def is_editable(self) -> bool:
        return self.editable or self.cls.endswith(("EditText", "AutoCompleteTextView"))

    @property
    def is_hint_or_text(self) -> bool:
        """Whether nobody can tell if a field is empty: its text is its hint, and the dump does not say which."""
        return self.is_hint_shown is None and self.text == self.hint != ""

    @property
    def content(self) -> str:
        """What stands in a field; a text like its hint is taken for the hint where the dump does not say."""
        return "" if self.is_hint_shown or self.is_hint_or_text else self.text

    @property
    def is_place_only(self) -> bool:
        """Whether it stands for a window of which nothing but its owner and its place is known: it has no class."""
        return self.parent < 0 and not self.cls

    @property
    def is_tappable(self) -> bool:
        """Whether it would take a tap that falls on it (enabled or not)."""
        return self.clickable or self.long_clickable or self.checkable or self.is_editable

    @property
    def is_usable(self) -> bool:
        """Whether a person could do something with it (enabled or not)."""
        return self.clickable or self.long_clickable or self.checkable or self.scrollable or self.is_editable


def root_of(hierarchy: Hierarchy, node: Node) -> Node:
    """Return the window that a node lies in."""
    while node.parent >= 0:
        node = hierarchy.nodes[node.parent]
    return node


@dataclass(frozen=True, slots=True, eq=False)
class Hierarchy:
    """All nodes of one dump in preorder. `repairs` says in words what had to be mended to read it."""

    nodes: tuple[Node, ...]
    rotation: int = 0  # 0..3, quarter turns counter-clockwise
    repairs: tuple[str, ...] = ()
    is_complete: bool = True  # false: the dump was cut or too big, nodes may be missing
    keyboard: str = ""  # package of the phone's keyboard where the phone was asked; no dump says it

    def subtree(self, node: Node) -> tuple[Node, ...]:
        """Return the descendants of `node` in preorder, without itself."""
        return self.nodes[node.index + 1 : node.end]

    def ancestors(self, node: Node) -> Iterator[Node]:
        """Yield parent, grandparent, ... up to the root."""
        while node.parent >= 0:
            node = self.nodes[node.parent]
            yield node

    def roots(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if node.parent < 0)
