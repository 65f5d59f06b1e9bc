"""What a doctor found, as values: a level, where, what, what to do next, and a stable code. It shows nothing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from droidpilot.core.errors import DroidpilotError, Exit

Level = Literal["ok", "warn", "fail"]
Group = Literal["computer", "model", "adb", "phone", "left behind"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `exit` counts where it is a failure; `serial` is empty where no phone is meant."""

    name: str
    level: Level
    text: str
    next_step: str = ""
    exit: Exit = Exit.DONE
    outcome: str = ""
    """Why, where one level has several reasons: part of the code."""
    group: Group = "computer"
    serial: str = ""

    @property
    def code(self) -> str:
        """Return what programs may rely on: the check and its outcome, `screen.locked`; `.ok` where all is well."""
        return f"{self.name.replace(' ', '_').replace('-', '_').lower()}.{self.outcome or self.level}"

    def of(self, group: Group, serial: str = "") -> Finding:
        """Return the same in a group."""
        return replace(self, group=group, serial=serial or self.serial)

    def as_json(self) -> dict[str, str]:
        """Return it as it stands in `--json`."""
        return {
            "code": self.code,
            "group": self.group,
            "serial": self.serial,
            "name": self.name,
            "level": self.level,
            "text": self.text,
            "next_step": self.next_step,
        }


def ok(name: str, text: str, outcome: str = "") -> Finding:
    """Make a finding that asks for nothing."""
    return Finding(name, "ok", text, outcome=outcome)


def warn(name: str, outcome: str, text: str, next_step: str = "") -> Finding:
    """Make a warning; it does not change the exit code."""
    return Finding(name, "warn", text, next_step, outcome=outcome)


def fail(name: str, outcome: str, text: str, next_step: str, code: Exit = Exit.DEVICE) -> Finding:
    """Make a failure."""
    return Finding(name, "fail", text, next_step, code, outcome)


def failure(name: str, error: DroidpilotError) -> Finding:
    """Make a failure of an error, with its exit code."""
    return Finding(name, "fail", error.message, error.hint, error.exit, error.code)
