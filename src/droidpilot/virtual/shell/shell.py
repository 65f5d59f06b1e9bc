"""The mini shell: runs parsed command lines against a table of commands. `commands*.py` hold the table's rows.

Output is bounded and handed out after each command; so are the commands of one line and how deep lines stand in one
another. There is no shell of the host behind this one. This file must never know a single command's meaning.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Mapping
from typing import Final

from droidpilot.virtual.shell.job import MAX_OUTPUT, OUTPUTS, Command, Context, Emit, Job
from droidpilot.virtual.shell.syntax import Choice, Redirect, Simple, Step, SyntaxProblem, Word, parse
from droidpilot.virtual.shell.words import Part
from droidpilot.virtual.store import StoreFull

__all__ = ["Context", "Shell"]
MAX_WORDS_BYTES: Final = 1024 * 1024
"""Characters that the words of one command may have once they are put in full, or a variable may keep."""
MAX_COMMANDS: Final = 4_000
"""Commands that one line may run, those of the lines in it counted too."""
BREATH: Final = 50
"""After so many commands others are let in."""
MAX_DEPTH: Final = 8
"""So deep may `$(...)` and `sh -c` stand in one another."""
NOT_FOUND: Final = 127
SHELL_PID: Final = 6_127
"""What `$$` says."""


class Shell:
    """One shell with its variables. `inside` is the one whose line runs it; both draw on one count of commands."""

    def __init__(
        self, context: Context, commands: Mapping[str, Command], emit: Emit, *, inside: Shell | None = None
    ) -> None:
        self._context = context
        self._commands = commands
        self._emit = emit
        self._env: dict[str, str] = {"HOME": "/", "USER": "shell", "PATH": "/system/bin", "PWD": "/"}
        self._depth: int = 0 if inside is None else inside._depth + 1
        self._ran: list[int] = [0] if inside is None else inside._ran
        self._room = 0
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
        if self._depth == 0:
            self._ran[0] = 0
        try:
            steps = parse(line)
        except SyntaxProblem as problem:
            await self._emit(2, f"/system/bin/sh: {problem}\n".encode())
            self._status = 2
            return self._status
        await self._steps(steps, stdin)
        return self._status

    async def run_inside(self, line: str, stdin: bytes, env: Mapping[str, str], emit: Emit) -> int:
        """Run a line in a shell of its own and return its exit code."""
        if self._depth >= MAX_DEPTH:
            await emit(2, b"/system/bin/sh: lines stand too deep in one another\n")
            return 1
        child = Shell(self._context, self._commands, emit, inside=self)
        child._env = dict(env)
        child._status = self._status
        return await child.run(line, stdin)

    async def _steps(self, steps: list[Step], stdin: bytes) -> None:
        for step in steps:
            if (step.connector == "&&" and self._status != 0) or (step.connector == "||" and self._status == 0):
                continue
            choice = step.pipeline[0].choice
            if choice is not None:
                await self._choose(choice, stdin)
            else:
                await self._pipeline(step.pipeline, stdin)
            if self._is_over:
                break

    async def _choose(self, choice: Choice, stdin: bytes) -> None:
        for asked, then in choice.branches:
            await self._steps(asked, stdin)
            if self._status == 0 or self._is_over:
                await self._steps([] if self._is_over else then, stdin)
                return
        self._status = 0
        await self._steps(choice.otherwise, stdin)

    async def _pipeline(self, pipeline: list[Simple], stdin: bytes) -> None:
        given = stdin
        for number, simple in enumerate(pipeline):
            self._ran[0] += 1
            if self._ran[0] > MAX_COMMANDS:
                await self._emit(2, b"/system/bin/sh: one line ran too many commands\n")
                self._status, self._is_over = 1, True
                return
            if self._ran[0] % BREATH == 0:
                await asyncio.sleep(0)  # others have their turn, and a client that went away ends it
            job = await self._simple(simple, given, is_alone=len(pipeline) == 1)
            given = b""
            if job.err:
                await self._emit(2, bytes(job.err))
            if number < len(pipeline) - 1:
                given = bytes(job.out)
            elif job.out:
                await self._emit(1, bytes(job.out))

    async def _simple(self, simple: Simple, stdin: bytes, *, is_alone: bool) -> Job:
        job = Job(self._context, [], stdin, shell=self)
        self._room = MAX_WORDS_BYTES
        try:
            words = [one for word in simple.words for one in await self._words(word)]
            sets = {name: await self._text(word) for name, word in simple.sets}
            targets = [(redirect, await self._text(redirect.path)) for redirect in simple.redirects]
        except _TooLong:
            self._status = job.fail("/system/bin/sh: Argument list too long", 126)
            return job
        if words[:2] == ["command", "-v"]:
            words[:2] = ["which"]
        while words and words[0] in ("exec", "command"):
            words = words[1:]
        job.args, job.env = words, {**self._env, **sets}
        if is_alone and all(redirect.fd == 2 and redirect.to is None for redirect in simple.redirects):
            job.emit = self._emit if not simple.redirects else self._only_output(job)
        for redirect, path in targets:
            if redirect.fd == 0:
                kept = job.read(path)
                if kept is None:
                    self._status = job.fail(f"/system/bin/sh: can't open {path}: No such file or directory")
                    return job
                job.stdin = kept
        if not words:
            self._env |= sets
            if not any(part.kind == "line" for _, word in simple.sets for part in word):
                self._status = 0
        elif words[0] == "export":
            self._env |= dict(word.split("=", 1) for word in words[1:] if "=" in word)
            self._status = 0
        elif words[0] == "exit":
            code = words[1] if len(words) > 1 else ""
            self._status = int(code) & 0xFF if code.isdecimal() and len(code) < 10 else self._status
            self._is_over = True
        else:
            self._status = await self._command(words[0], job)
        self._redirect(targets, job)
        return job

    def _only_output(self, job: Job) -> Emit:
        """Return what sends output on at once and keeps the errors, which go elsewhere."""

        async def emit(fd: int, data: bytes) -> None:
            if fd == 1:
                await self._emit(fd, data)
            else:
                job.warn(data)

        return emit

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

    def _redirect(self, targets: list[tuple[Redirect, str]], job: Job) -> None:
        """Send both outputs where they go: each one's last redirect counts, as those before it left things."""
        goes: dict[int, int | tuple[str, bool]] = {1: 1, 2: 2}
        for redirect, path in targets:
            if redirect.fd == 0:
                continue
            if redirect.to is not None:
                goes[redirect.fd] = goes[redirect.to]
            else:
                goes[redirect.fd] = goes[OUTPUTS[path]] if path in OUTPUTS else (path, redirect.appends)
        data = {1: bytes(job.out), 2: bytes(job.err)}
        job.out.clear()
        job.err.clear()
        begun: set[str] = set()
        for fd, to in goes.items():
            if to == 1:
                job.out += data[fd]
            elif isinstance(to, int):
                job.err += data[fd]
            else:
                path, appends = to
                try:
                    job.put(path, data[fd], appends=appends or path in begun)
                except StoreFull as full:
                    job.err += f"/system/bin/sh: {full}\n".encode()
                    self._status = 1
                begun.add(path)

    async def _words(self, word: Word) -> list[str]:
        """Put a word in full: what a variable or a line gives outside quotes is cut at its blanks."""
        found: list[str] = [""]
        is_word = False
        for part in word:
            text = await self._value(part)
            if part.kind == "text" or part.is_quoted:
                is_word = is_word or part.is_quoted or bool(text)
                found[-1] += text
            else:
                pieces = text.split()
                if text[:1].isspace() and found[-1]:
                    found.append("")
                found[-1] += pieces[0] if pieces else ""
                found += pieces[1:]
                if pieces and text[-1:].isspace():
                    found.append("")
        if not found[-1] and (len(found) > 1 or not is_word):
            found.pop()
        return found

    async def _text(self, word: Word) -> str:
        return "".join([await self._value(part) for part in word])

    async def _value(self, part: Part) -> str:
        if part.kind == "text":
            text = part.text
        elif part.kind == "name":
            special = {"?": str(self._status), "$": str(SHELL_PID)}
            text = special[part.text] if part.text in special else self._env.get(part.text, "")
        else:
            text = await self._output(part.text)
        self._room -= len(text)
        if self._room < 0:
            raise _TooLong
        return text

    async def _output(self, line: str) -> str:
        """Run the line of a `$(...)` and return its output without the line ends at its end."""
        held = bytearray()

        async def emit(fd: int, data: bytes) -> None:
            if fd == 1:
                held.extend(data[: max(0, MAX_OUTPUT - len(held))])
            else:
                await self._emit(fd, data)

        self._status = await self.run_inside(line, b"", self._env, emit)
        return held.decode("utf-8", "replace").rstrip("\n")


class _TooLong(Exception):
    """The words of a command are too long once they are put in full."""
