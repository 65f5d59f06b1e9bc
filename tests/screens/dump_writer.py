"""Writes dumps for tests, as `uiautomator dump` does: a small tree language, no more."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import quoteattr

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>"
FULL = (0, 0, 1080, 2400)
_FLAGS = (
    *("checkable", "checked", "clickable", "enabled", "focusable", "focused"),
    *("scrollable", "long-clickable", "password", "selected"),
)


@dataclass
class El:
    """One element; `flags` are the attributes that are true, `off` those that are false against the default."""

    cls: str = "android.view.View"
    bounds: tuple[int, int, int, int] = FULL
    text: str = ""
    desc: str = ""
    id: str = ""
    package: str = "com.example.app"
    flags: str = ""
    off: str = ""
    more: dict[str, str] = field(default_factory=dict)
    children: list[El] = field(default_factory=list)


def write(*roots: El, rotation: int = 0) -> bytes:
    """Return the dump of these windows."""
    body = "".join(write_node(root) for root in roots)
    return f'{HEAD}<hierarchy rotation="{rotation}">{body}</hierarchy>'.encode()


def write_node(root: El) -> str:
    """Return one element with all below it; iterative, since tests nest thousands of them."""
    out: list[str] = []
    waiting: list[tuple[El, int] | str] = [(root, 0)]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        el, index = item
        out.append(f"<node {_attributes(el, index)}")
        if not el.children:
            out.append(" />")
            continue
        out.append(">")
        waiting.append("</node>")
        waiting.extend((child, number) for number, child in reversed(list(enumerate(el.children))))
    return "".join(out)


def _attributes(el: El, index: int) -> str:
    on, off = set(el.flags.split()), set(el.off.split())
    values = {
        "index": str(index),
        "text": el.text,
        "resource-id": el.id,
        "class": el.cls,
        "package": el.package,
        "content-desc": el.desc,
        **{flag: str(flag in on or (flag == "enabled" and flag not in off)).lower() for flag in _FLAGS},
        "bounds": "[{},{}][{},{}]".format(*el.bounds),
        **el.more,
    }
    return " ".join(f"{name}={quoteattr(value, {chr(10): '&#10;'})}" for name, value in values.items())
