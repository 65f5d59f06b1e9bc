"""Pace: an optional answer gets a multiple of what the phone has proved to need, within bounds."""

from __future__ import annotations

import pytest

from droidpilot.device.pace import LEAST_S, MOST_S, TIMES, Pace


def test_a_phone_that_was_not_measured_yet_is_waited_for_longest() -> None:
    assert Pace().patience_s == MOST_S and Pace().usual_s == 0.0


@pytest.mark.parametrize(("usual_s", "patience_s"), [(0.02, LEAST_S), (1.5, TIMES * 1.5), (30.0, MOST_S)])
def test_patience_scales_with_the_phone(usual_s: float, patience_s: float) -> None:
    assert Pace(usual_s).patience_s == pytest.approx(patience_s)


def test_a_line_that_gets_slow_counts_at_once_and_one_that_gets_fast_little_by_little() -> None:
    pace = Pace(0.1)
    pace.note(1.5)
    assert pace.usual_s == 1.5
    pace.note(0.1)
    assert 1.0 < pace.usual_s < 1.5
    for _ in range(30):
        pace.note(0.1)
    assert pace.usual_s == pytest.approx(0.1, abs=0.01)
