"""Settling on the virtual phone in simulated time: the screen that is returned is the final one, soon after it is."""

from __future__ import annotations

import pytest
from tests.bench.settling import TRANSITIONS_MS, settling

#: The whole bar is 200 taps; the bench makes them.
TAPS = 40


@pytest.mark.parametrize("transition_ms", TRANSITIONS_MS)
def test_the_screen_after_a_tap_is_the_final_one_and_comes_soon(transition_ms: int) -> None:
    result = settling(transition_ms, taps=TAPS, seed=3)
    assert result.inputs >= TAPS
    assert result.final_share >= 0.99
    assert result.median_extra_ms <= 150
