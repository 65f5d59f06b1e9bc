"""What a field holds, compared with what was typed: named values, of which only cut and changed are failures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.driver import dump, node

from droidpilot.screens.hierarchy import Node
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.tools.read_back import ReadBack, compare, finding_of


def field(text: str, *, hint: str = "", password: bool = False) -> Node:
    made = node(cls="android.widget.EditText", text=text, hint=hint, password=password)
    return parse_hierarchy(dump(made)).nodes[0]


@pytest.mark.parametrize(
    ("wanted", "held", "outcome"),
    [
        ("hello", "hello", "exact"),
        ("", "", "exact"),
        ("Cafe\u0301", "Café", "exact"),
        ("0123456789", "(012) 345-6789", "reformatted"),
        ("Ann Lee", "ann lee", "reformatted"),
        ("hello ", "hello", "reformatted"),
        ("one two", "one  two", "reformatted"),
        ("it's", "it’s", "reformatted"),
        ("ABCDEFGHIJ", "ABCDEFGH", "cut"),
        ("hello!", "hello", "cut"),
        ("012345678901234", "(012) 345-6789", "cut"),
        ("hello", "", "changed"),
        ("hello", "help", "changed"),
        ("hello", "hello world", "changed"),
        ("teh cat", "the cat", "changed"),
        ("$5", "5", "changed"),
        ("a\\$a", "a\\", "cut"),
        ("!!!", "???", "changed"),
        ("", "left over", "changed"),
        ("well 🎉 done", "well .. done", "unreadable"),
        ("well 🎉 done", "well done", "changed"),
        ("no emoji", "no em.ji", "changed"),
    ],
)
def test_each_outcome(wanted: str, held: str, outcome: str) -> None:
    assert compare(wanted, field(held)).value == outcome
    finding = finding_of(wanted, [field(held)], is_secret=False)
    assert (finding.name, finding.is_failure) == (outcome, outcome in ("cut", "changed"))


def test_b25_a_hint_is_no_content_and_a_text_like_the_hint_is() -> None:
    assert compare("hello", field("Name", hint="Name")) is ReadBack.CHANGED
    assert compare("Name", field("Name", hint="Name")) is ReadBack.EXACT
    assert "the field is empty" in finding_of("hello", [field("Name", hint="Name")], is_secret=False).words


def test_what_hides_itself_is_unreadable_and_never_quoted() -> None:
    for finding in (
        finding_of("hunter2", [field("hunter3", password=True)], is_secret=False),
        finding_of("hunter2", [field("hunter3")], is_secret=True),
        finding_of("hunter2", [], is_secret=False),
        finding_of("hunter2", [field("a"), field("b")], is_secret=False),
    ):
        assert (finding.name, finding.is_failure) == ("unreadable", False)
        assert "hunter" not in finding.words


def test_words_quote_at_most_so_much_and_close_no_quotes() -> None:
    words = finding_of("x", [field('a"b' * 1000)], is_secret=False).words
    assert len(words) < 500 and words.count('"') == 2


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60))
def test_a_text_that_stands_there_is_exact(text: str) -> None:
    assert compare(text, field(text)) is ReadBack.EXACT


@given(st.text("abc12 ", min_size=1, max_size=20), st.text("abc12 ", max_size=20))
def test_letters_that_are_lost_are_never_called_fine(wanted: str, held: str) -> None:
    outcome = compare(wanted, field(held))
    if wanted.replace(" ", "") != held.replace(" ", ""):
        assert outcome in (ReadBack.CUT, ReadBack.CHANGED)
