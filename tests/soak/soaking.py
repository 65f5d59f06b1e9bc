"""Drives many phones of one process by as many uiautomator2 clients, and watches what the process keeps.

The clients are unmodified and in this process; the phones and their adb server are in others, started by the command.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

STEP_S = 1.0
CONNECT_S = 300.0
"""So long all clients together may take to connect."""
PICTURE_EVERY = 10
"""Every so many steps a client takes a picture too."""
#: The command of the tree that runs this, whatever is installed.
COMMAND = [sys.executable, "-c", "from droidpilot.cli.app import main; main()"]


@dataclass(frozen=True, slots=True)
class Sample:
    """What a process holds at one moment."""

    at_s: float
    rss_kb: int
    files: int


@dataclass
class Soak:
    """What a run found."""

    steps: int = 0
    errors: list[str] = field(default_factory=list)
    click_ms: list[float] = field(default_factory=list)
    dump_ms: list[float] = field(default_factory=list)
    picture_ms: list[float] = field(default_factory=list)
    late: int = 0
    """Steps that did not end within their second."""
    phones: list[Sample] = field(default_factory=list)
    server: list[Sample] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def running_phones(count: int, home: Path) -> Iterator[list[dict[str, Any]]]:
    """Start so many phones in one process; give what the command told of each."""
    environment = {**os.environ, "DROIDPILOT_HOME": str(home)}
    process = subprocess.Popen(
        [*COMMAND, "virtual", "start", "--count", str(count), "--json"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        lines = [process.stdout.readline() for _ in range(count)]
        yield [json.loads(line) for line in lines]
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


def sample(pid: int, began: float) -> Sample:
    """Read what a process holds. Source: /proc/PID/statm in pages, /proc/PID/fd; proc(5)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    files = sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir())
    return Sample(time.monotonic() - began, pages * os.sysconf("SC_PAGE_SIZE") // 1024, files)


def soak(phones: list[dict[str, Any]], server_pid: int, *, lasts_s: float, every_s: float) -> Soak:
    """Drive every phone by a client of its own for so long, once all are connected, and sample every so often."""
    found, over = Soak(), threading.Event()
    connected = threading.Barrier(len(phones) + 1)
    threads = [
        threading.Thread(target=_client, args=(one, number, found, connected, over), daemon=True)
        for number, one in enumerate(phones)
    ]
    for thread in threads:
        thread.start()
    connected.wait(CONNECT_S)
    began = time.monotonic()
    while not over.wait(min(every_s, max(0.0, began + lasts_s - time.monotonic()))):
        found.phones.append(sample(phones[0]["pid"], began))
        found.server.append(sample(server_pid, began))
        if time.monotonic() >= began + lasts_s:
            over.set()
    for thread in threads:
        thread.join(60)
        if thread.is_alive():
            found.errors.append("a client did not come to its end")
    return found


def _client(
    phone: dict[str, Any], number: int, found: Soak, connected: threading.Barrier, over: threading.Event
) -> None:
    import adbutils
    import uiautomator2

    try:
        client = adbutils.AdbClient(host="127.0.0.1", port=phone["adb_port"])
        device = uiautomator2.connect(client.device(phone["serial"]))
    except Exception as error:  # noqa: BLE001 # whatever a client of the library meets is what is looked for
        found.errors.append(f"connecting: {type(error).__name__}: {error}"[:300])
        connected.wait(CONNECT_S)
        return
    connected.wait(CONNECT_S)
    # The clients are spread over the second, as people would be.
    due = time.monotonic() + number / 20 % 1
    step = 0
    while not over.wait(max(0.0, due - time.monotonic())):
        began = time.monotonic()
        try:
            _step(device, step, found)
        except Exception as error:  # noqa: BLE001 # as above
            found.errors.append(f"step {step}: {type(error).__name__}: {error}"[:300])
        step += 1
        with found.lock:
            found.steps += 1
            found.late += time.monotonic() - began > STEP_S
        due = max(due + STEP_S, time.monotonic())
    device.stop_uiautomator(wait=False)


def _step(device: Any, step: int, found: Soak) -> None:
    """Open something or go back, read the screen, and now and then take a picture."""

    def timed(into: list[float], act: Any) -> Any:
        began = time.monotonic()
        result = act()
        into.append((time.monotonic() - began) * 1000)
        return result

    moves = (
        lambda: device.click(540, 600),
        lambda: device.press("back"),
        lambda: device.swipe(540, 1600, 540, 800, 0.1),
    )
    timed(found.click_ms, moves[step % 3])
    xml = timed(found.dump_ms, device.dump_hierarchy)
    if "<node" not in xml:
        raise AssertionError("a dump without a node")
    if step % PICTURE_EVERY == PICTURE_EVERY - 1:
        timed(found.picture_ms, device.screenshot)


def growth(samples: list[Sample]) -> tuple[int, int]:
    """Return by how many KiB and files the last fifth is above the second fifth; the first one only warms up."""
    part = max(1, len(samples) // 5)
    early, late = samples[part : 2 * part] or samples[:1], samples[-part:]

    memory = [statistics.median(one.rss_kb for one in of) for of in (early, late)]
    files = [statistics.median(one.files for one in of) for of in (early, late)]
    return int(memory[1] - memory[0]), int(files[1] - files[0])
