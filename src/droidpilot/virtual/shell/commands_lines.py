"""Commands that scripts lean on: echo, printf, test, sh, date, sleep, which, kill. None reaches a shell of the host.

Source: toybox 0.8.9 and mksh of Android 14. This file must never know a view.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from droidpilot.virtual.shell.commands_apps import process_id
from droidpilot.virtual.shell.commands_text import unescaped, whole
from droidpilot.virtual.shell.job import Command, Job

MAX_SLEEP_S: Final = 3_600.0
MAX_WIDTH: Final = 1_000
_DATE_SIGNS: Final = frozenset("aAbBcdDeFHIjmMnpSstTuyYzZ%")
_HOLE: Final = re.compile(r"%%|%([-0]*)(\d{0,3})([a-zA-Z])")
_NUMBERS: Final[dict[str, Callable[[int, int], bool]]] = {
    "-eq": lambda a, b: a == b,
    "-ne": lambda a, b: a != b,
    "-lt": lambda a, b: a < b,
    "-le": lambda a, b: a <= b,
    "-gt": lambda a, b: a > b,
    "-ge": lambda a, b: a >= b,
}


def _echo(job: Job) -> int:
    words, letters = job.args[1:], ""
    while words and re.fullmatch("-[neE]+", words[0]):
        letters += words.pop(0)[1:]
    text = " ".join(words)
    job.write((unescaped(text) if "e" in letters else text).encode("utf-8", "replace"))
    job.write(b"" if "n" in letters else b"\n")
    return 0


def _printf(job: Job) -> int:
    """Run `printf FORM [WORD...]`: `%s`, `%d`, `%x`, `%c`; the form is used until no word is left."""
    if len(job.args) < 2:
        return job.fail("printf: usage: printf FORMAT [ARG...]")
    form, words = unescaped(job.args[1]), job.args[2:]
    holes = [hole for hole in _HOLE.finditer(form) if hole[0] != "%%"]
    unknown = next((hole[0] for hole in holes if hole[3] not in "sdixXcu"), None)
    if unknown is not None:
        return job.fail(f"printf: bad format '{unknown}'")
    at, code = 0, 0

    def fill(hole: re.Match[str]) -> str:
        nonlocal at, code
        if hole[0] == "%%":
            return "%"
        word = words[at] if at < len(words) else ""
        at += 1
        if hole[3] in "dixXu":
            number = int(word) if re.fullmatch(r"-?\d{1,18}", word) else 0
            if word and not re.fullmatch(r"-?\d{1,18}", word):
                code = job.fail(f"printf: bad number '{word[:40]}'")
            word = format(number, hole[3] if hole[3] in "xX" else "d")
        elif hole[3] == "c":
            word = word[:1]
        width = min(MAX_WIDTH, int(hole[2] or 0))
        if "-" in hole[1]:
            return word.ljust(width)
        return word.zfill(width) if "0" in hole[1] and hole[3] in "dixXu" else word.rjust(width)

    while True:
        job.write(_HOLE.sub(fill, form).encode("utf-8", "replace"))
        if not holes or at >= len(words):
            return code


def _test(job: Job) -> int:
    words = job.args[1:]
    if job.args[0] == "[":
        if words[-1:] != ["]"]:
            return job.fail("[: missing ]", 2)
        words = words[:-1]
    is_not = False
    while len(words) > 1 and words[0] == "!":
        is_not, words = not is_not, words[1:]
    holds = _holds(job, words)
    if holds is None:
        return job.fail(f"{job.args[0]}: this phone does not know: {' '.join(words)[:100]}", 2)
    return int(holds == is_not)


def _holds(job: Job, words: list[str]) -> bool | None:
    """Tell whether a condition holds; None where it is not known."""
    match words:
        case []:
            return False
        case [word]:
            return bool(word)
        case ["-n" | "-z" as sign, word]:
            return bool(word) == (sign == "-n")
        case ["-e" | "-r", path]:
            return job.read(path) is not None or job.phone.files.is_directory(path)
        case ["-f" | "-w", path]:
            return job.phone.files.read(path) is not None
        case ["-d", path]:
            return job.phone.files.read(path) is None and job.phone.files.is_directory(path)
        case ["-s", path]:
            return bool(job.read(path))
        case [first, "=" | "==", second]:
            return first == second
        case [first, "!=", second]:
            return first != second
        case [first, sign, second] if sign in _NUMBERS:
            if not all(re.fullmatch(r"-?\d{1,18}", word) for word in (first, second)):
                return None
            return _NUMBERS[sign](int(first), int(second))
        case _:
            return None


async def _sh(job: Job) -> int:
    """Run `sh -c LINE`, `sh FILE`, or the input: in this same mini shell."""
    words, given = job.args[1:], b""
    if words[:1] == ["-c"] and len(words) > 1:
        line, given = words[1], job.stdin
    elif words and not words[0].startswith("-"):
        data = job.read(words[0])
        if data is None:
            return job.fail(f"sh: {words[0][:200]}: No such file or directory", 127)
        line, given = data.decode("utf-8", "replace"), job.stdin
    elif not words:
        line = job.stdin.decode("utf-8", "replace")
    else:
        return job.fail(f"sh: {words[0][:100]}: unknown option", 2)

    async def emit(fd: int, data: bytes) -> None:
        if job.emit is not None:
            await job.emit(fd, data)
        elif fd == 1:
            job.write(data)
        else:
            job.warn(data)

    assert job.shell is not None
    return await job.shell.run_inside(line, given, job.env, emit)


def _date(job: Job) -> int:
    words = [word for word in job.args[1:] if word != "-u"]
    if len(words) > 1 or (words and not words[0].startswith("+")):
        return job.fail(f"date: this phone keeps its time and tells it: date [-u] [+FORMAT], not {words[0][:40]}")
    form = words[0][1:] if words else "%a %b %e %H:%M:%S UTC %Y"
    unknown = next((sign for sign in re.findall(r"%(.?)", form, flags=re.S) if sign not in _DATE_SIGNS), None)
    if unknown is not None:
        return job.fail(f"date: unknown format '%{unknown}'")
    now = job.phone.wall_s()
    job.say(datetime.fromtimestamp(now, UTC).strftime(form.replace("%s", str(now))))
    return 0


def _uptime(job: Job) -> int:
    now = datetime.fromtimestamp(job.phone.wall_s(), UTC)
    minutes = job.phone.now_ms() // 60_000
    up = f"{minutes} min" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}"
    job.say(f" {now:%H:%M:%S} up {up},  0 users,  load average: 0.00, 0.00, 0.00")
    return 0


async def _sleep(job: Job) -> int:
    try:
        seconds = float(job.args[1].removesuffix("s"))
    except (IndexError, ValueError):
        return job.fail("sleep: needs a number of seconds")
    if not 0 <= seconds <= MAX_SLEEP_S:
        return job.fail("sleep: out of range")
    await job.context.pause(int(seconds * 1000))
    return 0


def _kill(job: Job) -> int:
    """Refuse, as a phone does to its shell user: an app's process is not his."""
    pids = [word for word in job.args[1:] if not word.startswith("-")]
    running = {process_id(job.phone, name) for name in job.phone.tasks}
    for pid in pids:
        why = "Operation not permitted" if whole(pid) in running else "No such process"
        job.fail(f"/system/bin/sh: kill: {pid[:40]}: {why}")
    return 1


def _env(job: Job) -> int:
    if len(job.args) > 1:
        return job.fail("env: this phone only lists: set a variable with NAME=VALUE before the command", 125)
    for name, value in sorted(job.env.items()):
        job.say(f"{name}={value}")
    return 0


def _id(job: Job) -> int:
    if job.args[1:] == ["-u"]:
        job.say("2000")
        return 0
    job.say("uid=2000(shell) gid=2000(shell) groups=2000(shell) context=u:r:shell:s0")
    return 0


def _whoami(job: Job) -> int:
    job.say("shell")
    return 0


LINE_COMMANDS: Final[dict[str, Command]] = {
    ":": lambda _: 0,
    "[": _test,
    "date": _date,
    "echo": _echo,
    "env": _env,
    "false": lambda _: 1,
    "id": _id,
    "kill": _kill,
    "printenv": _env,
    "printf": _printf,
    "sh": _sh,
    "sleep": _sleep,
    "test": _test,
    "true": lambda _: 0,
    "uptime": _uptime,
    "whoami": _whoami,
}
