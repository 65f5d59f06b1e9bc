"""What diffs save in a long list. It hangs on how much of what is in sight is new after each step."""

from __future__ import annotations

from tests.bench.scrolling import IN_SIGHT, scrolled, scrolled_on_phone

from droidpilot.tools.touch import SHARES


def test_a_list_of_300_rows_by_quarters_of_a_page_costs_a_third_of_whole_screens() -> None:
    result = scrolled(IN_SIGHT // 4)
    assert result.steps == 56
    assert result.share <= 1 / 3


def test_no_step_costs_more_than_the_whole_screen_and_its_marks() -> None:
    assert scrolled(IN_SIGHT).share < 1.1


def test_306_rows_of_the_virtual_phone_by_the_scroll_tools_own_step_cost_a_third_of_whole_screens() -> None:
    result = scrolled_on_phone(SHARES["part"])
    assert 120 <= result.steps <= 170
    assert result.share <= 1 / 3


def test_by_pages_most_of_each_screen_is_new_and_the_diffs_save_what_is_left() -> None:
    result = scrolled_on_phone(SHARES["page"])
    assert 35 <= result.steps <= 45
    assert result.share < 0.8
