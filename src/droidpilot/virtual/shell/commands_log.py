"""logcat: the phone's log with the filters and forms that people use, at once or as it is written.

Source: `logcat --help` and the formats of liblog, Android 14. This file must never change anything but the log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final, get_args

from droidpilot.virtual.logbook import Buffer, LogLine
from droidpilot.virtual.shell.job import Job
from droidpilot.virtual.shell.patterns import BadPattern, Pattern

POLL_S: Final = 0.05
LEVELS: Final = "VDIWEFS"
BUFFERS: Final = (*get_args(Buffer), "radio", "kernel")
DEFAULT_BUFFERS: Final = frozenset({"main", "system", "crash"})
TAKES_VALUE: Final = {"-v": "format", "-b": "buffer", "-t": "count", "-T": "count", "-e": "regex", "-m": "most"}
LONG: Final = {
    "--format": "-v",
    "--buffer": "-b",
    "--tail": "-t",
    "--regex": "-e",
    "--max-count": "-m",
    "--clear": "-c",
    "--dump": "-d",
    "--pid": "--pid",
}


class BadLogcat(Exception):
    """The words cannot be used; logcat prints why and exits."""


@dataclass(slots=True)
class Wanted:
    """What a logcat command asks for."""

    form: str = "threadtime"
    buffers: frozenset[str] = DEFAULT_BUFFERS
    ends: bool = False
    clears: bool = False
    silent: bool = False
    tells: str = ""
    """What is told of the buffers in place of their lines: `g` their sizes, `S` how much is in them."""
    count: int | None = None
    most: int | None = None
    pid: int | None = None
    pattern: Pattern | None = None
    levels: dict[str, str] = field(default_factory=dict)

    def takes(self, line: LogLine) -> bool:
        """Tell whether a line is asked for."""
        least = self.levels.get(line.tag, self.levels.get("*", "S" if self.silent else "V"))
        return (
            line.buffer in self.buffers
            and LEVELS.index(line.level) >= LEVELS.index(least)
            and (self.pid is None or self.pid == line.pid)
            and (self.pattern is None or self.pattern.is_in(line.text))
        )


def read_words(words: list[str]) -> Wanted:
    """Read the words after `logcat`.

    Raises:
        BadLogcat: an option or a value that logcat does not know.
    """
    wanted = Wanted()
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.partition("=")
        name = LONG.get(name, name)
        if not name.startswith("-"):
            tag, _, level = word.partition(":")
            if (level or "V").upper() not in LEVELS:
                raise BadLogcat(f"Invalid filter expression '{word[:100]}'")
            wanted.levels[tag] = (level or "V").upper()
        elif name in TAKES_VALUE or name == "--pid":
            if not equals and not waiting:
                raise BadLogcat(f"option requires an argument -- '{name.lstrip('-')}'")
            _set(wanted, name, value if equals else waiting.pop(0))
        elif name == "-d":
            wanted.ends = True
        elif name == "-c":
            wanted.clears = True
        elif name == "-s":
            wanted.silent = True
        elif name in ("-g", "-S", "--buffer-size", "--statistics"):
            wanted.tells = "S" if name in ("-S", "--statistics") else "g"
        elif name not in ("-D", "-L"):
            raise BadLogcat(f"Unknown option '{word[:100]}'")
    return wanted


def _set(wanted: Wanted, name: str, value: str) -> None:
    if name == "-v":
        if value in FORMS:
            wanted.form = value
        elif value not in ("color", "usec", "UTC", "year", "zone", "epoch", "printable", "descriptive"):
            raise BadLogcat(f'Invalid parameter "{value[:100]}" to -v')
    elif name == "-b":
        names = {*BUFFERS} if value == "all" else DEFAULT_BUFFERS if value == "default" else {*value.split(",")}
        if not names <= {*BUFFERS}:
            raise BadLogcat(f"Unknown buffer '{value[:100]}'")
        wanted.buffers = frozenset(names)
    elif name == "-e":
        try:
            wanted.pattern = Pattern(value)
        except BadPattern as problem:
            raise BadLogcat(f"Invalid regex: {problem}") from problem
    elif name == "-t" or name == "-T":
        # A time instead of a number takes everything: the phone is younger than most times that are asked for.
        wanted.count = int(value) if value.isdecimal() else None
        wanted.ends = wanted.ends or name == "-t"
    elif not value.isdecimal():
        raise BadLogcat(f"{name} {value[:100]} is no number")
    elif name == "-m":
        wanted.most = int(value)
    else:
        wanted.pid = int(value)


def _moment(at_s: float) -> str:
    return datetime.fromtimestamp(at_s, UTC).strftime("%m-%d %H:%M:%S.%f")[:-3]


FORMS: Final[dict[str, Callable[[LogLine, float], str]]] = {
    "brief": lambda line, _: f"{line.level}/{line.tag:<8}({line.pid:>5}): {line.text}",
    "process": lambda line, _: f"{line.level}({line.pid:>5}) {line.text}  ({line.tag})",
    "tag": lambda line, _: f"{line.level}/{line.tag:<8}: {line.text}",
    "raw": lambda line, _: line.text,
    "time": lambda line, at: f"{_moment(at)} {line.level}/{line.tag:<8}({line.pid:>5}): {line.text}",
    "threadtime": lambda line, at: f"{_moment(at)} {line.pid:>5} {line.pid:>5} {line.level} {line.tag:<8}: {line.text}",
    "long": lambda line, at: f"[ {_moment(at)} {line.pid:>5}:{line.pid:>5} {line.level}/{line.tag:<8} ]\n{line.text}\n",
}


async def logcat(job: Job) -> int:
    """Run `logcat ...`."""
    try:
        wanted = read_words(job.args[1:])
    except BadLogcat as problem:
        return job.fail(f"logcat: {problem}", 1)
    logbook = job.phone.logbook
    with job.phone.lock:
        if wanted.clears:
            logbook.clear()
            return 0
        job.phone.advance()
        seen, kept = logbook.count, list(logbook.lines)
    if wanted.tells:
        _tell(job, wanted, kept)
        return 0
    began = job.phone.wall_s() - job.phone.now_ms() / 1000
    told = [line for line in kept if wanted.takes(line)]
    if wanted.count is not None:
        told = told[-wanted.count :] if wanted.count else []
    writer = _Writer(wanted, began, {line.buffer for line in told} or {"main"})
    job.out += writer.write(told)
    if wanted.ends or job.emit is None or writer.is_over:
        return 0
    await job.emit(1, bytes(job.out))
    job.out.clear()
    while not writer.is_over:
        await asyncio.sleep(POLL_S)
        with job.phone.lock:
            job.phone.advance()
            fresh = list(logbook.lines)[-(logbook.count - seen) :] if logbook.count > seen else []
            seen = logbook.count
        data = writer.write([line for line in fresh if wanted.takes(line)])
        if data:
            await job.emit(1, data)
    return 0


def _tell(job: Job, wanted: Wanted, kept: list[LogLine]) -> None:
    """Say how large the buffers are, or how much stands in them."""
    names = sorted(wanted.buffers, key=BUFFERS.index)
    sizes = {name: [len(line.text.encode()) for line in kept if line.buffer == name] for name in names}
    if wanted.tells == "g":
        for name in names:
            used = -(-sum(sizes[name]) // 1024)
            job.say(
                f"{name}: ring buffer is 256 KiB ({used} KiB consumed, 256 KiB readable), "
                "max entry is 5120 B, max payload is 4068 B"
            )
        return
    columns = [*names, "Total"]
    figures = [f"{sum(sizes[name])}/{len(sizes[name])}" for name in names]
    figures.append(f"{sum(map(sum, sizes.values()))}/{sum(map(len, sizes.values()))}")
    job.say("size/num" + "".join(f"{name:>16}" for name in columns))
    job.say("Now     " + "".join(f"{figure:>16}" for figure in figures))


class _Writer:
    """Writes lines in one form, with the heads of the buffers they come from, up to the most that is wanted."""

    def __init__(self, wanted: Wanted, began_s: float, first: set[str]) -> None:
        self._wanted = wanted
        self._began_s = began_s
        self._left = wanted.most
        self._heads = first
        self._is_first = True

    @property
    def is_over(self) -> bool:
        return self._left is not None and self._left <= 0

    def write(self, lines: list[LogLine]) -> bytes:
        out: list[str] = []
        if self._is_first:
            out += [f"--------- beginning of {name}" for name in sorted(self._heads, key=BUFFERS.index)]
            self._is_first = False
        for line in lines:
            if self.is_over:
                break
            if line.buffer not in self._heads:
                self._heads.add(line.buffer)
                out.append(f"--------- beginning of {line.buffer}")
            out.append(FORMS[self._wanted.form](line, self._began_s + line.at_ms / 1000))
            self._left = None if self._left is None else self._left - 1
        return "".join(f"{text}\n" for text in out).encode("utf-8", "replace")
