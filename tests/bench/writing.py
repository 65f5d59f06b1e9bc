"""What it costs to have every line on disk before the next byte goes to the phone."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

from droidpilot.core.clock import SystemClock
from droidpilot.core.events import Noted
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.sessions import new_session_id
from droidpilot.transcript.writer import TranscriptWriter

LINES = 300


def line_ms() -> float:
    """Return the milliseconds of one appended, chained and synced line."""
    clock = SystemClock()
    with (
        tempfile.TemporaryDirectory() as home,
        TranscriptWriter.create(Path(home), new_session_id(clock), clock=clock, redactor=Redactor()) as writer,
    ):
        times = []
        for number in range(LINES):
            started = time.perf_counter()
            writer.append(Noted(text=f"line {number} of the bench"))
            times.append(time.perf_counter() - started)
    return median(times) * 1000
