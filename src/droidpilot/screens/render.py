"""A screen as text for a model and as JSON for programs. It must never know who asked for it or why."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import repeat
from typing import Any

from droidpilot.core.errors import TargetError
from droidpilot.core.text import plural
from droidpilot.screens.labels import clean, fold
from droidpilot.screens.outline import Item, actions_of, outline, safe_package
from droidpilot.screens.screen import FEW, Screen

#: The last word of a label that could be read as a state of ours is set apart from the states by a bar.
_STATE_WORDS = frozenset(
    ("on", "off", "edit", "scroll", "password", "filled", "empty", "selected", "focused", "disabled", "covered")
)
_OPENERS = "<＜﹤‹〈⟨〈《«˂ᐸ❮❬⧼⦑"
_OPENER = re.compile(f"[{_OPENERS}]")
_FRAME_NAMES = ("screen", "tool", "system", "user", "assistant", "function", "result")
_LOOK_AHEAD = 48
#: No line up to here is cut inside, however little may be said.
_LONG_LINE_BYTES = 4_000
_EAST_ASIAN = re.compile("[\u2e80-\u9fff\uac00-\ud7a3]")  # looks like no Latin letter: spares the look-alike tables


@dataclass(frozen=True, slots=True)
class Line:
    """One item as it is written."""

    text: str
    ref: int | None
    package: str


@dataclass(frozen=True, slots=True)
class Rendering:
    """A text about a screen and what it shows."""

    text: str
    refs: frozenset[int] = frozenset()  # those that begin a line of the text
    left_off: int = 0  # lines that did not fit
    next_ref: int | None = None  # where the rest begins; None where nothing was left off, or no ref begins it


def render(screen: Screen, limit_bytes: int | None = None, from_ref: int | None = None) -> str:
    """Write a screen: a header, a health line if there is something to say, then one line per item.

    A usable item begins with its ref, one to read with `-`; states are words at the end. No coordinates. `limit_bytes`
    and `from_ref` as in `body`.
    """
    return f"{header(screen)}\n{body(screen, limit_bytes=limit_bytes, from_ref=from_ref).text}".rstrip("\n")


def body(screen: Screen, *, limit_bytes: int | None = None, from_ref: int | None = None) -> Rendering:
    """Write a screen without its header, from the line of `from_ref` on, at most about `limit_bytes` of UTF-8.

    A cut drops whole lines from the end, in front of a line with a ref, so that the rest can be asked for; the health
    line says how many. There is always at least one line; a very long one that alone is over the limit is cut inside.

    Raises:
        TargetError: code no_line: no line begins with `from_ref`.
    """
    lines = lines_of(screen)
    start = 0 if from_ref is None else _line_of(lines, from_ref)
    end = len(lines) if limit_bytes is None else _cut(lines, start, limit_bytes, screen.package or "")
    left_off = len(lines) - end
    next_ref = lines[end].ref if left_off else None
    cut = ""
    if left_off:
        rest = f"ui_tree from_ref={next_ref} goes on" if next_ref is not None else "scroll to see them"
        cut = f"cut: {left_off} of {plural(len(lines), 'line')} left off, {rest}"
    health = health_line(screen, cut)
    shown = lines[start:end]
    if limit_bytes is not None:
        shown = tuple(_fitting(line, limit_bytes) for line in shown)
    texts = [*([health] if health else []), *with_packages(screen, shown)]
    refs = frozenset(line.ref for line in shown if line.ref is not None)
    return Rendering("\n".join(texts), refs, left_off, next_ref)


def framed(screen: Screen, *, limit_bytes: int | None = None, from_ref: int | None = None) -> Rendering:
    """Write a screen as data for a model: `body` in a frame that names package and activity in place of a header.

    Raises:
        TargetError: code no_line.
    """
    inner = body(screen, limit_bytes=limit_bytes, from_ref=from_ref)
    return replace(inner, text=frame(inner.text, screen.package, short_activity(screen)))


def _line_of(lines: tuple[Line, ...], ref: int) -> int:
    found = next((place for place, line in enumerate(lines) if line.ref == ref), None)
    if found is None:
        raise TargetError(f"no line of the screen begins with {ref} now", hint="look at the whole", code="no_line")
    return found


def _cut(lines: tuple[Line, ...], start: int, limit_bytes: int, package: str) -> int:
    """Return the end of the lines that fit; where possible in front of a line that has a ref."""
    used = 0
    for place in range(start, len(lines)):
        line = lines[place]
        used += len(line.text.encode()) + 1
        if line.package != package:
            # Where the package changes, a line of its own says so.
            package = line.package
            used += len(safe_package(package).encode()) + len("[]\n")
        if used > limit_bytes and place > start:
            return next((at for at in range(place, start, -1) if lines[at].ref is not None), place)
    return len(lines)


def _fitting(line: Line, limit_bytes: int) -> Line:
    """Return a line, cut where it alone is longer than the limit: an app may write a megabyte on one button."""
    limit_bytes = max(limit_bytes, _LONG_LINE_BYTES)
    encoded = line.text.encode()
    if len(encoded) <= limit_bytes:
        return line
    kept = encoded[:limit_bytes].decode("utf-8", "ignore")
    return replace(line, text=f"{kept}… [cut: {len(line.text) - len(kept)} more characters]")


def header(screen: Screen) -> str:
    """Return `package/activity`, the activity without a package that repeats."""
    if screen.package is None:
        return "app in front unknown"
    package, activity = safe_package(screen.package), short_activity(screen)
    return f"{package}/{activity}" if activity else package


def short_activity(screen: Screen) -> str:
    """Return the activity in front without a package that repeats, "" where it is not known."""
    return safe_package(screen.activity or "").removeprefix(safe_package(screen.package or "")).removeprefix("/")


def health_line(screen: Screen, cut: str = "") -> str:
    """Return what the lines below cannot say, "" where all is well."""
    health = screen.health
    turned = health.turned_from
    says = [
        words
        for words, is_said in (
            ("display off", health.is_off),
            ("locked", health.is_locked),
            ("the phone does not say whether it is locked or off", health.is_state_unknown),
            ("secure: pictures of it are black", health.is_secure),
            (f"turned: rotation was {turned}, is {screen.rotation}", turned is not None),
            ("keyboard open", health.has_keyboard),
            (cut, bool(cut)),
            ("cut: parts are missing", not health.is_complete),
            ("opaque: most of it has no nodes", health.is_opaque),
            ("of another app than the one in front: look again", health.is_foreign),
            (
                "next to nothing could be read: a picture may show more",
                health.is_sparse and not health.is_opaque and len(lines_of(screen)) <= FEW,
            ),
            ("lossy: some characters came as dots or \ufffd", health.is_lossy),
            ("never idle: something keeps moving", health.is_never_idle),
            ("not settled", not health.is_settled and not health.is_never_idle),
        )
        if is_said
    ]
    says.extend(neutral(note) for note in health.notes)
    return f"! {'; '.join(says)}" if says else ""


@lru_cache(maxsize=4)
def lines_of(screen: Screen) -> tuple[Line, ...]:
    """Return one line per item, in reading order; the last few are kept, since diffs compare them."""
    return tuple(Line(item_line(item), item.ref, item.node.package) for item in outline(screen))


def with_packages(screen: Screen, lines: Iterable[Line], marks: Iterable[str] | None = None) -> list[str]:
    """Return the texts of lines, each behind its mark, with a `[package]` line where the package changes."""
    texts: list[str] = []
    package = screen.package or ""
    for line, mark in zip(lines, repeat("") if marks is None else marks, strict=False):
        if line.package != package:
            package = line.package
            texts.append(f"[{safe_package(package) or 'no package'}]")
        texts.append(mark + line.text)
    return texts


def item_line(item: Item) -> str:
    """Write one item as one line."""
    parts = ["-" if item.ref is None else str(item.ref)]
    if item.content and not item.node.password:
        parts.append(f'"{neutral(item.content)}"')
    label = "" if item.is_named_by_row else neutral(item.label)
    if label:
        parts.append(label)
        last = label.rpartition(" ")[2].lower()
        if item.ref is None:
            return " ".join(parts)
        if last in _STATE_WORDS or (last.isdigit() and "covered by" in label.lower()):
            parts.append("|")
    parts.extend(item.states)
    return " ".join(parts)


def neutral(text: str) -> str:
    """Return `text` without anything that could be taken for one of our own marks round a screen (attack A04).

    What opens like one of our tags, or looks so, gets a round bracket; other text is not touched.
    """
    return _OPENER.sub(_opener, text)


def _opener(match: re.Match[str]) -> str:
    letters = ""
    for character in match.string[match.end() : match.end() + _LOOK_AHEAD]:
        letters += _letters_of(character)
        if letters.startswith(_FRAME_NAMES):
            return "("
        if not any(name.startswith(letters) for name in _FRAME_NAMES):
            break
    return match[0]


@lru_cache(maxsize=4096)
def _letters_of(character: str) -> str:
    """Return the small Latin letters that one character looks like, "" for what is no letter."""
    letters = re.sub(r"[\W_]+", "", clean(character)).lower()
    if not letters.isascii() and not _EAST_ASIAN.match(letters):
        letters = fold(letters).lower()
    return letters


def frame_news(text: str) -> str:
    """Wrap what changed as data; it is of the app that was named when the screen was told whole."""
    return f"<screen>\n{neutral(text)}\n</screen>"


def frame(text: str, package: str | None, activity: str = "") -> str:
    """Wrap a screen's text as data of `package`: a model must be able to see where it begins and ends."""
    name = safe_package(package) if package else "unknown"
    where = f"/{safe_package(activity)}" if activity else ""
    return f"<screen {name}{where}>\n{neutral(text)}\n</screen>"


def screen_json(screen: Screen) -> dict[str, Any]:
    """Return a screen as plain values: package, activity, size, rotation, health, text, refs.

    Bounds are [left, top, right, bottom] in px, clipped to the display; the content of password fields is left out.
    """
    items = outline(screen)
    return {
        "package": screen.package,
        "activity": screen.activity,
        "size": [screen.width, screen.height],
        "rotation": screen.rotation,
        "health": {
            "settled": screen.health.is_settled,
            "complete": screen.health.is_complete,
            "opaque": screen.health.is_opaque,
            "keyboard": screen.health.has_keyboard,
            "locked": screen.health.is_locked,
            "off": screen.health.is_off,
            "state_unknown": screen.health.is_state_unknown,
            "secure": screen.health.is_secure,
            "never_idle": screen.health.is_never_idle,
            "foreign": screen.health.is_foreign,
            "sparse": screen.health.is_sparse,
            "lossy": screen.health.is_lossy,
            "turned_from": screen.health.turned_from,
            "notes": list(screen.health.notes),
        },
        "text": render(screen),
        "refs": [_ref_json(screen, item) for item in items if item.ref is not None],
    }


def _ref_json(screen: Screen, item: Item) -> dict[str, Any]:
    bounds = item.node.bounds.clip(screen.display)
    entry: dict[str, Any] = {
        "ref": item.ref,
        "label": item.label,
        "bounds": [bounds.left, bounds.top, bounds.right, bounds.bottom],
        "actions": list(actions_of(item.node)),
        "states": list(item.states),
    }
    if item.content is not None and not item.node.password:
        entry["content"] = item.content
    return entry
