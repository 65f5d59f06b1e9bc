"""A TCP proxy that stands between the adb server and a phone and cuts the line after so many bytes."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

Direction = Literal["to_phone", "to_host"]


class CutProxy:
    """Forwards one phone. `cut` arms it: so many more bytes pass in one direction, then every connection is dropped."""

    def __init__(self, phone_port: int) -> None:
        self._phone_port = phone_port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []
        self._left: dict[Direction, int | None] = {"to_phone": None, "to_host": None}
        self.port = int(self._listener.getsockname()[1])
        self.has_cut = threading.Event()

    def cut(self, direction: Direction, after_bytes: int) -> None:
        with self._lock:
            self.has_cut.clear()
            self._left[direction] = after_bytes
        if after_bytes == 0:
            self._drop()

    def disarm(self) -> None:
        with self._lock:
            self._left = {"to_phone": None, "to_host": None}

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
            while data := source.recv(65536):
                with self._lock:
                    left = self._left[direction]
                    if left is not None:
                        self._left[direction] = max(0, left - len(data))
                        data = data[:left]
                sink.sendall(data)
                if left is not None and left <= len(data):
                    break
        self._drop()

    def _drop(self) -> None:
        with self._lock:
            gone, self._open = self._open, []
            self._left = {"to_phone": None, "to_host": None}
        for one in gone:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self.has_cut.set()


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
