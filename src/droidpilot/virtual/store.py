"""What the phone keeps: its settings and its files. Both are bounded, and every change says who made it.

This file must never know a view, a shell or a socket.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, get_args

Namespace = Literal["system", "secure", "global"]
NAMESPACES: tuple[str, ...] = get_args(Namespace)
MAX_SETTINGS = 2_000
MAX_VALUE = 10_000
MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_FILES_BYTES = 256 * 1024 * 1024
MAX_FILES = 10_000
MAX_CHANGES = 1_000
WRITABLE = ("/data/local/tmp", "/sdcard")
DIRECTORIES = ("/", "/data", "/data/local", "/data/local/tmp", "/sdcard", "/sdcard/Download", "/system", "/storage")

LATIN_IME = "com.android.inputmethod.latin/.LatinIME"
NESTED_IME = "com.typist.keys/.Keyboards$Dvorak"
"""A keyboard whose class is nested, so that its id has a sign that shells read. Not installed at first."""
ADB_KEYBOARD = "com.github.uiautomator/.AdbKeyboard"
INITIAL: dict[str, dict[str, str]] = {
    "system": {
        "screen_brightness": "102",
        "screen_brightness_mode": "0",
        "screen_off_timeout": "60000",
        "accelerometer_rotation": "0",
        "user_rotation": "0",
        "font_scale": "1.0",
        "show_touches": "0",
    },
    "secure": {
        "android_id": "5f1c0d2a9b3e4711",
        "default_input_method": LATIN_IME,
        "enabled_input_methods": LATIN_IME,
        "location_mode": "3",
        "ui_night_mode": "1",
        "show_ime_with_hard_keyboard": "0",
    },
    "global": {
        "airplane_mode_on": "0",
        "wifi_on": "0",
        "bluetooth_on": "1",
        "mobile_data": "1",
        "adb_enabled": "1",
        "development_settings_enabled": "1",
        "device_name": "Virtual Phone",
        "stay_on_while_plugged_in": "0",
        "window_animation_scale": "1.0",
        "transition_animation_scale": "1.0",
        "animator_duration_scale": "1.0",
    },
}


class StoreFull(Exception):
    """The phone has no room for it; the caller answers the client with the message."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change of a setting. `source` is the app's package, or `shell`. `value` is None where it was deleted."""

    namespace: str
    key: str
    value: str | None
    source: str


class Settings:
    """The settings provider: three namespaces of strings."""

    def __init__(self, *, on_change: Callable[[], None]) -> None:
        self._on_change = on_change
        self.values = {namespace: dict(values) for namespace, values in INITIAL.items()}
        self.changes: list[Change] = []

    def get(self, namespace: str, key: str) -> str | None:
        return self.values[namespace].get(key)

    def is_on(self, namespace: str, key: str) -> bool:
        """Tell whether the setting is 1."""
        return self.values[namespace].get(key) == "1"

    def put(self, namespace: str, key: str, value: str, *, source: str) -> None:
        """Set a value.

        Raises:
            StoreFull: too many keys, or the value is too long.
        """
        values = self.values[namespace]
        if len(value) > MAX_VALUE or len(key) > 200 or (key not in values and len(values) >= MAX_SETTINGS):
            raise StoreFull(f"cannot keep {namespace} setting: too long, or too many")
        values[key] = value
        self._note(Change(namespace, key, value, source))

    def delete(self, namespace: str, key: str, *, source: str) -> int:
        """Remove a key and return how many rows went: 0 or 1."""
        if self.values[namespace].pop(key, None) is None:
            return 0
        self._note(Change(namespace, key, None, source))
        return 1

    def _note(self, change: Change) -> None:
        self.changes.append(change)
        del self.changes[:-MAX_CHANGES]
        self._on_change()


@dataclass(frozen=True, slots=True)
class File:
    """A file's bytes and what `stat` says of it. `mtime` is in seconds since 1970."""

    data: bytes
    mode: int
    mtime: int


@dataclass(slots=True)
class Files:
    """A flat store of files under absolute paths; directories are a fixed list and the parents of files."""

    files: dict[str, File] = field(default_factory=dict)
    is_full: Callable[[], bool] = lambda: False

    def read(self, path: str) -> File | None:
        return self.files.get(clean_path(path))

    def write(self, path: str, file: File) -> None:
        """Keep a file.

        Raises:
            StoreFull: the path is not writable for a shell user, or there is no room.
        """
        path = clean_path(path)
        if not path.startswith(tuple(f"{top}/" for top in WRITABLE)):
            raise StoreFull(f"couldn't create file: Permission denied: {path[:200]}")
        if self.is_directory(path):
            raise StoreFull(f"couldn't create file: Is a directory: {path[:200]}")
        used = sum(len(kept.data) for name, kept in self.files.items() if name != path)
        if (
            self.is_full()
            or len(file.data) > MAX_FILE_BYTES
            or used + len(file.data) > MAX_FILES_BYTES
            or len(self.files) >= MAX_FILES
        ):
            raise StoreFull("write failed: No space left on device")
        self.files[path] = file

    def remove(self, path: str) -> bool:
        return self.files.pop(clean_path(path), None) is not None

    def remove_tree(self, path: str) -> int:
        """Remove a file or all files below a directory; return how many."""
        path = clean_path(path)
        doomed = [name for name in self.files if name == path or name.startswith(f"{path}/")]
        for name in doomed:
            del self.files[name]
        return len(doomed)

    def is_directory(self, path: str) -> bool:
        path = clean_path(path)
        return path in DIRECTORIES or any(name.startswith(f"{path}/") for name in self.files)

    def names(self, path: str) -> list[str]:
        """Return the names directly in a directory, sorted."""
        top = clean_path(path).rstrip("/") + "/"
        everything = [*self.files, *DIRECTORIES]
        return sorted({name[len(top) :].split("/")[0] for name in everything if name.startswith(top) and name != top})


def clean_path(path: str) -> str:
    """Resolve `.` and `..` and double slashes of an absolute path; a relative one counts from `/`."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    if parts[:3] == ["storage", "emulated", "0"]:
        parts = ["sdcard", *parts[3:]]
    return "/" + "/".join(parts)
