"""Whether the phone trusts a computer: the AUTH packets of the greeting.

Source: AOSP `adb/protocol.txt`, `adb_auth.cpp` and the public key format of `android_pubkey.cpp`. A signature is
RSA-2048 with PKCS #1 v1.5 over the token itself, which stands where a SHA-1 digest would. This file must never know a
stream.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import secrets
from typing import Final, Literal

Trust = Literal["none", "accept", "reject"]
"""Greets everybody; asks for a key and takes any new one, as a person who taps Allow; asks and never allows."""
TRUSTS: Final[tuple[Trust, ...]] = ("none", "accept", "reject")
TOKEN_BYTES: Final = 20
KEY_BYTES: Final = 256
MOST_KEYS: Final = 64
"""Keys that are remembered, and signatures that one host may try."""
_BLOB_BYTES: Final = 4 + 4 + KEY_BYTES + KEY_BYTES + 4
_DIGEST_INFO: Final = bytes.fromhex("3021300906052b0e03021a05000414")
Key = tuple[int, int]
"""Modulus and exponent."""


class Auth:
    """What one phone knows about computers."""

    def __init__(self, trust: Trust = "none") -> None:
        self.trust = trust
        self._keys: list[Key] = []
        self._is_refusing = False
        self._changed = asyncio.Event()

    @property
    def asks(self) -> bool:
        """Tell whether a host must show a key."""
        return self._is_refusing or self.trust != "none"

    @property
    def takes_new_keys(self) -> bool:
        """Tell whether somebody would tap Allow now."""
        return not self._is_refusing and self.trust != "reject"

    def refuse(self, is_refusing: bool) -> None:
        """Trust nobody until told otherwise; who waits for an answer is told at once."""
        self._is_refusing = is_refusing
        self._changed.set()
        self._changed = asyncio.Event()

    async def allowed(self) -> None:
        """Wait until a new key would be taken."""
        while not self.takes_new_keys:
            await self._changed.wait()

    def knows(self, token: bytes, signature: bytes) -> bool:
        """Tell whether a known key signed the token."""
        return not self._is_refusing and any(_is_signed(key, token, signature) for key in self._keys)

    def remember(self, public_key: bytes) -> None:
        """Keep a key, where it is one."""
        key = _read_key(public_key)
        if key is not None and key not in self._keys:
            self._keys = [*self._keys, key][-MOST_KEYS:]


def new_token() -> bytes:
    """Return random bytes for a host to sign."""
    return secrets.token_bytes(TOKEN_BYTES)


def _is_signed(key: Key, token: bytes, signature: bytes) -> bool:
    modulus, exponent = key
    if len(signature) != KEY_BYTES:
        return False
    padding = b"\x00\x01" + b"\xff" * (KEY_BYTES - 3 - len(_DIGEST_INFO) - len(token)) + b"\x00"
    opened = pow(int.from_bytes(signature, "big"), exponent, modulus)
    return opened == int.from_bytes(padding + _DIGEST_INFO + token, "big")


def _read_key(text: bytes) -> Key | None:
    """Read `BASE64 user@host`; None where it is no key of the one size there is."""
    try:
        blob = base64.b64decode(text.rstrip(b"\0").split(b" ")[0], validate=True)
    except binascii.Error:
        return None
    if len(blob) != _BLOB_BYTES or int.from_bytes(blob[:4], "little") != KEY_BYTES // 4:
        return None
    modulus = int.from_bytes(blob[8 : 8 + KEY_BYTES], "little")
    exponent = int.from_bytes(blob[-4:], "little")
    return (modulus, exponent) if modulus > 1 << 2000 and exponent in (3, 65537) else None
