"""Rows of Settings that are bound to a key of the settings provider, and the page they stand on.

This file must never keep a value itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from droidpilot.virtual.apps.packages import SETTINGS
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import Rows, View, natural
from droidpilot.virtual.ui.widgets import page, row, switch_row
from droidpilot.virtual.ui.windows import Window

LIST_ID = "com.android.settings:id/recycler_view"


def settings_page(
    host: Host,
    title: str,
    rows: Callable[[], list[View]],
    *,
    activity: str = ".SubSettings",
    is_first: bool = False,
) -> Window:
    """Make a page of Settings: a list of rows that are built anew for each look."""
    up = None if is_first else host.back

    def body() -> View:
        made = rows()
        shown = View("androidx.recyclerview.widget.RecyclerView", LIST_ID, scroll=window.scroll("list"))
        shown.rows = Rows([natural(view, host.display.rect.width)[1] for view in made], lambda n: made[n])
        return page(SETTINGS, title, shown, on_up=up)

    window = Window(SETTINGS, f"{SETTINGS}{activity}", title, title, body)
    return window


def bound_switch(
    host: Host, title: str, summary: str, namespace: str, key: str, values: tuple[str, str] = ("0", "1")
) -> View:
    """Make a row with a switch that writes one of two values (off, on) under a key."""
    settings = host.settings

    def turn() -> None:
        now = settings.get(namespace, key) == values[1]
        settings.put(namespace, key, values[not now], source=SETTINGS)

    is_on = settings.get(namespace, key) == values[1]
    return switch_row(title, summary, is_on=is_on, on_click=lambda: host.later(turn))


def choice_rows(host: Host, namespace: str, key: str, choices: dict[str, str]) -> list[View]:
    """Make a row with a radio button for each value, in the order of `choices` (value to words)."""
    return [
        _choice(words, host.settings.get(namespace, key) == value, partial(_choose, host, namespace, key, value))
        for value, words in choices.items()
    ]


def _choose(host: Host, namespace: str, key: str, value: str) -> None:
    host.later(lambda: host.settings.put(namespace, key, value, source=SETTINGS))


def _choice(words: str, is_chosen: bool, on_click: Callable[[], None]) -> View:
    """Lay out a row as AOSP's preference_widget_radiobutton does: the button first, the row takes the tap."""
    made = row(words, on_click=on_click)
    dot = View("android.widget.RadioButton", "android:id/checkbox", width=90, height=84, is_checkable=True)
    dot.is_checked = is_chosen
    frame = View("android.widget.LinearLayout", "android:id/widget_frame", width=150, layout="frame", centered=True)
    frame.children = [dot]
    made.children.insert(0, frame)
    return made
