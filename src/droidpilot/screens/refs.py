"""Refs: a number for a node, kept as long as the node can be found again exactly once. They are never reused.

A node is known by its class, id, label and place in its parents (INV-30): the chain of its ancestors' classes and ids
and, inside a list, everything its row says, so that the Delete button of one row is never that of another. Bounds and
states do not count, nor the content of a text field. This file must never know what a ref is used for.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from droidpilot.core.errors import TargetError
from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node
from droidpilot.screens.labels import clean, raw_label
from droidpilot.screens.screen import display_of, is_page, keyboard_windows, visible_nodes

_LIST_CLASSES = ("RecyclerView", "ListView", "GridView", "StackView")
_PAGE_CLASSES = ("ScrollView", "WebView", "ViewPager", "ViewPager2")
#: What switches of older Androids write on themselves: a state, not a label.
_STATE_WORDS = frozenset(("on", "off"))
_MAX_INNER = 300  # nodes that are read for the words of one row; keeps deep nesting linear
_FORMAT = 2


@dataclass(frozen=True, slots=True)
class _Identity:
    """How a node is known. `twins` nodes on the screen have the same key; `place` tells which of them this is."""

    key: str
    twins: int
    place: int
    company: str  # of a twin: digest of the keys of all usable nodes in its list (or window), in order


class RefBook:
    """Gives refs and finds their nodes again. Holds the identities of the last look only.

    A ref is given to every node that can be used, but only those that were printed may be used by who asks: one that
    was cut off or left out of a text has never been seen.
    """

    def __init__(
        self, next_ref: int = 1, known: dict[int, _Identity] | None = None, printed: Iterable[int] = ()
    ) -> None:
        self._next = next_ref
        self._known: dict[int, _Identity] = dict(known or {})
        self._printed = set(printed)
        self._first = next_ref  # what is below was given by others, before this book was opened
        self._inherited = frozenset(self._known)

    @property
    def next_ref(self) -> int:
        """The number that the next new node will get."""
        return self._next

    def assign(
        self, hierarchy: Hierarchy, display: Bounds | None = None, *, front: str | None = None
    ) -> dict[int, int]:
        """Give every visible usable node its ref, a known one where it is found again; return ref -> node index.

        Refs that find no node on this hierarchy expire for good.
        """
        nodes, identities = _identify(hierarchy, display, front)
        found = _match(self._known, nodes, identities)
        ref_by_index = {node.index: ref for ref, node in found.items()}
        refs: dict[int, int] = {}
        known: dict[int, _Identity] = {}
        for node, identity in zip(nodes, identities, strict=True):
            ref = ref_by_index.get(node.index)
            if ref is None:
                ref = self._next
                self._next += 1
            refs[ref] = node.index
            known[ref] = identity
        self._known = known
        self._printed &= known.keys()
        return refs

    def note_printed(self, refs: Iterable[int]) -> None:
        """Remember that these refs stand in a text that who asks was given."""
        self._printed.update(ref for ref in refs if ref in self._known)

    def unprinted(self, refs: Iterable[int]) -> frozenset[int]:
        """Return those of `refs` that were given and never printed."""
        return frozenset(ref for ref in refs if ref in self._known and ref not in self._printed)

    def check_printed(self, ref: int) -> None:
        """Refuse a ref that is known, but that nobody was shown.

        Raises:
            TargetError: code never_printed.
        """
        if ref in self._known and ref not in self._printed:
            raise TargetError(
                f"ref {ref} was never shown to you",
                hint="look first, and go on where the text was cut",
                code="never_printed",
            )

    def find(self, ref: int, hierarchy: Hierarchy, display: Bounds | None = None, *, front: str | None = None) -> Node:
        """Return the node that `ref` names on a hierarchy, without giving or expiring any ref.

        Raises:
            TargetError: codes no_ref (never given), stale_ref (not there now), foreign_ref (given before this book was
                opened, and gone since), ambiguous_ref (there more than once).
        """
        if not 0 < ref < self._next:
            raise TargetError(f"there is no ref {ref}", hint="use a ref of the last screen", code="no_ref")
        identity = self._known.get(ref)
        if identity is None and ref < self._first and ref not in self._inherited:
            raise TargetError(
                f"ref {ref} is of an earlier screen of this phone",
                hint="use a ref of the last screen",
                code="foreign_ref",
            )
        if identity is None:
            raise TargetError(
                f"ref {ref} was on an earlier screen and is gone", hint="use a ref of the last screen", code="stale_ref"
            )
        nodes, identities = _identify(hierarchy, display, front)
        node = _match({ref: identity}, nodes, identities).get(ref)
        if node is not None:
            return node
        if any(other.key == identity.key for other in identities):
            raise TargetError(
                f"ref {ref} fits more than one place on the screen now", hint="look again", code="ambiguous_ref"
            )
        raise TargetError(f"ref {ref} is not on the screen any more", hint="look again", code="stale_ref")

    def to_json(self) -> str:
        """Write the book, for another process that goes on with the same phone."""
        known = {str(ref): [i.key, i.twins, i.place, i.company] for ref, i in self._known.items()}
        book = {"format": _FORMAT, "next": self._next, "known": known, "printed": sorted(self._printed)}
        return json.dumps(book, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> RefBook:
        """Read what `to_json` wrote.

        Raises:
            ValueError: it is something else.
        """
        try:
            data = json.loads(text)
            if data["format"] != _FORMAT:
                raise ValueError("another format")
            next_ref = int(data["next"])
            known = {
                int(ref): _Identity(str(key), int(twins), int(place), str(company))
                for ref, (key, twins, place, company) in data["known"].items()
            }
            printed = {int(ref) for ref in data["printed"]}
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(f"not a book of refs: {error}") from error
        if next_ref < 1 or any(not 0 < ref < next_ref for ref in known):
            raise ValueError("not a book of refs: it holds one that was never given")
        return cls(next_ref, known, printed & known.keys())


def _match(known: dict[int, _Identity], nodes: Sequence[Node], identities: Sequence[_Identity]) -> dict[int, Node]:
    """Return the node of every known ref that fits exactly one.

    Twins are told apart by their place, and only while the same twins stand in the same company; else none fits.
    """
    by_place = {(i.key, i.twins, i.place, i.company): node for node, i in zip(nodes, identities, strict=True)}
    unique = {i.key: node for node, i in zip(nodes, identities, strict=True) if i.twins == 1}
    found: dict[int, Node] = {}
    for ref, identity in known.items():
        if identity.twins == 1:
            node = unique.get(identity.key)
        else:
            node = by_place.get((identity.key, identity.twins, identity.place, identity.company))
        if node is not None:
            found[ref] = node
    return found


@lru_cache(maxsize=4)
def _identify(
    hierarchy: Hierarchy, display: Bounds | None, front: str | None
) -> tuple[tuple[Node, ...], tuple[_Identity, ...]]:
    """Return the visible usable nodes, keyboards left out, and how each is known; the last few are kept."""
    display = display_of(hierarchy) if display is None else display
    keyboards = keyboard_windows(hierarchy, front)
    visible = visible_nodes(hierarchy, display)
    said = _said(hierarchy, visible)
    nodes = tuple(
        node for node in hierarchy.nodes if visible[node.index] and node.is_usable and node.window not in keyboards
    )
    chains, lists = _chains(hierarchy, nodes, said)
    keys = [_digest(chains[node.index], _label(node, said, display)) for node in nodes]
    counts = Counter(keys)
    # the company of a node: what usable things its innermost list (or window) holds, in order
    members: dict[int, list[str]] = {}
    for node, key in zip(nodes, keys, strict=True):
        members.setdefault(lists[node.index], []).append(key)
    companies = {index: _digest(*held) for index, held in members.items()}
    places: Counter[str] = Counter()
    identities: list[_Identity] = []
    for node, key in zip(nodes, keys, strict=True):
        company = companies[lists[node.index]] if counts[key] > 1 else ""
        identities.append(_Identity(key, counts[key], places[key], company))
        places[key] += 1
    return nodes, tuple(identities)


def _said(hierarchy: Hierarchy, visible: tuple[bool, ...]) -> list[str]:
    """Return what each node says by itself as far as it is no state and no content of a field, by index."""
    said: list[str] = []
    for node in hierarchy.nodes:
        if not visible[node.index]:
            said.append("")
        elif node.is_editable or node.password:
            said.append(f"{clean(node.desc)}\t{clean(node.hint)}")
        elif not (node.text or node.desc or node.hint):
            said.append("")
        else:
            text = clean(raw_label(node))
            said.append("" if node.checkable and text.lower() in _STATE_WORDS else text)
    return said


def _label(node: Node, said: list[str], display: Bounds) -> str:
    """Return what identifies a node beside its place: its own words, or those of all that stands in it.

    What a scroll container or one as large as a page holds comes and goes, and says nothing about it.
    """
    own = said[node.index]
    if own or not node.is_tappable or is_page(node, display):
        return own
    return "\n".join(filter(None, said[node.index + 1 : min(node.end, node.index + _MAX_INNER)]))


def _chains(hierarchy: Hierarchy, nodes: Sequence[Node], said: list[str]) -> tuple[dict[int, str], dict[int, int]]:
    """Return by index, for `nodes` and their ancestors: a digest of the place, the innermost list (below 0: none)."""
    needed: set[int] = set()
    for node in nodes:
        while node.index not in needed:
            needed.add(node.index)
            if node.parent < 0:
                break
            node = hierarchy.nodes[node.parent]
    chains: dict[int, str] = {}
    lists: dict[int, int] = {}
    for index in sorted(needed):  # parents before their children
        node = hierarchy.nodes[index]
        if node.parent < 0:
            chains[index] = _digest(node.package, node.cls, node.resource_id)
            lists[index] = -1 - node.window
            continue
        parent = hierarchy.nodes[node.parent]
        is_list = _is_list(hierarchy, parent)
        lists[index] = parent.index if is_list else lists[parent.index]
        row = "\n".join(filter(None, said[index : min(node.end, index + _MAX_INNER)])) if is_list else ""
        chains[index] = _digest(chains[parent.index], node.cls, node.resource_id, row)
    return chains, lists


def _is_list(hierarchy: Hierarchy, node: Node) -> bool:
    """Tell whether the children of `node` are rows that come and go, not the one content of a page that scrolls."""
    if node.cls.endswith(_LIST_CLASSES):
        # a ViewPager2 holds its pages in a RecyclerView of its own
        return node.parent < 0 or "ViewPager" not in hierarchy.nodes[node.parent].cls
    return node.scrollable and not node.cls.endswith(_PAGE_CLASSES)


def _digest(*parts: str) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(f"{len(encoded)}:".encode())
        digest.update(encoded)
    return digest.hexdigest()
