"""Selectors of the in-phone server: a mask of fields, and steps to children or siblings, found in depth-first order.

Source: the selector table of uiautomator2's `_selector.py` and UiSelector of AndroidX. Fields come from a client: an
unknown or misshapen one raises BadSelector. This file must never know a phone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.shell.patterns import BadPattern, Pattern
from droidpilot.virtual.ui.hierarchy import SeenNode

Test = Callable[[SeenNode], bool]
Read = Callable[[SeenNode], str]
MAX_STEPS = 10


class BadSelector(ValueError):
    """The client's selector makes no sense; the RPC answers with it."""


def _text(node: SeenNode) -> str:
    return node.text


def _desc(node: SeenNode) -> str:
    return node.view.desc


def _cls(node: SeenNode) -> str:
    return node.view.cls


def _package(node: SeenNode) -> str:
    return node.package


def _id(node: SeenNode) -> str:
    return node.view.id


_EQUAL: Final[dict[int, tuple[str, Read]]] = {
    0x01: ("text", _text),
    0x10: ("className", _cls),
    0x40: ("description", _desc),
    0x80000: ("packageName", _package),
    0x200000: ("resourceId", _id),
}
_HOLDS: Final[dict[int, tuple[str, Read]]] = {0x02: ("textContains", _text), 0x80: ("descriptionContains", _desc)}
_STARTS: Final[dict[int, tuple[str, Read]]] = {0x08: ("textStartsWith", _text), 0x200: ("descriptionStartsWith", _desc)}
_MATCHES: Final[dict[int, tuple[str, Read]]] = {
    0x04: ("textMatches", _text),
    0x20: ("classNameMatches", _cls),
    0x100: ("descriptionMatches", _desc),
    0x100000: ("packageNameMatches", _package),
    0x400000: ("resourceIdMatches", _id),
}
_FLAGS: Final[dict[int, tuple[str, Test]]] = {
    0x400: ("checkable", lambda n: n.view.is_checkable),
    0x800: ("checked", lambda n: n.view.is_checked),
    0x1000: ("clickable", lambda n: n.view.is_clickable),
    0x2000: ("longClickable", lambda n: n.view.on_long_click is not None or n.view.edits is not None),
    0x4000: ("scrollable", lambda n: n.is_scrollable),
    0x8000: ("enabled", lambda n: n.view.is_enabled),
    0x10000: ("focusable", lambda n: n.is_focusable),
    0x20000: ("focused", lambda n: n.view.is_focused),
    0x40000: ("selected", lambda n: n.view.is_selected),
}
_INDEX: Final = 0x800000
_INSTANCE: Final = 0x1000000


def find(roots: list[SeenNode], selector: object) -> list[SeenNode]:
    """Return all nodes the selector finds, in document order.

    Raises:
        BadSelector: not an object, a field of the wrong type, a pattern that is no regular expression, too many steps.
    """
    fields = _fields(selector)
    found = _pick([node for root in roots for node in root.walk()], fields)
    kinds, steps = fields.get("childOrSibling") or [], fields.get("childOrSiblingSelector") or []
    if not isinstance(kinds, list) or not isinstance(steps, list) or len(kinds) != len(steps) or len(steps) > MAX_STEPS:
        raise BadSelector("childOrSibling and childOrSiblingSelector must be lists of one length")
    for kind, step in zip(kinds, steps, strict=True):
        found = _pick(_around(found, kind), _fields(step))
    return found


def describe(selector: object) -> str:
    """Write a selector as UiSelector does, for the message of a UiObjectNotFoundException."""
    fields = _fields(selector)
    hidden = ("mask", "childOrSibling", "childOrSiblingSelector")
    return "UiSelector[" + ", ".join(f"{k.upper()}={str(v)[:100]}" for k, v in fields.items() if k not in hidden) + "]"


def _fields(selector: object) -> dict[str, object]:
    if not isinstance(selector, dict) or not isinstance(selector.get("mask"), int):
        raise BadSelector("a selector is an object with a mask")
    return {str(key): value for key, value in selector.items()}


def _around(found: list[SeenNode], kind: object) -> list[SeenNode]:
    if kind not in ("child", "sibling"):
        raise BadSelector(f"childOrSibling knows child and sibling, not {str(kind)[:40]!r}")
    tops = found if kind == "child" else [node.parent for node in found if node.parent is not None]
    seen: dict[int, SeenNode] = {}
    for top in tops:
        for node in top.walk():
            if node is not top:
                seen.setdefault(id(node), node)
    return list(seen.values())


def _pick(nodes: list[SeenNode], fields: dict[str, object]) -> list[SeenNode]:
    mask = fields["mask"]
    assert isinstance(mask, int)
    tests = _tests(mask, fields)
    found = [node for node in nodes if all(test(node) for test in tests)]
    if mask & _INSTANCE:
        instance = _number(fields, "instance")
        return found[instance : instance + 1] if instance >= 0 else []
    return found


def _tests(mask: int, fields: dict[str, object]) -> list[Test]:
    tests: list[Test] = [_equals(get, _string(fields, name)) for bit, (name, get) in _EQUAL.items() if mask & bit]
    tests += [_holds(get, _string(fields, name).lower()) for bit, (name, get) in _HOLDS.items() if mask & bit]
    tests += [_starts(get, _string(fields, name).lower()) for bit, (name, get) in _STARTS.items() if mask & bit]
    tests += [_matches(get, _string(fields, name), name) for bit, (name, get) in _MATCHES.items() if mask & bit]
    tests += [_is(flag, fields.get(name) is True) for bit, (name, flag) in _FLAGS.items() if mask & bit]
    if mask & _INDEX:
        index = _number(fields, "index")
        tests.append(lambda node: node.index == index)
    return tests


def _equals(get: Read, want: str) -> Test:
    return lambda node: get(node) == want


def _holds(get: Read, want: str) -> Test:
    return lambda node: want in get(node).lower()


def _starts(get: Read, want: str) -> Test:
    return lambda node: get(node).lower().startswith(want)


def _is(flag: Test, want: bool) -> Test:
    return lambda node: flag(node) == want


def _matches(get: Read, pattern: str, name: str) -> Test:
    try:
        compiled = Pattern(pattern)
    except BadPattern as problem:
        raise BadSelector(f"{name}: {problem}") from problem
    return lambda node: compiled.is_whole(get(node))


def _string(fields: dict[str, object], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str):
        raise BadSelector(f"{name} must be a string")
    return value


def _number(fields: dict[str, object], name: str) -> int:
    value = fields.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadSelector(f"{name} must be a number")
    return value
