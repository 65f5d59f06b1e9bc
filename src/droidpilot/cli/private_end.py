"""What ends a private adb server together with us, also after kill -9: a process that waits for our end of a pipe.

Only where there is `/bin/sh`; elsewhere the next command finds the server and ends it. It must never end anything but
the one process it was told.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_SHELL = Path("/bin/sh")


@contextmanager
def ended_with_us(pid: int) -> Iterator[None]:
    """End a process of ours when this process is gone before the `with` is over."""
    if not _SHELL.exists():
        yield
        return
    # `read` returns when the last holder of the pipe is gone, and that is this process: children do not inherit it.
    watch = subprocess.Popen(
        [str(_SHELL), "-c", f"read _ || kill {pid}"],
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
