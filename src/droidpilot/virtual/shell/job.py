"""One command that the mini shell runs: what it was given, what it may use, and what it has written.

This file must never know a single command's meaning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from droidpilot.virtual.drawing.pictures import Camera
from droidpilot.virtual.faults.trouble import Trouble
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.store import File
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.wire.tunnels import Tunnels

MAX_OUTPUT = 16 * 1024 * 1024
"""Bytes one command may write."""
NULL: Final = "/dev/null"
OUTPUTS: Final = {
    **dict.fromkeys(("/dev/tty", "/dev/stdout", "/proc/self/fd/1", "/dev/fd/1"), 1),
    **dict.fromkeys(("/dev/stderr", "/proc/self/fd/2", "/dev/fd/2"), 2),
}
"""Paths that are no files: whoever writes there writes to one of its outputs."""


Emit = Callable[[int, bytes], Awaitable[None]]
"""Sends output on: 1 or 2, and the bytes."""


class Runner(Protocol):
    """What starts and stops the in-phone server; the shell needs to know no more of it."""

    def start(self, port: int) -> asyncio.Event | None:
        """Start it on a port and return what is set when it ends by itself; None where one runs already."""
        ...

    def stop(self, ended: asyncio.Event) -> None:
        """Stop the one that `start` returned this for; another one goes on."""
        ...


class Lines(Protocol):
    """What runs lines inside a line: the shell, as a command sees it."""

    async def run_inside(self, line: str, stdin: bytes, env: Mapping[str, str], emit: Emit) -> int:
        """Run a line in a shell of its own and return its exit code."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What every command may use."""

    phone: Phone
    touch: Touch
    runner: Runner
    pause: Callable[[int], Awaitable[None]]
    """Lets so many ms of the phone's time pass."""
    forever: Callable[[], Awaitable[object]]
    """Never returns; the command is cancelled when its client goes away."""
    camera: Camera
    turn: asyncio.Lock
    """Held while a gesture lasts: inputs come one after another."""
    trouble: Trouble
    tunnels: Tunnels


@dataclass(slots=True)
class Job:
    """One command being run."""

    context: Context
    args: list[str]
    stdin: bytes = b""
    env: dict[str, str] = field(default_factory=dict)
    emit: Emit | None = None
    """Sends output on at once, for a command that does not end; None where the output goes elsewhere."""
    shell: Lines | None = None
    """The shell that runs it, for commands that run lines."""
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)

    @property
    def phone(self) -> Phone:
        return self.context.phone

    def write(self, data: bytes) -> None:
        """Write to the output; what is beyond the bound is dropped, and the command fails."""
        self.out += data[: max(0, MAX_OUTPUT + 1 - len(self.out))]

    def warn(self, data: bytes) -> None:
        """Write to the error output; what is beyond the bound is dropped."""
        self.err += data[: max(0, MAX_OUTPUT - len(self.err))]

    def say(self, text: str) -> None:
        """Write a line to the output."""
        self.write(text.encode("utf-8", "replace") + b"\n")

    def read(self, path: str) -> bytes | None:
        """Return what is in a file; None where there is none."""
        kept = self.phone.files.read(path)
        if kept is None and path in (NULL, "/dev/stdin", "/proc/self/fd/0"):
            return b"" if path == NULL else self.stdin
        return kept.data if kept is not None else None

    def put(self, path: str, data: bytes, *, mode: int = 0o100644, appends: bool = False) -> None:
        """Write a file, or to the output whose path this is.

        Raises:
            StoreFull: the path is not writable, or there is no room.
        """
        if path in OUTPUTS:
            if OUTPUTS[path] == 1:
                self.write(data)
            else:
                self.warn(data)
        elif path != NULL:
            files, now = self.phone.files, self.phone.wall_s()
            kept = files.read(path) if appends else None
            more = kept.data + data if kept is not None else data
            files.write(path, replace(kept, data=more, mtime=now) if kept is not None else File(more, mode, now))

    def fail(self, text: str, code: int = 1) -> int:
        """Write a line to the error output and return the exit code."""
        self.err += text.encode("utf-8", "replace") + b"\n"
        return code


Command = Callable[[Job], "int | Awaitable[int]"]
