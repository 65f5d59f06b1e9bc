"""A TCP proxy that stands between the adb server and a phone and cuts the line after so many bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

Direction = Literal["to_phone", "to_host"]


class CutProxy:
    """Forwards one phone. `cut` arms it: so many more bytes pass in one direction, then every connection is dropped.

    With `behind` the counting begins only when these bytes went to the phone, so that one request can be met exactly.
    `passed` counts all bytes of a direction.
    """

    def __init__(self, phone_port: int) -> None:
        self._phone_port = phone_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._left: dict[Direction, int | None] = {"to_phone": None, "to_host": None}
        self._armed: tuple[bytes, Direction, int] | None = None
        self.passed: dict[Direction, int] = {"to_phone": 0, "to_host": 0}
        self.port = int(self._listener.getsockname()[1])
        self.has_cut = threading.Event()

    def cut(self, direction: Direction, after_bytes: int, *, behind: bytes = b"") -> None:
        with self._lock:
            self.has_cut.clear()
            if behind:
                self._armed = (behind, direction, after_bytes)
                return
            self._left[direction] = after_bytes
        if after_bytes == 0:
            self._drop()

    def lead_to(self, phone_port: int) -> None:
        """Drop every connection; the next ones lead to another phone."""
        self._phone_port = phone_port
        self._drop()

    def disarm(self) -> None:
        with self._lock:
            self._left = {"to_phone": None, "to_host": None}
            self._armed = None

    def accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                host, _ = self._listener.accept()
                phone = socket.create_connection(("127.0.0.1", self._phone_port))
                with self._lock:
                    self._open += [host, phone]
                for source, sink, direction in ((host, phone, "to_phone"), (phone, host, "to_host")):
                    threading.Thread(target=self._pump, args=(source, sink, direction), daemon=True).start()

    def close(self) -> None:
        # A listener blocked in accept is woken by shutdown, not by close.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._drop()

    def _pump(self, source: socket.socket, sink: socket.socket, direction: Direction) -> None:
        with contextlib.suppress(OSError):
            tail = b""
            while data := source.recv(65536):
                with self._lock:
                    self.passed[direction] += len(data)
                    if direction == "to_phone" and self._armed is not None:
                        tail = self._look_for(tail + data, len(data))
                    left = self._left[direction]
                    if left is not None:
                        self._left[direction] = max(0, left - len(data))
                        data = data[:left]
                sink.sendall(data)
                if left is not None and left <= len(data):
                    self._drop()
                    return
        self._end((source, sink))

    def _look_for(self, seen: bytes, fresh: int) -> bytes:
        """Arm the cut where the mark has passed; return what may be the beginning of the mark."""
        assert self._armed is not None
        mark, direction, after_bytes = self._armed
        place = seen.find(mark)
        if place < 0:
            return seen[-len(mark) + 1 :]
        self._armed = None
        # What lies before the mark in this piece passes as well.
        before = place + len(mark) - (len(seen) - fresh) if direction == "to_phone" else 0
        self._left[direction] = before + after_bytes
        return b""

    def _drop(self) -> None:
        """Break every connection, as a cable does."""
        with self._lock:
            gone, self._open = self._open, []
            self._left = {"to_phone": None, "to_host": None}
            self._armed = None
        self._close(gone)
        self.has_cut.set()

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        """Pass on that one side closed one connection: adb closes those that it has twice."""
        with self._lock:
            self._open = [one for one in self._open if one not in pair]
        self._close(pair)

    @staticmethod
    def _close(gone: Iterable[socket.socket]) -> None:
        for one in gone:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def cut_proxy(phone_port: int) -> Iterator[CutProxy]:
    """Run a proxy for the length of a `with`."""
    proxy = CutProxy(phone_port)
    thread = threading.Thread(target=proxy.accept, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join(5)
