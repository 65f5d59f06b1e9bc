"""What changed between two looks, as short text with refs. It must never know what was done in between."""

from __future__ import annotations

from collections import Counter

from droidpilot.core.text import shorten
from droidpilot.screens.outline import Item, outline, safe_package
from droidpilot.screens.render import head_lines, header, item_line, render
from droidpilot.screens.screen import Screen

_GONE_LENGTH = 60


def changes(before: Screen, after: Screen) -> str | None:
    """Say what appeared (`+`), changed (`~`) and went (`gone`) since `before`, in reading order.

    None where the whole screen is the better answer: another app or activity, or a text that is no shorter.
    """
    if header(before) != header(after) or before.rotation != after.rotation:
        return None
    old, new = outline(before), outline(after)
    lines = [*head_lines(after), *_new_lines(after, old, new), *_gone_lines(old, new)]
    if len(lines) == len(head_lines(after)):
        lines.append("nothing changed")
    text = "\n".join(lines)
    return text if len(text.encode()) < len(render(after).encode()) else None


def _new_lines(after: Screen, old: tuple[Item, ...], new: tuple[Item, ...]) -> list[str]:
    """Return the lines of what appeared or changed, with a `[package]` line where the package changes."""
    line_of = {item.ref: item_line(item) for item in old if item.ref is not None}
    texts = Counter(item_line(item) for item in old if item.ref is None)
    lines: list[str] = []
    package = after.package or ""
    for item in new:
        line = item_line(item)
        if item.ref is None:
            if texts[line]:
                texts[line] -= 1
                continue
            mark = "+"
        elif item.ref not in line_of:
            mark = "+"
        elif line_of[item.ref] != line:
            mark = "~"
        else:
            continue
        if item.node.package != package:
            package = item.node.package
            lines.append(f"[{safe_package(package) or 'no package'}]")
        lines.append(f"{mark} {line}")
    return lines


def _gone_lines(old: tuple[Item, ...], new: tuple[Item, ...]) -> list[str]:
    kept = {item.ref for item in new}
    refs = [item.ref for item in old if item.ref is not None and item.ref not in kept]
    texts = Counter(item_line(item) for item in old if item.ref is None)
    texts -= Counter(item_line(item) for item in new if item.ref is None)
    lines = [f"gone: {_ranges(refs)}"] if refs else []
    lines.extend(f"gone {shorten(line, _GONE_LENGTH)}" for line in texts.elements())
    return lines


def _ranges(refs: list[int]) -> str:
    """Write refs with neighbours joined: `3-5, 9`."""
    runs: list[list[int]] = []
    for ref in sorted(refs):
        if runs and ref == runs[-1][1] + 1:
            runs[-1][1] = ref
        else:
            runs.append([ref, ref])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
