"""What diffs save in a long list. It hangs on how much of what is in sight is new after each step."""

from __future__ import annotations

from tests.bench.scrolling import IN_SIGHT, scrolled, scrolled_on_phone


def test_a_list_of_300_rows_by_quarters_of_a_page_costs_a_third_of_whole_screens() -> None:
    result = scrolled(IN_SIGHT // 4)
    assert result.steps == 56
    assert result.share <= 1 / 3


def test_no_step_costs_more_than_the_whole_screen_and_its_marks() -> None:
    assert scrolled(IN_SIGHT).share < 1.1


def test_a_list_of_the_virtual_phone_is_scrolled_to_its_end_for_less_than_whole_screens() -> None:
    result = scrolled_on_phone(0.75)
    assert 35 <= result.steps <= 45
    assert result.share < 0.9
