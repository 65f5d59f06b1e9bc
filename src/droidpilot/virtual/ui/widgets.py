"""The few shapes every app is made of: toolbar, list row, switch row, button, dialog. Only looks; no state.

This file must never know what a row means.
"""

from __future__ import annotations

from collections.abc import Callable

from droidpilot.virtual.ui.views import FILL, WRAP, TextField, View

ROW_HEIGHT = 198
Act = Callable[[], None]


def label(text: str, *, id: str = "", size: int = 44, pad: tuple[int, int, int, int] = (0, 0, 0, 0)) -> View:
    """Make a line of text."""
    return View("android.widget.TextView", id, text, size=size, pad=pad)


def page(package: str, title: str, content: View, *, on_up: Act | None) -> View:
    """Make a page: a toolbar with the title and, below it, the content."""
    bar = View("android.view.ViewGroup", f"{package}:id/action_bar", layout="row", height=154)
    if on_up is not None:
        bar.children.append(
            View("android.widget.ImageButton", desc="Navigate up", width=154, height=154, on_click=on_up)
        )
    heading = label(title, id=f"{package}:id/collapsing_toolbar_title", size=60, pad=(42, 20, 42, 20))
    bar.children.append(View("android.widget.FrameLayout", weight=1, layout="frame", children=[heading]))
    content.weight = 1
    return View("android.widget.LinearLayout", height=FILL, children=[bar, content])


def row(title: str, summary: str = "", *, on_click: Act | None = None, end: View | None = None) -> View:
    """Make a list row with a title, maybe a summary, maybe a switch at its end."""
    words = View("android.widget.RelativeLayout", weight=1, pad=(66, 42, 42, 42))
    words.children = [label(title, id="android:id/title", size=50)]
    if summary:
        words.children.append(label(summary, id="android:id/summary", size=38))
    made = View("android.widget.LinearLayout", layout="row", children=[words], on_click=on_click)
    if end is not None:
        frame = View("android.widget.LinearLayout", "android:id/widget_frame", width=190, layout="frame", centered=True)
        frame.children = [end]
        made.children.append(frame)
    return made


def switch_row(title: str, summary: str = "", *, is_on: bool, on_click: Act) -> View:
    """Make a row with a switch; the whole row is tapped."""
    knob = View("android.widget.Switch", "android:id/switch_widget", width=130, height=84)
    knob.is_checkable, knob.is_checked = True, is_on
    return row(title, summary, on_click=on_click, end=knob)


def main_switch(title: str, *, is_on: bool, on_click: Act) -> View:
    """Make the big switch at the top of a page."""
    made = switch_row(title, is_on=is_on, on_click=on_click)
    made.id = "com.android.settings:id/main_switch_bar"
    made.children[0].children[0].id = "com.android.settings:id/switch_text"
    return made


def button(text: str, *, on_click: Act, id: str = "", is_enabled: bool = True, width: int = WRAP) -> View:
    """Make a text button."""
    made = View("android.widget.Button", id, text, width=width, height=132, pad=(48, 30, 48, 30), on_click=on_click)
    made.is_enabled = is_enabled
    return made


def check_box(text: str, *, is_checked: bool, on_click: Act, id: str = "") -> View:
    """Make a checkbox with its text."""
    made = View("android.widget.CheckBox", id, text, pad=(80, 30, 30, 30), on_click=on_click)
    made.is_checkable, made.is_checked = True, is_checked
    return made


def text_field(field: TextField, *, id: str, is_focused: bool, weight: int = 0) -> View:
    """Make an edit field."""
    made = View("android.widget.EditText", id, edits=field, pad=(36, 36, 36, 36), weight=weight, size=46)
    made.is_focused = is_focused
    return made


def dialog(title: str, content: list[View], buttons: list[View]) -> View:
    """Make the inside of a dialog: title, content, and a row of buttons at the end."""
    bar = View("android.widget.ScrollView", "android:id/buttonPanel", layout="frame")
    bar.children = [View("android.widget.LinearLayout", layout="row", children=[_spacer(), *buttons])]
    head = label(title, id="android:id/alertTitle", size=58, pad=(66, 50, 66, 30))
    panel = View("android.widget.FrameLayout", "android:id/customPanel", pad=(66, 10, 66, 20), children=content)
    return View(
        "android.widget.LinearLayout", "android:id/parentPanel", children=[head, panel, bar], pad=(0, 0, 30, 30)
    )


def _spacer() -> View:
    return View("android.widget.Space", "android:id/spacer", weight=1, height=1)
