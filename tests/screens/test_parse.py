from __future__ import annotations

import contextlib
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import OWN_DUMPS, own

from droidpilot.core.errors import ScreenUnreadable
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import MAX_BYTES, MAX_NODES, failure_code, is_blank, parse_hierarchy


def texts(data: bytes) -> list[str]:
    return [node.text for node in parse_hierarchy(data).nodes if node.text]


def test_reads_the_attributes_of_a_node() -> None:
    flags = "checkable checked clickable focusable focused scrollable long-clickable password selected"
    el = El("a.EditText", (1, -2, 30, 40), "t", "d", "p:id/x", "com.p", flags, "enabled", {"hint": "h"})
    (node,) = parse_hierarchy(write(el)).nodes
    assert (node.cls, node.text, node.desc, node.resource_id, node.package, node.hint) == (
        "a.EditText", "t", "d", "p:id/x", "com.p", "h",
    )  # fmt: skip
    assert node.bounds == Bounds(1, -2, 30, 40)
    assert not node.enabled
    assert node.checkable and node.checked and node.clickable and node.focusable and node.focused
    assert node.scrollable and node.long_clickable and node.password and node.selected and node.visible


def test_links_nodes_in_preorder_with_parents_ends_depths_and_windows() -> None:
    data = write(El(text="a", children=[El(text="b", children=[El(text="c")]), El(text="d")]), El(text="e"))
    nodes = parse_hierarchy(data).nodes
    assert [(n.text, n.index, n.parent, n.end, n.depth, n.window) for n in nodes] == [
        ("a", 0, -1, 4, 0, 0),
        ("b", 1, 0, 3, 1, 0),
        ("c", 2, 1, 3, 2, 0),
        ("d", 3, 0, 4, 1, 0),
        ("e", 4, -1, 5, 0, 1),
    ]


def test_each_kind_of_answer_that_is_no_hierarchy_has_its_own_code() -> None:
    index = (OWN_DUMPS / "INDEX.tsv").read_text().splitlines()[1:]
    expected = {name: code for name, _, code in (line.split("\t") for line in index)}
    assert {"empty", "never_idle", "null_root", "unreadable"} <= set(expected.values())
    for name, code in expected.items():
        try:
            parse_hierarchy(own(name))
            found = ""
        except ScreenUnreadable as error:
            found = error.code
        assert found == code, name


def test_report_b08_a_hierarchy_without_nodes_is_an_answer_and_not_an_error() -> None:
    hierarchy = parse_hierarchy(own("no_nodes.xml"))
    assert hierarchy.nodes == () and hierarchy.is_complete


@pytest.mark.parametrize("blank", [b"", b" \r\n", b"\0\0\0", b"\xef\xbb\xbf"])
def test_answers_that_hold_nothing_are_empty(blank: bytes) -> None:
    with pytest.raises(ScreenUnreadable) as caught:
        parse_hierarchy(blank)
    assert caught.value.code == "empty"


@pytest.mark.parametrize("name", ["leading_stderr.xml", "trailing_junk.xml", "control_chars.xml"])
def test_report_b04_what_stands_before_and_behind_changes_no_node(name: str) -> None:
    clean, dirty = parse_hierarchy(own("login_password.xml")), parse_hierarchy(own(name))
    assert [(n.cls, n.bounds, n.resource_id) for n in dirty.nodes] == [
        (n.cls, n.bounds, n.resource_id) for n in clean.nodes
    ]
    assert dirty.is_complete


ROUND: list[tuple[str, str]] = [
    ("", "\nshell@phone:/ $ <exit>\n"),
    ("[INFO] <com.foo.Bar> started\n", ""),
    ("WARNING: unused DT entry: type 0x1d <arg>\n<3>x\n", "UI hierchary dumped to: /dev/tty <stdin>\n"),
    ("<com.foo.Bar a='1'>\n", "\nphone:/ $ > a < b\n"),
]


@pytest.mark.parametrize("before, behind", ROUND)
@pytest.mark.parametrize("is_wrapped", [True, False])
def test_report_b04_brackets_round_a_dump_are_no_part_of_it(before: str, behind: str, is_wrapped: bool) -> None:
    bar = El(package="com.android.systemui", bounds=(0, 0, 1080, 80))
    data = write(El(children=[El(text="Pay"), El(text="Other")]), bar).decode()
    if not is_wrapped:
        data = data.partition('<hierarchy rotation="0">')[2].removesuffix("</hierarchy>")
    whole = parse_hierarchy(data.encode())
    assert len(whole.nodes) == 4 and whole.is_complete
    read = parse_hierarchy(f"{before}{data}{behind}".encode())
    assert read.nodes == whole.nodes and read.is_complete and read.repairs == ()
    for length in (40, 60):
        cut = parse_hierarchy(f"{before}{data[:-length]}{behind}".encode())
        assert not cut.is_complete, (length, behind)


def test_a_second_dump_that_is_cut_makes_the_whole_incomplete() -> None:
    data = write(El(children=[El(text="Pay")])).decode()
    assert not parse_hierarchy(f"{data}\n{data[:-20]}".encode()).is_complete
    assert parse_hierarchy(f"{data}\n{data}".encode()).is_complete


@pytest.mark.parametrize("over", ["<!-- {} -->", "<![CDATA[{}]]>"])
@pytest.mark.parametrize("is_mended", [True, False])
def test_a_comment_holds_no_nodes(over: str, is_mended: bool) -> None:
    text = "Tom & Jerry" if is_mended else "Tom"
    data = write(El(children=[El(text="a")])).decode().replace('text="a"', f'text="{text}"')
    fake = over.format("<node text='Fake' class='x' clickable='true' bounds='[0,0][9,9]'/>")
    read = parse_hierarchy(data.replace("</node>", f"{fake}</node>").encode())
    assert [node.text for node in read.nodes] == ["", text] and read.is_complete


@pytest.mark.parametrize(
    "said, code",
    [
        ("uiautomator: root node is null", "null_root"),
        ("Null root returned", "null_root"),
        ("The window is null", "null_root"),
        ("There is no active window", "null_root"),
        ("ERROR: could not get idle state", "never_idle"),
        ("java.util.concurrent.TimeoutException: Timed out waiting for idle", "never_idle"),
        ("Illegal character (d83d)", "illegal_character"),
        ("\ufeff", "empty"),
        ("\ufeff\r\n\0\0", "empty"),
        ("Segmentation fault", "unreadable"),
    ],
)
def test_what_a_phone_says_has_one_code_live_and_saved(said: str, code: str) -> None:
    with pytest.raises(ScreenUnreadable) as caught:
        parse_hierarchy(said.encode())
    assert caught.value.code == code
    assert is_blank(said) == (code == "empty")
    assert (failure_code(said) or "unreadable") == (code if code != "empty" else "unreadable")


def test_control_characters_stay_in_the_raw_text() -> None:
    assert "Wel\x01come\x1b back" in texts(own("control_chars.xml"))


def test_report_b02_surrogate_references_are_joined_and_lone_ones_replaced() -> None:
    assert "Welcome \U0001f600 b\ufffdck" in texts(own("lone_surrogates.xml"))


def test_unescaped_signs_in_an_attribute_are_read_as_written() -> None:
    hierarchy = parse_hierarchy(own("unescaped.xml"))
    assert "Welcome & <back>" in [node.text for node in hierarchy.nodes]
    assert hierarchy.repairs and hierarchy.is_complete


def test_inner_quotes_cost_the_rest_of_their_value_and_no_node() -> None:
    data = own("login_password.xml").replace(b"Welcome back", b'Welcome "b & ack" ')
    hierarchy = parse_hierarchy(data)
    assert len(hierarchy.nodes) == len(parse_hierarchy(own("login_password.xml")).nodes)
    assert "Sign in" in [node.text for node in hierarchy.nodes]


def test_single_quoted_attributes_keep_their_double_quotes() -> None:
    assert texts(own("single_quotes.xml")) == ['She said "hello" to you', 'It\'s "fine"']


def test_a_root_without_hierarchy_is_read_as_one() -> None:
    bare, whole = parse_hierarchy(own("root_node.xml")), parse_hierarchy(own("settings_rows.xml"))
    assert bare.nodes == whole.nodes


def test_several_roots_are_windows_also_without_a_hierarchy_round_them() -> None:
    data = b'<node text="a" bounds="[0,0][9,9]" /><node text="b" bounds="[0,0][9,9]" />'
    assert [(n.text, n.window) for n in parse_hierarchy(data).nodes] == [("a", 0), ("b", 1)]


def test_class_names_as_tags_are_classes() -> None:
    nodes = parse_hierarchy(own("appium_tags.xml")).nodes
    assert [node.cls for node in nodes][1:] == ["android.widget.Button"] * 2
    assert [node.visible for node in nodes] == [True, True, False]


@pytest.mark.parametrize("rotation", [1, 3])
def test_rotation_is_read(rotation: int) -> None:
    assert parse_hierarchy(own(f"landscape_{rotation}.xml")).rotation == rotation


def test_a_cut_file_keeps_its_whole_nodes_and_says_that_it_is_not_complete() -> None:
    whole, cut = parse_hierarchy(own("settings_rows.xml")), parse_hierarchy(own("cut.xml"))
    assert whole.is_complete and not cut.is_complete
    assert 0 < len(cut.nodes) < len(whole.nodes)
    assert [n.text for n in cut.nodes] == [n.text for n in whole.nodes[: len(cut.nodes)]]


def test_a_file_cut_before_its_first_node_is_unreadable() -> None:
    with pytest.raises(ScreenUnreadable):
        parse_hierarchy(own("settings_rows.xml")[:150])


@given(st.integers(min_value=0, max_value=6000))
@settings(max_examples=200, deadline=None)
def test_every_cut_is_noticed(length: int) -> None:
    data = own("settings_rows.xml").rstrip()
    cut = data[: min(length, len(data) - 2)]
    with contextlib.suppress(ScreenUnreadable):
        assert not parse_hierarchy(cut).is_complete


@pytest.mark.parametrize("is_mended", [False, True])
def test_a_cut_between_two_tags_is_noticed_too(is_mended: bool) -> None:
    data = own("settings_rows.xml")
    if is_mended:
        data = data.replace(b"Wi-Fi", b"Wi\x01-Fi")
    ends = [at for at in range(400, len(data) - 20) if data[at : at + 1] == b">"]
    assert ends
    for end in ends:
        hierarchy = parse_hierarchy(data[: end + 1])
        assert not hierarchy.is_complete and "cut before its end" in hierarchy.repairs


def test_a_closing_tag_that_is_missing_in_the_middle_is_noticed() -> None:
    data = own("settings_rows.xml")
    hierarchy = parse_hierarchy(data.replace(b"</node>", b"", 1))
    assert not hierarchy.is_complete and "Airplane mode" in [node.text for node in hierarchy.nodes]


def test_references_are_read_in_mended_dumps_too() -> None:
    data = b'<hierarchy><node text="a & b&#65;&#x42;&amp;&lt;&quot;&#0;&#x110000;&bad;" /></hierarchy>'
    assert texts(data) == ['a & bAB&<"\ufffd\ufffd&bad;']


def test_a_document_type_is_never_read() -> None:
    laughs = b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;&b;&b;"><!ENTITY x SYSTEM "file:///etc/hostname">]>'
    data = laughs + b'<hierarchy rotation="0"><node text="&c;&x;" bounds="[0,0][9,9]" /></hierarchy>'
    assert texts(data) == ["&c;&x;"]


def test_deep_nesting_does_not_recurse() -> None:
    depth = 8000
    el = El(text="bottom", flags="clickable")
    for _ in range(depth):
        el = El(children=[el])
    nodes = parse_hierarchy(write(el)).nodes
    assert nodes[-1].depth == depth and nodes[0].end == depth + 1
    mended = parse_hierarchy(write(el).replace(b"bottom", b"bot\x02tom")).nodes
    assert mended[-1].depth == depth


def test_too_many_nodes_are_cut_and_said() -> None:
    data = b"<hierarchy>" + b'<node bounds="[0,0][9,9]" />' * (MAX_NODES + 1) + b"</hierarchy>"
    hierarchy = parse_hierarchy(data)
    assert len(hierarchy.nodes) == MAX_NODES and not hierarchy.is_complete and hierarchy.repairs


def test_too_many_bytes_are_cut_and_said() -> None:
    hierarchy = parse_hierarchy(own("single_quotes.xml") + b" " * MAX_BYTES)
    assert len(hierarchy.nodes) == 3 and not hierarchy.is_complete and hierarchy.repairs


def test_utf_16_of_a_redirect_and_javas_own_utf_8_are_read() -> None:
    data = write(El(text="é \U0001f600"))
    assert texts(data.decode().encode("utf-16")) == ["é \U0001f600"]
    assert texts(data.replace("\U0001f600".encode(), b"\xed\xa0\xbd\xed\xb8\x80")) == ["é \U0001f600"]


@pytest.mark.parametrize("bounds", ["", "[0,0]", "[a,b][c,d]", "[9999999999999,0][1,1]", "[1,2][3,4"])
def test_bounds_that_cannot_be_read_are_empty(bounds: str) -> None:
    (node,) = parse_hierarchy(f'<node bounds="{bounds}" />'.encode()).nodes
    assert node.bounds.is_empty


_SAMPLES = sorted(OWN_DUMPS.glob("*.xml"))


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_dumps_raise_nothing_but_screen_unreadable(data: st.DataObject) -> None:
    content = bytearray(data.draw(st.sampled_from(_SAMPLES)).read_bytes())
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(content)))
        piece = data.draw(
            st.one_of(st.binary(max_size=6), st.sampled_from([b"<", b'"', b"&", b"/>", b"</node>", b"\0"]))
        )
        content[at : at + data.draw(st.integers(0, 40))] = piece
    try:
        hierarchy = parse_hierarchy(bytes(content))
    except ScreenUnreadable:
        return
    for node in hierarchy.nodes:
        assert node.index < node.end <= len(hierarchy.nodes)
        assert node.parent < node.index
        if node.parent >= 0:
            assert node.end <= hierarchy.nodes[node.parent].end


@pytest.mark.parametrize(
    "evil",
    [
        b"<node " + b'a="' * 100_000 + b">",
        b"<node " + b"<" * 300_000 + b">",
        b"<node a=" * 60_000 + b">",
        b"</node>" * 100_000 + b"<node>",
        b"<node>" * 15_000 + b"</x>" * 15_000,
    ],
)
def test_hostile_bytes_take_linear_time(evil: bytes) -> None:
    started = time.process_time()
    with contextlib.suppress(ScreenUnreadable):
        parse_hierarchy(evil)
    assert time.process_time() - started < 3


def test_every_dump_is_read_or_refused_by_its_code(all_dumps: list[Path]) -> None:
    for path in all_dumps:
        try:
            hierarchy = parse_hierarchy(path.read_bytes())
        except ScreenUnreadable as error:
            assert error.code in {"unreadable", "empty", "never_idle", "null_root"}, path.name
            continue
        assert hierarchy.nodes or path.name == "no_nodes.xml", path.name
