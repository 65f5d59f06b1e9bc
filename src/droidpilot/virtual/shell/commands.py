"""Commands about files and text, and the whole table. This file must never know how a shell line is read."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable
from typing import Final

from droidpilot.virtual.shell.commands_apps import APP_COMMANDS
from droidpilot.virtual.shell.commands_content import content
from droidpilot.virtual.shell.commands_device import DEVICE_COMMANDS
from droidpilot.virtual.shell.dumpsys import dumpsys
from droidpilot.virtual.shell.patterns import BadPattern, Pattern
from droidpilot.virtual.shell.shell import Command, Job
from droidpilot.virtual.store import MAX_FILES_BYTES, File, StoreFull, clean_path

MAX_SLEEP_S = 3_600.0


def _echo(job: Job) -> int:
    words = job.args[1:]
    is_open = words[:1] == ["-n"]
    job.out += " ".join(words[is_open:]).encode("utf-8", "replace") + (b"" if is_open else b"\n")
    return 0


def _cat(job: Job) -> int:
    code = 0
    for path in job.args[1:]:
        kept = job.phone.files.read(path)
        if kept is None:
            code = job.fail(f"cat: {path}: No such file or directory")
        else:
            job.write(kept.data)
    if len(job.args) == 1:
        job.write(job.stdin)
    return code


def _ls(job: Job) -> int:
    files = job.phone.files
    code = 0
    is_long = any(word.startswith("-") and "l" in word for word in job.args[1:])
    for path in [word for word in job.args[1:] if not word.startswith("-")] or ["/"]:
        kept = files.read(path)
        if kept is not None:
            job.say(f"-rw-r--r-- 1 shell shell {len(kept.data)} 2026-01-01 00:00 {path}" if is_long else path)
        elif files.is_directory(path):
            for name in files.names(path):
                job.say(name)
        else:
            code = job.fail(f"ls: {path}: No such file or directory")
    return code


def _rm(job: Job) -> int:
    flags = "".join(word[1:] for word in job.args[1:] if word.startswith("-"))
    code = 0
    for path in [word for word in job.args[1:] if not word.startswith("-")]:
        gone = job.phone.files.remove_tree(path) if "r" in flags else int(job.phone.files.remove(path))
        if not gone and "f" not in flags:
            code = job.fail(f"rm: {path}: No such file or directory")
    return code


def _md5sum(job: Job) -> int:
    code = 0
    if len(job.args) == 1:
        job.say(f"{hashlib.md5(job.stdin, usedforsecurity=False).hexdigest()}  -")
    for path in job.args[1:]:
        kept = job.phone.files.read(path)
        if kept is None:
            code = job.fail(f"{job.args[0]}: {path}: No such file or directory")
        else:
            job.say(f"{hashlib.md5(kept.data, usedforsecurity=False).hexdigest()}  {path}")
    return code


def _touch_file(job: Job) -> int:
    for path in job.args[1:]:
        kept = job.phone.files.read(path)
        try:
            job.phone.files.write(path, File(kept.data if kept else b"", 0o100644, job.phone.wall_s()))
        except StoreFull as full:
            return job.fail(f"touch: {full}")
    return 0


def _stat(job: Job) -> int:
    for path in [word for word in job.args[1:] if not word.startswith("-")]:
        kept = job.phone.files.read(path)
        if kept is None:
            return job.fail(f"stat: '{path}': No such file or directory")
        job.say(f"  File: {clean_path(path)}\n  Size: {len(kept.data)}")
    return 0


def _grep(job: Job) -> int:
    words = [word for word in job.args[1:] if not word.startswith("-")]
    flags = "".join(word[1:] for word in job.args[1:] if word.startswith("-"))
    if not words:
        return job.fail("grep: no pattern", 2)
    try:
        wanted = Pattern(words[0], ignores_case="i" in flags)
    except BadPattern as problem:
        return job.fail(f"grep: {problem}", 2)
    kept = job.phone.files.read(words[1]) if len(words) > 1 else None
    text = (kept.data if kept is not None else job.stdin).decode("utf-8", "replace")
    found = [line for line in text.splitlines() if wanted.is_in(line) != ("v" in flags)]
    if "c" in flags:
        job.say(str(len(found)))
    else:
        for line in found:
            job.say(line)
    return 0 if found else 1


def _head(job: Job) -> int:
    count = next((int(word.lstrip("-n")) for word in job.args[1:] if word.lstrip("-n").isdigit()), 10)
    job.write(b"".join(_given(job).splitlines(keepends=True)[:count]))
    return 0


def _given(job: Job) -> bytes:
    """Return the files that were named one after another, or the input."""
    paths = [word for word in job.args[1:] if not word.startswith("-") and not word.isdecimal()]
    kept = [job.phone.files.read(path) for path in paths]
    return b"".join(file.data for file in kept if file is not None) if paths else job.stdin


def _tail(job: Job) -> int:
    count = next((int(word.lstrip("-n")) for word in job.args[1:] if word.lstrip("-n").isdigit()), 10)
    job.write(b"".join(_given(job).splitlines(keepends=True)[-count:]))
    return 0


def _sort(job: Job) -> int:
    lines = sorted(_given(job).splitlines(), reverse="-r" in job.args)
    job.write(b"".join(line + b"\n" for line in lines))
    return 0


def _tee(job: Job) -> int:
    job.write(job.stdin)
    try:
        for path in [word for word in job.args[1:] if not word.startswith("-")]:
            job.phone.files.write(path, File(job.stdin, 0o100644, job.phone.wall_s()))
    except StoreFull as full:
        return job.fail(f"tee: {full}")
    return 0


def _wc(job: Job) -> int:
    data = _given(job)
    job.say(str(len(data) if "-c" in job.args else len(data.split()) if "-w" in job.args else data.count(b"\n")))
    return 0


async def _sleep(job: Job) -> int:
    try:
        seconds = float(job.args[1])
    except (IndexError, ValueError):
        return job.fail("sleep: needs a number of seconds")
    if not 0 <= seconds <= MAX_SLEEP_S:
        return job.fail("sleep: out of range")
    await job.context.pause(int(seconds * 1000))
    return 0


def _toybox(job: Job) -> int | Awaitable[int]:
    name = job.args[1] if len(job.args) > 1 else ""
    command = FILE_COMMANDS.get(name)
    if command is None or name == "toybox":
        return job.fail(f"toybox: {name}: Unknown command", 127)
    job.args = job.args[1:]
    return command(job)


def _reboot(job: Job) -> int:
    job.phone.faults.set("reboot")
    return 0


def _quiet(_: Job) -> int:
    return 0


def _id(job: Job) -> int:
    job.say("uid=2000(shell) gid=2000(shell) groups=2000(shell) context=u:r:shell:s0")
    return 0


def _whoami(job: Job) -> int:
    job.say("shell")
    return 0


def _test(job: Job) -> int:
    """Compare words: `[ A = B ]`, `[ A != B ]`, `[ -n A ]`, `[ -z A ]`; exit code 1 where it does not hold."""
    words = job.args[1:]
    if job.args[0] == "[" and (not words or words.pop() != "]"):
        return job.fail("/system/bin/sh: [: missing ]", 2)
    match words:
        case [one, "=" | "==", other]:
            return int(one != other)
        case [one, "!=", other]:
            return int(one == other)
        case ["-n", one] | [one]:
            return int(not one)
        case ["-z", one]:
            return int(bool(one))
    return job.fail("/system/bin/sh: [: this shell compares no more than two words", 2)


def _which(job: Job) -> int:
    found = [word for word in job.args[1:] if word in COMMANDS]
    for word in found:
        job.say(f"/system/bin/{word}")
    return 0 if found else 1


def _df(job: Job) -> int:
    """Tell how full the storage is, in KiB."""
    # With more than this in use Android itself would call the storage low: less than 5 % would be free.
    total = MAX_FILES_BYTES // 1024 + 4 * 1024 * 1024
    used = 4 * 1024 * 1024 - 1 + sum(len(kept.data) for kept in job.phone.files.files.values()) // 1024
    if job.phone.faults.is_set("storage-full"):
        used = total
    share = -(-100 * used // total)
    job.say("Filesystem     1K-blocks    Used Available Use% Mounted on")
    job.say(f"/dev/block/dm-5 {total:>8} {used:>7} {total - used:>9} {share:>3}% /data")
    return 0


def _date(job: Job) -> int:
    job.say(str(job.phone.wall_s()))
    return 0


FILE_COMMANDS: Final[dict[str, Command]] = {
    "[": _test,
    "cat": _cat,
    "chmod": _quiet,
    "date": _date,
    "df": _df,
    "echo": _echo,
    "false": lambda _: 1,
    "grep": _grep,
    "head": _head,
    "id": _id,
    "ls": _ls,
    "md5": _md5sum,
    "md5sum": _md5sum,
    "mkdir": _quiet,
    "reboot": _reboot,
    "rm": _rm,
    "sleep": _sleep,
    "sort": _sort,
    "stat": _stat,
    "sync": _quiet,
    "tail": _tail,
    "tee": _tee,
    "test": _test,
    "touch": _touch_file,
    "toybox": _toybox,
    "true": _quiet,
    "wc": _wc,
    "which": _which,
    "whoami": _whoami,
}
COMMANDS: Final[dict[str, Command]] = {
    **FILE_COMMANDS,
    **DEVICE_COMMANDS,
    **APP_COMMANDS,
    "dumpsys": dumpsys,
}
COMMANDS["content"] = content
