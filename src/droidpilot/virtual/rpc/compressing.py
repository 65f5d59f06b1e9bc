"""A compressed UI hierarchy: without the nodes that accessibility calls unimportant, their children in their place.

Source: `uiautomator dump --compressed` and View.isImportantForAccessibility: containers that say and do nothing go.
This file must never know the phone.
"""

from __future__ import annotations

from typing import Final
from xml.etree import ElementTree

ACTS: Final = ("checkable", "clickable", "focusable", "long-clickable", "scrollable", "selected")


def compressed(text: str) -> str:
    """Return a dump in its compressed form; what is no XML stays as it is."""
    head, mark, _ = text.partition("<hierarchy")
    try:
        root = ElementTree.fromstring(text.encode("utf-8", "replace"))
    except (ElementTree.ParseError, ValueError):
        return text
    for window in root:
        _prune(window)
    for number, window in enumerate(root):
        window.set("index", str(number))
    return (head if mark else "") + ElementTree.tostring(root, encoding="unicode")


def _prune(top: ElementTree.Element) -> None:
    """Put the children of unimportant nodes in their place, from the top down, without recursion."""
    waiting = [top]
    while waiting:
        node = waiting.pop()
        kept: list[ElementTree.Element] = []
        unseen = list(reversed(node))
        while unseen:
            child = unseen.pop()
            if _is_important(child):
                kept.append(child)
            else:
                unseen.extend(reversed(child))
        node[:] = kept
        for number, child in enumerate(kept):
            child.set("index", str(number))
        waiting.extend(kept)


def _is_important(node: ElementTree.Element) -> bool:
    if node.get("text") or node.get("content-desc") or any(node.get(act) == "true" for act in ACTS):
        return True
    # A leaf that draws something is kept only where it says what it is.
    return bool(node.get("hint")) or node.get("class") in ("android.webkit.WebView",)
