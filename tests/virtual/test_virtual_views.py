"""Layout: what is measured and placed where, and what a scrolling list builds."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.hierarchy import see, under
from droidpilot.virtual.ui.motion import Scroll, Slide
from droidpilot.virtual.ui.views import FILL, Rows, TextField, View, natural, place, text_lines

AREA = Rect(0, 100, 1080, 1100)


def nothing() -> None:
    """Do nothing when clicked."""


def test_a_column_gives_the_rest_to_the_weighted_child() -> None:
    middle = View(weight=1)
    column = View(children=[View(height=100), middle, View(height=200)])
    place(column, AREA, 0)
    assert middle.bounds == Rect(0, 200, 1080, 900)
    assert column.children[2].bounds == Rect(0, 900, 1080, 1100)


def test_a_row_shares_its_width_after_fixed_children() -> None:
    row = View(layout="row", children=[View(width=80, height=50), View(weight=1, height=50), View(weight=3, height=50)])
    place(row, AREA, 0)
    assert [child.bounds.width for child in row.children] == [80, 250, 750]
    assert row.children[0].bounds.top == 100 + (1000 - 50) // 2


def test_a_centered_frame_puts_its_child_in_the_middle() -> None:
    frame = View(layout="frame", centered=True, height=FILL, children=[View(width=100, height=100)])
    place(frame, AREA, 0)
    assert frame.children[0].bounds == Rect(490, 550, 590, 650)


def test_long_text_takes_more_lines() -> None:
    assert text_lines("word " * 40, 44, 500) > text_lines("word", 44, 500) == 1
    assert natural(View(text="a\nb"), 1000)[1] == 2 * natural(View(text="a"), 1000)[1]


def test_a_recycling_list_builds_only_rows_in_sight() -> None:
    built: list[int] = []

    def build(number: int) -> View:
        built.append(number)
        return View(text=str(number))

    rows = View(rows=Rows([150] * 400, build), scroll=Scroll(offset=1000))
    place(rows, AREA, 0)
    assert built == list(range(6, 14))
    assert rows.children[0].bounds == Rect(0, 0, 1080, 150)
    assert rows.scroll is not None
    assert rows.scroll.limit == 400 * 150 - 1000


def test_a_clipped_row_shows_and_is_hit_only_where_it_can_be_seen() -> None:
    rows = View(rows=Rows([150] * 400, lambda n: View(text=str(n), on_click=nothing)), scroll=Scroll(offset=70))
    above = View(height=100, text="toolbar")
    page = View(children=[above, View(weight=1, children=[rows])])
    rows.height = FILL
    place(page, AREA, 0)
    seen = see(page, "p", AREA)
    assert seen is not None
    first = next(node for node in seen.walk() if node.text == "0")
    assert first.view.bounds.top == 130
    assert first.bounds == Rect(0, 200, 1080, 280)
    assert under(seen, 500, 150)[0].text == "toolbar"
    assert under(seen, 500, 210)[0].text == "0"


@given(st.lists(st.integers(1, 400), min_size=1, max_size=60), st.integers(-500, 30_000))
def test_rows_lie_without_gaps_and_cover_the_list(heights: list[int], offset: int) -> None:
    scroll = Scroll()
    view = View(rows=Rows(heights, lambda n: View(text=str(n))), scroll=scroll)
    place(view, AREA, 0)
    scroll.move(offset, now_ms=0, lasts_ms=0)
    place(view, AREA, 0)
    assert 0 <= scroll.offset <= scroll.limit
    edges = [(child.bounds.top, child.bounds.bottom) for child in view.children]
    assert all(low == high for (_, low), (high, _) in pairwise(edges))
    assert edges[0][0] <= AREA.top
    assert edges[-1][1] >= min(AREA.bottom, AREA.top + sum(heights))


def test_a_list_that_keeps_its_end_stays_there_when_it_grows() -> None:
    scroll = Scroll(keeps_end=True)
    scroll.fit(content=2000, page=500)
    assert scroll.offset == 1500
    scroll.fit(content=2100, page=500)
    assert scroll.offset == 1600
    scroll.move(-300, now_ms=0, lasts_ms=0)
    scroll.fit(content=2200, page=500)
    assert scroll.offset == 1300


def test_a_slide_changes_in_every_frame_until_it_ends() -> None:
    slide = Slide(1000, dx=270)
    offsets = [slide.at(1000 + frame * 16)[0] for frame in range(17)]
    assert offsets[0] == 270
    assert all(before > after for before, after in pairwise(offsets[:16]))
    assert offsets[15:] == [0, 0]
    assert slide.at(slide.end_ms) == (0, 0) != slide.at(slide.end_ms - 1)


def test_a_glide_moves_from_start_to_end() -> None:
    scroll = Scroll()
    scroll.fit(content=5000, page=1000)
    scroll.move(600, now_ms=0, lasts_ms=300)
    assert scroll.at(0) == 0
    assert 0 < scroll.at(150) < 600
    assert scroll.at(300) == 600


def test_a_field_shows_its_hint_or_bullets_or_its_text() -> None:
    field = TextField("f", hint="Password", is_password=True)
    assert field.shown() == "Password"
    field.put("abc")
    assert field.shown() == "•••"
    field.is_revealed = True
    assert field.shown() == "abc"
