"""What a screen costs: tokens of its text, and the time from a dump to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from xml.parsers import expat

from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.render import framed, render
from droidpilot.screens.screen import display_of, make_screen
from tests.bench.token_count import tokens
from tests.screens.dump_writer import El, write
from tests.screens.plain_reader import elements, told_strings, usable
from tests.screens.screen_maker import screen_of

#: A dump of the cases that gets a line of its own.
HUGE = "79_huge_list.xml"
#: Tokens above the floor that the sum of all screens may cost, for each.
SPARE = 20
HUGE_ROWS = 348
RUNS = 11


@dataclass(frozen=True, slots=True)
class Costs:
    """Tokens of the rendered screens of one folder."""

    by_name: dict[str, int]
    floors: dict[str, int]  # the least that each could cost: its strings, and two for each usable rectangle
    frame: float  # what the frame round a whole screen in a model's message costs on average

    @property
    def ordinary(self) -> list[str]:
        return [name for name in self.by_name if name != HUGE]

    @property
    def total(self) -> int:
        return sum(self.by_name[name] for name in self.ordinary)

    @property
    def bar(self) -> int:
        return sum(self.floors[name] + SPARE for name in self.ordinary)


def costs_of(folder: Path) -> Costs:
    """Count every well-formed dump of a folder."""
    by_name, floors, frames = {}, {}, 0
    for path in sorted(folder.glob("*.xml")):
        data = path.read_bytes()
        tops = elements(data)
        if not tops:
            continue
        screen = screen_of(data)
        by_name[path.name] = tokens(render(screen))
        frames += tokens(framed(screen).text) - by_name[path.name]
        floors[path.name] = tokens("\n".join(told_strings(tops))) + 2 * len(usable(tops))
    return Costs(by_name, floors, frames / len(by_name))


def parse_and_render_ms() -> tuple[float, float, int]:
    """Return the ms from a huge dump to its text, refs included; those of a bare expat pass; and the nodes."""
    data = _huge()

    def bare() -> None:
        parser = expat.ParserCreate()
        parser.StartElementHandler = lambda name, attributes: None
        parser.Parse(data, True)

    def whole() -> None:
        hierarchy = parse_hierarchy(data)
        display = display_of(hierarchy)
        refs = RefBook().assign(hierarchy, display)
        framed(
            make_screen(
                number=1,
                hierarchy=hierarchy,
                foreground_package="com.example.app",
                activity=None,
                width=display.right,
                height=display.bottom,
                rotation=0,
                refs=refs,
            )
        )

    return _median_ms(whole), _median_ms(bare), len(parse_hierarchy(data).nodes)


def _median_ms(act: Callable[[], None]) -> float:
    times = []
    for _ in range(RUNS):
        started = time.perf_counter()
        act()
        times.append(time.perf_counter() - started)
    return median(times) * 1000


def _huge() -> bytes:
    """Write a list of 1,393 nodes: rows with an icon, a title and a summary."""
    rows = []
    for row in range(HUGE_ROWS):
        top = row * 6
        bounds = (0, top, 1080, top + 6)
        rows.append(
            El(
                cls="android.widget.LinearLayout",
                id="com.example.app:id/row",
                bounds=bounds,
                flags="clickable focusable",
                children=[
                    El(cls="android.widget.ImageView", id="android:id/icon", bounds=(0, top, 100, top + 6)),
                    El(cls="android.widget.TextView", id="android:id/title", text=f"Entry {row}", bounds=bounds),
                    El(cls="android.widget.TextView", id="android:id/summary", text="Up to date", bounds=bounds),
                ],
            )
        )
    return write(El(cls="androidx.recyclerview.widget.RecyclerView", flags="scrollable", children=rows))
