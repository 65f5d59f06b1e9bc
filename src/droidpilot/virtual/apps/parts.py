"""Shapes that several apps share: scrolling pages, forms, action buttons, confirmations. Only looks; no state.

This file must never know what an app keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import FILL, Rows, TextField, View
from droidpilot.virtual.ui.widgets import ROW_HEIGHT, button, dialog, label, text_field
from droidpilot.virtual.ui.windows import Window

Act = Callable[[], None]
MARGIN = (66, 24, 66, 24)


def scroller(window: Window, views: Sequence[View], *, name: str = "page", id: str = "") -> View:
    """Make a page that scrolls as a whole where it is longer than the screen."""
    column = View("android.widget.LinearLayout", children=list(views))
    return View("android.widget.ScrollView", id, scroll=window.scroll(name), children=[column])


def recycler(window: Window, count: int, build: Callable[[int], View], *, name: str = "list", id: str = "") -> View:
    """Make a recycling list of rows that are all one row high."""
    made = View("androidx.recyclerview.widget.RecyclerView", id or "android:id/list", scroll=window.scroll(name))
    made.rows = Rows([ROW_HEIGHT] * count, build)
    return made


def padded(view: View, pad: tuple[int, int, int, int] = MARGIN) -> View:
    """Give a view room on its sides by a frame around it."""
    return View("android.widget.FrameLayout", layout="frame", pad=pad, children=[view])


def edit(window: Window, field: TextField, id: str) -> View:
    """Make a text field of a form, with room on its sides."""
    return padded(text_field(field, id=id, is_focused=window.focus is field))


def wide_button(text: str, *, id: str, on_click: Act, is_enabled: bool = True) -> View:
    """Make a button as wide as the page."""
    return button(text, id=id, on_click=on_click, is_enabled=is_enabled, width=FILL)


def message(text: str, *, id: str, size: int = 40) -> View:
    """Make a paragraph of text."""
    return label(text, id=id, size=size, pad=MARGIN)


def action(desc: str, *, id: str, on_click: Act) -> View:
    """Make the round button at the end of a page; it has no text, only a description."""
    return View("android.widget.ImageButton", id, desc=desc, width=154, height=154, on_click=on_click)


def with_action(content: View, made: View) -> View:
    """Put a round button below a list, at the end of its line."""
    content.weight = 1
    space = View("android.widget.Space", weight=1, height=1)
    bar = View("android.widget.FrameLayout", layout="row", pad=(0, 10, 42, 30), children=[space, made])
    return View("android.widget.LinearLayout", children=[content, bar])


def with_menu(made: View, *buttons: View) -> View:
    """Put buttons at the end of a page's toolbar."""
    made.children[0].children.extend(buttons)
    return made


def confirmation(
    host: Host, owner: Window, title: str, text: str, *, yes: str, no: str = "Cancel", on_yes: Act
) -> Window:
    """Make the dialog that asks before something that cannot be taken back. `on_yes` comes after it is closed."""

    def agree() -> None:
        host.close(window)
        host.later(on_yes)

    def body() -> View:
        cancel = button(no, id="android:id/button2", on_click=lambda: host.close(window))
        okay = button(yes, id="android:id/button1", on_click=agree)
        return dialog(title, [label(text, id="android:id/message")], [cancel, okay])

    window = Window(owner.package, owner.activity, title, f"ask/{title}", body, is_dialog=True)
    window.is_secure = owner.is_secure
    return window


def money(cents: int, sign: str = "$") -> str:
    """Write an amount, as `$1,234.50`."""
    return f"{sign}{cents // 100:,}.{cents % 100:02d}"


def cents_of(text: str) -> int | None:
    """Read an amount such as `25` or `25.50` into cents; None where it is none."""
    whole, dot, rest = text.strip().lstrip("$€").replace(",", "").partition(".")
    if not whole.isascii() or not whole.isdigit() or len(whole) > 9 or (dot and not (rest.isdigit() and len(rest) < 3)):
        return None
    return int(whole) * 100 + int(rest.ljust(2, "0") or 0)
