"""What accessibility sees of a window: visible nodes with clipped bounds, their XML, and who is under the finger.

Source: AccessibilityNodeInfoDumper of AOSP (attribute order, NAF, only children visible to the user) and the serializer
it uses (CRLF and two spaces of indent, single quotes around a value that has double ones, character references above
the basic plane). This file must never know an app or a clock.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import View

HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n"
DEFAULT_DEPTH = 50
SPACE = "android.widget.Space"
"""Takes room and is never visible."""
NAF_EXEMPT = ("android.widget.GridView", "android.widget.ListView", "android.widget.TableLayout")


@dataclass(slots=True, eq=False)
class SeenNode:
    """One visible node. `bounds` is the part of the view that can be seen."""

    view: View
    package: str
    bounds: Rect
    index: int
    order: int
    parent: SeenNode | None
    children: list[SeenNode] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.view.edits.shown() if self.view.edits is not None else self.view.text

    @property
    def is_password(self) -> bool:
        return self.view.edits is not None and self.view.edits.is_hidden

    @property
    def is_scrollable(self) -> bool:
        return self.view.scroll is not None and self.view.scroll.limit > 0

    @property
    def is_focusable(self) -> bool:
        return self.view.is_clickable or self.view.scroll is not None

    def walk(self) -> Iterator[SeenNode]:
        """Yield this node and all below it, parents first."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def see(view: View, package: str, clip: Rect, *, index: int = 0, parent: SeenNode | None = None) -> SeenNode | None:
    """Return the visible nodes of a placed view, or None where nothing of it can be seen."""
    bounds = view.bounds.clip(clip)
    if bounds.is_empty or view.cls == SPACE:
        return None
    node = SeenNode(view, package, bounds, index, 0 if parent is None else index + 1, parent)
    for number, child in enumerate(view.children):
        seen = see(child, package, bounds, index=number, parent=node)
        if seen is not None:
            node.children.append(seen)
    return node


def to_xml(roots: list[SeenNode], *, rotation: int = 0, max_depth: int = DEFAULT_DEPTH) -> str:
    """Write the hierarchy as uiautomator does."""
    out = [HEAD, f'<hierarchy rotation="{rotation}"']
    if not roots:
        return "".join([*out, " />"])
    out.append(">")
    for root in roots:
        _write(out, root, 1, max_depth)
    out.append("\r\n</hierarchy>")
    return "".join(out)


def _write(out: list[str], node: SeenNode, depth: int, max_depth: int) -> None:
    indent = "\r\n" + "  " * depth
    out.append(f"{indent}<node {_attributes(node)}")
    if node.children and depth < max_depth:
        out.append(">")
        for child in node.children:
            _write(out, child, depth + 1, max_depth)
        out.append(f"{indent}</node>")
    else:
        out.append(" />")


def _attributes(node: SeenNode) -> str:
    view, b = node.view, node.bounds
    naf = 'NAF="true" ' if _is_naf(node) else ""
    hint = view.edits.hint if view.edits is not None else ""
    return (
        f"{naf}index={_quote(str(node.index))} text={_quote(node.text)} resource-id={_quote(view.id)} "
        f"class={_quote(view.cls)} package={_quote(node.package)} content-desc={_quote(view.desc)} "
        f"checkable={_flag(view.is_checkable)} checked={_flag(view.is_checked)} clickable={_flag(view.is_clickable)} "
        f"enabled={_flag(view.is_enabled)} focusable={_flag(node.is_focusable)} focused={_flag(view.is_focused)} "
        f"scrollable={_flag(node.is_scrollable)} "
        f"long-clickable={_flag(view.on_long_click is not None or view.edits is not None)} "
        f"password={_flag(node.is_password)} selected={_flag(view.is_selected)} visible-to-user={_flag(True)} "
        f'bounds="[{b.left},{b.top}][{b.right},{b.bottom}]" drawing-order="{node.order}" hint={_quote(hint)} '
        f'display-id="0"'
    )


def _flag(value: bool) -> str:
    return '"true"' if value else '"false"'


def _is_naf(node: SeenNode) -> bool:
    """Tell whether a node is not accessibility friendly: usable, and nothing in it says what it is."""
    if node.view.cls in NAF_EXEMPT or not (node.view.is_clickable and node.view.is_enabled):
        return False
    return not any(seen.text or seen.view.desc for seen in node.walk())


def _is_legal(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF


def _quote(value: str) -> str:
    """Quote an attribute value; characters illegal in XML become a dot."""
    if value.isascii() and value.isprintable() and not set(value) & set("&<>\"'"):
        return f'"{value}"'
    mark = "'" if '"' in value else '"'
    return mark + "".join(_escape(c, mark) for c in value) + mark


def _escape(char: str, mark: str) -> str:
    code = ord(char)
    if not _is_legal(code):
        return "."
    if char in "\t\n\r" or code > 0xFFFF:
        return f"&#{code};"
    if char == mark:
        return "&apos;" if char == "'" else "&quot;"
    return {"&": "&amp;", "<": "&lt;", ">": "&gt;"}.get(char, char)


def under(node: SeenNode, x: float, y: float) -> list[SeenNode]:
    """Return the nodes that would get a touch at the point, topmost first, down to the window.

    A node that takes touches hides what is drawn before it; one that does not lets them through.
    """
    if not node.bounds.has(x, y):
        return []
    hit: list[SeenNode] = []
    for child in reversed(node.children):
        hit.extend(under(child, x, y))
    return [*hit, node]
