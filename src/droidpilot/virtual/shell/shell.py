"""The mini shell: runs parsed command lines against a table of commands. `commands*.py` hold the table's rows.

Output is bounded and handed out after each command. This file must never know a single command's meaning.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from droidpilot.virtual.drawing.pictures import Camera
from droidpilot.virtual.faults.trouble import Trouble
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell.syntax import Simple, SyntaxProblem, Word, parse
from droidpilot.virtual.store import File, StoreFull
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.wire.tunnels import Tunnels

MAX_OUTPUT = 16 * 1024 * 1024
"""Bytes one command may write."""
NOT_FOUND: Final = 127

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
    """Sends output on at once, for a command that does not end; None inside a pipe."""
    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)

    @property
    def phone(self) -> Phone:
        return self.context.phone

    def write(self, data: bytes) -> None:
        """Write to the output; what is beyond the bound is dropped, and the command fails."""
        self.out += data[: max(0, MAX_OUTPUT + 1 - len(self.out))]

    def say(self, text: str) -> None:
        """Write a line to the output."""
        self.write(text.encode("utf-8", "replace") + b"\n")

    def fail(self, text: str, code: int = 1) -> int:
        """Write a line to the error output and return the exit code."""
        self.err += text.encode("utf-8", "replace") + b"\n"
        return code


Command = Callable[[Job], "int | Awaitable[int]"]


class Shell:
    """One shell with its variables."""

    def __init__(self, context: Context, commands: Mapping[str, Command], emit: Emit) -> None:
        self._context = context
        self._commands = commands
        self._emit = emit
        self._env: dict[str, str] = {"HOME": "/", "USER": "shell", "PATH": "/system/bin", "PWD": "/"}
        self._status = 0
        self._is_over = False

    @property
    def status(self) -> int:
        return self._status

    @property
    def is_over(self) -> bool:
        """Tell whether `exit` was run."""
        return self._is_over

    async def run(self, line: str, stdin: bytes = b"") -> int:
        """Run a command line and return the exit code of its last command."""
        try:
            steps = parse(line)
        except SyntaxProblem as problem:
            await self._emit(2, f"/system/bin/sh: {problem}\n".encode())
            self._status = 2
            return self._status
        for step in steps:
            if (step.connector == "&&" and self._status != 0) or (step.connector == "||" and self._status == 0):
                continue
            await self._pipeline(step.pipeline, stdin)
            if self._is_over:
                break
        return self._status

    async def _pipeline(self, pipeline: list[Simple], stdin: bytes) -> None:
        given = stdin
        for number, simple in enumerate(pipeline):
            job = await self._simple(simple, given, emit=self._emit if len(pipeline) == 1 else None)
            given = b""
            is_last = number == len(pipeline) - 1
            if simple.joins_errors:
                job.out += job.err
                job.err.clear()
            self._redirect(simple, job)
            if job.err:
                await self._emit(2, bytes(job.err))
            if is_last and job.out:
                await self._emit(1, bytes(job.out))
            elif not is_last:
                given = bytes(job.out)

    async def _simple(self, simple: Simple, stdin: bytes, *, emit: Emit | None) -> Job:
        words = [self._expand(word) for word in simple.words]
        sets = {name: self._expand(word) for name, word in simple.sets}
        while words and words[0] in ("exec", "command"):
            words = words[1:]
        job = Job(self._context, words, stdin, {**self._env, **sets}, emit)
        for sign, word in simple.redirects:
            if sign == "<":
                kept = self._context.phone.files.read(self._expand(word))
                if kept is None:
                    self._status = job.fail(
                        f"/system/bin/sh: can't open {self._expand(word)}: No such file or directory"
                    )
                    return job
                job.stdin = kept.data
        if not words:
            self._env |= sets
            self._status = 0
        elif words[0] == "export":
            self._env |= dict(word.split("=", 1) for word in words[1:] if "=" in word)
            self._status = 0
        elif words[0] == "exit":
            self._status = int(words[1]) & 0xFF if len(words) > 1 and words[1].isdigit() else self._status
            self._is_over = True
        else:
            self._status = await self._command(words[0], job)
        return job

    async def _command(self, name: str, job: Job) -> int:
        command = self._commands.get(name.removeprefix("/system/bin/"))
        if command is None:
            return job.fail(f"/system/bin/sh: {name[:200]}: inaccessible or not found", NOT_FOUND)
        with self._context.phone.lock:
            # A command finds the phone as it is now, not as it was when somebody looked last.
            self._context.phone.advance()
            done = command(job)
        code = await done if inspect.isawaitable(done) else done
        if len(job.out) > MAX_OUTPUT:
            del job.out[MAX_OUTPUT:]
            return job.fail(f"{name}: write error: File too large")
        return code

    def _redirect(self, simple: Simple, job: Job) -> None:
        for sign, word in simple.redirects:
            path = self._expand(word)
            if sign == "<":
                continue
            taken = job.err if sign == "2>" else job.out
            if path != "/dev/null":
                try:
                    self._write(path, bytes(taken), is_more=sign == ">>")
                except StoreFull as full:
                    job.err += f"/system/bin/sh: {full}\n".encode()
                    self._status = 1
            taken.clear()

    def _write(self, path: str, data: bytes, *, is_more: bool) -> None:
        files, now = self._context.phone.files, self._context.phone.wall_s()
        kept = files.read(path)
        if kept is not None and is_more:
            files.write(path, replace(kept, data=kept.data + data, mtime=now))
        else:
            files.write(path, File(data, 0o100644, now))

    def _expand(self, word: Word) -> str:
        return "".join(self._value(part.text) if part.is_name else part.text for part in word)

    def _value(self, name: str) -> str:
        return str(self._status) if name == "?" else self._env.get(name, "")
