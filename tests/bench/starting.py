"""How long it takes until a person sees something."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from statistics import median

RUNS = 7


def help_ratio() -> tuple[float, float]:
    """Return how many bare interpreter starts `droidpilot --help` takes, and its milliseconds."""
    program = str(Path(sys.executable).with_name("droidpilot"))
    bare, full = [], []
    for _ in range(RUNS):
        bare.append(_seconds([sys.executable, "-c", ""]))
        full.append(_seconds([program, "--help"]))
    return median(full) / median(bare), median(full) * 1000


def _seconds(words: list[str]) -> float:
    started = time.perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return time.perf_counter() - started
