"""Android's key codes by name. Source: android.view.KeyEvent, and the names the in-phone server knows."""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.ui.editing import CHARACTERS

NAMES: Final[dict[str, int]] = {
    "HOME": 3, "BACK": 4, "DPAD_UP": 19, "DPAD_DOWN": 20, "DPAD_LEFT": 21, "DPAD_RIGHT": 22, "DPAD_CENTER": 23,
    "VOLUME_UP": 24, "VOLUME_DOWN": 25, "POWER": 26, "CAMERA": 27, "CLEAR": 28, "COMMA": 55, "PERIOD": 56, "TAB": 61,
    "SPACE": 62, "ENTER": 66, "DEL": 67, "MINUS": 69, "EQUALS": 70, "SLASH": 76, "AT": 77, "PLUS": 81, "MENU": 82,
    "SEARCH": 84, "ESCAPE": 111, "VOLUME_MUTE": 164, "APP_SWITCH": 187, "SLEEP": 223, "WAKEUP": 224, "PASTE": 279,
}  # fmt: skip
SERVER_NAMES: Final[dict[str, int]] = {
    "home": 3, "back": 4, "left": 21, "right": 22, "up": 19, "down": 20, "center": 23, "menu": 82, "search": 84,
    "enter": 66, "delete": 67, "del": 67, "recent": 187, "volume_up": 24, "volume_down": 25, "volume_mute": 164,
    "camera": 27, "power": 26,
}  # fmt: skip
MAX_CODE: Final = 320
_SINGLE: Final = {sign.upper(): code for code, sign in CHARACTERS.items() if sign.isalnum()}


def key_code(name: str) -> int:
    """Return the code of a key given as number, `KEYCODE_X` or `X`.

    Raises:
        ValueError: there is no such key.
    """
    plain = name.upper().removeprefix("KEYCODE_")
    if plain.isdigit() and plain == name and int(plain) <= MAX_CODE:
        return int(plain)
    code = NAMES.get(plain, _SINGLE.get(plain))
    if code is None:
        raise ValueError(f"Unknown keycode: {name[:60]}")
    return code
