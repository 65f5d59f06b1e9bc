"""Commands about files: lists, sums, sizes, copies. Options that are not known here are refused, never passed over.

Source: toybox 0.8.9 of Android 14. This file must never know how a shell line is read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from droidpilot.virtual.shell.job import Command, Job
from droidpilot.virtual.store import MAX_FILES_BYTES, StoreFull, clean_path


class BadOption(Exception):
    """An option that the command does not know; it says so and exits with 1 or 2."""


def options(job: Job, known: str) -> tuple[str, list[str]]:
    """Return the letters of the options and the other words.

    Raises:
        BadOption: a letter that is not known.
    """
    words = [word for word in job.args[1:] if word == "-" or not word.startswith("-")]
    letters = "".join(word[1:] for word in job.args[1:] if word != "-" and word.startswith("-"))
    unknown = next((letter for letter in letters if letter not in known), None)
    if unknown is not None:
        raise BadOption(f"{job.args[0]}: Unknown option '{unknown}' (see \"{job.args[0]} --help\")")
    return letters, words


def refusing(run: Callable[[Job], int], code: int = 1) -> Command:
    """Return a command that says which option it does not know."""

    def command(job: Job) -> int:
        try:
            return run(job)
        except BadOption as problem:
            return job.fail(str(problem), code)

    return command


def _cat(job: Job) -> int:
    _, paths = options(job, "u")
    code = 0
    for path in paths or ["-"]:
        kept = job.stdin if path == "-" else job.read(path)
        if kept is None:
            code = job.fail(f"cat: {path}: No such file or directory")
        else:
            job.write(kept)
    return code


def _ls(job: Job) -> int:
    letters, paths = options(job, "1aAdhlprt")
    files, code = job.phone.files, 0
    paths = paths or ["/"]
    directories = [path for path in paths if job.read(path) is None and files.is_directory(path)]
    for path in paths:
        if job.read(path) is not None or (path in directories and "d" in letters):
            job.say(_entry(job, path, path, letters))
        elif path not in directories:
            code = job.fail(f"ls: {path}: No such file or directory")
    for path in [] if "d" in letters else directories:
        if len(paths) > 1:
            job.say(f"{path}:")
        names = [name for name in files.names(path) if "a" in letters or "A" in letters or not name.startswith(".")]
        names = sorted([*([".", ".."] if "a" in letters else []), *names])
        if "t" in letters:
            names.sort(key=lambda name: -_kept(job, f"{path}/{name}")[2])
        if "l" in letters:
            job.say(f"total {sum(-(-_kept(job, f'{path}/{name}')[1] // 4096) * 4 for name in names)}")
        for name in reversed(names) if "r" in letters else names:
            job.say(_entry(job, f"{path}/{name}", name, letters))
    return code


def _kept(job: Job, path: str) -> tuple[int, int, int]:
    """Return mode, size and time of change of a file or a directory."""
    kept = job.phone.files.read(path)
    return (kept.mode, len(kept.data), kept.mtime) if kept is not None else (0o040771, 4096, 0)


def _entry(job: Job, path: str, name: str, letters: str) -> str:
    mode, size, mtime = _kept(job, path)
    is_directory = mode & 0o040000
    shown = f"{name}/" if is_directory and "p" in letters else name
    if "l" not in letters:
        return shown
    bits = "".join(letter if mode & (1 << (8 - at)) else "-" for at, letter in enumerate("rwxrwxrwx"))
    when = datetime.fromtimestamp(mtime, UTC).strftime("%Y-%m-%d %H:%M")
    told = human(size) if "h" in letters else str(size)
    return f"{'d' if is_directory else '-'}{bits} {2 if is_directory else 1} shell shell {told:>8} {when} {shown}"


def human(size: float) -> str:
    """Return a size as people read it, as toybox's `-h` does."""
    for unit in ("", "K", "M"):
        if size < 1024:
            return f"{size:.1f}{unit}" if unit and size < 10 else f"{size:.0f}{unit}"
        size /= 1024
    return f"{size:.1f}G"


def _rm(job: Job) -> int:
    flags, paths = options(job, "fRr")
    code = 0
    for path in paths:
        gone = job.phone.files.remove_tree(path) if "r" in flags.lower() else int(job.phone.files.remove(path))
        if not gone and "f" not in flags:
            code = job.fail(f"rm: {path}: No such file or directory")
    return code


def _sum(name: str) -> Command:
    def run(job: Job) -> int:
        letters, paths = options(job, "b")
        code = 0
        for path in paths or ["-"]:
            data = job.stdin if path == "-" else job.read(path)
            if data is None:
                code = job.fail(f"{job.args[0]}: {path}: No such file or directory")
                continue
            digest = hashlib.new(name, data, usedforsecurity=False).hexdigest()
            job.say(digest if "b" in letters else f"{digest}  {path}")
        return code

    return refusing(run)


def _base64(job: Job) -> int:
    """Write the input as base64, or read it; lines are 76 long where `-w` says nothing else."""
    words, width = job.args[1:], 76
    if "-w" in words and words[words.index("-w") + 1 : words.index("-w") + 2] == ["0"]:
        at, width = words.index("-w"), 0
        del words[at : at + 2]
    letters, paths = options(Job(job.context, [job.args[0], *words]), "di")
    data = job.stdin if not paths or paths == ["-"] else job.read(paths[0])
    if data is None:
        return job.fail(f"base64: {paths[0]}: No such file or directory")
    if "d" in letters:
        try:
            job.write(base64.b64decode(b"".join(data.split()), validate=True))
        except binascii.Error:
            return job.fail("base64: bad input")
        return 0
    text = base64.b64encode(data)
    for begin in range(0, len(text), width or max(1, len(text))):
        job.write(text[begin : begin + (width or len(text))] + b"\n")
    return 0


def _touch_file(job: Job) -> int:
    _, paths = options(job, "cm")
    for path in paths:
        try:
            job.put(path, b"", appends=True)
        except StoreFull as full:
            return job.fail(f"touch: {full}")
    return 0


def _stat(job: Job) -> int:
    words = job.args[1:]
    form = words[1] if words[:1] == ["-c"] and len(words) > 1 else None
    if (form or "%s") not in ("%s", "%n", "%Y", "%a"):
        return job.fail(f"stat: this phone knows %s, %n, %Y and %a, not {(form or '')[:40]}")
    for path in words[2:] if form is not None else words:
        if job.phone.files.read(path) is None and not job.phone.files.is_directory(path):
            return job.fail(f"stat: '{path}': No such file or directory")
        mode, size, mtime = _kept(job, path)
        told = {"%s": str(size), "%n": path, "%Y": str(mtime), "%a": f"{mode & 0o777:o}"}
        job.say(told[form] if form is not None else f"  File: {clean_path(path)}\n  Size: {size}")
    return 0


def _tee(job: Job) -> int:
    letters, paths = options(job, "a")
    job.write(job.stdin)
    try:
        for path in paths:
            job.put(path, job.stdin, appends="a" in letters)
    except StoreFull as full:
        return job.fail(f"tee: {full}")
    return 0


def _df(job: Job) -> int:
    """Tell how full the storage is, in KiB or as people read it."""
    letters, _ = options(job, "hk")
    # With more than this in use Android itself would call the storage low: less than 5 % would be free.
    total = MAX_FILES_BYTES // 1024 + 4 * 1024 * 1024
    used = 4 * 1024 * 1024 - 1 + sum(len(kept.data) for kept in job.phone.files.files.values()) // 1024
    if job.phone.faults.is_set("storage-full"):
        used = total
    share = -(-100 * used // total)
    if "h" in letters:
        job.say("Filesystem      Size  Used Avail Use% Mounted on")
        sizes = [human(size * 1024) for size in (total, used, total - used)]
        job.say(f"/dev/block/dm-5 {sizes[0]:>4} {sizes[1]:>5} {sizes[2]:>5} {share:>3}% /data")
        return 0
    job.say("Filesystem     1K-blocks    Used Available Use% Mounted on")
    job.say(f"/dev/block/dm-5 {total:>8} {used:>7} {total - used:>9} {share:>3}% /data")
    return 0


FILE_COMMANDS: Final[dict[str, Command]] = {
    "base64": refusing(_base64),
    "cat": refusing(_cat),
    "df": refusing(_df),
    "ls": refusing(_ls),
    "md5": _sum("md5"),
    "md5sum": _sum("md5"),
    "rm": refusing(_rm),
    "sha1sum": _sum("sha1"),
    "sha256sum": _sum("sha256"),
    "stat": _stat,
    "tee": refusing(_tee),
    "touch": refusing(_touch_file),
}
