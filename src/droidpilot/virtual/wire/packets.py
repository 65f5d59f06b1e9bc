"""The packets of the ADB transport protocol: 24 bytes of header, then the payload.

Source: AOSP `system/core/adb/protocol.txt`. Everything here comes from a client: what does not fit raises BadPacket,
and the connection is dropped. This file must never know a service.
"""

from __future__ import annotations

import asyncio
import struct
from dataclasses import dataclass
from enum import IntEnum

HEADER = struct.Struct("<6I")
VERSION = 0x01000001
VERSION_WITH_SUMS = 0x01000000
"""Up to this version payloads carry a sum of their bytes."""
MAX_PAYLOAD = 256 * 1024
"""What we take in one packet; the host keeps to it."""
MAX_GREETING = 4096
"""What we take before the host has greeted."""
MIN_PAYLOAD = 4096
MASK = 0xFFFFFFFF


class Command(IntEnum):
    """The commands, as their four ASCII letters read as a little-endian number."""

    CNXN = 0x4E584E43
    AUTH = 0x48545541
    OPEN = 0x4E45504F
    OKAY = 0x59414B4F
    WRTE = 0x45545257
    CLSE = 0x45534C43


class BadPacket(Exception):
    """The peer does not speak ADB, or wants more than we give."""


@dataclass(frozen=True, slots=True)
class Packet:
    command: Command
    arg0: int
    arg1: int
    payload: bytes = b""

    def encode(self, *, with_sum: bool) -> bytes:
        """Return the bytes on the wire."""
        check = sum(self.payload) & MASK if with_sum else 0
        head = HEADER.pack(self.command, self.arg0, self.arg1, len(self.payload), check, self.command ^ MASK)
        return head + self.payload


async def read_packet(reader: asyncio.StreamReader, *, limit: int, with_sum: bool) -> Packet:
    """Read one packet.

    Raises:
        BadPacket: unknown command, wrong magic, payload longer than `limit`, wrong sum.
        asyncio.IncompleteReadError: the peer went away.
    """
    number, arg0, arg1, length, check, magic = HEADER.unpack(await reader.readexactly(HEADER.size))
    if magic != number ^ MASK:
        raise BadPacket(f"wrong magic {magic:#x}")
    try:
        command = Command(number)
    except ValueError as error:
        raise BadPacket(f"unknown command {number:#x}") from error
    if length > limit:
        raise BadPacket(f"payload of {length} bytes, at most {limit}")
    payload = await reader.readexactly(length) if length else b""
    if with_sum and sum(payload) & MASK != check:
        raise BadPacket("wrong sum")
    return Packet(command, arg0, arg1, payload)
