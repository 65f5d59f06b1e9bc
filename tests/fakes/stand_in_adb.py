"""A stand-in adb server: the host protocol of adb 36 in memory, for phones, pairing and mDNS that no test can have.

Texts are those that the real server was seen to send, among them `OKAY` and then `FAIL` for a pairing that failed.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

VERSION = "0029"
MDNS = "mdns daemon version [Openscreen discovery 0.0.0]"


@dataclass
class StandInAdb:
    """`phones`: serial to state. `listening`: address to the state a connection gets there, or what adb says instead.

    `codes`: pairing address to (code, service name, address to connect to). `asked` is every question, in order.
    """

    phones: dict[str, str] = field(default_factory=dict)
    listening: dict[str, str] = field(default_factory=dict)
    announced: list[str] = field(default_factory=list)
    codes: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    has_mdns: bool = True
    asked: list[str] = field(default_factory=list)
    port: int = 0

    def announce(self, name: str, kind: str, address: str) -> None:
        self.announced.append(f"{name}\t_adb-tls-{kind}._tcp\t{address}")

    def answer(self, words: str) -> bytes:
        self.asked.append(words)
        match words.split(":")[1] if words.startswith("host:") else "":
            case "version":
                return _okay(VERSION)
            case "devices":
                return _okay("".join(f"{serial}\t{state}\n" for serial, state in self.phones.items()))
            case "devices-l":
                lines = (f"{serial.ljust(22)} {state} model:Pixel_9\n" for serial, state in self.phones.items())
                return _okay("".join(lines))
            case "mdns":
                if not self.has_mdns:
                    return _fail("unknown host service")
                check = words == "host:mdns:check"
                return _okay(MDNS if check else "".join(f"{line}\n" for line in self.announced))
            case "connect":
                return _okay(self._connect(words.removeprefix("host:connect:")))
            case "disconnect":
                serial = words.removeprefix("host:disconnect:")
                known = self.phones.pop(serial, None)
                return _okay(f"disconnected {serial}") if known else _fail(f"no such device '{serial}'")
            case "pair":
                return self._pair(words.removeprefix("host:pair:"))
        return _fail("unknown host service")

    def _connect(self, address: str) -> str:
        if address in self.phones:
            return f"already connected to {address}"
        state = self.listening.get(address, "Connection refused")
        if state not in ("device", "offline", "unauthorized", "auth"):
            return f"failed to connect to '{address}': {state}"
        self.phones[address] = "unauthorized" if state == "auth" else state
        return f"failed to authenticate to {address}" if state == "auth" else f"connected to {address}"

    def _pair(self, words: str) -> bytes:
        code, _, address = words.partition(":")
        known = self.codes.get(address)
        if known is None:
            return b"OKAY" + _fail("Failed: Unable to start pairing client.")
        if known[0] != code:
            del self.codes[address]  # good for one try
            return b"OKAY" + _fail("Failed: Wrong password or connection was dropped.")
        self.announce(known[1], "connect", known[2])
        return _okay(f"Successfully paired to {address} [guid={known[1]}]")


def _okay(text: str) -> bytes:
    data = text.encode()
    return b"OKAY" + f"{len(data):04x}".encode() + data


def _fail(text: str) -> bytes:
    data = text.encode()
    return b"FAIL" + f"{len(data):04x}".encode() + data


@contextmanager
def served(
    answers: StandInAdb, *, behind: int | None = None, renamed: Mapping[str, str] | None = None
) -> Iterator[StandInAdb]:
    """Serve on a free port for the length of a `with`.

    With `behind`, only what is about mDNS is answered here; all else goes to the real server on that port as it is, but
    that a phone goes by the name that `renamed` gives its serial.
    """
    listener = socket.create_server(("127.0.0.1", 0))
    answers.port = int(listener.getsockname()[1])

    def one(connection: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), connection:
            words = _exactly(connection, int(_exactly(connection, 4), 16))
            if behind is None or re.match(rb"host:mdns:", words):
                connection.sendall(answers.answer(words.decode()))
                return
            answers.asked.append(words.decode())
            with socket.create_connection(("127.0.0.1", behind)) as real:
                for serial, name in (renamed or {}).items():
                    words = words.replace(name.encode(), serial.encode())
                real.sendall(b"%04x" % len(words) + words)
                if renamed and words.startswith(b"host:devices"):
                    connection.sendall(_renamed(real, renamed))
                    return
                back = threading.Thread(target=_pump, args=(real, connection), daemon=True)
                back.start()
                _pump(connection, real)
                back.join(30)

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=one, args=listener.accept()[:1], daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield answers
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def _renamed(real: socket.socket, renamed: Mapping[str, str]) -> bytes:
    """Read a whole list of the real server and give its phones their other names."""
    assert _exactly(real, 4) == b"OKAY"
    text = _exactly(real, int(_exactly(real, 4), 16)).decode()
    for serial, name in renamed.items():
        text = text.replace(serial, name)
    return _okay(text)


def _exactly(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            raise ValueError("the question broke off")
        data += piece
    return data


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    for end in (source, sink):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
