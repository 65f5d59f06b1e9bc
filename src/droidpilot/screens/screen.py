"""Screen: one look at the device as a value. Nodes, the app in front, what the picture cannot say, and refs.

It must never know a phone, a rule or how a screen is written for a model.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice

from droidpilot.core.text import plural
from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node

#: A side of the visible part below this is no place for a finger and nothing to read.
MIN_SIDE = 2

#: Keyboards by their names. The second line are those whose names do not say it. Source: their store pages and phones.
_KEYBOARD = re.compile(
    r"inputmethod|\.ime\b|keyboard"
    r"|honeyboard|swiftkey|florisboard|\.wetype\b|qqpinyin|openwnn|iwnnime|simeji|touchpal|\.cootek\.smartinput|\.swype\b"
    r"|^com\.baidu\.input(?:_|$)|\.fcitx5?\b|\.osfans\.trime\b|\.mozc\b|\.gboard\b|\.ime_[a-z]+$|\.octopusime\b",
    re.IGNORECASE,
)
_KEYBOARD_TYPES = frozenset(("2", "input_method"))  # Source: AccessibilityWindowInfo.TYPE_INPUT_METHOD
_SYSTEM_UI = "com.android.systemui"
#: A window with so many keys for one letter each, and no more of the height than this, may be a keyboard by its looks.
_LEAST_LETTERS = 20
_MOST_HEIGHT = 0.65
#: Packages that draw over apps and are never the app in front (INV-9). The last is uiautomator2's own helper.
_NEVER_IN_FRONT = frozenset((_SYSTEM_UI, "com.github.uiautomator", "com.github.uiautomator.test"))
#: So few things to use on a screen that shows something are a reason to doubt the reading.
FEW = 2
#: What stands for a character that could not be read: U+FFFD, and the two dots that Android writes for an emoji.
#: Source: AccessibilityNodeInfoDumper.stripInvalidXMLChars writes one dot for each half of a surrogate pair.
_LOST = re.compile("\ufffd|(?<![.\\d])\\.\\.(?![.\\d/])")
#: Classes that paint without telling what. Source: Android, Flutter and Unity view names as seen in dumps.
_SURFACES = re.compile(r"(?:SurfaceView|TextureView|WebView|FlutterView|UnityPlayer\w*|GLView|\.View)$")


@dataclass(frozen=True, slots=True)
class Health:
    """What a list of nodes cannot say about a look."""

    is_settled: bool = True  # two equal fingerprints one gap apart were seen
    is_complete: bool = True  # the whole hierarchy was read; absence may be judged only then
    is_opaque: bool = False  # a surface without nodes (WebView, Flutter, game) covers most of the screen
    has_keyboard: bool = False  # an input-method window is part of the dump
    is_locked: bool = False  # the lock screen is there
    is_off: bool = False  # the display is off
    is_state_unknown: bool = False  # the phone does not say whether it is locked or off
    is_secure: bool = False  # the window in focus forbids pictures of itself; its nodes can be read all the same
    is_never_idle: bool = False  # something on it moves for ever; the rest of it is still
    is_foreign: bool = False  # the nodes are not those of the app that has the focus
    is_sparse: bool = False  # it shows something, and next to nothing of it can be used: a reading may have lost it
    is_lossy: bool = False  # characters of some texts came as something else
    turned_from: int | None = None  # rotation of the screen that was told before, where it was another one
    notes: tuple[str, ...] = ()  # in words, for the health line: repairs, foreign windows


@dataclass(frozen=True, slots=True)
class Power:
    """What the phone itself says about the state it is in, None where it does not."""

    is_locked: bool | None = False
    is_off: bool | None = False
    is_secure: bool | None = False


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Screen:
    """One look. `refs` maps a ref to the index of its node, for every node that was given one."""

    number: int  # counts the looks of a session from 1
    hierarchy: Hierarchy
    package: str | None  # the app in front; None where it is not known
    activity: str | None
    width: int  # px, as displayed now (rotation applied)
    height: int
    rotation: int
    fingerprint: str  # digest of every field a person could see change
    health: Health = Health()
    refs: dict[int, int] = field(default_factory=dict)

    @property
    def nodes(self) -> tuple[Node, ...]:
        return self.hierarchy.nodes

    @property
    def is_unread(self) -> bool:
        """Whether nothing but the app in front is known of it: the phone could not tell its nodes."""
        return not self.hierarchy.nodes and not self.hierarchy.is_complete

    @property
    def display(self) -> Bounds:
        return Bounds(0, 0, self.width, self.height)

    def node_of(self, ref: int) -> Node | None:
        """Return the node that `ref` names on this screen, None where it names none."""
        index = self.refs.get(ref)
        return None if index is None else self.hierarchy.nodes[index]

    def ref_of(self, node: Node) -> int | None:
        return next((ref for ref, index in self.refs.items() if index == node.index), None)


def make_screen(
    *,
    number: int,
    hierarchy: Hierarchy,
    foreground_package: str | None,
    activity: str | None,
    width: int,
    height: int,
    rotation: int,
    is_settled: bool = True,
    is_never_idle: bool = False,
    power: Power = Power(),
    refs: dict[int, int] | None = None,
    fingerprint: str | None = None,
) -> Screen:
    """Build a Screen: works out the app in front, the health and, where it is not given, the fingerprint."""
    package = front_package(hierarchy, foreground_package)
    display = Bounds(0, 0, width, height)
    health = replace(
        health_of(hierarchy, package, display, is_settled=is_settled),
        is_never_idle=is_never_idle,
        is_locked=power.is_locked is True,
        is_off=power.is_off is True,
        is_state_unknown=power.is_locked is None or power.is_off is None,
        is_secure=power.is_secure is True,
        is_foreign=is_foreign(hierarchy, foreground_package),
    )
    return Screen(
        number=number,
        hierarchy=hierarchy,
        package=package,
        activity=activity if package is not None and package == foreground_package else None,
        width=width,
        height=height,
        rotation=rotation,
        fingerprint=fingerprint_of(hierarchy) if fingerprint is None else fingerprint,
        health=health,
        refs={} if refs is None else refs,
    )


def display_of(hierarchy: Hierarchy) -> Bounds:
    """Return the union of the windows' bounds: the display as far as a dump alone can tell."""
    rects = [root.bounds for root in hierarchy.roots() if not root.bounds.is_empty]
    if not rects:
        return Bounds(0, 0, 0, 0)
    return Bounds(
        min(rect.left for rect in rects),
        min(rect.top for rect in rects),
        max(rect.right for rect in rects),
        max(rect.bottom for rect in rects),
    )


def fingerprint_of(hierarchy: Hierarchy, *, leave_out: frozenset[int] = frozenset()) -> str:
    """Return a digest (sha256, hex) of all that a person could see change: texts, states, bounds, windows, rotation.

    The nodes in `leave_out` (indexes) do not count.
    """
    parts = [repr((hierarchy.rotation, hierarchy.is_complete))]
    for node in hierarchy.nodes:
        if node.index in leave_out:
            continue
        b = node.bounds
        flags = (
            node.checkable,
            node.checked,
            node.clickable,
            node.enabled,
            node.focused,
            node.scrollable,
            node.long_clickable,
            node.selected,
            node.visible,
            node.password,
        )
        # of a secret only the length: fingerprints are written down
        text: str | int = len(node.text) if node.password else node.text
        said = (text, node.desc, node.hint, node.cls, node.resource_id, node.package)
        parts.append(repr((node.depth, b.left, b.top, b.right, b.bottom, flags, said)))
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def is_helper_package(package: str) -> bool:
    """Tell whether a package lies over apps without being one: keyboard, system UI, the automation helper (INV-9).

    It goes by the name alone, and a name proves nothing: never let it loosen a rule for the app in front.
    """
    return package in _NEVER_IN_FRONT or _KEYBOARD.search(package) is not None


def is_keyboard_window(root: Node, front: str | None = None, keyboard: str = "") -> bool:
    """Tell whether a root is the window of an input method; `keyboard` is the package that the phone says is one.

    The app in front is none, whatever its name: a keyboard's own settings page is an app like others.
    """
    if root.window_type in _KEYBOARD_TYPES:
        return True
    if root.package == front:
        return False
    return _KEYBOARD.search(root.package) is not None or (bool(keyboard) and root.package == keyboard)


def possible_keyboards(hierarchy: Hierarchy, front: str | None) -> frozenset[int]:
    """Return the numbers of the windows that are keyboards by type, name, the phone's word or, failing these, looks.

    They may be all windows: for who asks what a touch may do, not for who asks what to leave out.
    """
    roots = hierarchy.roots()
    found = {root.window for root in roots if is_keyboard_window(root, front, hierarchy.keyboard)}
    if not found:
        found = {
            root.window for root in roots if root.package != front and root.window in _keyboards_by_looks(hierarchy)
        }
    return frozenset(found)


def keyboard_windows(hierarchy: Hierarchy, front: str | None) -> frozenset[int]:
    """Return the numbers of the windows that are keyboards; never all windows, lest a screen hide behind a name."""
    found = possible_keyboards(hierarchy, front)
    return found if len(found) < len(hierarchy.roots()) else frozenset()


@lru_cache(maxsize=8)
def _keyboards_by_looks(hierarchy: Hierarchy) -> frozenset[int]:
    """Return the windows that look like a keyboard: at the bottom, as wide as the display, full of keys for letters.

    Never one of an app that has another window too: an app's own keys are that app's.
    """
    roots, display = hierarchy.roots(), display_of(hierarchy)
    windows = Counter(root.package for root in roots)
    found: set[int] = set()
    for root in roots:
        bounds = root.bounds
        is_alone = windows[root.package] == 1
        is_low = bounds.bottom * 10 >= display.bottom * 9 and bounds.height <= display.height * _MOST_HEIGHT
        if not is_alone or not is_low or bounds.width < display.width or root.package in _NEVER_IN_FRONT:
            continue
        keys = [node for node in hierarchy.subtree(root) if node.clickable and node.end == node.index + 1]
        letters = {text for node in keys if len(text := node.text or node.desc) == 1 and text.isalpha()}
        if len(letters) >= _LEAST_LETTERS:
            found.add(root.window)
    # a screen that is nothing else is an app's
    others = {root.package for root in roots if root.window not in found} - _NEVER_IN_FRONT
    return frozenset(found) if others else frozenset()


def front_package(hierarchy: Hierarchy, foreground_package: str | None) -> str | None:
    """Return the app in front: what the phone says has focus, else the largest window that could be one (INV-9).

    Keyboard, system UI and the automation helper are never the answer; None where nothing else is there.
    """
    if foreground_package and not is_helper_package(foreground_package):
        return foreground_package
    keyboards = possible_keyboards(hierarchy, None)
    roots = [
        root
        for root in hierarchy.roots()
        if root.package and root.package not in _NEVER_IN_FRONT and root.window not in keyboards
    ]
    if roots:
        largest = max(roots, key=lambda root: (root.bounds.width * root.bounds.height, -root.index))
        return _package_inside(hierarchy, largest)
    return foreground_package if foreground_package and _is_only_app(hierarchy, foreground_package) else None


def is_foreign(hierarchy: Hierarchy, foreground_package: str | None) -> bool:
    """Tell whether the nodes are not those of the app that has the focus: one of two readings is late, or wrong."""
    if not foreground_package or is_helper_package(foreground_package):
        return False
    packages = {node.package for node in hierarchy.nodes if node.package and not node.is_place_only}
    return bool(packages) and foreground_package not in packages


def _package_inside(hierarchy: Hierarchy, root: Node) -> str:
    """Return the package of most nodes of a window: its frame may belong to another one."""
    counts = Counter(node.package for node in hierarchy.nodes[root.index : root.end] if node.package)
    counts = Counter({package: count for package, count in counts.items() if package not in _NEVER_IN_FRONT})
    return counts.most_common(1)[0][0] if counts else root.package


def _is_only_app(hierarchy: Hierarchy, package: str) -> bool:
    """Tell whether a package with a keyboard's name is all there is besides system UI: then it is shown as an app."""
    others = {root.package for root in hierarchy.roots()} - _NEVER_IN_FRONT
    return package not in _NEVER_IN_FRONT and others == {package}


def visible_bounds(hierarchy: Hierarchy, node: Node, display: Bounds) -> Bounds:
    """Return the part of `node` that can be touched: clipped by its ancestors and the display; possibly empty.

    An ancestor without any area does not clip: web views have such wrappers round visible things.
    """
    bounds = node.bounds.clip(display)
    for ancestor in hierarchy.ancestors(node):
        if bounds.is_empty:
            break
        if not ancestor.bounds.is_empty:
            bounds = bounds.clip(ancestor.bounds)
    return bounds


def is_visible(node: Node, display: Bounds) -> bool:
    """Tell whether a person could see something of `node`: on the display, at least MIN_SIDE on each side."""
    if not node.visible:
        return False
    bounds = node.bounds
    return (
        min(bounds.right, display.right) - max(bounds.left, display.left) >= MIN_SIDE
        and min(bounds.bottom, display.bottom) - max(bounds.top, display.top) >= MIN_SIDE
    )


@lru_cache(maxsize=8)
def visible_nodes(hierarchy: Hierarchy, display: Bounds) -> tuple[bool, ...]:
    """Return `is_visible` of every node, by index; the last few are kept, since every step of a look asks."""
    return tuple(is_visible(node, display) for node in hierarchy.nodes)


def is_page(node: Node, display: Bounds) -> bool:
    """Tell whether a container is as large as a page: at least half of the display, too large to be one thing."""
    bounds = node.bounds
    width = min(bounds.right, display.right) - max(bounds.left, display.left)
    height = min(bounds.bottom, display.bottom) - max(bounds.top, display.top)
    return width > 0 and height > 0 and width * height * 2 > display.width * display.height


def health_of(hierarchy: Hierarchy, package: str | None, display: Bounds, *, is_settled: bool = True) -> Health:
    """Work out what the nodes alone do not say."""
    keyboards = keyboard_windows(hierarchy, package)
    notes: list[str] = []
    for root in hierarchy.roots():
        owner = _package_inside(hierarchy, root)
        if root.window in keyboards or root.package in _NEVER_IN_FRONT or owner == package:
            continue
        note = f"also a window of {owner[:100] or 'an unnamed package'}"
        if note not in notes:
            notes.append(note)
    if len(notes) > 3:
        notes = [*notes[:3], f"{plural(len(notes) - 3, 'more window')} of other packages"]
    if not hierarchy.nodes:
        notes.append("no nodes")
    notes.extend(hierarchy.repairs)
    return Health(
        is_settled=is_settled,
        is_complete=hierarchy.is_complete,
        is_opaque=_is_opaque(hierarchy, display),
        has_keyboard=bool(keyboards),
        is_lossy=any(_LOST.search(node.text) or _LOST.search(node.desc) for node in hierarchy.nodes),
        notes=tuple(notes),
    )


def is_sparse(hierarchy: Hierarchy, front: str | None, display: Bounds) -> bool:
    """Tell whether a whole screen that shows something has next to nothing to use: a reading may have lost it."""
    keyboards = keyboard_windows(hierarchy, front)
    visible = visible_nodes(hierarchy, display)
    usable = (n for n in hierarchy.nodes if n.is_usable and visible[n.index] and n.window not in keyboards)
    seen = (node for node in hierarchy.nodes if visible[node.index] and node.window not in keyboards)
    return next(seen, None) is not None and sum(1 for _ in islice(usable, FEW + 1)) <= FEW


def _is_opaque(hierarchy: Hierarchy, display: Bounds) -> bool:
    """Tell whether a leaf that paints by itself covers at least half of the display, with nothing said inside it.

    So is a screen where nothing says anything nor takes a press: a camera's smaller preview, a game in a plain frame.
    """
    half = display.width * display.height / 2
    if not half:
        return False
    for node in hierarchy.nodes:
        if node.end != node.index + 1 or not _SURFACES.search(node.cls) or not is_visible(node, display):
            continue
        bounds = node.bounds.clip(display)
        if bounds.width * bounds.height < half:
            continue
        # a plain View of that size is a backdrop where other nodes of its window say something
        if not node.cls.endswith(".View") or not _says_anything(hierarchy, node, display):
            return True
    return bool(hierarchy.nodes) and not any(
        (node.text or node.desc or node.is_usable) and is_visible(node, display) for node in hierarchy.nodes
    )


def _says_anything(hierarchy: Hierarchy, leaf: Node, display: Bounds) -> bool:
    return any(
        node.window == leaf.window
        and node.index != leaf.index
        and (node.text or node.desc)
        and is_visible(node, display)
        for node in hierarchy.nodes
    )
