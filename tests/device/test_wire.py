"""A socket whose every operation ends at its deadline."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.wire import DeadlineSocket


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as made:
        yield made


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def soon(seconds: float) -> Deadline:
    return Deadline.after(SystemClock(), seconds)


def test_one_send_sends_everything_although_the_socket_has_a_timeout(listener: socket.socket) -> None:
    # adbutils ignores what `send` returns.
    data = b"x" * 20_000_000
    received = bytearray()

    def read() -> None:
        peer, _ = listener.accept()
        with peer:
            while chunk := peer.recv(65536):
                received.extend(chunk)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    with DeadlineSocket.connect_to(port_of(listener), soon(20)) as sock:
        assert sock.send(data) == len(data)
    thread.join(20)
    assert len(received) == len(data)


@pytest.mark.parametrize("operation", ["recv", "recv_into", "sendall", "send", "readline"])
def test_a_silent_peer_ends_every_operation_at_the_deadline_whatever_settimeout_said(
    listener: socket.socket, operation: str
) -> None:
    clock = SystemClock()
    with DeadlineSocket.connect_to(port_of(listener), soon(0.3)) as sock:
        sock.settimeout(600)
        started = clock.monotonic()
        with pytest.raises(TimeoutError):
            match operation:
                case "recv":
                    sock.recv(1)
                case "recv_into":
                    sock.recv_into(bytearray(1))
                case "readline":
                    sock.makefile("rb").readline()
                case _:
                    getattr(sock, operation)(b"x" * 100_000_000)
        assert clock.monotonic() - started < 1.5


def test_nothing_is_tried_after_the_deadline(listener: socket.socket) -> None:
    with pytest.raises(TimeoutError):
        DeadlineSocket.connect_to(port_of(listener), soon(0))


def test_hanging_up_wakes_a_thread_that_reads(listener: socket.socket) -> None:
    sock = DeadlineSocket.connect_to(port_of(listener), None)
    is_reading = threading.Event()

    def read() -> None:
        is_reading.set()
        try:
            sock.recv(1)
        except OSError:
            return

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    is_reading.wait(5)
    sock.hang_up()
    sock.hang_up()
    thread.join(5)
    assert not thread.is_alive()
