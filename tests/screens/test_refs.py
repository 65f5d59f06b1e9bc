from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import OWN_DUMPS, own

from droidpilot.core.errors import ScreenUnreadable, TargetError
from droidpilot.screens.hierarchy import Hierarchy
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook

LIST = "androidx.recyclerview.widget.RecyclerView"


def code_of(book: RefBook, ref: int, hierarchy: Hierarchy) -> str:
    with pytest.raises(TargetError) as caught:
        book.find(ref, hierarchy)
    assert caught.value.hint
    return caught.value.code


def tree(*children: El) -> Hierarchy:
    return parse_hierarchy(write(El(children=list(children))))


def rows(*names: str, top: int = 200) -> Hierarchy:
    """A recycled list: each row is clickable and has a Delete icon."""
    made = []
    for number, name in enumerate(names):
        y = top + number * 200
        icon = El(desc="Delete", id="a:id/delete", bounds=(900, y, 1080, y + 200), flags="clickable")
        title = El(text=name, id="a:id/title", bounds=(0, y, 900, y + 100))
        made.append(El(bounds=(0, y, 1080, y + 200), id="a:id/row", flags="clickable", children=[title, icon]))
    return tree(El(LIST, (0, 200, 1080, 2400), id="a:id/list", flags="scrollable", children=made))


def row_of(hierarchy: Hierarchy, index: int) -> str:
    """Name the row that a node is or belongs to."""
    node = hierarchy.nodes[index]
    row = next(n for n in [node, *hierarchy.ancestors(node)] if n.resource_id == "a:id/row")
    return next(n.text for n in hierarchy.subtree(row) if n.text)


def named_refs(hierarchy: Hierarchy, refs: dict[int, int]) -> dict[tuple[str, str], int]:
    """Return (row, description) -> ref for everything in the list."""
    return {
        (row_of(hierarchy, index), hierarchy.nodes[index].desc): ref
        for ref, index in refs.items()
        if not hierarchy.nodes[index].scrollable
    }


def test_every_visible_usable_node_gets_a_ref_disabled_ones_too() -> None:
    hierarchy = tree(
        El(text="a", flags="clickable", bounds=(0, 0, 100, 100)),
        El(text="b", flags="clickable", off="enabled", bounds=(0, 100, 100, 200)),
        El(text="read", bounds=(0, 200, 100, 300)),
        El(text="gone", flags="clickable", bounds=(0, 0, 0, 0)),
        El(text="hidden", flags="clickable", more={"visible-to-user": "false"}),
        El("android.widget.EditText", (0, 300, 100, 400)),
        El(flags="scrollable", bounds=(0, 400, 100, 500)),
    )
    assert RefBook().assign(hierarchy) == {1: 1, 2: 2, 3: 6, 4: 7}


def test_keyboard_keys_get_no_refs() -> None:
    hierarchy = parse_hierarchy(own("keyboard_windows.xml"))
    refs = RefBook().assign(hierarchy, front="com.example.notes")
    assert {hierarchy.nodes[index].package for index in refs.values()} == {"com.example.notes"}


@pytest.mark.parametrize("state", ["checked", "focused", "selected"])
def test_inv_30_a_ref_survives_a_change_of_state_and_of_place(state: str) -> None:
    def look(flags: str, off: str, y: int) -> Hierarchy:
        box = El(
            "android.widget.CheckBox", (0, y, 500, y + 100), "Wi-Fi", flags=f"clickable checkable {flags}", off=off
        )
        return tree(El(text="Title"), box)

    book = RefBook()
    refs = book.assign(look("", "", 100))
    after = look(state, "enabled", 700)
    assert book.find(1, after).text == "Wi-Fi"
    assert book.assign(after) == refs


def test_a_switch_that_writes_its_state_on_itself_keeps_its_ref() -> None:
    book = RefBook()
    refs = book.assign(tree(El("android.widget.Switch", text="OFF", flags="checkable clickable")))
    assert book.assign(tree(El("android.widget.Switch", text="ON", flags="checkable clickable checked"))) == refs


def test_a_field_keeps_its_ref_whatever_is_typed_into_it_and_another_hint_is_another_field() -> None:
    def field(text: str, hint: str) -> Hierarchy:
        return tree(El("android.widget.EditText", text=text, flags="clickable", more={"hint": hint}))

    book = RefBook()
    refs = book.assign(field("Name", "Name"))
    assert book.assign(field("Wünder", "Name")) == refs
    assert set(book.assign(field("", "Amount"))) == {2}


def test_rows_that_move_keep_their_refs_and_new_ones_get_new_refs() -> None:
    book = RefBook()
    before, after = rows("Ana", "Bob", "Cleo"), rows("Bob", "Cleo", "Dan")
    old = named_refs(before, book.assign(before))
    new = named_refs(after, book.assign(after))
    for who in ("Bob", "Cleo"):
        for what in ("", "Delete"):
            assert new[who, what] == old[who, what]
    assert min(new["Dan", ""], new["Dan", "Delete"]) > max(old.values())


def test_inv_30_a_button_of_a_row_that_went_never_names_that_of_another_row() -> None:
    book = RefBook()
    before, after = rows("Ana"), rows("Bob")
    deletes = {ref for (_, what), ref in named_refs(before, book.assign(before)).items() if what == "Delete"}
    for ref in deletes:
        assert code_of(book, ref, after) == "stale_ref"


def test_identical_rows_are_told_apart_by_place_while_nothing_moves() -> None:
    book = RefBook()
    refs = book.assign(rows("Same", "Same", "Other"))
    again = rows("Same", "Same", "Other")
    assert book.assign(again) == refs
    assert {ref: book.find(ref, again).index for ref in refs} == refs


@pytest.mark.parametrize("after", [("Same", "Other"), ("New", "Same", "Same", "Other"), ("Same", "Other", "Same")])
def test_identical_rows_expire_when_the_list_moves(after: tuple[str, ...]) -> None:
    book = RefBook()
    before = rows("Same", "Same", "Other")
    refs = book.assign(before)
    same = [
        ref
        for ref, index in refs.items()
        if index and not before.nodes[index].scrollable and row_of(before, index) == "Same"
    ]
    assert len(same) == 4
    for ref in same:
        assert code_of(book, ref, rows(*after)) == "ambiguous_ref"
    assert not set(same) & set(book.assign(rows(*after)))


def test_a_node_that_appears_twice_later_is_ambiguous() -> None:
    book = RefBook()
    button = El(text="OK", flags="clickable", bounds=(0, 0, 100, 100))
    book.assign(tree(button))
    assert (
        code_of(book, 1, tree(button, El(text="OK", flags="clickable", bounds=(0, 200, 100, 300)))) == "ambiguous_ref"
    )


def test_what_was_given_but_never_printed_may_not_be_used() -> None:
    book = RefBook()
    book.assign(tree(El(text="a", flags="clickable"), El(text="b", flags="clickable")))
    book.note_printed([1, 99])
    book.check_printed(1)
    book.check_printed(99)  # find says better what is wrong with it
    with pytest.raises(TargetError) as caught:
        book.check_printed(2)
    assert caught.value.code == "never_printed"
    again = RefBook.from_json(book.to_json())
    again.check_printed(1)
    with pytest.raises(TargetError):
        again.check_printed(2)


def test_a_ref_of_an_earlier_session_that_is_gone_is_foreign() -> None:
    book = RefBook()
    first, second = tree(El(text="a", flags="clickable")), tree(El(text="b", flags="clickable"))
    book.assign(first)
    book.assign(second)
    later = RefBook.from_json(book.to_json())
    assert code_of(later, 1, second) == "foreign_ref"
    assert later.find(2, second).text == "b"
    later.assign(first)
    assert code_of(later, 2, first) == "stale_ref"


def test_each_reason_has_its_code() -> None:
    book = RefBook()
    book.assign(tree(El(text="a", flags="clickable")))
    later = tree(El(text="b", flags="clickable"))
    assert code_of(book, 1, later) == "stale_ref"
    assert code_of(book, 2, later) == "no_ref"
    assert code_of(book, 0, later) == code_of(book, -1, later) == "no_ref"
    book.assign(later)
    assert code_of(book, 1, later) == "stale_ref"


def test_a_ref_that_expired_stays_expired_when_its_node_comes_back() -> None:
    book = RefBook()
    first, second = tree(El(text="a", flags="clickable")), tree(El(text="b", flags="clickable"))
    book.assign(first)
    book.assign(second)
    assert set(book.assign(first)) == {3}
    assert code_of(book, 1, first) == "stale_ref"


def test_finding_changes_nothing() -> None:
    book = RefBook()
    hierarchy = tree(El(text="a", flags="clickable"))
    refs = book.assign(hierarchy)
    code_of(book, 1, tree(El(text="b", flags="clickable")))
    assert book.assign(hierarchy) == refs


def test_a_button_elsewhere_is_another_button() -> None:
    button = El(text="OK", flags="clickable")
    book = RefBook()
    book.assign(tree(El(id="a:id/one", children=[button])))
    assert code_of(book, 1, tree(El(id="a:id/two", children=[button]))) == "stale_ref"


def test_a_book_goes_on_in_another_process() -> None:
    book = RefBook()
    hierarchy = rows("Ana", "Same", "Same")
    refs = book.assign(hierarchy)
    again = RefBook.from_json(book.to_json())
    assert again.next_ref == book.next_ref
    assert {ref: again.find(ref, hierarchy).index for ref in refs} == refs
    assert again.assign(hierarchy) == refs
    assert min(again.assign(tree(El(text="new", flags="clickable")))) == book.next_ref


def test_inv_40_a_book_holds_no_word_of_the_screen() -> None:
    book = RefBook()
    book.assign(parse_hierarchy(own("login_password.xml")))
    assert "hunter2" not in book.to_json() and "ana@" not in book.to_json()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "null",
        '{"format":2,"printed":[],"next":"x","known":{}}',
        '{"format":2,"printed":[],"next":3,"known":{"7":["a",1,0,""]}}',
        '{"format":2,"printed":[],"next":3,"known":{"1":["a"]}}',
        '{"format":2,"printed":[],"next":3,"known":[1]}',
        '{"format":99,"next":3,"known":{}}',
        '{"format":2,"next":3,"known":{}}',
        '{"format":2,"next":3,"known":{},"printed":"x"}',
    ],
)
def test_anything_else_is_no_book(text: str) -> None:
    with pytest.raises(ValueError):
        RefBook.from_json(text)


_LABELS = st.lists(st.sampled_from("ABCDEF"), min_size=0, max_size=6)


@given(st.lists(_LABELS, min_size=2, max_size=6))
@settings(max_examples=150, deadline=None)
def test_refs_are_never_reused_and_never_name_another_row(screens: list[list[str]]) -> None:
    book = RefBook()
    meaning: dict[int, tuple[str, str]] = {}
    seen_last: set[int] = set()
    given_so_far = 0
    for labels in screens:
        hierarchy = rows(*labels)
        for ref in seen_last:
            try:
                node = book.find(ref, hierarchy)
            except TargetError:
                continue
            if not node.scrollable:
                assert meaning[ref] == (row_of(hierarchy, node.index), node.desc)
        refs = book.assign(hierarchy)
        for ref, index in refs.items():
            node = hierarchy.nodes[index]
            what = ("", "list") if node.scrollable else (row_of(hierarchy, index), node.desc)
            assert meaning.setdefault(ref, what) == what
            assert ref in seen_last or ref > given_so_far
        seen_last = set(refs)
        given_so_far = book.next_ref - 1


@given(st.sampled_from(sorted(OWN_DUMPS.glob("*.xml"))))
@settings(deadline=None)
def test_a_given_ref_finds_its_node_again(path: object) -> None:
    try:
        hierarchy = parse_hierarchy(own(getattr(path, "name")))  # noqa: B009  the strategy is typed as object
    except ScreenUnreadable:
        return
    book = RefBook()
    refs = book.assign(hierarchy)
    assert {ref: book.find(ref, hierarchy).index for ref in refs} == refs
