"""Text as key presses: what the phone's own command makes of the arguments is exactly the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.errors import DeviceRefused
from droidpilot.device.keystrokes import (
    CHUNK_CHARS,
    MAX_CLEARED,
    MAX_LINE,
    arguments,
    erasing,
    is_several_lines,
    untypable,
)

ASCII = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=3 * CHUNK_CHARS)


def typed(argument: str) -> str:
    """Do what `input text` does. Source: InputShellCommand.sendText, written anew."""
    out: list[str] = []
    is_escaped = False
    for character in argument:
        if is_escaped and character == "s":
            out[-1] = " "
            is_escaped = False
            continue
        out.append(character)
        is_escaped = character == "%"
    return "".join(out)


@given(ASCII)
def test_any_ascii_comes_out_as_it_is(text: str) -> None:
    parts = list(arguments(text))
    assert "".join(map(typed, parts)) == text
    assert all(part and " " not in part for part in parts)


@given(st.lists(st.sampled_from(["%", "s", " ", "%s", "x", "\\"]), max_size=400).map("".join))
def test_percents_and_spaces_in_any_order(text: str) -> None:
    assert "".join(map(typed, arguments(text))) == text


@pytest.mark.parametrize(
    ("text", "parts"),
    [("%s", ["%", "s"]), ("100%", ["100%"]), ("% s", ["%%ss"]), ("a b", ["a%sb"]), ("", []), ("%%s", ["%%", "s"])],
)
def test_a_literal_percent_s_is_split(text: str, parts: list[str]) -> None:
    assert list(arguments(text)) == parts


def test_what_no_key_makes_is_named_once_and_in_order() -> None:
    assert untypable("aböbö王\n~ !") == "ö王\n"
    assert untypable("plain ASCII ~!") == ""


def test_erasing_goes_to_the_end_first() -> None:
    assert list(erasing(0)) == []
    assert list(erasing(2)) == [["123", "67", "67"]]
    assert sum(len(part) for part in erasing(250)) == 251


def test_several_lines_are_deleted_on_both_sides_of_the_cursor_and_no_route_deletes_more_than_it_may() -> None:
    assert list(erasing(2, several_lines=True)) == [["123", "67", "67", "112", "112"]]
    assert is_several_lines("a\nb") and is_several_lines("x" * (MAX_LINE + 1)) and not is_several_lines("x" * MAX_LINE)
    with pytest.raises(DeviceRefused) as caught:
        list(erasing(MAX_CLEARED + 1))
    assert (caught.value.code, caught.value.sent) == ("too_long", "no")
