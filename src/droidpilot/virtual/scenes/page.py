"""One page of a scene while it is shown: its nodes, what lies under a finger, what was typed into its fields.

This file must never know that there are other pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from droidpilot.virtual.scenes.file import Page
from droidpilot.virtual.scenes.scan import Found, Scan
from droidpilot.virtual.scenes.writing import written
from droidpilot.virtual.ui.display import DENSITY, LEAST_DENSITY, MOST_DENSITY, Display
from droidpilot.virtual.ui.hierarchy import SeenNode
from droidpilot.virtual.ui.views import MAX_TEXT, TextField, View

UNKNOWN_PACKAGE: Final = "com.example.scene"
"""In front where the dump names no package."""
TAKERS: Final = ("clickable", "long-clickable", "checkable")
"""A node with one of these takes a finger."""
USUAL_WIDTH_DP: Final = 393
LEAST_TEXT: Final = 10
"""px; no text is painted smaller."""
_SYSTEM_UI: Final = "com.android.systemui"
_EDITABLE: Final = ("EditText", "AutoCompleteTextView")
_KEYBOARD_TYPES: Final = ("2", "input_method")
"""`window-type` of a keyboard."""
_KEYBOARDS: Final = re.compile(
    r"inputmethod|\.ime\b|keyboard|honeyboard|swiftkey|florisboard|\.wetype\b|qqpinyin|openwnn|iwnnime|simeji"
    r"|^com\.baidu\.input(?:_|$)",
    re.IGNORECASE,
)
"""Packages of keyboards, for dumps that do not say of what type a window is."""


@dataclass(slots=True, eq=False)
class SceneNode(SeenNode):
    """A node of the dump, as the in-phone server's selectors and the painter know nodes."""

    found: Found = field(kw_only=True)

    @property
    def is_password(self) -> bool:
        return self.found.is_on("password")

    @property
    def is_scrollable(self) -> bool:
        return self.found.is_on("scrollable")

    @property
    def is_focusable(self) -> bool:
        return self.found.is_on("focusable")


class ShownPage:
    """A page on the screen. What is typed into it is forgotten when it goes."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.scan: Scan = page.scan
        self.focus: Found | None = None
        """The field with the cursor."""
        self._fields: dict[int, TextField] = {}
        self._changed: set[int] = set()
        self._nodes: list[SceneNode] | None = None
        self._dump: bytes | None = None
        for found in self.scan.nodes:
            if found.is_on("focused") and self.is_editable(found):
                self.focus = found
        self._first_focus = self.focus
        self.display = _display(page)
        """The display that the dump was taken on."""

    @property
    def package(self) -> str:
        """The package in front: that of the topmost window that is no bar, keyboard or helper."""
        if self.page.package is not None:
            return self.page.package
        windows = self.windows()
        keyboards = self._keyboards()
        apps = [root for root in windows if root not in keyboards and self.scan.value(root, "package") != _SYSTEM_UI]
        chosen = next(iter(apps or windows), None)
        return self._package_of(chosen) if chosen is not None else UNKNOWN_PACKAGE

    @property
    def has_keyboard(self) -> bool:
        """Whether one of its windows is a keyboard's; a page that is nothing else is an app's."""
        return 0 < len(self._keyboards()) < len(self.scan.roots)

    @property
    def activity(self) -> str:
        """The activity in front, in full; where the scene's file does not say it, it is called MainActivity."""
        told = self.page.activity or ".MainActivity"
        return self.package + told if told.startswith(".") else told

    def dump(self) -> bytes:
        """Return the file's bytes, with what was typed and where the cursor went since."""
        if self._dump is None:
            self._dump = written(self.scan, self._changes())
        return self._dump

    def nodes(self) -> list[SceneNode]:
        """Return all nodes in the order of the file."""
        if self._nodes is None:
            self._nodes = self._built()
        return self._nodes

    def windows(self) -> list[Found]:
        """Return the windows, topmost first: by their layers, or where these are not known smaller over larger."""
        roots = self.scan.roots
        layers = [root.values.get("window-layer", "") for root in roots]
        if all(layer.isascii() and layer.isdigit() for layer in layers) and len(set(layers)) == len(layers):
            return sorted(roots, key=lambda root: -int(root.values["window-layer"][:9]))
        return sorted(roots, key=lambda root: max(0, root.bounds.width) * max(0, root.bounds.height))

    def under(self, x: float, y: float, *flags: str) -> Found | None:
        """Return the topmost, deepest node at a point that has one of these flags, of the topmost window there."""
        window = next((root.window for root in self.windows() if root.bounds.has(x, y)), None)
        for found in reversed(self.scan.nodes):
            if found.window != window or not found.bounds.has(x, y):
                continue
            if not found.is_on("visible-to-user", default=True) or not found.is_on("displayed", default=True):
                continue
            if any(found.is_on(flag) for flag in flags) or ("clickable" in flags and self.is_editable(found)):
                return found
        return None

    def is_editable(self, found: Found) -> bool:
        """Tell whether text can be typed into a node: the dump says so, or its class does."""
        return found.is_on("editable") or self.scan.value(found, "class").endswith(_EDITABLE)

    def text_field(self, found: Found) -> TextField:
        """Return what is typed in a field, made of the dump at first."""
        kept = self._fields.get(found.number)
        if kept is None:
            text, hint = self.scan.value(found, "text"), self.scan.value(found, "hint")
            is_empty = found.is_on("showing-hint", default=text == hint)
            kept = TextField(self.name(found), found.is_on("password"), hint=hint, text="" if is_empty else text)
            self._fields[found.number] = kept
        return kept

    def put(self, found: Found, text: str) -> None:
        """Replace what stands in a field; it gets the cursor."""
        self.text_field(found).put(text[:MAX_TEXT])
        self._changed.add(found.number)
        self.focus_on(found)

    def focus_on(self, found: Found) -> None:
        """Give a field the cursor."""
        self.focus = found
        self._nodes = self._dump = None

    def typed(self) -> list[dict[str, object]]:
        """Return what stands in the fields that were typed into."""
        changed = [self.scan.nodes[number] for number in sorted(self._changed)]
        return [{"field": self.name(found), "text": self.text_field(found).text} for found in changed]

    def name(self, found: Found) -> str:
        """Return a short name of a node for the input log: its id and label, never what was typed."""
        words = next(filter(None, (self._words(node) for node in found.walk())), "")
        return f"{self.scan.value(found, 'resource-id')} {words}".strip()[:120]

    def names(self, found: Found) -> set[str]:
        """Return all names by which a scene's file may call a node: its id, and every text in it."""
        whole = self.scan.value(found, "resource-id")
        said = {self.scan.value(node, name) for node in found.walk() for name in ("text", "content-desc", "hint")}
        return {whole, whole.rpartition("/")[2], *said} - {""}

    # inside

    def _keyboards(self) -> list[Found]:
        """Return the windows of keyboards: those that say so, or whose package does and is not told to be in front."""
        found = []
        for root in self.scan.roots:
            package = self.scan.value(root, "package")
            is_named = package != self.page.package and _KEYBOARDS.search(package) is not None
            if is_named or root.values.get("window-type") in _KEYBOARD_TYPES:
                found.append(root)
        return found

    def _words(self, found: Found) -> str:
        if self.is_editable(found):
            return self.scan.value(found, "hint") or self.scan.value(found, "content-desc")
        return self.scan.value(found, "text") or self.scan.value(found, "content-desc")

    def _package_of(self, root: Found) -> str:
        """Return the package of most nodes of a window: its frame may be another one's."""
        counts: dict[str, int] = {}
        for found in root.walk():
            package = self.scan.value(found, "package")
            if package and package != _SYSTEM_UI:
                counts[package] = counts.get(package, 0) + 1
        return max(counts, key=lambda one: counts[one]) if counts else self.scan.value(root, "package")

    def _changes(self) -> Iterator[tuple[Found, str, str]]:
        for number in sorted(self._changed):
            found, kept = self.scan.nodes[number], self._fields[number]
            yield found, "text", kept.shown()
            if "showing-hint" in found.spans:
                yield found, "showing-hint", "false" if kept.text else "true"
        if self.focus is not self._first_focus:
            if self._first_focus is not None:
                yield self._first_focus, "focused", "false"
            if self.focus is not None:
                yield self.focus, "focused", "true"

    def _built(self) -> list[SceneNode]:
        made: list[SceneNode] = []
        for found in self.scan.nodes:
            parent = made[found.parent.number] if found.parent is not None else None
            package = self.scan.value(found, "package")
            node = SceneNode(self._view(found), package, found.bounds, found.index, found.number, parent, found=found)
            made.append(node)
            if parent is not None:
                parent.children.append(node)
        return made

    def _view(self, found: Found) -> View:
        value = self.scan.value
        edits = self.text_field(found) if self.is_editable(found) else None
        return View(
            value(found, "class"),
            value(found, "resource-id"),
            value(found, "text"),
            value(found, "content-desc"),
            on_click=_nothing if found.is_on("clickable") else None,
            on_long_click=_nothing if found.is_on("long-clickable") else None,
            is_enabled=found.is_on("enabled", default=True),
            is_checkable=found.is_on("checkable"),
            is_checked=found.is_on("checked"),
            is_selected=found.is_on("selected"),
            size=max(LEAST_TEXT, min(44 * self.display.dpi // DENSITY, found.whole.height * 3 // 4)),
            edits=edits,
            is_focused=found is self.focus if edits is not None else found.is_on("focused"),
            bounds=found.whole,
        )


def _display(page: Page) -> Display:
    """Return the display of a page: natural size, rotation, and a density at which it is as wide as most phones."""
    width, height = page.size or page.scan.size
    rotation = page.scan.rotation if page.rotation is None else page.rotation
    natural = (height, width) if rotation % 2 else (width, height)
    dpi = max(LEAST_DENSITY, min(MOST_DENSITY, round(min(natural) * 160 / USUAL_WIDTH_DP)))
    return Display(natural=natural, density=dpi, rotation=rotation)


def _nothing() -> None:
    """Stand where an app would have something to do."""
