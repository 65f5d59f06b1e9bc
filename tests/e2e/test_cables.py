"""The cable pulled before, during and after a write: what was said of it is true, and nothing was sent twice.

`make cables` does the same a thousand times; here are the moments that matter most and a few random ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from tests.cables.moments import WRITES, Moment, Write, cables, moments

from droidpilot.core.calls import Status

RANDOM = 4


def chosen(write: Write) -> Iterator[Moment]:
    """Give the moments around and inside the one packet that matters."""
    call = "start" if write == "open_app" else "input"
    yield Moment(write, "before")
    yield Moment(write, "after")
    for after in (0, 30, 90):
        yield Moment(write, "write", "to_phone", after, is_behind_mark=True)
    for after in (0, 24, 60):
        yield Moment(write, "write", "to_host", after, is_behind_mark=True)
    for when in ("before", "after", "cut"):
        yield Moment(write, "phone", fault=("drop", f"{call}:+1", when))


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.parametrize("write", WRITES)
def test_wherever_the_cable_is_pulled_what_is_said_is_true(write: Write, tmp_path: Path) -> None:
    drawn = [*chosen(write), *islice((one for one in moments(17) if one.write == write), RANDOM)]
    said: Counter[Status] = Counter()
    with cables(tmp_path) as line:
        for row in line.rows(iter(drawn), len(drawn)):
            assert not row.lie, f"{row.moment}: {row.lie} ({row.code})"
            said[row.status] += 1
    assert said[Status.OK] >= 2 and said[Status.UNKNOWN] >= 2, "the moments must reach different outcomes"
