"""The shell for a person: a prompt, echo, backspace, Ctrl-C and Ctrl-D, as the phone's side of `adb shell` does them.

This file must never know frames or packets: bytes come in and go out through two functions.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

from droidpilot.virtual.shell.shell import Shell

PROMPT = b"virtual:/ $ "
MAX_LINE = 16 * 1024
CTRL_C, CTRL_D = 3, 4
BACKSPACES = (8, 127)
ENTER = (10, 13)

Read = Callable[[], Awaitable[bytes]]
"""Returns what was typed next, b"" at the end."""
Write = Callable[[bytes], Awaitable[None]]


class Terminal:
    """One interactive shell."""

    def __init__(self, shell: Shell, read: Read, write: Write) -> None:
        self._shell = shell
        self._read = read
        self._write = write
        self._line = bytearray()
        self._typed: asyncio.Future[bytes] | None = None

    async def serve(self) -> None:
        """Prompt and run lines until the person leaves."""
        await self._write(PROMPT)
        try:
            while not self._shell.is_over:
                data = await self._next()
                if not data:
                    return
                for byte in data:
                    if byte == CTRL_D and not self._line:
                        return
                    await self._key(byte)
                    if self._shell.is_over:
                        return
        finally:
            if self._typed is not None:
                self._typed.cancel()

    async def run_one(self, line: str) -> None:
        """Run one line without a prompt; Ctrl-C ends it."""
        try:
            await self._run(line)
        finally:
            if self._typed is not None:
                self._typed.cancel()

    async def _next(self) -> bytes:
        if self._typed is None:
            self._typed = asyncio.ensure_future(self._read())
        data = await self._typed
        self._typed = None
        return data

    async def _key(self, byte: int) -> None:
        if byte in ENTER:
            line, self._line = self._line.decode("utf-8", "replace"), bytearray()
            await self._write(b"\r\n")
            await self._run(line)
            if not self._shell.is_over:
                await self._write(PROMPT)
        elif byte == CTRL_C:
            self._line.clear()
            await self._write(b"^C\r\n" + PROMPT)
        elif byte in BACKSPACES:
            if self._line:
                self._line = bytearray(self._line.decode("utf-8", "replace")[:-1].encode())
                await self._write(b"\b \b")
        elif byte >= ord(" ") and len(self._line) < MAX_LINE:
            self._line.append(byte)
            await self._write(bytes([byte]))

    async def _run(self, line: str) -> None:
        """Run a line; Ctrl-C ends it, anything else typed meanwhile is dropped."""
        running = asyncio.ensure_future(self._shell.run(line))
        try:
            while not running.done():
                if self._typed is None:
                    self._typed = asyncio.ensure_future(self._read())
                either: set[asyncio.Future[Any]] = {running, self._typed}
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if running.done() or not self._typed.done():
                    continue
                data, self._typed = self._typed.result(), None
                if not data or CTRL_C in data:
                    break
        finally:
            if not running.done():
                running.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await running
                await self._write(b"^C\r\n")
