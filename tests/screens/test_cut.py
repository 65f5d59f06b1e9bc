from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import screen_of

from droidpilot.core.errors import ScreenUnreadable, TargetError
from droidpilot.screens.render import body, framed, lines_of, render
from droidpilot.screens.screen import Screen


def listing(rows: int, *, read_only: int = 0) -> Screen:
    """A screen of rows to tap, each followed by so many texts to read."""
    els = []
    for row in range(rows):
        top = row * 40
        els.append(El(text=f"Row {row}", flags="clickable", bounds=(0, top, 1080, top + 20)))
        els.extend(El(text=f"Text {row}.{n}", bounds=(0, top + 20, 1080, top + 40)) for n in range(read_only))
    return screen_of(write(El(bounds=(0, 0, 1080, rows * 40), children=els)))


def test_what_fits_is_never_cut() -> None:
    screen = listing(20)
    whole = body(screen)
    assert body(screen, limit_bytes=len(whole.text.encode()) + 1) == whole
    assert (whole.left_off, whole.next_ref) == (0, None)


def test_a_cut_drops_whole_lines_from_the_end_and_says_how_many() -> None:
    told = body(listing(20), limit_bytes=40)
    assert told.text == (
        "! cut: 15 of 20 lines left off, ui_tree from_ref=6 goes on\n1 Row 0\n2 Row 1\n3 Row 2\n4 Row 3\n5 Row 4"
    )
    assert (told.refs, told.left_off, told.next_ref) == (frozenset(range(1, 6)), 15, 6)


def test_the_rest_begins_at_the_line_of_the_ref() -> None:
    told = body(listing(20), from_ref=18)
    assert told.text == "18 Row 17\n19 Row 18\n20 Row 19"
    assert told.refs == {18, 19, 20}


def test_a_cut_falls_in_front_of_a_ref_so_that_no_text_is_lost() -> None:
    told = body(listing(6, read_only=3), limit_bytes=75)
    assert told.next_ref == 2 and told.text.endswith("- Text 0.2")


def test_a_limit_below_one_line_still_shows_one() -> None:
    assert body(listing(3), limit_bytes=1).refs == {1}


def test_texts_alone_can_be_cut_too_and_it_is_said_that_no_ref_goes_on() -> None:
    screen = screen_of(write(El(children=[El(text=f"Text {n}") for n in range(9)])))
    told = body(screen, limit_bytes=20)
    assert told.text.startswith("! cut: 7 of 9 lines left off, scroll to see them\n") and told.next_ref is None


def test_a_ref_without_a_line_is_refused() -> None:
    with pytest.raises(TargetError) as caught:
        body(listing(3), from_ref=4)
    assert caught.value.code == "no_line"


def test_a_frame_names_the_package_once() -> None:
    assert framed(listing(3)).text == ("<screen com.example.app>\n1 Row 0\n2 Row 1\n3 Row 2\n</screen>")


@given(st.integers(1, 12), st.integers(0, 3), st.integers(1, 200))
@settings(max_examples=100, deadline=None)
def test_the_parts_are_the_whole(rows: int, read_only: int, limit: int) -> None:
    screen = listing(rows, read_only=read_only)
    parts: list[str] = []
    from_ref: int | None = None
    while True:
        told = body(screen, limit_bytes=limit, from_ref=from_ref)
        parts.extend(line for line in told.text.split("\n") if not line.startswith("! "))
        if told.next_ref is None:
            break
        assert told.next_ref not in told.refs
        from_ref = told.next_ref
    whole = [line.text for line in lines_of(screen)]
    assert parts == whole[: len(parts)] and len(parts) == len(whole) - told.left_off


def test_no_dump_is_cut_at_a_quarter_of_an_ordinary_window(all_dumps: list[Path]) -> None:
    for path in all_dumps:
        try:
            screen = screen_of(path.read_bytes())
        except ScreenUnreadable:
            continue
        assert render(screen, limit_bytes=128_000) == render(screen), path.name


def test_a_very_long_line_is_cut_inside() -> None:
    screen = screen_of(write(El(children=[El(text="ä" * 5_000, bounds=(0, 0, 100, 100), flags="clickable")])))
    whole = body(screen)
    cut = body(screen, limit_bytes=500)
    assert len(whole.text) > 5_000
    assert len(cut.text.encode()) < 4_100
    assert "ä… [cut: " in cut.text and cut.refs == whole.refs
