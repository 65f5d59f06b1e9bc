"""An independent reading of a dump with the standard library: what a rendered screen must at least say.

It shares no code with what it is held against. Only for well-formed dumps.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

Rect = tuple[int, int, int, int]
_USABLE = ("clickable", "long-clickable", "checkable", "scrollable")
_NUMBERS = re.compile(r"-?\d+")


def elements(data: bytes) -> list[ET.Element] | None:
    """Return the top elements of a dump; None where it is no well-formed XML."""
    text = data.decode("utf-8", "replace")
    start = min((at for at in (text.find("<hierarchy"), text.find("<node")) if at >= 0), default=-1)
    end = max(text.rfind("</hierarchy>") + len("</hierarchy>"), text.rfind("</node>") + len("</node>"))
    if start < 0:
        return None
    try:
        root = ET.fromstring(text[start:end])
    except ET.ParseError:
        return None
    return [root] if root.get("bounds") else list(root)


def rect(element: ET.Element) -> Rect:
    left, top, right, bottom = (int(number) for number in _NUMBERS.findall(element.get("bounds", "")))
    return left, top, right, bottom


def screen_rect(tops: list[ET.Element]) -> Rect:
    """Return the union of the windows."""
    lefts, top_edges, rights, bottoms = zip(*(rect(top) for top in tops), strict=True)
    return min(lefts), min(top_edges), max(rights), max(bottoms)


def _clip(one: Rect, other: Rect) -> Rect:
    return max(one[0], other[0]), max(one[1], other[1]), min(one[2], other[2]), min(one[3], other[3])


def usable(tops: list[ET.Element]) -> dict[Rect, set[str]]:
    """Return the rectangles, clipped to the windows' union, of what can be used, with the states seen there."""
    screen = screen_rect(tops)
    found: dict[Rect, set[str]] = {}
    for top in tops:
        if _is_keyboard(top):
            continue
        for element in top.iter():
            kind = element.get("class") or element.tag
            is_edit = kind.endswith(("EditText", "AutoCompleteTextView"))
            if not (is_edit or any(element.get(name) == "true" for name in _USABLE)) or _is_hidden(element):
                continue
            seen = _clip(rect(element), screen)
            if seen[2] - seen[0] >= 2 and seen[3] - seen[1] >= 2:
                found.setdefault(seen, set()).update(_states(element))
    return found


def strings(tops: list[ET.Element]) -> set[str]:
    """Return every text and description that could be seen, invisible characters out; no fields, no secrets."""
    found: set[str] = set()
    screen = screen_rect(tops)
    for top in tops:
        for element in () if _is_keyboard(top) else top.iter():
            numbers = _clip(rect(element), screen)
            if _is_hidden(element) or numbers[2] - numbers[0] < 2 or numbers[3] - numbers[1] < 2:
                continue
            texts = [element.get("content-desc", "")]
            if element.get("password") != "true":
                texts.append(element.get("text", ""))
            found.update(text for text in texts if text.strip())
    return found


def _is_hidden(element: ET.Element) -> bool:
    return "false" in (element.get("visible-to-user"), element.get("displayed"))


def _is_keyboard(top: ET.Element) -> bool:
    return "inputmethod" in top.get("package", "") or top.get("window-type") == "input_method"


def _states(element: ET.Element) -> set[str]:
    states = {name for name in ("selected", "focused", "password") if element.get(name) == "true"}
    if element.get("checkable") == "true":
        states.add("on" if element.get("checked") == "true" else "off")
    if element.get("enabled") == "false":
        states.add("disabled")
    return states
