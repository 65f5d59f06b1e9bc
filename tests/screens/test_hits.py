from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import own, screen_of

from droidpilot.core.errors import ScreenUnreadable
from droidpilot.screens.hierarchy import Hierarchy, Node
from droidpilot.screens.hits import (
    Layout,
    covered_by,
    is_window_order_known,
    nodes_at,
    tap_point,
    target_nodes,
)
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.render import lines_of


def named(hierarchy: Hierarchy, name: str) -> Node:
    (found,) = (node for node in hierarchy.nodes if name in (node.text, node.desc))
    return found


def names(nodes: tuple[Node, ...]) -> list[str]:
    return [node.text or node.desc or node.cls for node in nodes]


def test_a_point_hits_the_last_painted_node_first() -> None:
    tree = parse_hierarchy(
        write(El(text="root", children=[El(text="under", children=[El(text="inner")]), El(text="over")]))
    )
    assert names(nodes_at(tree, 10, 10)) == ["over", "inner", "under", "root"]


def test_drawing_order_decides_over_document_order() -> None:
    first = El(text="first", more={"drawing-order": "2"})
    second = El(text="second", more={"drawing-order": "1"})
    tree = parse_hierarchy(write(El(text="root", children=[first, second])))
    assert names(nodes_at(tree, 10, 10)) == ["first", "second", "root"]


def test_invisible_clipped_and_tiny_nodes_are_not_hit() -> None:
    hidden = El(text="hidden", more={"visible-to-user": "false"})
    clipped = El(bounds=(0, 0, 1080, 100), children=[El(text="clipped", bounds=(0, 0, 1080, 2400))])
    tree = parse_hierarchy(
        write(El(text="root", children=[hidden, clipped, El(text="tiny", bounds=(9, 500, 10, 600))]))
    )
    assert names(nodes_at(tree, 9, 550)) == ["root"]


def test_attack_a14_with_layers_only_the_topmost_window_is_the_target() -> None:
    tree = parse_hierarchy(own("overlay.xml"))
    assert is_window_order_known(tree)
    assert [node.package for node in target_nodes(tree, 500, 1050)] == ["com.evil.overlay"]
    below = named(tree, "Continue")
    assert tap_point(tree, below) is None
    cover = covered_by(tree, below)
    assert cover is not None and cover.package == "com.evil.overlay"
    assert tap_point(tree, named(tree, "Help")) is not None


def test_without_layers_the_windows_at_a_point_are_all_candidates() -> None:
    tree = parse_hierarchy(own("dialog_two_roots.xml"))
    assert not is_window_order_known(tree)
    assert names(target_nodes(tree, 500, 1170)) == ["While using the app", "Pay 12.00 €"]


def test_attack_a15_parent_and_child_at_one_place_both_count() -> None:
    tree = parse_hierarchy(write(El(children=[El(text="Next", flags="clickable", children=[El(text="Pay 99.00")])])))
    assert names(target_nodes(tree, 10, 10)) == ["Pay 99.00", "Next"]


def test_attack_a16_a_full_screen_dismiss_is_judged_by_the_button_that_would_be_hit() -> None:
    tree = parse_hierarchy(own("flutter_payment.xml"))
    assert names(target_nodes(tree, 540, 1150)) == ["Continue payment", "Dismiss"]
    point = tap_point(tree, named(tree, "Dismiss"))
    assert point is not None
    assert [node.desc for node in target_nodes(tree, *point) if node.desc] == ["Dismiss"]


def test_a_row_with_a_delete_icon_is_no_delete_button() -> None:
    tree = parse_hierarchy(own("compose_list.xml"))
    assert "Delete" not in names(target_nodes(tree, 300, 250))
    assert names(target_nodes(tree, 950, 300))[0] == "Delete"


def test_attack_a17_a_label_lying_on_a_bare_button_counts() -> None:
    tree = parse_hierarchy(own("label_beside_button.xml"))
    assert "Send money" in names(target_nodes(tree, 500, 1060))


def test_a_tap_on_plain_text_is_about_that_text() -> None:
    tree = parse_hierarchy(write(El(children=[El(text="Terms", bounds=(0, 0, 500, 100))])))
    assert names(target_nodes(tree, 10, 10)) == ["Terms"]
    assert target_nodes(tree, 5000, 10) == ()


def test_the_centre_is_preferred_and_a_clickable_child_on_it_avoided() -> None:
    free = El(text="free", bounds=(0, 0, 100, 100), flags="clickable")
    child = El(text="child", bounds=(300, 300, 700, 460), flags="clickable")
    row = El(text="row", bounds=(0, 300, 1000, 460), flags="clickable", children=[child])
    tree = parse_hierarchy(write(El(children=[free, row])))
    assert tap_point(tree, named(tree, "free")) == (50, 50)
    assert tap_point(tree, named(tree, "row")) == (150, 380)
    assert covered_by(tree, named(tree, "row")) == named(tree, "child")
    assert covered_by(tree, named(tree, "free")) is None


def test_text_painted_over_a_node_does_not_cover_it() -> None:
    tree = parse_hierarchy(write(El(children=[El(text="button", flags="clickable"), El(text="shadow")])))
    assert tap_point(tree, named(tree, "button")) is not None


def test_report_b36_a_node_under_the_keyboard_is_covered() -> None:
    tree = parse_hierarchy(own("keyboard_windows.xml"))
    assert tap_point(tree, named(tree, "Save")) is None
    cover = covered_by(tree, named(tree, "Save"))
    assert cover is not None and "inputmethod" in cover.package


def test_many_small_covers_leave_the_gap_between_them() -> None:
    tiles = [
        El(bounds=(x, y, x + 10, y + 10), flags="clickable") for x in range(0, 1000, 10) for y in range(0, 1000, 10)
        if not (400 <= x < 450 and 600 <= y < 700)
    ]  # fmt: skip
    tree = parse_hierarchy(write(El(bounds=(0, 0, 1000, 1000), text="board", flags="clickable", children=tiles)))
    point = tap_point(tree, tree.nodes[0])
    assert point is not None and 400 <= point[0] < 450 and 600 <= point[1] < 700


@pytest.mark.parametrize("rotation", [1, 3])
def test_report_b33_a_button_at_the_right_edge_is_hit_in_landscape(rotation: int) -> None:
    tree = parse_hierarchy(own(f"landscape_{rotation}.xml"))
    point = tap_point(tree, named(tree, "Next"))
    assert point == (2295, 500)
    assert names(target_nodes(tree, *point)) == ["Next"]


def test_a_tap_point_hits_its_node_on_every_dump(all_dumps: list[Path]) -> None:
    taps = 0
    for path in all_dumps:
        try:
            screen = screen_of(path.read_bytes())
        except ScreenUnreadable:
            continue
        tree = screen.hierarchy
        layout = Layout(tree, screen.display)
        for index in screen.refs.values():
            node = tree.nodes[index]
            point = tap_point(tree, node, screen.display)
            if point is None or not node.is_tappable:
                continue
            taps += 1
            takers = [hit for hit in layout.at(*point) if hit.is_tappable]
            assert takers[0] == node, (path.name, node)
    assert taps > 50


def test_hostile_nesting_takes_no_quadratic_time() -> None:
    depth = 3000
    el = El(flags="clickable scrollable", text="x")
    for _ in range(depth):
        el = El(flags="clickable scrollable", text="x", children=[el])
    data = write(el)
    started = time.process_time()
    screen = screen_of(data)
    for index in screen.refs.values():
        tap_point(screen.hierarchy, screen.hierarchy.nodes[index], screen.display)
    assert time.process_time() - started < 5


def test_the_tap_of_every_rendered_ref_of_every_dump_lands_on_its_node(all_dumps: list[Path]) -> None:
    taps = 0
    for path in all_dumps:
        try:
            screen = screen_of(path.read_bytes())
        except ScreenUnreadable:
            continue
        for line in lines_of(screen):
            node = screen.node_of(line.ref) if line.ref is not None else None
            if node is None or not node.is_tappable:
                continue
            point = tap_point(screen.hierarchy, node, screen.display)
            if point is None:
                assert " covered" in line.text, (path.name, line)
                continue
            taps += 1
            assert screen.display.contains(*point) and node.bounds.contains(*point)
            takers = [one for one in nodes_at(screen.hierarchy, *point, screen.display) if one.is_tappable]
            assert takers[0] is node, (path.name, line)
            assert node in target_nodes(screen.hierarchy, *point, screen.display)
    assert taps > 60
