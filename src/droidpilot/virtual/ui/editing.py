"""What keys do to text: letters, delete, paste, tab and enter, in the field that has focus.

Source for codes: android.view.KeyEvent. This file must never know a phone or who pressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from droidpilot.virtual.ui.views import TextField
from droidpilot.virtual.ui.windows import Window

DIGITS: Final = {code: str(code - 7) for code in range(7, 17)}
LETTERS: Final = {code: chr(ord("a") + code - 29) for code in range(29, 55)}
SIGNS: Final = {55: ",", 56: ".", 62: " ", 69: "-", 70: "=", 76: "/", 77: "@", 81: "+"}
CHARACTERS: Final = DIGITS | LETTERS | SIGNS
KEY_TAB, KEY_ENTER, KEY_DELETE, KEY_PASTE = 61, 66, 67, 279


def press(window: Window, code: int, *, fields: Sequence[TextField], clipboard: str) -> None:
    """Give a key to a window; `fields` are those that Tab goes through, in their order."""
    field = window.focus
    if code == KEY_TAB and fields:
        window.focus = fields[(fields.index(field) + 1) % len(fields)] if field in fields else fields[0]
    elif code == KEY_ENTER and window.on_enter is not None:
        window.on_enter()
    elif field is None:
        return
    elif code == KEY_DELETE:
        field.put(field.text[:-1])
    elif code == KEY_PASTE:
        field.put(field.text + clipboard)
    elif code in CHARACTERS:
        field.put(field.text + CHARACTERS[code])
