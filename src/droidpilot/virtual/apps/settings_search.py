"""The search of Settings: what is found comes a moment after the last letter was typed, as a list of suggestions.

This file must never know what a page does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from droidpilot.virtual.apps.packages import SETTINGS
from droidpilot.virtual.apps.parts import recycler
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import FILL, TextField, View
from droidpilot.virtual.ui.widgets import label, row, text_field
from droidpilot.virtual.ui.windows import Window

SEARCH_MS = 300
"""So long after a letter the suggestions change."""
ACTIVITY = f"{SETTINGS}.intelligence.search.SearchActivity"
PREFIX = "com.android.settings.intelligence:id"


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that can be found: its title, where it stands, and the page that it opens."""

    title: str
    place: str
    make: Callable[[], Window]


def search_window(host: Host, entries: Sequence[Entry]) -> Window:
    """Make the search page."""
    field = TextField("search", hint="Search settings")
    found: list[Entry] = []

    def look_up(typed: str) -> None:
        # A later letter has its own turn.
        if field.text == typed:
            words = typed.lower().split()
            found[:] = [e for e in entries if words and all(word in f"{e.title} {e.place}".lower() for word in words)]

    field.on_put = lambda: host.after(SEARCH_MS, partial(look_up, field.text))

    def result(number: int) -> View:
        entry = found[number]
        return row(entry.title, entry.place, on_click=lambda: host.open(entry.make()))

    def body() -> View:
        bar = View("android.view.ViewGroup", f"{PREFIX}/search_toolbar", layout="row", height=154)
        up = View("android.widget.ImageButton", desc="Navigate up", width=154, height=154, on_click=host.back)
        bar.children = [
            up,
            text_field(field, id="android:id/search_src_text", is_focused=window.focus is field, weight=1),
        ]
        shown: View = recycler(window, len(found), result, id=f"{PREFIX}/list_results")
        if field.text and not found:
            shown = View(children=[label("No results", id=f"{PREFIX}/no_results", pad=(66, 66, 66, 66))])
        shown.weight = 1
        return View("android.widget.LinearLayout", height=FILL, children=[bar, shown])

    window = Window(SETTINGS, ACTIVITY, "Search settings", "search", body)
    window.focus = field
    return window
