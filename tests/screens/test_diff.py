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


def test_inv_40_a_diff_shows_no_secret() -> None:
    book = RefBook()
    field = low(0, cls="android.widget.EditText", flags="password", id="a:id/pin")
    text = changes(look(book, field), look(book, dataclasses.replace(field, text="s3cret")))
    assert text == "~13 pin edit password filled"
