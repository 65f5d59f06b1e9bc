"""A socket whose every operation ends at a deadline, however slowly the other side trickles.

It knows neither adb nor phones. Libraries that call `settimeout` on it do not get around the deadline.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

from droidpilot.core.clock import Deadline

#: Loopback never goes through a proxy and never through a name that may resolve to ::1.
LOOPBACK = "127.0.0.1"


class DeadlineSocket(socket.socket):
    """A TCP socket that belongs to one call; `deadline` None means it may wait for ever (a stream kept open)."""

    deadline: Deadline | None = None

    @classmethod
    def connect_to(cls, port: int, deadline: Deadline | None) -> DeadlineSocket:
        """Connect to `port` on this machine, with TCP_NODELAY.

        Raises:
            OSError: nobody listens, or (TimeoutError) the deadline is over.
        """
        sock = cls(socket.AF_INET, socket.SOCK_STREAM)
        sock.deadline = deadline
        try:
            # Without it a request in two writes waits 40 ms for the delayed ACK of the first.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            sock._arm()
            sock.connect((LOOPBACK, port))
        except OSError:
            sock.close()
            raise
        return sock

    def _arm(self) -> None:
        if self.deadline is None:
            self.settimeout(None)
            return
        left_s = self.deadline.left_s()
        if left_s <= 0:
            raise TimeoutError("the deadline is over")
        self.settimeout(left_s)

    def send(self, data: Any, flags: int = 0) -> int:
        """Send all of `data`: adbutils ignores how much a partial send took, and would corrupt what it pushes."""
        self.sendall(data, flags)
        return memoryview(data).nbytes

    def sendall(self, data: Any, flags: int = 0) -> None:
        self._arm()
        super().sendall(data, flags)

    def recv(self, bufsize: int, flags: int = 0) -> bytes:
        self._arm()
        return super().recv(bufsize, flags)

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        self._arm()
        return super().recv_into(buffer, nbytes, flags)

    def hang_up(self) -> None:
        """Shut both directions and close, waking a thread that still reads."""
        with contextlib.suppress(OSError):  # never connected, or the other side was faster
            self.shutdown(socket.SHUT_RDWR)
        self.close()


def is_open(sock: socket.socket) -> bool:
    """Tell whether the other side has not closed a stream yet; false where the system cannot look without reading.

    Another thread may be reading it: nothing is taken from it, and nothing waits.
    """
    look = getattr(socket, "MSG_DONTWAIT", 0)
    if not look:
        return False
    try:
        return socket.socket.recv(sock, 1, socket.MSG_PEEK | look) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
