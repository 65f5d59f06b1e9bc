"""A whole `droidpilot run` against peers in another process: its peak memory, and how soon the model is asked."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.attached import connect_tcp

#: Turns of the measured run, and how many of them take a picture.
TURNS, PICTURES = 27, 5
#: Runs with the helper already on the phone; the first one brings it there and is not counted.
RUNS = 4
_POLL_S = 0.02
_HIGHEST = re.compile(r"^VmHWM:\s+(\d+) kB", re.MULTILINE)
_PROGRAM = str(Path(sys.executable).with_name("droidpilot"))


@dataclass(frozen=True, slots=True)
class Runs:
    """Medians over the runs that count."""

    peak_mib: float  # VmHWM of the process, the highest of all runs
    first_request_s: float  # from the start of the process to the first model request
    import_s: float  # of a Python that imports openai and uiautomator2
    turns: int


def whole_runs() -> Runs:
    """Run the same goal several times and measure the process from outside.

    Raises:
        RuntimeError: a run did not end as it must.
    """
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        words = [sys.executable, "-m", "tests.bench.peers", str(TURNS), str(PICTURES), str(RUNS)]
        peers = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert peers.stdout is not None and peers.stdin is not None
        private = start_private_server(home, clock)
        try:
            told = json.loads(peers.stdout.readline())
            connect_tcp(private.server, told["serial"], Deadline.after(clock, 10))
            env = {
                **os.environ,
                "DROIDPILOT_HOME": str(home / "state"),
                "ANDROID_ADB_SERVER_PORT": str(private.port),
                "DROIDPILOT_MODEL": "scripted",
                "DROIDPILOT_BASE_URL": told["base_url"],
                "DROIDPILOT_ASK": "never",
            }
            measured = [_run(told["serial"], env, home) for _ in range(RUNS)]
            peers.stdin.close()
            asked: list[float] = json.loads(peers.stdout.readline())
        finally:
            private.stop()
            peers.kill()
            peers.wait()
    per_run = len(asked) // RUNS
    firsts = [asked[number * per_run] - started for number, (started, _) in enumerate(measured)]
    return Runs(
        peak_mib=max(peak for _, peak in measured) / 1024,
        first_request_s=median(firsts[1:]),
        import_s=median(_import_s() for _ in range(RUNS)),
        turns=per_run,
    )


def _run(serial: str, env: dict[str, str], cwd: Path) -> tuple[float, int]:
    """Run once; return the moment of the start and the peak memory in KiB."""
    started = time.perf_counter()
    peak = 0
    words = [_PROGRAM, "run", "Toggle along", "--device", serial, "--no-check"]
    with subprocess.Popen(words, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while process.poll() is None:
            try:
                found = _HIGHEST.search(Path(f"/proc/{process.pid}/status").read_text())
            except OSError:
                break
            peak = max(peak, int(found[1]) if found else 0)
            time.sleep(_POLL_S)
        said = process.stdout.read() if process.stdout is not None else b""
    if process.returncode != 0:
        raise RuntimeError(f"the run ended with {process.returncode}: {said.decode('utf-8', 'replace')[-800:]}")
    return started, peak


def _import_s() -> float:
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", "import openai, uiautomator2"], check=True, capture_output=True)
    return time.perf_counter() - started
