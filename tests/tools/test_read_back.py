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


def test_b25_a_hint_is_no_content_and_a_text_like_the_hint_proves_nothing() -> None:
    assert compare("hello", field("Name", hint="Name")) is ReadBack.CHANGED
    assert compare("Name", field("Name", hint="Name")) is ReadBack.UNREADABLE  # nobody can tell which of the two it is
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


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ("12.50", "1250"),
        ("12.50", "1.250"),
        ("12.50", "(125) 0"),
        ("1250", "12.50"),
        ("1250", "12,50"),
        ("1250", "1.250"),
        ("0250", "0,250"),
        ("1,000", "1.000"),
        ("1,250", "1250"),
        ("-5", "5"),
        ("5", "-5"),
        ("5", "5-"),
        ("-1234567", "1234567"),
        ("125", "(125)"),
        ("+4930123456", "4930123456"),
        ("10:30", "1030"),
        ("1030", "10:30"),
        ("1-2", "12"),
        ("2 1/2", "21/2"),
        ("2024-01-05", "20240105"),
        ("1 2 3 4 5 6 7", "1234567"),
        ("*123#", "123"),
        ("a_b", "ab"),
        ("user@x.com", "userxcom"),
        ("http://a/b", "httpab"),
        ("2\u00b2", "22"),
        ("don't", "dont"),
        ("foo bar", "foobar"),
        ("foobar", "foo bar"),
        ("Ann-Lee", "annlee"),
    ],
)
def test_what_loses_a_sign_or_an_amount_is_changed(wanted: str, held: str) -> None:
    assert compare(wanted, field(held)) is ReadBack.CHANGED


@pytest.mark.parametrize(
    ("wanted", "held"),
    [
        ("1250", "1,250"),
        ("1250", "1 250"),
        ("1250", "1'250"),
        ("1250000", "1.250.000"),
        ("1250.50", "1,250.50"),
        ("1250,50", "1.250,50"),
        ("12345678901", "123.456.789-01"),
        ("4111111111111111", "4111 1111 1111 1111"),
        ("4111 1111 1111 1111", "4111111111111111"),
        ("0176-1234567", "01761234567"),
        ("+49 30 123456", "+4930123456"),
        ("1-800-555-1234", "1 (800) 555-1234"),
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
        ("-5", "\u22125"),
        ("ADMIN", "admin"),
        ('say "x"', "say \u201cx\u201d"),
    ],
)
def test_what_groups_digits_or_only_looks_otherwise_is_form(wanted: str, held: str) -> None:
    assert compare(wanted, field(held)) is ReadBack.REFORMATTED


@given(st.text("12.,-+:/#*_@ ()", min_size=1, max_size=12), st.text("12.,-+:/#*_@ ()", max_size=12))
def test_of_signs_that_mean_something_none_is_lost_or_moved(wanted: str, held: str) -> None:
    if compare(wanted, field(held)) is ReadBack.REFORMATTED:
        asked = [one for one in wanted if one in "12.+:/#*_@"]
        found = [one for one in held if one in "12.+:/#*_@"]
        assert [one for one in asked if one != "."] == [one for one in found if one != "."]
        assert held.lstrip(" (").startswith("-") == wanted.lstrip(" (").startswith("-")


def test_a_text_like_the_hint_is_no_proof_unless_the_dump_says_which() -> None:
    unsure = field("Name", hint="Name")
    finding = finding_of("Name", [unsure], is_secret=False)
    assert (finding.name, finding.is_failure) == ("unreadable", False) and "not known" in finding.words
    assert compare("Name", stated("Name", is_hint_shown=False)) is ReadBack.EXACT
    assert compare("Name", stated("Name", is_hint_shown=True)) is ReadBack.CHANGED
    assert compare("", stated("Name", is_hint_shown=False)) is ReadBack.CHANGED


def stated(text: str, *, is_hint_shown: bool) -> Node:
    """A field with that text and hint, in a dump that says which of them is shown."""
    shown = "true" if is_hint_shown else "false"
    made = node(cls="android.widget.EditText", text=text, hint=text)
    return parse_hierarchy(dump(made).replace(b"hint=", f'showing-hint="{shown}" hint='.encode(), 1)).nodes[0]
