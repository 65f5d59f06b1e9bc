"""What cleans up after us even when we are killed with -9: a process that waits for our end of a pipe.

It ends our private adb server (only where there is `/bin/sh`; elsewhere the next command finds the server and ends it),
or lets go of our phones in the user's. It must never end anything but the one process it was told, and no phone of
anybody else's.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_SHELL = Path("/bin/sh")
#: Not the adb program: one of another version than the user's server would restart that.
_LET_GO = """
import socket, sys
if not sys.stdin.readline():
    for serial in sys.argv[2:]:
        words = b"host:disconnect:" + serial.encode()
        with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5) as server:
            server.sendall(b"%04x" % len(words) + words)
            server.recv(4096)
"""


@contextmanager
def ended_with_us(pid: int) -> Iterator[None]:
    """End a process of ours when this process is gone before the `with` is over."""
    if not _SHELL.exists():
        yield
        return
    with _watched([str(_SHELL), "-c", f"read _ || kill {pid}"]):
        yield


@contextmanager
def let_go_with_us(adb_port: int, serials: Sequence[str]) -> Iterator[None]:
    """Have an adb server that is not ours forget these phones when this process is gone before the `with` is over."""
    with _watched([sys.executable, "-I", "-S", "-c", _LET_GO, str(adb_port), *serials]):
        yield


@contextmanager
def _watched(command: list[str]) -> Iterator[None]:
    # It reads until the last holder of the pipe is gone, and that is this process: children do not inherit it.
    watch = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield
    finally:
        # A line tells it that all is well.
        with contextlib.suppress(OSError):
            watch.communicate(b"well\n", timeout=5)
