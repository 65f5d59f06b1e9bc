"""The situations of docs/howto/phone-trouble.md: what a stand-in phone says in each, and what `doctor` prints of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

from droidpilot.core.clock import SystemClock
from droidpilot.core.errors import DeviceBusy
from droidpilot.device.kept import Change, ChangeList
from droidpilot.device.lease import Lease
from tests.cli.cli_shell import Shell
from tests.fakes.told_phone import HEALTHY, Told, told_phones

PAGE = Path(__file__).resolve().parents[2] / "docs" / "howto" / "phone-trouble.md"
SERIAL = "R5CT1"
WIRELESS = "192.168.1.7:37001"
_BLOCK = re.compile(r"<!-- doctor: (?P<name>[a-z-]+) -->\n```text\n(?P<lines>.*?)```\n", re.DOTALL)


@dataclass(frozen=True)
class Situation:
    """A phone in a state, what it answers beside the healthy answers, and the checks whose lines are shown."""

    shown: tuple[str, ...]
    state: str = "device"
    answers: Mapping[str, Told] = field(default_factory=dict)
    serial: str = SERIAL
    words: tuple[str, ...] = ()
    is_changed: bool = False
    is_away: bool = False


def _getprop(*lines: str) -> str:
    return str(HEALTHY["getprop"]) + "".join(f"[{line.replace('=', ']: [')}]\n" for line in lines)


SITUATIONS: Mapping[str, Situation] = {
    "none": Situation(("phone",), is_away=True),
    "unauthorized": Situation(("phone",), "unauthorized"),
    "authorizing": Situation(("phone",), "authorizing"),
    "offline": Situation(("phone",), "offline"),
    "no-permissions": Situation(("phone",), "no permissions (missing udev rules?)"),
    "bootloader": Situation(("phone",), "bootloader"),
    "recovery": Situation(("phone",), "recovery"),
    "hung": Situation(
        ("answers",), answers={name: None for name in HEALTHY if not name.startswith(("getprop", "settings", "true"))}
    ),
    "input-denied": Situation(
        ("shell rights",), answers={"getprop": _getprop("ro.product.brand=Redmi", "persist.security.adbinput=0")}
    ),
    "settings-denied": Situation(
        ("shell rights",),
        answers={
            "getprop": _getprop("ro.product.brand=OnePlus"),
            "settings delete secure droidpilot_never_set": ("java.lang.SecurityException: Permission denial\n", 255),
        },
    ),
    "keyboard-left": Situation(
        ("keyboard",),
        answers={"settings list secure": "default_input_method=com.github.uiautomator/.AdbKeyboard\n"},
    ),
    "screen-off": Situation(("screen",), answers={"dumpsys power": "mWakefulness=Asleep\n"}),
    "locked": Situation(
        ("screen",), answers={"dumpsys window": "KeyguardServiceDelegate\n  showing=true\n  secure=true\n"}
    ),
    "storage-low": Situation(
        ("storage",), answers={"df -k /data": "Filesystem 1K-blocks Used Available\n/d 60000000 1 20480 99% /data\n"}
    ),
    "wireless-hole": Situation(
        ("wireless adb",),
        serial=WIRELESS,
        answers={"getprop": _getprop("ro.build.version.security_patch=2026-03-05")},
    ),
    "left-behind": Situation(("left behind",), is_changed=True, is_away=True),
    "repair-away": Situation(("repair",), is_changed=True, is_away=True, words=("--repair",)),
}


def printed(situation: Situation, root: Path) -> list[str]:
    """Run `doctor` in a situation and return the lines of the checks that are shown, next steps with them."""
    shell = Shell(root)
    program = shell.cwd / "bin" / "adb"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\necho 'Android Debug Bridge version 1.0.41'\n")
    program.chmod(0o755)
    phones = {} if situation.is_away else {situation.serial: situation.state}
    if situation.is_changed:
        ChangeList(shell.home, situation.serial).put(_CHANGE)
    with told_phones(phones, situation.answers) as told, ExitStack() as stack:
        if situation.state == "device" and not situation.is_away:
            with suppress(DeviceBusy):  # so that no in-phone server is tried on a stand-in
                stack.enter_context(Lease.take(shell.home, situation.serial, clock=SystemClock()))
        done = shell.quick("doctor", *situation.words, ANDROID_ADB_SERVER_PORT=str(told.port), PATH=str(program.parent))
    lines = done.stdout.splitlines()
    found: list[str] = []
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        if line[:4].strip() in ("warn", "fail") and line[6:].startswith(tuple(f"{name}  " for name in situation.shown)):
            found += [line, after] if after.strip().startswith("->") else [line]
    return found


_CHANGE = Change(
    kind="keyboard",
    namespace="secure",
    key="default_input_method",
    before="com.google.android.inputmethod.latin/.LatinIME",
    ours=("com.github.uiautomator/.AdbKeyboard",),
    since="2026-11-30T08:15:00.000Z",
    pid=1,
    serial=SERIAL,
)


def blocks() -> dict[str, list[str]]:
    """Return the blocks of the page by situation."""
    text = PAGE.read_text(encoding="utf-8")
    return {found["name"]: found["lines"].splitlines() for found in _BLOCK.finditer(text)}
