"""A screen as text for a model and as JSON for programs. It must never know who asked for it or why."""

from __future__ import annotations

import re
from typing import Any

from droidpilot.screens.labels import clean, fold
from droidpilot.screens.outline import Item, actions_of, outline, safe_package
from droidpilot.screens.screen import Screen

#: The last word of a label that could be read as a state of ours is set apart from the states by a bar.
_STATE_WORDS = frozenset(
    ("on", "off", "edit", "scroll", "password", "filled", "empty", "selected", "focused", "disabled", "covered")
)
_OPENERS = "<＜﹤‹〈⟨〈《«˂ᐸ❮❬⧼⦑"
_OPENER = re.compile(f"[{_OPENERS}]")
_FRAME_NAMES = ("screen", "tool", "system", "user", "assistant", "function", "result")
_LOOK_AHEAD = 48
_EAST_ASIAN = re.compile("[\u2e80-\u9fff\uac00-\ud7a3]")  # looks like no Latin letter: spares the look-alike tables


def render(screen: Screen) -> str:
    """Write a screen: a header, a health line if there is something to say, then one line per item.

    A usable item begins with its ref, one to read with `-`; states are words at the end. No coordinates.
    """
    return "\n".join([*head_lines(screen), *item_lines(screen, outline(screen))])


def head_lines(screen: Screen) -> list[str]:
    """Return the header and, if there is something to say, the health line."""
    lines = [header(screen)]
    health = health_line(screen)
    if health:
        lines.append(health)
    return lines


def header(screen: Screen) -> str:
    """Return `package/activity`, the activity without a package that repeats."""
    if screen.package is None:
        return "app in front unknown"
    package = safe_package(screen.package)
    activity = safe_package(screen.activity or "").removeprefix(package).removeprefix("/")
    return f"{package}/{activity}" if activity else package


def health_line(screen: Screen) -> str:
    """Return what the lines below cannot say, "" where all is well."""
    health = screen.health
    says = [
        words
        for words, is_said in (
            ("keyboard open", health.has_keyboard),
            ("cut: parts are missing", not health.is_complete),
            ("opaque: most of it has no nodes", health.is_opaque),
            ("not settled", not health.is_settled),
        )
        if is_said
    ]
    says.extend(neutral(note) for note in health.notes)
    return f"! {'; '.join(says)}" if says else ""


def item_lines(screen: Screen, items: tuple[Item, ...]) -> list[str]:
    """Return one line per item, with a `[package]` line where the package changes."""
    lines: list[str] = []
    package = screen.package or ""
    for item in items:
        if item.node.package != package:
            package = item.node.package
            lines.append(f"[{safe_package(package) or 'no package'}]")
        lines.append(item_line(item))
    return lines


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
    ahead = match.string[match.end() : match.end() + _LOOK_AHEAD]
    letters = re.sub(r"[\W_]+", "", clean(ahead)).lower()
    if not letters.isascii() and not _EAST_ASIAN.match(letters):
        letters = fold(letters).lower()
    return "(" if letters.startswith(_FRAME_NAMES) else match[0]


def frame(text: str, package: str | None) -> str:
    """Wrap a screen's text as data of `package`: a model must be able to see where it begins and ends."""
    name = safe_package(package) if package else "unknown"
    return f'<screen package="{name}">\n{neutral(text)}\n</screen>'


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
            "notes": list(screen.health.notes),
        },
        "text": "\n".join([*head_lines(screen), *item_lines(screen, items)]),
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
