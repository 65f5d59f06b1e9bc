"""settle: rest is two equal looks one gap apart, and a change or half a second without one."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import ScreenUnreadable
from droidpilot.device.settle import CAP_S, QUIET_S, SETTLE_GAP_S, Settled, settle

FRAME_S = 1 / 60


def shows(clock: ManualClock, starts_s: float, lasts_s: float, *, read_s: float = 0.002) -> Callable[[], str]:
    """Read a screen that goes from `old` to `new` in a transition with a new picture every frame."""

    def read() -> str:
        at = clock.monotonic()
        clock.advance(read_s)
        if at < starts_s:
            return "old"
        frame = int((at - starts_s) / FRAME_S)
        return "new" if at >= starts_s + lasts_s else f"frame {frame}"

    return read


def run(clock: ManualClock, read: Callable[[], str], before: str | None) -> Settled[str]:
    return settle(read, str, before=before, clock=clock)


@given(
    starts_s=st.floats(0.0, 0.3), lasts_s=st.floats(0.0, 1.5), read_s=st.floats(0.0005, 0.2), phase=st.floats(0.0, 0.02)
)
def test_a_transition_that_shows_within_300_ms_is_waited_out(
    starts_s: float, lasts_s: float, read_s: float, phase: float
) -> None:
    clock = ManualClock()
    clock.advance(phase)
    result = run(clock, shows(clock, phase + starts_s, lasts_s, read_s=read_s), "old")
    assert (result.value, result.is_settled, result.is_changed) == ("new", True, True)


def test_a_write_that_changes_nothing_waits_half_a_second_and_no_longer() -> None:
    clock = ManualClock()
    result = run(clock, shows(clock, 99, 0), "old")
    assert result.is_settled and not result.is_changed
    assert QUIET_S <= result.waited_s <= QUIET_S + SETTLE_GAP_S + 0.01


def test_an_instant_change_costs_one_gap() -> None:
    clock = ManualClock()
    result = run(clock, shows(clock, 0, 0), "old")
    assert (result.value, result.reads, result.is_changed) == ("new", 2, True)
    assert result.waited_s == pytest.approx(SETTLE_GAP_S + 2 * 0.002)


def test_a_plain_look_costs_one_gap_and_knows_of_no_change() -> None:
    clock = ManualClock()
    result = run(clock, shows(clock, 99, 0), None)
    assert (result.value, result.reads, result.is_settled, result.is_changed) == ("old", 2, True, False)


def test_a_change_back_to_the_same_screen_is_a_change() -> None:
    clock = ManualClock()
    pictures = iter(["old", "toast", "old", "old"])
    result = run(clock, lambda: next(pictures), "old")
    assert (result.value, result.is_changed, result.reads) == ("old", True, 4)


def test_a_screen_that_never_rests_is_given_up_at_the_cap() -> None:
    clock = ManualClock()
    result = run(clock, shows(clock, 0, 99), "old")
    assert not result.is_settled and result.is_changed
    assert CAP_S - SETTLE_GAP_S <= result.waited_s <= CAP_S


def test_equal_looks_are_at_least_one_gap_apart_however_slow_the_read() -> None:
    clock = ManualClock()
    spans: list[tuple[float, float]] = []

    def read() -> str:
        start = clock.monotonic()
        clock.advance(0.4)
        spans.append((start, clock.monotonic()))
        return "same"

    run(clock, read, None)
    assert spans[1][0] - spans[0][1] >= SETTLE_GAP_S - 1e-9


def test_the_gap_is_longer_than_two_frames_of_a_slow_phone() -> None:
    assert SETTLE_GAP_S > 2 * FRAME_S


def focus_then_transition(clock: ManualClock, starts_s: float) -> Callable[[], str]:
    """Read a screen where a touch moves the focus at once and opens something later."""
    later = shows(clock, starts_s, 0.3)

    def read() -> str:
        picture = later()
        return "old, focused" if picture == "old" else picture

    return read


def test_moved_focus_alone_is_no_answer_to_a_touch() -> None:
    clock = ManualClock()
    read = focus_then_transition(clock, 0.28)
    result = settle(read, str, before="old", is_slight=lambda look: look == "old, focused", clock=clock)
    assert (result.value, result.is_settled) == ("new", True)
    hasty = ManualClock()
    assert run(hasty, focus_then_transition(hasty, 0.28), "old").value == "old, focused"


def test_moved_focus_with_nothing_behind_it_is_waited_for_half_a_second() -> None:
    clock = ManualClock()
    read = focus_then_transition(clock, 99)
    result = settle(read, str, before="old", is_slight=lambda look: look == "old, focused", clock=clock)
    assert (result.value, result.is_changed) == ("old, focused", True)
    assert QUIET_S <= result.waited_s <= QUIET_S + SETTLE_GAP_S + 0.01


def test_what_the_read_raises_goes_through() -> None:
    def read() -> str:
        raise ScreenUnreadable("black")

    with pytest.raises(ScreenUnreadable):
        run(ManualClock(), read, "old")


def test_a_slow_phone_gets_looks_enough_to_prove_rest_and_still_an_end() -> None:
    """With 1.5 s per look only two fit into the cap: a transition between them would pass for a screen at work."""
    clock = ManualClock()
    pictures = ["old", "half", "new", "new", "new"]

    def read() -> str:
        clock.advance(1.5)
        return pictures.pop(0)

    result = settle(read, str, before="old", clock=clock)
    assert (result.value, result.is_settled, result.reads) == ("new", True, 4)
    numbers = iter(range(1000))

    def restless() -> str:
        clock.advance(1.5)
        return str(next(numbers))

    endless = settle(restless, str, before=None, clock=clock)
    assert not endless.is_settled and endless.waited_s <= 4 * (1.5 + SETTLE_GAP_S)


def test_a_phone_that_is_slow_beyond_measure_is_not_waited_for_without_end() -> None:
    clock = ManualClock()
    numbers = iter(range(1000))

    def read() -> str:
        clock.advance(10.0)
        return str(next(numbers))

    result = settle(read, str, before=None, clock=clock)
    assert not result.is_settled and result.reads == 2
