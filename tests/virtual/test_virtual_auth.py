"""Keys of computers: a new one is taken or refused, a known one is known again, and what is no key helps nobody."""

from __future__ import annotations

import base64
import contextlib
import socket
import struct
import time
from collections.abc import Iterator

import pytest
from tests.virtual.virtual_rig import adb_server

from droidpilot.virtual.server import running_phone
from droidpilot.virtual.wire.auth import KEY_BYTES, Auth, Trust, new_token
from droidpilot.virtual.wire.packets import HEADER, Command


@pytest.fixture(scope="module")
def adb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port:
        yield port


def state_of(adb_port: int, serial: str, wanted: str) -> str:
    """Wait until adb shows the state, and return what it shows."""
    import adbutils

    client = adbutils.AdbClient(host="127.0.0.1", port=adb_port)
    end, state = time.monotonic() + 10, ""
    while time.monotonic() < end and state != wanted:
        state = {one.serial: one.state for one in client.list()}.get(serial, "absent")
        time.sleep(0.02)
    return state


def test_a_new_key_is_taken_and_known_again(adb_port: int) -> None:
    import adbutils

    client = adbutils.AdbClient(host="127.0.0.1", port=adb_port)
    with running_phone(transition_ms=0, trust="accept") as vp:
        client.connect(vp.serial, timeout=10)
        assert state_of(adb_port, vp.serial, "device") == "device"
        client.disconnect(vp.serial)
        assert "connected to" in client.connect(vp.serial, timeout=10), "by signature, with nobody asked"
        assert client.device(vp.serial).shell("echo hello") == "hello"
        client.disconnect(vp.serial)


def test_a_refused_key_is_unauthorized_for_as_long_as_it_lasts(adb_port: int) -> None:
    import adbutils

    client = adbutils.AdbClient(host="127.0.0.1", port=adb_port)
    with running_phone(transition_ms=0, trust="reject") as vp:
        assert "authenticate" in client.connect(vp.serial, timeout=10)
        assert state_of(adb_port, vp.serial, "unauthorized") == "unauthorized"
        with pytest.raises(adbutils.AdbError, match="unauthorized"):
            client.device(vp.serial).shell("echo hello")
        client.disconnect(vp.serial)


def made_key(modulus: int, exponent: int = 65537) -> bytes:
    blob = struct.pack("<II", KEY_BYTES // 4, 0) + modulus.to_bytes(KEY_BYTES, "little") + bytes(KEY_BYTES)
    return base64.b64encode(blob + struct.pack("<I", exponent)) + b" me@here\0"


def test_only_a_signature_of_the_token_by_a_known_key_counts() -> None:
    auth, token = Auth("accept"), new_token()
    modulus = (1 << 2047) + 12345
    auth.remember(made_key(modulus))
    assert not auth.knows(token, b"\x01" * KEY_BYTES)
    assert not auth.knows(token, b"short")
    assert not auth.knows(token, bytes(KEY_BYTES))


@pytest.mark.parametrize("junk", [b"", b"\0", b"!!!!", base64.b64encode(b"short"), b"A" * 4000, made_key(5)])
def test_what_is_no_key_is_not_kept(junk: bytes) -> None:
    auth = Auth("accept")
    auth.remember(junk)
    assert not auth.knows(new_token(), b"\x01" * KEY_BYTES)
    assert auth._keys == []


@pytest.mark.parametrize(
    ("trust", "asks", "takes"), [("none", False, True), ("accept", True, True), ("reject", True, False)]
)
def test_what_each_mode_does(trust: Trust, asks: bool, takes: bool) -> None:
    auth = Auth(trust)
    assert (auth.asks, auth.takes_new_keys) == (asks, takes)
    auth.refuse(True)
    assert (auth.asks, auth.takes_new_keys) == (True, False)
    auth.refuse(False)
    assert (auth.asks, auth.takes_new_keys) == (asks, takes)


def packet(command: Command, arg0: int = 0, payload: bytes = b"", *, magic: int | None = None) -> bytes:
    wanted = command ^ 0xFFFFFFFF if magic is None else magic
    return HEADER.pack(command, arg0, 0, len(payload), sum(payload) & 0xFFFFFFFF, wanted) + payload


GREETING = packet(Command.CNXN, 0x01000000, b"host::")[:8] + b"\0\0\4\0" + packet(Command.CNXN, 0, b"host::")[12:]


@pytest.mark.parametrize(
    "said",
    [
        packet(Command.OPEN, 1, b"shell:id\0"),
        packet(Command.AUTH, 2, b"x" * 5_000),
        packet(Command.AUTH, 2, b"x" * 256) * 200,
        packet(Command.AUTH, 2, b"x" * 256, magic=7),
        b"\xff" * 200,
        GREETING,
    ],
    ids=["a stream before the key", "a key too long", "keys without end", "wrong magic", "garbage", "another greeting"],
)
def test_who_shows_no_key_is_dropped_and_hurts_nobody(said: bytes) -> None:
    with running_phone(transition_ms=0, trust="reject") as vp:
        with socket.create_connection(("127.0.0.1", vp.port), timeout=10) as wire:
            wire.sendall(GREETING)
            with contextlib.suppress(ConnectionError):
                wire.sendall(said)
                while wire.recv(65536):
                    pass  # tokens, until the phone hangs up
        assert vp.phone.state()["inputs"] == {"count": 0, "events": []}
