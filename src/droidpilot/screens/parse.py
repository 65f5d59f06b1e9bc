"""From dump bytes to a Hierarchy: tolerant, iterative, bounded. It must never know where the bytes came from.

A well-formed dump goes through expat in one pass. One that is not (control characters, surrogate references, bare `&`
and `<`, a cut end) is read by a scanner of our own that knows nothing but tags and attributes. Neither reads a document
type, so there are no entities to expand and nothing to fetch.
"""

from __future__ import annotations

import codecs
import re
from functools import lru_cache
from xml.parsers import expat

from droidpilot.core.errors import ScreenUnreadable
from droidpilot.core.text import one_line, plural, shorten
from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node

MAX_BYTES = 16 * 1024 * 1024
MAX_NODES = 20_000

_NO_BOUNDS = Bounds(0, 0, 0, 0)
_BOUNDS = re.compile(r"\[(-?\d{1,6}),(-?\d{1,6})\]\[(-?\d{1,6}),(-?\d{1,6})\]", re.ASCII)
_BOUNDS_LENGTH = 40  # characters at most
# Source: `uiautomator dump` writes <hierarchy><node>; some tools leave out <hierarchy>; Appium has class names as tags.
_FIRST_TAG = re.compile(r"<(?:hierarchy|node|[A-Za-z_]\w*(?:\.[\w$]+)+)(?=[\s/>])")
_HIERARCHY = re.compile(r"<hierarchy(?=[\s/>])")
_NODE = re.compile(r"<node(?=[\s/>])")
#: A whole start tag; group 1 is there where it closes itself.
_WHOLE_TAG = re.compile(r"""<\w+(?:\s+[\w.:-]+\s*=\s*(?:"[^"]*"|'[^']*'))*\s*(/)?>""")
_CUT_TAG = re.compile(r"</?(?:[A-Za-z_]|$)")
_CUT_NAME = re.compile(r"</?(\??\w*)$")
_BEGINNINGS = ("hierarchy", "node", "?xml")
_WRAPPERS = frozenset(("hierarchy", "dump"))

_TAG = re.compile(r"<(/?)([A-Za-z_][\w.$:-]*)")
_ATTRIBUTE = re.compile(r"""\s*([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_TAG_END = re.compile(r"\s*(/?)>")
_RESYNC = re.compile(r"""(?=\s[A-Za-z_][\w.:-]*\s*=\s*["']|/?>)""")
#: What holds no nodes, whatever stands in it.
_PASSED_OVER = {"<!--": "-->", "<![CDATA[": "]]>"}
_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]{1,6})|#([0-9]{1,7})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SURROGATES = re.compile("[\ud800-\udfff]")


#: What stands in place of a dump that failed, in any case of letters, and the code it gets. Source: uiautomator and its
#: bridge of Android 5 to 15, uiautomator2's helper; bug reports B01, B02, B06, B07, B11.
_FAILURES: tuple[tuple[str, str], ...] = (
    ("illegal character", "illegal_character"),
    ("idle state", "never_idle"),
    ("waiting for idle", "never_idle"),
    ("waitforidle", "never_idle"),
    ("null root", "null_root"),
    ("root node is null", "null_root"),
    ("root is null", "null_root"),
    ("rootnode is null", "null_root"),
    ("window is null", "null_root"),
    ("no active window", "null_root"),
    ("root filtered out", "null_root"),
    ("根节点", "null_root"),
)
_BLANK = " \t\r\n\0\ufeff"


class _TooManyNodes(Exception):
    """Stops a pass at MAX_NODES."""


class _Builder:
    """Collects start and end tags, in the order of the document, into Nodes."""

    def __init__(self) -> None:
        self.rotation = 0
        self._attributes: list[dict[str, str]] = []
        self._parents: list[int] = []
        self._ends: list[int] = []
        self._open: list[int] = []  # node indexes; -1 stands for a wrapper

    @property
    def count(self) -> int:
        return len(self._attributes)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        # a word in brackets that says nothing of itself is no element
        if name in _WRAPPERS or not (attributes or name == "node" or "." in name):
            self._open.append(-1)
            if name == "hierarchy":
                self.rotation = _number(attributes.get("rotation", ""), 0) % 4
            return
        index = len(self._attributes)
        if index >= MAX_NODES:
            raise _TooManyNodes
        if name != "node" and "class" not in attributes:
            attributes["class"] = name
        self._attributes.append(attributes)
        self._parents.append(self._open[-1] if self._open else -1)
        self._ends.append(0)
        self._open.append(index)

    def end(self, name: str) -> None:
        index = self._open.pop()
        if index >= 0:
            self._ends[index] = len(self._attributes)

    def finish(self, *, repairs: tuple[str, ...], is_complete: bool) -> Hierarchy:
        total = len(self._attributes)
        nodes: list[Node] = []
        window = -1
        for index, (attributes, parent) in enumerate(zip(self._attributes, self._parents, strict=True)):
            if parent < 0:
                window += 1
            depth = nodes[parent].depth + 1 if parent >= 0 else 0
            # an element that was never closed reaches to the end of what could be read
            nodes.append(_node(attributes, index, parent, self._ends[index] or total, depth, window))
        lost = sum(node.bounds is _NO_BOUNDS for node in nodes)
        if lost:
            repairs = (*repairs, f"{plural(lost, 'node')} without readable bounds")
        return Hierarchy(tuple(nodes), rotation=self.rotation, repairs=repairs, is_complete=is_complete)


def parse_hierarchy(data: bytes) -> Hierarchy:
    """Read a dump, whatever stands before and after it, and mend what can be mended.

    A hierarchy without nodes is a valid answer. Of a dump that was cut, that is larger than MAX_BYTES or has more than
    MAX_NODES nodes, the nodes before the cut are returned with `is_complete` false.

    Raises:
        ScreenUnreadable: there is no hierarchy in it; the code is empty, never_idle, null_root, illegal_character or
            unreadable.
    """
    repairs: list[str] = []
    is_cut = len(data) > MAX_BYTES
    if is_cut:
        data = data[:MAX_BYTES]
        repairs.append(f"cut at {MAX_BYTES} bytes")
    text = _decode(data, repairs)
    first = _FIRST_TAG.search(text)
    if first is None:
        raise _unreadable(text)
    # A wrapper of our own lets several roots be one document.
    start, end = _extent(text, first.start())
    body = text[start:end]
    is_cut = is_cut or not body or _is_cut_behind(text, end)
    builder = _Builder()
    try:
        parser = expat.ParserCreate()
        parser.StartElementHandler = builder.start
        parser.EndElementHandler = builder.end
        parser.Parse("<dump>", False)
        parser.Parse(body, False)
        parser.Parse("</dump>", True)
    except expat.ExpatError:
        builder = _Builder()
        try:
            is_cut = not _scan(body, builder, repairs) or is_cut
        except _TooManyNodes:
            is_cut = _note_too_many(repairs)
    except _TooManyNodes:
        is_cut = _note_too_many(repairs)
    if builder.count == 0 and is_cut:
        raise ScreenUnreadable("the UI hierarchy was cut before its first node", hint="look again", code="cut")
    return builder.finish(repairs=tuple(repairs), is_complete=not is_cut)


def _extent(text: str, first: int) -> tuple[int, int]:
    """Return where the hierarchy begins and ends: a shell's or a logger's own words round it may hold brackets (B04).

    Of one that is cut, or whose tags are no `<hierarchy` and `<node`, the end is the last bracket.
    """
    start = _HIERARCHY.search(text) or _NODE.search(text)
    if start is None:
        return first, max(first, text.rfind(">") + 1)
    begin, closing = start.start(), "</hierarchy>" if start[0] == "<hierarchy" else "</node>"
    end = text.rfind(closing, begin)
    end = end + len(closing) if end >= 0 else begin
    # what follows the last end tag may be a root that closes itself, or the beginning of one
    later = [found.start() for found in start.re.finditer(text, end)]
    if later:
        tag = _WHOLE_TAG.match(text, later[-1])
        end = tag.end() if tag is not None and tag[1] else max(begin, text.rfind(">") + 1)
    return begin, end


def _is_cut_behind(text: str, end: int) -> bool:
    """Tell whether what stands behind the hierarchy is the beginning of more of it."""
    if text.endswith(("</hierarchy>", "</node>", "/>"), 0, end):
        if _HIERARCHY.search(text, end) or _NODE.search(text, end):
            return True
        behind = _CUT_NAME.search(text, end)
        return behind is not None and any(whole.startswith(behind[1]) for whole in _BEGINNINGS)
    return _CUT_TAG.search(text, end) is not None


def holds_hierarchy(text: str) -> bool:
    """Tell whether there is a hierarchy in what a phone sent, or at least its beginning, in any form that is read."""
    return _FIRST_TAG.search(text) is not None


def is_blank(text: str) -> bool:
    """Tell whether an answer says nothing: white space, NUL characters and byte-order marks are nothing."""
    return not text.strip(_BLANK)


def failure_code(said: str) -> str:
    """Return the code of what stands in place of a dump that failed; "" where the words are not known."""
    lowered = said[:4000].lower()
    return next((code for part, code in _FAILURES if part in lowered), "")


def _note_too_many(repairs: list[str]) -> bool:
    repairs.append(f"cut at {MAX_NODES} nodes")
    return True


def _decode(data: bytes, repairs: list[str]) -> str:
    """Return the bytes as text: UTF-8 in general, UTF-16 where a byte-order mark says so (a redirect of PowerShell)."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        repairs.append("was UTF-16")
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        repairs.append("bytes that are no UTF-8")
    # Java's modified UTF-8 writes an emoji as two encoded surrogates.
    text = data.decode("utf-8", "surrogatepass") if _is_surrogate_utf8(data) else data.decode("utf-8", "replace")
    return _join_surrogates(text)


def _is_surrogate_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _join_surrogates(text: str) -> str:
    """Join surrogate pairs to the character they mean; a lone one becomes U+FFFD."""
    if _SURROGATES.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _unreadable(text: str) -> ScreenUnreadable:
    """Choose the error for an answer that holds no hierarchy. Source: messages of uiautomator and its bridge."""
    if is_blank(text):
        return ScreenUnreadable("the phone gave an empty UI hierarchy", hint="look again", code="empty")
    quoted, code = shorten(one_line(text.strip(_BLANK)), 120), failure_code(text.strip(_BLANK))
    if code == "never_idle":
        return ScreenUnreadable(
            f"the screen never came to rest: {quoted}", hint="an animation may be running; wait, then look", code=code
        )
    if code == "null_root":
        return ScreenUnreadable(f"the phone has no window to read: {quoted}", hint="look again", code=code)
    if code:
        return ScreenUnreadable(f"the phone could not write a character: {quoted}", hint="look again", code=code)
    return ScreenUnreadable(f"the answer is no UI hierarchy: {quoted}", hint="look again", code="unreadable")


def _scan(text: str, builder: _Builder, repairs: list[str]) -> bool:
    """Read tags and attributes from text that is no well-formed XML; return whether everything was closed.

    Linear: the position only moves forward. What is neither tag nor attribute is passed over.
    """
    names: list[str] = []
    is_whole = True
    dropped = 0
    position = text.find("<")
    last_end = {begin: text.rfind(end) for begin, end in _PASSED_OVER.items()}
    while position >= 0:
        tag = _TAG.match(text, position)
        if tag is None:
            over = next((begin for begin in _PASSED_OVER if text.startswith(begin, position)), "")
            if over and position < last_end[over]:
                position = text.find("<", text.find(_PASSED_OVER[over], position))
                continue
            dropped += not text.startswith(("<?", "<!"), position)
            position = text.find("<", position + 1)
            continue
        position = tag.end()
        if tag[1]:
            if tag[2] in names[-64:]:  # a closing tag of something far above is damage, not a hundred missing tags
                while names.pop() != tag[2]:
                    is_whole = False
                    builder.end("")
                builder.end("")
            else:
                is_whole = False
            position = text.find("<", position)
            continue
        attributes: dict[str, str] = {}
        end = _TAG_END.match(text, position)
        while end is None:
            attribute = _ATTRIBUTE.match(text, position)
            if attribute is not None:
                value = attribute[2] if attribute[2] is not None else attribute[3]
                attributes[attribute[1]] = _unescape(value)
                position = attribute.end()
            else:
                dropped += 1
                resync = _RESYNC.search(text, position + 1)
                if resync is None:
                    repairs.append("cut inside a tag")
                    return False
                position = resync.start()
            end = _TAG_END.match(text, position)
        position = end.end()
        builder.start(tag[2], attributes)
        if end[1]:
            builder.end("")
        else:
            names.append(tag[2])
        position = text.find("<", position)
    repairs.append("was not well-formed")
    if dropped:
        repairs.append(f"{dropped} broken places passed over")
    if names:
        repairs.append("cut before its end")
    return is_whole and not names


def _unescape(value: str) -> str:
    if "&" not in value:
        return value
    return _join_surrogates(_REFERENCE.sub(_character, value))


def _character(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED[match[3]]
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code) if 0 < code <= 0x10FFFF else "\ufffd"


def _number(text: str, default: int) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else default


@lru_cache(maxsize=4096)
def _bounds(text: str) -> Bounds:
    """Read `[l,t][r,b]`; kept, since nodes lie on each other and stay where they were from look to look."""
    match = _BOUNDS.match(text)
    if match is None:
        return _NO_BOUNDS
    left, top, right, bottom = match.groups()
    return Bounds(int(left), int(top), int(right), int(bottom))


def _node(attributes: dict[str, str], index: int, parent: int, end: int, depth: int, window: int) -> Node:
    get = attributes.get
    return Node(
        index=index,
        parent=parent,
        end=end,
        depth=depth,
        window=window,
        cls=get("class", ""),
        package=get("package", ""),
        resource_id=get("resource-id", ""),
        text=get("text", ""),
        desc=get("content-desc", ""),
        hint=get("hint", ""),
        bounds=_bounds(get("bounds", "")[:_BOUNDS_LENGTH]),
        checkable=get("checkable") == "true",
        checked=get("checked") == "true",
        clickable=get("clickable") == "true",
        enabled=get("enabled") != "false",
        focusable=get("focusable") == "true",
        focused=get("focused") == "true",
        scrollable=get("scrollable") == "true",
        long_clickable=get("long-clickable") == "true",
        password=get("password") == "true",
        selected=get("selected") == "true",
        visible=get("visible-to-user") != "false" and get("displayed") != "false",
        editable=get("editable") == "true",
        is_hint_shown={"true": True, "false": False}.get(get("showing-hint", "")),
        drawing_order=_number(get("drawing-order", ""), -1),
        window_layer=_number(get("window-layer", ""), -1) if parent < 0 else -1,
        window_type=get("window-type", "") if parent < 0 else "",
    )
