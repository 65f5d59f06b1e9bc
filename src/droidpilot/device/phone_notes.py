"""Facts about phones out of phone_notes.toml, as values: holes, switches of brands, API levels. No decisions."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from importlib import resources
from typing import Any, Literal

Blocks = Literal["input", "settings", "installs"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hole:
    """A known hole: which transports and API levels it concerns, and the patch level (YYYY-MM-DD) that closes it."""

    code: str
    transports: tuple[str, ...]
    from_api: int
    to_api: int
    fixed: str
    text: str
    next_step: str
    remark: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A switch of a brand: its name on the phone, where it is, and what tells its state."""

    code: str
    brands: tuple[str, ...]
    name: str
    where: str
    property: str
    setting: str  # of the namespace `secure`
    on: tuple[str, ...]
    absent_is_off_with: tuple[str, ...]
    blocks: tuple[Blocks, ...]
    remark: str
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelNote:
    """Something to know of an Android version. With a `setting` it holds only where that is one of `on`."""

    code: str
    from_api: int
    to_api: int  # 0: no end
    level: Literal["ok", "warn"]
    text: str
    setting: str
    on: tuple[str, ...]
    source: str


@dataclass(frozen=True, slots=True)
class PhoneNotes:
    """The whole file."""

    holes: tuple[Hole, ...]
    switches: tuple[Switch, ...]
    notes: tuple[LevelNote, ...]
    tool_keyboards: tuple[str, ...]
    typing_keyboards: tuple[str, ...]

    def is_tool_keyboard(self, name: str) -> bool:
        """Tell whether a keyboard belongs to an automation tool."""
        return any(part in name.lower() for part in self.tool_keyboards)


@functools.cache
def phone_notes() -> PhoneNotes:
    """Read the file that is shipped with the program."""
    data = tomllib.loads(resources.files("droidpilot.device").joinpath("phone_notes.toml").read_text(encoding="utf-8"))
    return PhoneNotes(
        holes=tuple(Hole(**_frozen(one)) for one in data["hole"]),
        switches=tuple(
            Switch(**{"property": "", "setting": "", "absent_is_off_with": (), **_frozen(one)})
            for one in data["switch"]
        ),
        notes=tuple(LevelNote(**{"setting": "", "on": (), **_frozen(one)}) for one in data["note"]),
        tool_keyboards=tuple(data["tool_keyboards"]["parts"]),
        typing_keyboards=tuple(data["tool_keyboards"]["typing"]),
    )


def _frozen(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in entry.items()}
