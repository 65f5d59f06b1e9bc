"""Values that cross the RPC: parameters checked on the way in, nodes described on the way out.

This file must never know a method.
"""

from __future__ import annotations

from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.hierarchy import SeenNode

MAX_TEXT = 100_000
MAX_COORDINATE = 1e6


class BadParams(ValueError):
    """A parameter is missing or of the wrong type."""


class Missing(Exception):
    """The selector finds nothing; the message is the selector in UiSelector's words."""


def number_at(params: list[object], at: int) -> float:
    """Return a finite number, or raise BadParams."""
    value = params[at] if at < len(params) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or value != value:
        raise BadParams(f"parameter {at} must be a number")
    # Compared as it is: a whole number may be too large to become a float.
    if abs(value) > MAX_COORDINATE:
        raise BadParams(f"parameter {at} is out of range")
    return value


def whole_at(params: list[object], at: int, default: int | None = None) -> int:
    """Return a whole number; `default` where there is none."""
    if at >= len(params) and default is not None:
        return default
    return int(number_at(params, at))


def text_at(params: list[object], at: int) -> str:
    """Return a text, or raise BadParams."""
    value = params[at] if at < len(params) else None
    if not isinstance(value, str) or len(value) > MAX_TEXT:
        raise BadParams(f"parameter {at} must be a text of at most {MAX_TEXT} characters")
    return value


def flag_at(params: list[object], at: int, default: bool) -> bool:
    """Return a truth value; `default` where there is none."""
    value = params[at] if at < len(params) else default
    if not isinstance(value, bool):
        raise BadParams(f"parameter {at} must be true or false")
    return value


def describe_node(node: SeenNode) -> dict[str, object]:
    """Return the ObjInfo of a node."""
    view = node.view
    return {
        "bounds": _rect(view.bounds),
        "visibleBounds": _rect(node.bounds),
        "childCount": len(node.children),
        "className": view.cls,
        "contentDescription": view.desc,
        "packageName": node.package,
        "resourceName": view.id or None,
        "text": node.text,
        "checkable": view.is_checkable,
        "checked": view.is_checked,
        "clickable": view.is_clickable,
        "enabled": view.is_enabled,
        "focusable": node.is_focusable,
        "focused": view.is_focused,
        "longClickable": view.on_long_click is not None or view.edits is not None,
        "scrollable": node.is_scrollable,
        "selected": view.is_selected,
    }


def _rect(rect: Rect) -> dict[str, int]:
    return {"bottom": rect.bottom, "left": rect.left, "right": rect.right, "top": rect.top}
