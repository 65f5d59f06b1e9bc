"""The sync service: stat, list, push and pull of the phone's files.

Source: AOSP `adb/SYNC.TXT` and `file_sync_protocol.h`. Names and chunks come from a client and are bounded; a breach
ends the stream. This file must never know the shell.
"""

from __future__ import annotations

import struct
import zlib
from typing import Final

from droidpilot.virtual.faults.trouble import Trouble
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.store import MAX_FILE_BYTES, File, StoreFull, clean_path
from droidpilot.virtual.wire.streams import Stream

MAX_NAME = 1024
MAX_DATA = 64 * 1024
DIRECTORY_MODE: Final = 0o040771
FILE_BITS: Final = 0o100000
ABSENT: Final = 2
"""ENOENT"""
_HEAD = struct.Struct("<4sI")
_STAT2 = struct.Struct("<IQQIIIIQqqq")


_SEND2 = struct.Struct("<II")
_RECV2 = struct.Struct("<I")
DRY_RUN: Final = 1 << 31
"""Flag of SND2; the others name codecs, which we do not offer. Source: `file_sync_protocol.h`."""


class SyncFailed(Exception):
    """The request cannot be done; the client reads why, and the stream ends."""


class SyncService:
    """Answers the requests of one sync stream until QUIT or a failure."""

    def __init__(self, phone: Phone, stream: Stream, trouble: Trouble) -> None:
        self._phone = phone
        self._stream = stream
        self._trouble = trouble

    async def serve(self) -> None:
        """Answer requests one after another."""
        try:
            while await self._request():
                pass
        except SyncFailed as failure:
            text = str(failure).encode()
            await self._stream.write(_HEAD.pack(b"FAIL", len(text)) + text)

    async def _request(self) -> bool:
        kind, length = _HEAD.unpack(await self._stream.read_exactly(8))
        if kind == b"QUIT":
            return False
        if length > MAX_NAME:
            raise SyncFailed("path too long")
        path = (await self._stream.read_exactly(length)).decode("utf-8", "replace")
        async with self._trouble.call("call", "sync"):
            await self._answer(kind, path)
        return True

    async def _answer(self, kind: bytes, path: str) -> None:
        match kind:
            case b"STAT":
                mode, size, mtime = self._stat(path)
                await self._stream.write(struct.pack("<4sIII", b"STAT", mode, size, mtime))
            case b"STA2" | b"LST2":
                await self._stream.write(kind + self._stat2(path))
            case b"LIST" | b"LIS2":
                await self._list(path, is_second=kind == b"LIS2")
            case b"SEND":
                await self._receive(path)
            case b"RECV":
                await self._send(path)
            case b"SND2":
                mode, flags = _SEND2.unpack(await self._more(b"SND2", _SEND2.size))
                _refuse_codecs(flags)
                await self._receive(f"{path},{mode}", is_dry=bool(flags & DRY_RUN))
            case b"RCV2":
                (flags,) = _RECV2.unpack(await self._more(b"RCV2", _RECV2.size))
                _refuse_codecs(flags)
                await self._send(path)
            case _:
                raise SyncFailed(f"unknown request {kind!r}")

    def _stat(self, path: str) -> tuple[int, int, int]:
        kept = self._phone.files.read(path)
        if kept is not None:
            return kept.mode, len(kept.data), kept.mtime & 0xFFFFFFFF
        return (DIRECTORY_MODE, 4096, self._phone.wall_s()) if self._phone.files.is_directory(path) else (0, 0, 0)

    def _stat2(self, path: str) -> bytes:
        mode, size, mtime = self._stat(path)
        if mode == 0:
            return _STAT2.pack(ABSENT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        inode = zlib.crc32(clean_path(path).encode())
        return _STAT2.pack(0, 1, inode, mode, 1, 2000, 2000, size, mtime, mtime, mtime)

    async def _list(self, path: str, *, is_second: bool) -> None:
        if self._phone.files.is_directory(path):
            for name in [".", "..", *self._phone.files.names(path)]:
                raw, full = name.encode(), f"{path}/{name}"
                if is_second:
                    await self._stream.write(b"DNT2" + self._stat2(full) + struct.pack("<I", len(raw)) + raw)
                else:
                    await self._stream.write(struct.pack("<4sIIII", b"DENT", *self._stat(full), len(raw)) + raw)
        await self._stream.write(b"DONE" + bytes(72 if is_second else 16))

    async def _more(self, kind: bytes, size: int) -> bytes:
        """Read the second half of a request of the second version."""
        if await self._stream.read_exactly(4) != kind:
            raise SyncFailed("the second half of the request is missing")
        return await self._stream.read_exactly(size)

    async def _receive(self, request: str, *, is_dry: bool = False) -> None:
        path, comma, mode = request.rpartition(",")
        if not comma or not mode.isdigit() or not path:
            raise SyncFailed("SEND needs PATH,MODE")
        data = bytearray()
        while True:
            kind, number = _HEAD.unpack(await self._stream.read_exactly(8))
            if kind == b"DONE":
                break
            if kind != b"DATA" or number > MAX_DATA:
                raise SyncFailed("DATA of at most 64 KiB or DONE expected")
            if len(data) + number > MAX_FILE_BYTES:
                raise SyncFailed("write failed: No space left on device")
            data += await self._stream.read_exactly(number)
        if is_dry:
            await self._stream.write(_HEAD.pack(b"OKAY", 0))
            return
        try:
            self._phone.files.write(path, File(bytes(data), FILE_BITS | (int(mode) & 0o777), number))
        except StoreFull as full:
            raise SyncFailed(str(full)) from full
        await self._stream.write(_HEAD.pack(b"OKAY", 0))

    async def _send(self, path: str) -> None:
        kept = self._phone.files.read(path)
        if kept is None:
            raise SyncFailed("open failed: No such file or directory")
        for begin in range(0, len(kept.data), MAX_DATA):
            part = kept.data[begin : begin + MAX_DATA]
            await self._stream.write(_HEAD.pack(b"DATA", len(part)) + part)
        await self._stream.write(_HEAD.pack(b"DONE", 0))


def _refuse_codecs(flags: int) -> None:
    if flags & ~DRY_RUN:
        raise SyncFailed("compression is not offered")
