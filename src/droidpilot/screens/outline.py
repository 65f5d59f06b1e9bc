"""The outline of a screen: what a person could use or read, item by item in reading order, nothing said twice.

Text for a model, JSON for programs and the diff are all made from it. It must never know what they look like.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache

from droidpilot.screens.hierarchy import Node
from droidpilot.screens.hits import Layout, covered_by, layout_of, tap_point
from droidpilot.screens.labels import id_words, shown
from droidpilot.screens.screen import Screen, is_page, keyboard_windows, visible_nodes

_ABOVE = 20  # how many ancestors' texts are looked at for repetition
_BELOW = 40  # how many texts inside a node are looked at
_MAX_ID_WORDS = 4
_NEAR = 3  # how many levels up a neighbour may stand
_CAPTION = 120  # characters; more than that is a text, not a name
_WORD_BREAK = re.compile(r"[\s,;:•·|]+")
_PACKAGE = re.compile(r"[^A-Za-z0-9_.:]+")


@dataclass(slots=True)
class Item:
    """One line's worth: a usable node with its ref, or words to read. Texts are one line each, ready to be shown."""

    node: Node
    ref: int | None
    words: list[str] = field(default_factory=list)  # its own texts, then those of what stands in it
    content: str | None = None  # of a text field: what is typed in it; "" is empty
    states: tuple[str, ...] = ()
    name: str = ""  # for want of words: from its id or class
    is_named_by_row: bool = False  # a state inside a usable row that says the words

    @property
    def label(self) -> str:
        """The words in order, with a bar between two where no sign of their own keeps them apart."""
        label = ""
        for words in self.words:
            needs_bar = label[-1:].isalnum() and words[:1].isalnum()
            label += (" | " if needs_bar else " ") + words if label else words
        return label or self.name


@lru_cache(maxsize=4)
def outline(screen: Screen) -> tuple[Item, ...]:
    """Return the items of a screen in document order; keyboard windows, and what cannot be seen, are left out."""
    reader = _Reader(screen)
    for node in screen.nodes:
        reader.read(node)
    return reader.finish()


def actions_of(node: Node) -> tuple[str, ...]:
    """Return what can be done with a node: tap, long_press, toggle, type, scroll."""
    if not node.enabled:
        return ()
    offers = (
        ("tap", node.clickable or node.checkable or node.is_editable),
        ("long_press", node.long_clickable),
        ("toggle", node.checkable),
        ("type", node.is_editable),
        ("scroll", node.scrollable),
    )
    return tuple(name for name, is_offered in offers if is_offered)


def safe_package(package: str) -> str:
    """Return a package name that can stand in our own lines: unusual characters as `?`, at most 100 of them."""
    return _PACKAGE.sub("?", package)[:100]


def _says(whole: str, part: str) -> bool:
    """Tell whether `whole` says `part` already: contains it, or has all its words."""
    if part in whole:
        return True
    words = {word for word in _WORD_BREAK.split(part) if word}
    return bool(words) and words <= set(_WORD_BREAK.split(whole))


def _own_text(node: Node) -> str:
    """Return what a node says by itself, text before description; the text of a field is content and not in it."""
    text = "" if node.password or node.is_editable else shown(node.text)
    desc = shown(node.desc)
    if text and desc:
        return desc if text in desc else text if desc in text else f"{text} {desc}"
    return text or desc


class _Reader:
    """Reads nodes in preorder and keeps what the open ancestors have said."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._display = screen.display
        self._layout = layout_of(screen.hierarchy, screen.display)
        self._visible = visible_nodes(screen.hierarchy, self._display)
        self._keyboards = keyboard_windows(screen.hierarchy, screen.package)
        self._ref_by_index = {index: ref for ref, index in screen.refs.items()}
        self._items: list[Item] = []
        self._texts: list[str] = []  # everything said so far, in order
        self._open: list[_Open] = []

    def read(self, node: Node) -> None:
        while self._open and self._open[-1].end <= node.index:
            self._close(self._open.pop())
        if node.window in self._keyboards:
            return
        outer = self._open[-1] if self._open else _Open(len(self._screen.nodes), (), None)
        scope = _Open(node.end, outer.above, outer.taker)
        self._open.append(scope)
        if not self._visible[node.index]:
            return
        own = _own_text(node)
        if own and any(_says(above, own) for above in outer.above):
            own = ""
        ref = self._ref_by_index.get(node.index)
        if ref is not None:
            is_row_state = outer.taker is not None and node.checkable and not (node.clickable or node.long_clickable)
            if is_row_state and outer.taker is not None and own:
                outer.taker.words.append(own)
            item = self._usable(node, ref, "" if is_row_state else own)
            item.is_named_by_row = is_row_state
            if node.is_tappable and not node.is_editable and not is_row_state and not is_page(node, self._display):
                scope.taker = item
            else:
                scope.taker = outer.taker if is_row_state or not node.is_tappable else None
        elif own and outer.taker is not None:
            outer.taker.words.append(own)
        elif own:
            item = Item(node, None, [own])
            self._items.append(item)
            scope.read_only, scope.said_before = item, len(self._texts) + 1
        if own:
            self._texts.append(own)
            scope.above = (*outer.above[-_ABOVE:], own)

    def finish(self) -> tuple[Item, ...]:
        while self._open:
            self._close(self._open.pop())
        self._name_by_neighbours()
        return tuple(item for item in self._items if item.words or (item.ref is not None and not self._is_shell(item)))

    def _is_shell(self, item: Item) -> bool:
        """Tell whether an item is a bare wrapper that its own content, of the same size, covers: one line will do."""
        node = item.node
        if len(item.states) != 1 or not item.states[0].startswith("covered"):
            return False
        cover = covered_by(self._layout.hierarchy, node, self._layout.display)
        return (
            cover is not None
            and node.index < cover.index < node.end
            and cover.index in self._ref_by_index
            and cover.bounds.clip(self._display) == node.bounds.clip(self._display)
        )

    def _name_by_neighbours(self) -> None:
        """Give a thing without words the texts beside it, where it is the only one there that can be used.

        So the label left of a switch stands on one line with it. Anything else keeps its class in front of them (the
        arrow beside a title goes back, it is not the title), or the name that its id gives it.
        """
        places = [item.node.index for item in self._items]
        usable = [item.node.index for item in self._items if item.ref is not None]
        for item in self._items:
            node = item.node
            if item.ref is None or item.words or item.is_named_by_row or not node.is_tappable:
                continue
            if not (node.checkable or node.is_editable) and id_words(node.resource_id):
                continue
            for level, above in enumerate(self._screen.hierarchy.ancestors(node)):
                is_alone = bisect_left(usable, above.end) - bisect_left(usable, above.index) == 1
                if level == _NEAR or not is_alone or is_page(above, self._display):
                    break
                beside = self._items[bisect_left(places, above.index) : bisect_left(places, above.end)]
                spoken = [other for other in beside if other.ref is None and other.words]
                if spoken:
                    words = [word for other in spoken for word in other.words]
                    if sum(map(len, words)) <= _CAPTION:
                        says_itself = node.checkable or node.is_editable
                        item.words = words if says_itself else [item.name, *words]
                        for other in spoken:
                            other.words = []
                    break

    def _close(self, scope: _Open) -> None:
        """Take back a read-only text that what stands in its node says altogether."""
        if scope.read_only is None:
            return
        inside = self._texts[scope.said_before : scope.said_before + _BELOW]
        if inside and _says(" ".join(inside), scope.read_only.words[0]):
            scope.read_only.words.clear()

    def _usable(self, node: Node, ref: int, own: str) -> Item:
        item = Item(node, ref, [own] if own else [])
        if node.is_editable:
            self._read_field(item)
        item.states = _states(node, self._layout, self._ref_by_index)
        item.name = _name(node)
        self._items.append(item)
        return item

    def _read_field(self, item: Item) -> None:
        """Tell what is typed into a field from its hint."""
        node = item.node
        text, hint = shown(node.text), shown(node.hint)
        is_empty = not text or node.is_hint_shown or (node.is_hint_shown is None and text == hint)
        item.content = "" if is_empty else text
        if not item.words and (hint or is_empty):
            words = hint or text
            item.words = [words] if words and not (node.password and not hint) else []
        if not node.password and text:
            self._texts.append(text)


@dataclass(slots=True)
class _Open:
    """An ancestor of the node that is being read."""

    end: int
    above: tuple[str, ...]  # texts said by it and its ancestors
    taker: Item | None  # the usable container that texts inside go to
    read_only: Item | None = None
    said_before: int = 0


def _states(node: Node, layout: Layout, ref_by_index: dict[int, int]) -> tuple[str, ...]:
    states: list[str] = []
    if node.checkable:
        states.append("on" if node.checked else "off")
    if node.is_editable:
        states.append("edit")
    if node.password:
        states.append("password")
        states.append("filled" if node.content else "empty")
    if node.scrollable:
        states.append("scroll")
    if node.selected:
        states.append("selected")
    if node.focused:
        states.append("focused")
    if not node.enabled:
        states.append("disabled")
    if node.is_tappable and tap_point(layout.hierarchy, node, layout.display) is None:
        cover = covered_by(layout.hierarchy, node, layout.display)
        ref = None if cover is None else ref_by_index.get(cover.index)
        states.append("covered" if ref is None else f"covered by {ref}")
    return tuple(states)


def _name(node: Node) -> str:
    """Call a node without words by its id, or by its class; a mere scroll container needs no name."""
    if not node.is_tappable:
        return ""
    words = shown(" ".join(id_words(node.resource_id)[:_MAX_ID_WORDS]))
    return words or ("" if node.is_editable else shown(node.cls.rpartition(".")[2]))
