"""The shell as a service of a transport: plain, with raw input, in frames, and for a person at a terminal.

Source: `shell,v2` frames are those of AOSP's `shell_protocol.h`. This file must never know a command.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable
from typing import Final

from droidpilot.virtual.faults.trouble import Trouble
from droidpilot.virtual.shell.commands import COMMANDS
from droidpilot.virtual.shell.job import MAX_OUTPUT, Context
from droidpilot.virtual.shell.shell import Shell
from droidpilot.virtual.shell.syntax import SyntaxProblem, parse
from droidpilot.virtual.wire.streams import Stream, StreamClosed
from droidpilot.virtual.wire.terminal import Terminal

MAX_STDIN: Final = 64 * 1024 * 1024
MAX_FRAME: Final = 64 * 1024
_FRAME: Final = struct.Struct("<BI")
_STDIN, _STDOUT, _STDERR, _EXIT, _CLOSE_STDIN = range(5)
_FILTERS: Final = frozenset(
    {
        *("base64", "cat", "cut", "egrep", "fgrep", "grep", "head", "md5sum", "nc", "sh", "sha1sum", "sha256sum"),
        *("sort", "tail", "tee", "tr", "uniq", "wc"),
    }
)
"""Commands that read the input where they are given no file."""
_PLAIN_WORDS: Final = {"egrep": 1, "fgrep": 1, "grep": 1, "tee": 9, "nc": 9, "tr": 9}
"""How many words of theirs name no file to read; 0 for the others."""
_TAKE_WORD: Final = ("-b", "-c", "-d", "-f")


class ShellService:
    """Runs command lines on streams; each one in a shell of its own."""

    def __init__(self, context: Callable[[], Context], trouble: Trouble) -> None:
        self._context = context
        self._trouble = trouble

    async def plain(self, stream: Stream, line: str) -> None:
        """Run a command line; errors and output go out as one. Source: `shell:` of SERVICES.TXT."""

        async def emit(_: int, data: bytes) -> None:
            await stream.write(data)

        async with self._trouble.call("call", "shell"):
            await Shell(self._context(), COMMANDS, emit).run(line)

    async def raw(self, stream: Stream, line: str) -> None:
        """Run a command line whose input is what comes, as `exec:` does; it ends when the host closes the stream."""

        async def emit(_: int, data: bytes) -> None:
            with contextlib.suppress(StreamClosed):
                await stream.write(data)

        size = announced_size(line)
        given = b""
        if size is not None:
            given = await stream.read_exactly(size) if size <= MAX_STDIN else b""
        elif reads_input(line):
            # The host has no other way to say that its input is over than to close the stream.
            stream.outlives_close = True
            given = await _everything(stream)
        async with self._trouble.call("call", "shell"):
            await Shell(self._context(), COMMANDS, emit).run(line, given)

    async def framed(self, stream: Stream, line: str, *, is_terminal: bool) -> None:
        """Run a command line, or a script from the input; errors, output and exit code come in frames of their own."""
        if is_terminal:
            await self._framed_terminal(stream, line)
            return

        async def emit(fd: int, data: bytes) -> None:
            await _write_frames(stream, _STDERR if fd == 2 else _STDOUT, data)

        shell = Shell(self._context(), COMMANDS, emit)
        if not line:
            line, given = (await _stdin(stream)).decode("utf-8", "replace"), b""
        else:
            given = await _stdin(stream) if reads_input(line) or announced_size(line) is not None else b""
        async with self._trouble.call("call", "shell"):
            await shell.run(line, given)
        await stream.write(_FRAME.pack(_EXIT, 1) + bytes([shell.status & 0xFF]))

    async def terminal(self, stream: Stream) -> None:
        """Talk to a person at an old host: no frames."""

        async def emit(_: int, data: bytes) -> None:
            await stream.write(data.replace(b"\n", b"\r\n"))

        await Terminal(Shell(self._context(), COMMANDS, emit), stream.read, stream.write).serve()

    async def _framed_terminal(self, stream: Stream, line: str) -> None:
        """Talk to a person: a terminal has one output, and the host shows it as it is. With a line only that is run."""

        async def write(data: bytes) -> None:
            await _write_frames(stream, _STDOUT, data)

        async def emit(_: int, data: bytes) -> None:
            await write(data.replace(b"\n", b"\r\n"))

        async def read() -> bytes:
            with contextlib.suppress(StreamClosed):
                while True:
                    kind, length = _FRAME.unpack(await stream.read_exactly(_FRAME.size))
                    data = await stream.read_exactly(length) if length <= MAX_FRAME else b""
                    if kind == _CLOSE_STDIN or length > MAX_FRAME:
                        return b""
                    if kind == _STDIN and data:
                        return data
            return b""

        shell = Shell(self._context(), COMMANDS, emit)
        terminal = Terminal(shell, read, write)
        if line:
            async with self._trouble.call("call", "shell"):
                await terminal.run_one(line)
        else:
            await terminal.serve()
        await stream.write(_FRAME.pack(_EXIT, 1) + bytes([shell.status & 0xFF]))


async def run_line(context: Context, line: str) -> tuple[int, bytes, bytes]:
    """Run a line that nobody reads while it runs; return its exit code, its output and its errors."""
    held = {1: bytearray(), 2: bytearray()}

    async def emit(fd: int, data: bytes) -> None:
        held[fd] += data[: max(0, MAX_OUTPUT - len(held[fd]))]

    code = await Shell(context, COMMANDS, emit).run(line)
    return code, bytes(held[1]), bytes(held[2])


def reads_input(line: str) -> bool:
    """Tell whether a command of the line reads what the client sends; others must not wait for it."""
    try:
        steps = parse(line)
    except SyntaxProblem:
        return False
    for step in steps:
        first = step.pipeline[0]
        words = ["".join(part.text for part in word) for word in first.words]
        while words[:1] in (["exec"], ["command"], ["toybox"]):
            words = words[1:]
        if not words or words[0] not in _FILTERS or any(to.fd == 0 for to in first.redirects):
            continue
        if words[:2] == ["sh", "-c"]:
            if reads_input(" ".join(words[2:3])):
                return True
            continue
        if words[0] == "cut":
            # What follows these options is no file.
            words = [word for before, word in zip(["", *words], words, strict=False) if before not in _TAKE_WORD]
        files = [word for word in words[1:] if not (word.startswith("-") or word.isdecimal())]
        if len(files) <= _PLAIN_WORDS.get(words[0], 0):
            return True
    return False


def announced_size(line: str) -> int | None:
    """Return the N of `cmd package install ... -S N`: so many bytes of an apk come as input; None elsewhere."""
    words = line.replace("'", " ").split()
    if "install" not in words or "-S" not in words or not {"package", "pm"} & set(words):
        return None
    size = words[words.index("-S") + 1 : words.index("-S") + 2]
    return int(size[0]) if size and size[0].isdecimal() else None


async def _write_frames(stream: Stream, kind: int, data: bytes) -> None:
    for begin in range(0, len(data), MAX_FRAME):
        part = data[begin : begin + MAX_FRAME]
        await stream.write(_FRAME.pack(kind, len(part)) + part)


async def _everything(stream: Stream) -> bytes:
    """Return what comes until the host closes the stream; what is beyond the bound is dropped."""
    held = bytearray()
    while got := await stream.read():
        held += got[: MAX_STDIN - len(held)]
    return bytes(held)


async def _stdin(stream: Stream) -> bytes:
    """Return what the client sends as input until it closes it."""
    held = bytearray()
    with contextlib.suppress(StreamClosed):
        while True:
            kind, length = _FRAME.unpack(await stream.read_exactly(_FRAME.size))
            if length > MAX_FRAME or len(held) + length > MAX_STDIN:
                break
            data = await stream.read_exactly(length)
            if kind == _CLOSE_STDIN:
                break
            if kind == _STDIN:
                held += data
    return bytes(held)
