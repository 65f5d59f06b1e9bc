"""An independent reading of a dump with the standard library: what a rendered screen must at least say.

It shares no code with what it is held against. Only for well-formed dumps.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

Rect = tuple[int, int, int, int]
_USABLE = ("clickable", "long-clickable", "checkable", "scrollable")
_BREAKS = re.compile(r"[\s,;:•·|]+")
_UNSEEN = re.compile("[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
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


def told_strings(tops: list[ET.Element]) -> list[str]:
    """Return the visible strings in document order, as a reader would list them with nothing said twice.

    Left out is what an ancestor's string says already, and what the strings below it say together; a string that stands
    on several nodes is listed as often.
    """
    screen = screen_rect(tops)
    found: list[str] = []
    waiting: list[tuple[ET.Element, tuple[str, ...], int]] = [(top, (), -1) for top in reversed(tops)]
    while waiting:
        element, above, place = waiting.pop()
        if place >= 0:  # all below it has been read
            if _says(" ".join(found[place + 1 :]), found[place]):
                del found[place]
            continue
        if _is_keyboard(element):
            continue
        own = _own(element) if _is_seen(element, screen) else ""
        if own and not any(_says(one, own) for one in above):
            waiting.append((element, (), len(found)))
            found.append(own)
            above = (*above, own)
        waiting.extend((child, above, -1) for child in reversed(list(element)))
    return found


def _own(element: ET.Element) -> str:
    text = "" if element.get("password") == "true" else squeezed(element.get("text", ""))
    desc = squeezed(element.get("content-desc", ""))
    if text and desc:
        return desc if text in desc else text if desc in text else f"{text} {desc}"
    return text or desc


def squeezed(text: str) -> str:
    """Return `text` without what cannot be seen, white space as one space."""
    return " ".join(_UNSEEN.sub("", text).split())


def _says(whole: str, part: str) -> bool:
    words = set(filter(None, _BREAKS.split(part)))
    return part in whole or (bool(words) and words <= set(_BREAKS.split(whole)))


def _is_seen(element: ET.Element, screen: Rect) -> bool:
    if _is_hidden(element) or not element.get("bounds"):
        return False
    left, top, right, bottom = _clip(rect(element), screen)
    return right - left >= 2 and bottom - top >= 2


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
