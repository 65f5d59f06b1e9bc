"""An in-phone server that answers what a test says: for answers that a healthy phone never gives."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError
from droidpilot.device.adb import AdbServer, PhoneLink, ShellAnswer
from droidpilot.device.inphone import PhoneServer
from droidpilot.device.wire import DeadlineSocket


def reply(body: bytes, *, status: str = "200 OK", length: int | None = None) -> bytes:
    """Build a whole HTTP answer; `length` lies about its size."""
    size = len(body) if length is None else length
    return f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {size}\r\n\r\n".encode() + body


def result(value: object) -> bytes:
    return reply(json.dumps({"jsonrpc": "2.0", "id": 1, "result": value}).encode())


def error(message: str, *, code: int = -32001, data: object = "") -> bytes:
    body = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": message, "data": data}}
    return reply(json.dumps(body).encode())


class InPhone:
    """Answers one request after another from `script`; the last answer is repeated. `requests` are the bodies seen."""

    def __init__(self, script: Sequence[bytes], *, trickle_s: float = 0.0, hangs: bool = False) -> None:
        self._script = list(script)
        self._trickle_s = trickle_s
        self._hangs = hangs
        self._over = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        self.requests: list[dict[str, object]] = []

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def close(self) -> None:
        self._over.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _answer(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            head, body = b"", b""
            while b"\r\n\r\n" not in head:
                head += connection.recv(65536)
            head, _, body = head.partition(b"\r\n\r\n")
            size = next(
                (int(line.split(b":")[1]) for line in head.splitlines() if line.startswith(b"Content-Length")), 0
            )
            while len(body) < size:
                body += connection.recv(65536)
            if body:
                self.requests.append(json.loads(body))
            answer = self._script.pop(0) if len(self._script) > 1 else self._script[0]
            if self._hangs:
                self._over.wait()
            elif self._trickle_s:
                for place in range(len(answer)):
                    connection.sendall(answer[place : place + 1])
                    self._over.wait(self._trickle_s)
            else:
                connection.sendall(answer)


class InPhoneLink(PhoneLink):
    """A link whose phone is an InPhone; `shell` answers from a table of the first words."""

    def __init__(self, port: int) -> None:
        super().__init__(AdbServer(1), "scripted")
        self.in_phone_port = port
        self.shell_answers: list[ShellAnswer | DeviceError] = []
        self.commands: list[list[str]] = []
        self.printed: list[bytes] = []

    def open_port(self, port: int, deadline: Deadline) -> DeadlineSocket:
        return DeadlineSocket.connect_to(self.in_phone_port, deadline)

    def shell(self, argv: Sequence[str], deadline: Deadline, *, sent: str = "no") -> ShellAnswer:
        self.commands.append(list(argv))
        answer = self.shell_answers.pop(0)
        if isinstance(answer, DeviceError):
            raise answer
        return answer

    def script(self, commands: Sequence[Sequence[str]], deadline: Deadline, *, sent: str = "no") -> ShellAnswer:
        return self.shell([word for words in commands for word in words], deadline, sent=sent)

    def output(self, argv: Sequence[str], deadline: Deadline, *, most_bytes: int) -> bytes:
        self.commands.append(list(argv))
        return self.printed.pop(0)


class CountingServer(PhoneServer):
    """A server that is only counted, never started."""

    restarts = 0
    stops = 0

    def restart(self, deadline: Deadline) -> None:
        self.restarts += 1

    def stop(self) -> None:
        self.stops += 1


@contextmanager
def in_phone(*script: bytes, trickle_s: float = 0.0, hangs: bool = False) -> Iterator[tuple[InPhone, InPhoneLink]]:
    """Run an InPhone for the length of a `with`."""
    server = InPhone(script, trickle_s=trickle_s, hangs=hangs)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server, InPhoneLink(server.port)
    finally:
        server.close()
        thread.join(5)
