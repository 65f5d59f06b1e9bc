"""The whole table of commands. This file must never know how a shell line is read."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from droidpilot.virtual.shell.commands_apps import APP_COMMANDS
from droidpilot.virtual.shell.commands_content import content
from droidpilot.virtual.shell.commands_device import DEVICE_COMMANDS
from droidpilot.virtual.shell.commands_files import FILE_COMMANDS
from droidpilot.virtual.shell.commands_lines import LINE_COMMANDS
from droidpilot.virtual.shell.commands_text import TEXT_COMMANDS
from droidpilot.virtual.shell.dumpsys import dumpsys
from droidpilot.virtual.shell.job import Command, Job


def _toybox(job: Job) -> int | Awaitable[int]:
    name = job.args[1] if len(job.args) > 1 else ""
    command = TOYBOX_COMMANDS.get(name)
    if command is None or name == "toybox":
        return job.fail(f"toybox: {name}: Unknown command", 127)
    job.args = job.args[1:]
    return command(job)


def _reboot(job: Job) -> int:
    job.phone.faults.set("reboot")
    return 0


def _quiet(_: Job) -> int:
    return 0


def _which(job: Job) -> int:
    words = [word for word in job.args[1:] if not word.startswith("-")]
    found = [word for word in words if word.removeprefix("/system/bin/") in COMMANDS]
    for word in found:
        job.say(f"/system/bin/{word.removeprefix('/system/bin/')}")
    return 0 if found and len(found) == len(words) else 1


TOYBOX_COMMANDS: Final[dict[str, Command]] = {
    **FILE_COMMANDS,
    **TEXT_COMMANDS,
    **{name: command for name, command in LINE_COMMANDS.items() if name not in (":", "[", "sh")},
    "chmod": _quiet,
    "mkdir": _quiet,
    "reboot": _reboot,
    "sync": _quiet,
    "toybox": _toybox,
    "which": _which,
}
COMMANDS: Final[dict[str, Command]] = {
    **TOYBOX_COMMANDS,
    **LINE_COMMANDS,
    **DEVICE_COMMANDS,
    **APP_COMMANDS,
    "content": content,
    "dumpsys": dumpsys,
}
