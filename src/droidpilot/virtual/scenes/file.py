"""Reads what a scene is made of: one dump, or a folder with a `scene.toml` that names pages and what leads where.

Everything a person can get wrong here is told in one line: what, where, what to do. This file must never know a phone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from droidpilot.core.errors import UsageError
from droidpilot.virtual.scenes.scan import MAX_BYTES, MAX_SIDE, Scan, scan
from droidpilot.virtual.ui.keys import key_code

SCENE_FILE: Final = "scene.toml"
MAX_PAGES: Final = 200
MAX_MOVES: Final = 1_000
_PAGE_KEYS: Final = frozenset({"name", "file", "package", "activity", "display", "rotation", "secure"})
_MOVE_KEYS: Final = frozenset({"page", "tap", "key", "after_ms", "go"})
_CAUSES: Final = ("tap", "key", "after_ms")
_POINT: Final = re.compile(r"\s*(\d{1,5})\s*,\s*(\d{1,5})\s*", re.ASCII)
_SIZE: Final = re.compile(r"(\d{1,5})x(\d{1,5})", re.ASCII)
_PACKAGE: Final = re.compile(r"[A-Za-z]\w*(\.\w+)+", re.ASCII)
_ACTIVITY: Final = re.compile(r"\.?[A-Za-z_$][\w.$]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Page:
    """One dump as it is shown. What is None comes from the dump itself."""

    name: str
    scan: Scan
    package: str | None = None
    activity: str | None = None
    size: tuple[int, int] | None = None
    """Width and height as shown, px."""
    rotation: int | None = None
    is_secure: bool = False


@dataclass(frozen=True, slots=True)
class Move:
    """From one page to another. Exactly one of `label`, `point`, `key` and `after_ms` says when."""

    page: str
    go: str
    label: str | None = None
    """A text, a description, or an id, whole or what stands behind its `/`."""
    point: tuple[int, int] | None = None
    key: int | None = None
    """An Android key code."""
    after_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """The pages by name, the first one first, and how one leads to another."""

    pages: dict[str, Page]
    moves: tuple[Move, ...] = ()


def read_scene(path: Path) -> Script:
    """Read a dump, or a folder with a scene.toml.

    Raises:
        UsageError: it cannot be read, or says something that makes no sense.
    """
    if path.is_dir():
        return _read_folder(path)
    return Script({path.stem: Page(path.stem, _read_dump(path))})


def scene_of(data: bytes) -> Script:
    """Make a scene of the bytes of one dump."""
    return Script({"scene": Page("scene", scan(data))})


def _read_dump(path: Path) -> Scan:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(
            f"the scene {path} cannot be read: {error.strerror or error}",
            hint="name a file that `uiautomator dump` wrote, or a folder with a scene.toml",
        ) from error
    if len(data) > MAX_BYTES:
        raise UsageError(f"the scene {path} is larger than {MAX_BYTES >> 20} MB", hint="is it a dump at all?")
    return scan(data)


def _read_folder(folder: Path) -> Script:
    path = folder / SCENE_FILE
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise UsageError(
            f"the folder {folder} has no {SCENE_FILE}", hint='write one: [[page]] name = "first", file = "first.xml"'
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}", hint="it must be a text file in UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path} is no TOML: {error}", hint="see https://toml.io for how it is written") from error
    _only_known(f"{path}", told, frozenset({"page", "on"}))
    pages: dict[str, Page] = {}
    for number, table in enumerate(_tables(path, told, "page", MAX_PAGES), start=1):
        page = _page(f"{path}: page {number}", folder, table)
        if page.name in pages:
            raise UsageError(f"{path}: page {number}: the name {page.name!r} is taken", hint="give each page its own")
        pages[page.name] = page
    if not pages:
        raise UsageError(f"{path} has no page", hint='write one: [[page]] name = "first", file = "first.xml"')
    moves = [
        _move(f"{path}: on {number}", table, pages)
        for number, table in enumerate(_tables(path, told, "on", MAX_MOVES), start=1)
    ]
    return Script(pages, tuple(moves))


def _tables(path: Path, told: Mapping[str, Any], name: str, most: int) -> list[dict[str, Any]]:
    tables = told.get(name, [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: `{name}` must be written as [[{name}]]", hint="with two brackets on each side")
    if len(tables) > most:
        raise UsageError(f"{path} has {len(tables)} [[{name}]]", hint=f"{most} are the most")
    return tables


def _page(where: str, folder: Path, table: dict[str, Any]) -> Page:
    _only_known(where, table, _PAGE_KEYS)
    name, file = _text(where, table, "name"), _text(where, table, "file")
    if name is None or file is None:
        raise UsageError(f"{where}: a page needs a name and a file", hint='name = "first", file = "first.xml"')
    dump = folder / file
    if not dump.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"{where}: {file!r} lies outside of the folder", hint="put the dump beside the scene.toml")
    package, activity = _text(where, table, "package"), _text(where, table, "activity")
    if package is not None and not _PACKAGE.fullmatch(package):
        raise UsageError(f"{where}: {package!r} is no package name", hint='such as "com.example.shop"')
    if activity is not None and not _ACTIVITY.fullmatch(activity):
        raise UsageError(f"{where}: {activity!r} is no activity", hint='such as ".MainActivity"')
    rotation = _whole(where, table, "rotation", 3)
    secure = table.get("secure", False)
    if not isinstance(secure, bool):
        raise UsageError(f"{where}: `secure` is true or false")
    return Page(name, _read_dump(dump), package, activity, _size(where, table), rotation, secure)


def _size(where: str, table: dict[str, Any]) -> tuple[int, int] | None:
    text = _text(where, table, "display")
    if text is None:
        return None
    match = _SIZE.fullmatch(text)
    if match is None or not all(1 <= int(side) <= MAX_SIDE for side in match.groups()):
        raise UsageError(f"{where}: {text!r} is no display", hint=f'such as "1080x2340", at most {MAX_SIDE} a side')
    return int(match[1]), int(match[2])


def _move(where: str, table: dict[str, Any], pages: Mapping[str, Page]) -> Move:
    _only_known(where, table, _MOVE_KEYS)
    page, go = _text(where, table, "page"), _text(where, table, "go")
    for name, value in (("page", page), ("go", go)):
        if value is None:
            raise UsageError(f"{where}: `{name}` is missing", hint='page = "first", tap = "Next", go = "second"')
        if value not in pages:
            raise UsageError(f"{where}: there is no page {value!r}", hint="pages: " + ", ".join(pages))
    assert page is not None and go is not None
    if len([name for name in _CAUSES if name in table]) != 1:
        raise UsageError(f"{where}: exactly one of tap, key and after_ms says when")
    if "after_ms" in table:
        return Move(page, go, after_ms=_whole(where, table, "after_ms", 3_600_000))
    if "key" in table:
        name = _text(where, table, "key") or ""
        try:
            return Move(page, go, key=key_code(name))
        except ValueError as error:
            raise UsageError(f"{where}: no key is called {name!r}", hint="back, home, enter, ...") from error
    words = _text(where, table, "tap") or ""
    point = _POINT.fullmatch(words)
    if point is not None:
        return Move(page, go, point=(int(point[1]), int(point[2])))
    if not words.strip():
        raise UsageError(f"{where}: `tap` is empty", hint="a text, a description, an id, or a place such as 540,1200")
    return Move(page, go, label=words)


def _only_known(where: str, table: Mapping[str, Any], known: frozenset[str]) -> None:
    odd = sorted(set(table) - known)
    if odd:
        raise UsageError(f"{where}: `{odd[0]}` is not known", hint="known: " + ", ".join(sorted(known)))


def _text(where: str, table: Mapping[str, Any], name: str) -> str | None:
    value = table.get(name)
    if value is not None and not isinstance(value, str):
        raise UsageError(f"{where}: `{name}` must be a text in quotes")
    return value


def _whole(where: str, table: Mapping[str, Any], name: str, most: int) -> int | None:
    value = table.get(name)
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise UsageError(f"{where}: `{name}` must be a whole number from 0 to {most}")
    return value
