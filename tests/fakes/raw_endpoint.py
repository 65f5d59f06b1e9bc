"""RawEndpoint: a socket that answers HTTP requests with bytes as they are given, for answers no server would send."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Self

#: What one connection gets: bytes and then the end, or a function that is handed the socket.
Answer = bytes | Callable[[socket.socket], None]


class RawEndpoint:
    """Listens on 127.0.0.1; the nth connection gets the nth answer, later ones are closed unanswered."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = list(answers)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.received: list[bytes] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    @property
    def port(self) -> int:
        port: int = self._socket.getsockname()[1]
        return port

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):  # wakes accept
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                self.received.append(_read_request(connection))
                if not self._answers:
                    continue
                answer = self._answers.pop(0)
                if isinstance(answer, bytes):
                    connection.sendall(answer)
                else:
                    answer(connection)


def http(body: bytes, *, status: str = "200 OK", kind: str = "text/event-stream", headers: str = "") -> bytes:
    """Make an HTTP answer that ends with its connection."""
    return f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\n{headers}\r\n".encode() + body


def sse(*events: object) -> bytes:
    """Make server-sent events; a str stands as it is, all else becomes JSON."""
    return b"".join(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n".encode() for event in events)


def delta(finish_reason: str | None = None, **fields: object) -> dict[str, object]:
    """Make one chunk."""
    return {"model": "raw", "choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def _read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return data
        data += piece
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
    )
    while len(body) < length:
        piece = connection.recv(65536)
        if not piece:
            break
        body += piece
    return head + b"\r\n\r\n" + body
