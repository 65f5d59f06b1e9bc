"""The dump: well-formed whatever a node says, attributes as Android writes them."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.hierarchy import see, to_xml
from droidpilot.virtual.ui.views import View, place

AREA = Rect(0, 0, 100, 100)


def nothing() -> None:
    """Do nothing when clicked."""


def dump(view: View) -> str:
    place(view, AREA, 0)
    seen = see(view, "p", AREA)
    return to_xml([seen] if seen is not None else [])


@given(st.text(alphabet=st.characters(), max_size=40))
def test_any_text_gives_xml_that_reads_back(text: str) -> None:
    root = ET.fromstring(dump(View(text=text)).encode())
    got = root[0].get("text")
    legal = "".join(c if re.match("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", c) else "." for c in text)
    assert got == legal


def test_attributes_stand_in_androids_order() -> None:
    line = dump(View(text="a", id="p:id/x")).splitlines()[2]
    names = re.findall(r'([a-z-]+)="', line)
    assert " ".join(names) == (
        "index text resource-id class package content-desc checkable checked clickable enabled focusable focused "
        "scrollable long-clickable password selected visible-to-user bounds drawing-order hint display-id"
    )
    assert line.startswith('  <node index="0"')


def test_lines_end_and_children_are_indented_as_the_serializer_does() -> None:
    text = dump(View(children=[View(text="a", height=10)]))
    assert text.startswith(
        "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n<hierarchy rotation=\"0\">\r\n  <node"
    )
    assert "\r\n    <node " in text
    assert text.endswith("\r\n  </node>\r\n</hierarchy>")


def test_a_value_with_double_quotes_is_put_in_single_ones() -> None:
    assert "text='say \"hi\" &amp; it&apos;s'" in dump(View(text='say "hi" & it\'s'))


def test_an_emoji_is_a_character_reference() -> None:
    assert 'text="&#127881;"' in dump(View(text="🎉"))


def test_a_usable_node_that_says_nothing_is_naf() -> None:
    silent = View(on_click=nothing, children=[View(height=10)])
    assert '<node NAF="true" index="0"' in dump(silent)
    silent.children[0].text = "now it does"
    assert "NAF" not in dump(silent)


def test_nothing_visible_is_the_empty_hierarchy() -> None:
    assert to_xml([]).endswith('<hierarchy rotation="0" />')


def test_depth_is_cut() -> None:
    deep = View(height=90, children=[View(height=80, children=[View(height=70)])])
    place(deep, AREA, 0)
    seen = see(deep, "p", AREA)
    assert seen is not None
    assert to_xml([seen], max_depth=2).count("<node") == 2


def test_every_dump_of_every_page_keeps_children_inside_their_parents() -> None:
    hand = Hand.at()
    for steps in (
        ["Settings"],
        ["Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi"],
        ["Settings", "Apps", "All apps"],
        ["Messages"],
        ["Contacts"],
    ):
        hand.phone.home()
        hand.tap(steps[0])
        while len(hand.phone.tasks[hand.phone.front]) > 1:
            hand.phone.back()
        hand.tap(*steps[1:])
        for node in hand.nodes():
            assert not node.bounds.is_empty
            if node.parent is not None:
                assert node.bounds.clip(node.parent.bounds) == node.bounds
