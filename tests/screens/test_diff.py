from __future__ import annotations

import dataclasses
from typing import Any

from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import own, screen_of

from droidpilot.screens.diff import changes
from droidpilot.screens.refs import RefBook
from droidpilot.screens.screen import Screen

BUTTONS = [
    El(text=f"Button number {n}", bounds=(0, n * 100, 1080, n * 100 + 100), flags="clickable") for n in range(12)
]


def look(book: RefBook, *children: El) -> Screen:
    return screen_of(write(El(children=[*BUTTONS, *children])), book=book)


def low(number: int, **fields: Any) -> El:
    el = El(bounds=(0, 1500 + number * 100, 1080, 1600 + number * 100))
    return dataclasses.replace(el, **fields)


def test_a_diff_says_what_appeared_changed_and_went() -> None:
    book = RefBook()
    before = look(
        book,
        low(0, text="Wi-Fi", flags="clickable checkable"),
        low(1, text="Old", flags="clickable"),
        low(2, text="Older", flags="clickable"),
        low(3, text="It was so"),
        low(4, text="It stays"),
    )
    after = look(
        book,
        low(0, text="Wi-Fi", flags="clickable checkable checked"),
        low(1, text="New", flags="clickable"),
        low(3, text="It is so"),
        low(4, text="It stays"),
    )
    assert changes(before, after) == ("~13 Wi-Fi on\n+16 New\n+- It is so\ngone: 14-15\ngone - It was so")


def rows(book: RefBook, first: int, last: int) -> Screen:
    """A list of rows of which those from `first` to `last` are in sight, each with a text of its own below it."""
    found = [
        El(
            bounds=(0, place * 100, 1080, place * 100 + 100),
            children=[
                El(text=f"Row {row}", flags="clickable", bounds=(0, place * 100, 1080, place * 100 + 60)),
                El(text=f"Said of row {row}", bounds=(0, place * 100 + 60, 1080, place * 100 + 100)),
            ],
        )
        for place, row in enumerate(range(first, last + 1))
    ]
    return screen_of(
        write(El(children=[El(cls="androidx.recyclerview.widget.RecyclerView", children=found)])), book=book
    )


def test_rows_that_scrolled_away_are_told_as_ranges() -> None:
    book = RefBook()
    before, after = rows(book, 1, 12), rows(book, 7, 14)
    assert changes(before, after) == (
        "+13 Row 13\n+- Said of row 13\n+14 Row 14\n+- Said of row 14\ngone: 1-6 and 6 texts among them"
    )


def test_a_range_may_span_numbers_that_went_before_but_none_that_is_there() -> None:
    book = RefBook()
    look(book, low(0, text="a", flags="clickable"), low(1, text="b", flags="clickable"))
    first = look(book, low(0, text="a", flags="clickable"), low(1, text="c", flags="clickable"))
    assert changes(first, look(book)) == "gone: 13-15"
    book = RefBook()
    three = [low(n, text=name, flags="clickable") for n, name in enumerate("abc")]
    assert changes(look(book, *three), look(book, three[1])) == "gone: 13, 15"


def test_many_texts_in_a_row_are_told_by_the_first_and_the_last() -> None:
    book = RefBook()
    texts = [low(n, text=f"Line {n}") for n in range(5)]
    assert changes(look(book, *texts), look(book)) == "gone - Line 0 ... - Line 4 (5 lines)"


def test_nothing_changed_is_said() -> None:
    book = RefBook()
    assert changes(look(book), look(book)) == "nothing changed"


def test_texts_that_repeat_are_counted() -> None:
    book = RefBook()
    before, after = look(book, low(0, text="a")), look(book, low(0, text="a"), low(1, text="a"))
    assert changes(before, after) == "+- a"
    assert changes(after, before) == "gone - a"


def test_another_app_is_another_screen() -> None:
    assert changes(screen_of(own("settings_rows.xml")), screen_of(own("canvas.xml"))) is None
    screen = look(RefBook())
    assert changes(screen, dataclasses.replace(screen, activity=".Other")) is None
    assert changes(screen, dataclasses.replace(screen, rotation=1)) is None


def test_a_diff_that_is_no_shorter_is_none() -> None:
    book = RefBook()
    before = screen_of(write(El(children=[low(0, text="a"), low(1, text="b")])), book=book)
    after = screen_of(write(El(children=[low(0, text="c"), low(1, text="d")])), book=book)
    assert changes(before, after) is None


def test_a_window_of_another_package_is_named() -> None:
    book = RefBook()
    assert changes(look(book), look(book, low(0, text="Allow", flags="clickable", package="com.evil"))) == (
        "[com.evil]\n+13 Allow"
    )


def test_the_health_line_goes_with_the_diff() -> None:
    book = RefBook()
    before, after = look(book), look(book)
    restless = dataclasses.replace(after, health=dataclasses.replace(after.health, is_settled=False))
    assert changes(before, restless) == "! not settled\nnothing changed"
    assert changes(restless, before) == "! well again\nnothing changed"
    assert changes(restless, restless) == "nothing changed"


def test_inv_40_a_diff_shows_no_secret() -> None:
    book = RefBook()
    field = low(0, cls="android.widget.EditText", flags="password", id="a:id/pin")
    text = changes(look(book, field), look(book, dataclasses.replace(field, text="s3cret")))
    assert text == "~13 pin edit password filled"
