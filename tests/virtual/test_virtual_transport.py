"""The wire: greeting, streams, back-pressure, limits, and clients that do not speak ADB."""

from __future__ import annotations

import contextlib
import random
import socket
import struct
from collections.abc import Iterator
from typing import Self

import pytest

from droidpilot.virtual.server import VirtualPhone, running_phone
from droidpilot.virtual.wire.packets import HEADER, MAX_PAYLOAD, Command
from droidpilot.virtual.wire.streams import MAX_UNACKNOWLEDGED
from droidpilot.virtual.wire.transport import MAX_STREAMS

MASK = 0xFFFFFFFF


@pytest.fixture
def phone() -> Iterator[VirtualPhone]:
    with running_phone(transition_ms=0) as running:
        yield running


class Wire:
    """A client that writes packets by hand."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=5)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def raw(self, data: bytes) -> None:
        self._socket.sendall(data)

    def send(self, command: Command, arg0: int, arg1: int, payload: bytes = b"", *, with_sum: bool = False) -> None:
        check = sum(payload) & MASK if with_sum else 0
        self.raw(HEADER.pack(command, arg0, arg1, len(payload), check, command ^ MASK) + payload)

    def take(self) -> tuple[Command, int, int, bytes]:
        """Read one packet; EOFError where the phone hung up."""
        number, arg0, arg1, length, _, magic = HEADER.unpack(self._exactly(HEADER.size))
        assert magic == number ^ MASK
        return Command(number), arg0, arg1, self._exactly(length)

    def _exactly(self, count: int) -> bytes:
        held = b""
        while len(held) < count:
            got = self._socket.recv(count - len(held))
            if not got:
                raise EOFError
            held += got
        return held

    def greet(self, version: int = 0x01000001, size: int = 0x100000) -> bytes:
        self.send(Command.CNXN, version, size, b"host::features=shell_v2,cmd", with_sum=True)
        command, _, _, banner = self.take()
        assert command is Command.CNXN
        return banner

    def is_dropped(self) -> bool:
        """Read until the phone hangs up."""
        with contextlib.suppress(EOFError, ConnectionError):
            while True:
                self.take()
        return True


def test_the_greeting_names_the_phone_and_only_features_it_has(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        banner = wire.greet().decode()
    assert banner.startswith("device::ro.product.name=virtual_phone;ro.product.model=Virtual_Phone;")
    assert "delayed_ack" not in banner
    assert "abb" not in banner


def test_a_command_runs_and_the_stream_closes_after_its_output(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 7, 0, b"shell:echo hello\0")
        command, own, peer, _ = wire.take()
        assert (command, peer) == (Command.OKAY, 7)
        assert wire.take() == (Command.WRTE, own, 7, b"hello\n")
        assert wire.take() == (Command.CLSE, own, 7, b"")


def test_a_command_without_output_is_opened_before_it_is_closed(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 7, 0, b"shell:true\0")
        assert [wire.take()[0], wire.take()[0]] == [Command.OKAY, Command.CLSE]


def test_an_old_host_gets_sums_and_small_packets(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet(0x01000000, 4096)
        wire.send(Command.OPEN, 1, 0, b"shell:dumpsys window windows; pm list packages\0", with_sum=True)
        _, own, _, _ = wire.take()
        head = HEADER.unpack(wire._exactly(HEADER.size))
        payload = wire._exactly(head[3])
        assert len(payload) <= 4096
        assert head[4] == sum(payload) & MASK
        wire.send(Command.OKAY, 1, own, with_sum=True)
        assert wire.take()[0] is Command.WRTE


def test_a_wrong_sum_from_an_old_host_drops_the_connection(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet(0x01000000, 4096)
        wire.send(Command.OPEN, 1, 0, b"shell:true\0", with_sum=False)
        assert wire.is_dropped()


def test_the_second_packet_waits_for_the_first_to_be_acknowledged(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 1, 0, b"shell:echo a; echo b\0")
        _, own, _, _ = wire.take()
        assert wire.take()[3] == b"a\n"
        wire.send(Command.OPEN, 2, 0, b"shell:true\0")
        assert [wire.take()[0], wire.take()[0]] == [Command.OKAY, Command.CLSE]
        wire.send(Command.OKAY, 1, own)
        assert wire.take()[3] == b"b\n"


def test_what_a_service_did_not_consume_is_not_acknowledged(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 1, 0, b"shell:logcat\0")
        _, own, _, _ = wire.take()
        assert wire.take()[3] == b"--------- beginning of main\n"
        wire.send(Command.WRTE, 1, own, b"x" * 1000)
        wire.send(Command.OPEN, 2, 0, b"shell:true\0")
        assert wire.take()[2] == 2
        assert wire.take()[2] == 2
        for _ in range(MAX_UNACKNOWLEDGED):
            wire.send(Command.WRTE, 1, own, b"more before OKAY")
        assert wire.is_dropped()


def test_unknown_services_and_a_server_that_does_not_run_are_refused(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        for number, name in enumerate(
            (b"tcp:9008", b"jdwp:1", b"framebuffer:", b"localabstract:x", b"tcp:x", b"\xff\xfe"), start=1
        ):
            wire.send(Command.OPEN, number, 0, name + b"\0")
            assert wire.take() == (Command.CLSE, 0, number, b"")


def test_streams_are_limited(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        for number in range(1, MAX_STREAMS + 1):
            wire.send(Command.OPEN, number, 0, b"sync:\0")
            assert wire.take()[0] is Command.OKAY
        wire.send(Command.OPEN, MAX_STREAMS + 1, 0, b"sync:\0")
        assert wire.take() == (Command.CLSE, 0, MAX_STREAMS + 1, b"")


def test_data_for_a_closed_stream_is_answered_with_close(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OKAY, 3, 999)
        wire.send(Command.WRTE, 3, 999, b"late")
        assert wire.take() == (Command.CLSE, 0, 3, b"")


MALFORMED = {
    "wrong magic": HEADER.pack(Command.OKAY, 1, 1, 0, 0, 0),
    "unknown command": HEADER.pack(0x41414141, 0, 0, 0, 0, 0x41414141 ^ MASK),
    "payload too long": HEADER.pack(Command.WRTE, 1, 1, MAX_PAYLOAD + 1, 0, Command.WRTE ^ MASK),
    "huge payload": HEADER.pack(Command.OPEN, 1, 0, MASK, 0, Command.OPEN ^ MASK),
    "OPEN without an id": HEADER.pack(Command.OPEN, 0, 0, 4, 0, Command.OPEN ^ MASK) + b"x:y\0",
    "OPEN without a name": HEADER.pack(Command.OPEN, 1, 0, 0, 0, Command.OPEN ^ MASK),
    "a second greeting": HEADER.pack(Command.CNXN, 0x01000001, 4096, 6, 0, Command.CNXN ^ MASK) + b"host::",
}


@pytest.mark.parametrize("name", MALFORMED)
def test_a_malformed_packet_drops_the_connection_and_only_it(phone: VirtualPhone, name: str) -> None:
    with Wire(phone.port) as good, Wire(phone.port) as bad:
        good.greet()
        bad.greet()
        bad.raw(MALFORMED[name])
        assert bad.is_dropped()
        good.send(Command.OPEN, 1, 0, b"shell:echo still here\0")
        assert [good.take()[0], good.take()[3]] == [Command.OKAY, b"still here\n"]


@pytest.mark.parametrize("name", ["wrong magic", "payload too long"])
def test_before_the_greeting_too(phone: VirtualPhone, name: str) -> None:
    with Wire(phone.port) as bad:
        bad.raw(MALFORMED[name])
        assert bad.is_dropped()


def test_twenty_garbage_connections_do_not_hurt(phone: VirtualPhone) -> None:
    noise = random.Random(1)
    for number in range(20):
        with Wire(phone.port) as bad:
            if number % 2:
                bad.greet()
            with contextlib.suppress(ConnectionError):
                bad.raw(noise.randbytes(noise.randint(24, 4000)))
                assert bad.is_dropped()
    with Wire(phone.port) as good:
        good.greet()
        good.send(Command.OPEN, 1, 0, b"shell:echo fine\0")
        assert [good.take()[0], good.take()[3]] == [Command.OKAY, b"fine\n"]


def sync(wire: Wire, own: int, data: bytes) -> None:
    """Write to the sync stream in packets and take the OKAYs."""
    for begin in range(0, len(data), 60_000):
        wire.send(Command.WRTE, 1, own, data[begin : begin + 60_000])
        assert wire.take()[0] is Command.OKAY


@pytest.mark.parametrize(
    ("request_bytes", "why"),
    [
        (struct.pack("<4sI", b"STAT", 5000), b"path too long"),
        (struct.pack("<4sI", b"NOPE", 1) + b"x", b"unknown request"),
        (struct.pack("<4sI", b"SEND", 4) + b"/x/y", b"SEND needs"),
        (
            struct.pack("<4sI", b"SEND", 18) + b"/sdcard/file,33188" + struct.pack("<4sI", b"DATA", 70_000),
            b"at most 64 KiB",
        ),
        (
            struct.pack("<4sI", b"SEND", 18) + b"/system/file,33188" + struct.pack("<4sI", b"DONE", 1),
            b"Permission denied",
        ),
        (struct.pack("<4sI", b"RECV", 5) + b"/none", b"No such file"),
    ],
)
def test_sync_requests_beyond_the_limits_fail_and_end(phone: VirtualPhone, request_bytes: bytes, why: bytes) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 1, 0, b"sync:\0")
        _, own, _, _ = wire.take()
        sync(wire, own, request_bytes)
        command, _, _, payload = wire.take()
        assert command is Command.WRTE
        assert payload[:4] == b"FAIL"
        assert why in payload
        assert wire.take()[0] is Command.CLSE


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (b"GET /ping HTTP/1.1\r\n\r\n", b"200"),
        (b"GET /nope HTTP/1.1\r\n\r\n", b"404"),
        (b"nonsense\r\n\r\n", b"400"),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST /jsonrpc/0 HTTP/1.1\r\nContent-Length: 99999999\r\n\r\n", b"413"),
        (b"GET /" + b"a" * 20_000, b"431"),
    ],
)
def test_http_in_the_phone_has_limits(phone: VirtualPhone, text: bytes, status: bytes) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 1, 0, b"shell:echo > /data/local/tmp/u2.jar\0")
        assert [wire.take()[0], wire.take()[0]] == [Command.OKAY, Command.CLSE]
        start = b"shell:CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008\0"
        wire.send(Command.OPEN, 2, 0, start)
        assert wire.take()[0] is Command.OKAY
        wire.send(Command.OPEN, 3, 0, b"tcp:9008\0")
        _, own, _, _ = wire.take()
        wire.send(Command.WRTE, 3, own, text)
        assert wire.take()[0] is Command.OKAY
        assert wire.take()[3].startswith(b"HTTP/1.1 " + status)


def test_the_in_phone_server_answers_before_its_shell_is_acknowledged(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 1, 0, b"shell:echo > /data/local/tmp/u2.jar\0")
        assert [wire.take()[0], wire.take()[0]] == [Command.OKAY, Command.CLSE]
        names = (b"shell:CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008\0", b"tcp:9008\0")
        both = [
            HEADER.pack(Command.OPEN, n, 0, len(name), 0, Command.OPEN ^ MASK) + name for n, name in enumerate(names, 2)
        ]
        wire.raw(b"".join(both))
        assert [wire.take()[0], wire.take()[0]] == [Command.OKAY, Command.OKAY]


def test_the_in_phone_server_ends_with_the_shell_that_started_it(phone: VirtualPhone) -> None:
    with Wire(phone.port) as wire:
        wire.greet()
        wire.send(Command.OPEN, 1, 0, b"shell:echo > /data/local/tmp/u2.jar\0")
        assert [wire.take()[0], wire.take()[0]] == [Command.OKAY, Command.CLSE]
        line = b"shell:CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9008\0"
        wire.send(Command.OPEN, 2, 0, line)
        _, own, _, _ = wire.take()
        wire.send(Command.OPEN, 3, 0, line)
        _, second, _, _ = wire.take()
        assert b"already registered" in wire.take()[3]
        assert wire.take()[:2] == (Command.CLSE, second)
        wire.send(Command.CLSE, 2, own)
        assert wire.take() == (Command.CLSE, own, 2, b"")
        wire.send(Command.OPEN, 4, 0, b"tcp:9008\0")
        assert wire.take() == (Command.CLSE, 0, 4, b"")
