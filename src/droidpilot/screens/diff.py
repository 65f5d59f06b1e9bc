"""What changed between two looks, as short text with refs. It must never know what was done in between."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import groupby
from statistics import median

from droidpilot.core.text import shorten
from droidpilot.screens.hierarchy import Node
from droidpilot.screens.render import Line, Rendering, body, health_line, lines_of, with_packages
from droidpilot.screens.screen import Screen

_GONE_LENGTH = 60
#: A row this much of the usual height is whole; fewer rows between first and last do not show what is usual.
_WHOLE = 0.9
_LEAST_ROWS = 3
_SHORT_RUN = 3  # lines; of a longer run nobody needs every text that went


def changes(before: Screen, after: Screen) -> str | None:
    """Return the text of `diff_of`, None where the whole screen is the better answer."""
    diff = diff_of(before, after)
    return None if diff is None else diff.text


def diff_of(before: Screen, after: Screen) -> Rendering | None:
    """Say what appeared (`+`), changed (`~`) and went (`gone`) since `before`, in reading order.

    The health line stands there where it is another one than before. None where the whole screen is the better answer:
    another app, activity or rotation, or a text that is no shorter.
    """
    where = (before.package, before.activity, before.rotation)
    if where != (after.package, after.activity, after.rotation):
        return None
    old, new = lines_of(before), lines_of(after)
    health = health_line(after)
    half = half_seen(after)
    marked = _marked(old, new, half_seen(before), half)
    if not any(line.ref not in half for _, line in marked):
        # Nothing whole came into sight, so no next step will show the rest: half a row is better than none.
        marked = _marked(old, new, frozenset(), frozenset())
    changed = with_packages(after, (line for _, line in marked), (mark for mark, _ in marked))
    changed.extend(_gone_lines(old, new))
    said = [] if health == health_line(before) else [health or "! well again"]
    text = "\n".join([*said, *(changed or ["nothing changed"])])
    if len(text.encode()) >= len(body(after).text.encode()):
        return None
    return Rendering(text, frozenset(line.ref for _, line in marked if line.ref is not None))


def told_late(screen: Screen, refs: frozenset[int]) -> list[str]:
    """Return the lines of `refs`, marked as those that appeared are."""
    lines = [line for line in lines_of(screen) if line.ref in refs]
    return list(with_packages(screen, lines, ("+" for _ in lines)))


def half_seen(screen: Screen) -> frozenset[int]:
    """Return the refs in rows that the edge of their list cuts off; the last row of a list is whole, and not cut."""
    # Rows are the beginnings of subtrees: what lies in one of them is found without a walk to the root.
    reaches: list[tuple[int, int]] = []
    for row in sorted(_cut_rows(screen), key=lambda row: row.index):
        if not reaches or row.end > reaches[-1][1]:
            reaches.append((row.index, row.end))
    starts = [start for start, _ in reaches]
    cut: set[int] = set()
    for ref, index in screen.refs.items():
        place = bisect_right(starts, index) - 1
        if place >= 0 and index < reaches[place][1]:
            cut.add(ref)
    return frozenset(cut)


def _cut_rows(screen: Screen) -> list[Node]:
    """Return the rows of scrolling lists that touch an edge and are lower than the others of their kind."""
    kinds: dict[tuple[int, str], list[Node]] = {}
    for node in screen.nodes:
        if node.parent >= 0 and screen.nodes[node.parent].scrollable:
            kinds.setdefault((node.parent, node.cls), []).append(node)
    cut = []
    for (parent, _), rows in kinds.items():
        inner = [row.bounds.height for row in rows[1:-1]]
        if len(inner) < _LEAST_ROWS or min(inner) < _WHOLE * max(inner):
            continue  # rows of many heights: a low one may well be whole
        area, usual = screen.nodes[parent].bounds, median(inner)
        for row in (rows[0], rows[-1]):
            touches = row.bounds.top <= area.top or row.bounds.bottom >= area.bottom
            if touches and row.bounds.height < usual * _WHOLE:
                cut.append(row)
    return cut


def _marked(
    old: tuple[Line, ...], new: tuple[Line, ...], was_cut: frozenset[int], is_cut: frozenset[int]
) -> list[tuple[str, Line]]:
    """Return the lines that appeared or changed, each with its mark.

    A row that appears cut off is told when it is whole: the next step of a scroll would tell it a second time.
    """
    text_of = {line.ref: line.text for line in old if line.ref is not None}
    texts = Counter(line.text for line in old if line.ref is None)
    marked: list[tuple[str, Line]] = []
    for line in new:
        if line.ref is None:
            if texts[line.text]:
                texts[line.text] -= 1
            else:
                marked.append(("+", line))
        elif line.ref not in text_of or (line.ref in was_cut and line.ref not in is_cut):
            if line.ref not in is_cut:
                marked.append(("+", line))
        elif text_of[line.ref] != line.text:
            marked.append(("~", line))
    return marked


def _gone_lines(old: tuple[Line, ...], new: tuple[Line, ...]) -> list[str]:
    """Say what went, as ranges: refs joined, and of a run of texts the first and the last.

    Texts that stood among rows that went with them are only counted: whoever reads this has the rows.
    """
    kept = {line.ref for line in new if line.ref is not None}
    texts = Counter(line.text for line in new if line.ref is None)
    refs: list[int] = []
    among = 0
    said: list[str] = []
    for is_gone, run in groupby(old, key=lambda line: _is_gone(line, kept, texts)):
        if not is_gone:
            continue
        lines = list(run)
        refs.extend(line.ref for line in lines if line.ref is not None)
        loose = [line.text for line in lines if line.ref is None]
        if len(loose) < len(lines) and len(lines) > _SHORT_RUN:
            among += len(loose)
        else:
            said.extend(_run_of_texts(loose))
    counted = f" and {among} texts among them" if among > 1 else " and a text among them" if among else ""
    return [*([f"gone: {_ranges(refs, kept)}{counted}"] if refs else []), *said]


def _is_gone(line: Line, kept: set[int], texts: Counter[str]) -> bool:
    if line.ref is not None:
        return line.ref not in kept
    if texts[line.text]:
        texts[line.text] -= 1
        return False
    return True


def _run_of_texts(texts: list[str]) -> list[str]:
    if len(texts) <= _SHORT_RUN:
        return [f"gone {shorten(text, _GONE_LENGTH)}" for text in texts]
    first, last = shorten(texts[0], _GONE_LENGTH), shorten(texts[-1], _GONE_LENGTH)
    return [f"gone {first} ... {last} ({len(texts)} lines)"]


def _ranges(refs: list[int], kept: set[int]) -> str:
    """Write refs with those joined that have none of `kept` between them: `3-5, 9`."""
    still = sorted(kept)
    runs: list[list[int]] = []
    for ref in sorted(refs):
        if runs and bisect_left(still, runs[-1][1]) == bisect_left(still, ref):
            runs[-1][1] = ref
        else:
            runs.append([ref, ref])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
