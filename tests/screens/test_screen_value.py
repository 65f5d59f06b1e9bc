from __future__ import annotations

import dataclasses
from dataclasses import replace
from pathlib import Path

import pytest
from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import own, screen_of

from droidpilot.core.errors import ScreenUnreadable
from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.screen import (
    display_of,
    fingerprint_of,
    front_package,
    is_helper_package,
    is_visible,
    keyboard_windows,
    make_screen,
    visible_bounds,
)

DISPLAY = Bounds(0, 0, 1080, 2400)


def changed(hierarchy: Hierarchy, index: int, **fields: object) -> Hierarchy:
    nodes = list(hierarchy.nodes)
    nodes[index] = nodes[index]._replace(**fields)  # type: ignore[arg-type]  # any field of Node
    return dataclasses.replace(hierarchy, nodes=tuple(nodes))


@pytest.mark.parametrize(
    "fields",
    [
        {"text": "x"},
        {"desc": "x"},
        {"hint": "x"},
        {"checked": True},
        {"enabled": False},
        {"focused": True},
        {"selected": True},
        {"scrollable": True},
        {"clickable": True},
        {"visible": False},
        {"bounds": Bounds(1, 2, 3, 4)},
        {"package": "com.other"},
    ],
)
def test_inv_88_a_fingerprint_changes_with_everything_a_person_could_see(fields: dict[str, object]) -> None:
    hierarchy = parse_hierarchy(own("settings_rows.xml"))
    assert fingerprint_of(changed(hierarchy, 1, **fields)) != fingerprint_of(hierarchy)


def test_a_fingerprint_is_the_same_for_the_same_screen_and_differs_by_rotation() -> None:
    one, other = (parse_hierarchy(own("settings_rows.xml")) for _ in range(2))
    assert fingerprint_of(one) == fingerprint_of(other)
    assert len(fingerprint_of(one)) == 64
    assert fingerprint_of(dataclasses.replace(one, rotation=1)) != fingerprint_of(one)


def test_inv_40_a_fingerprint_holds_no_more_of_a_secret_than_its_length() -> None:
    data = own("login_password.xml")
    same_length = data.replace(b"hunter2-secret", b"hunter3-public")
    longer = data.replace(b"hunter2-secret", b"hunter2-secret1")
    prints = [fingerprint_of(parse_hierarchy(each)) for each in (data, same_length, longer)]
    assert prints[0] == prints[1] != prints[2]


def test_inv_9_helpers_are_never_the_app_in_front() -> None:
    hierarchy = parse_hierarchy(own("keyboard_windows.xml"))
    for said in (None, "com.android.systemui", "com.example.inputmethod.latin", "com.github.uiautomator"):
        assert front_package(hierarchy, said) == "com.example.notes"
    assert front_package(hierarchy, "com.example.notes") == "com.example.notes"


def test_inv_9_nobody_is_in_front_where_only_helpers_are_there() -> None:
    hierarchy = parse_hierarchy(write(El(package="com.android.systemui")))
    assert front_package(hierarchy, "com.android.systemui") is None
    assert front_package(parse_hierarchy(own("no_nodes.xml")), None) is None


def test_what_the_phone_says_has_focus_is_in_front() -> None:
    assert front_package(parse_hierarchy(own("dialog_two_roots.xml")), "com.google.android.permissioncontroller") == (
        "com.google.android.permissioncontroller"
    )


def test_the_package_inside_a_frame_of_another_one_is_in_front() -> None:
    inside = [El(package="com.inner", text=str(number)) for number in range(3)]
    assert front_package(parse_hierarchy(write(El(package="com.frame", children=inside))), None) == "com.inner"


def test_a_keyboards_own_settings_page_is_an_app() -> None:
    page = parse_hierarchy(write(El(package="com.example.keyboard", children=[El(text="Themes")])))
    assert front_package(page, "com.example.keyboard") == "com.example.keyboard"
    bar = El(package="com.android.systemui", bounds=(0, 0, 1080, 60))
    both = parse_hierarchy(write(bar, El(package="com.example.keyboard", children=[El(text="Themes")])))
    assert front_package(both, "com.example.keyboard") == "com.example.keyboard"
    assert keyboard_windows(both, "com.example.keyboard") == frozenset()
    assert keyboard_windows(both, "com.other") == {1}


def test_a_screen_cannot_hide_behind_a_keyboards_name() -> None:
    page = parse_hierarchy(write(El(package="com.evil.keyboard", children=[El(text="Pay")])))
    assert keyboard_windows(page, None) == frozenset()


def test_keyboards_are_known_by_window_type_or_name() -> None:
    app = El(package="com.app")
    typed = El(package="com.app.x", more={"window-type": "2"})
    named = El(package="com.google.android.inputmethod.latin")
    assert keyboard_windows(parse_hierarchy(write(app, typed)), "com.app") == {1}
    assert keyboard_windows(parse_hierarchy(write(app, named)), "com.app") == {1}
    assert keyboard_windows(parse_hierarchy(write(app, El(package="com.imei.tool"))), "com.app") == frozenset()


@pytest.mark.parametrize(
    "package", ["com.android.systemui", "com.samsung.android.honeyboard.ime", "com.github.uiautomator"]
)
def test_helper_packages(package: str) -> None:
    assert is_helper_package(package)
    assert not is_helper_package("com.android.systemui.evil")


@pytest.mark.parametrize(
    "package",
    [
        *("com.samsung.android.honeyboard", "com.touchtype.swiftkey", "com.touchtype.swiftkey.beta", "com.baidu.input"),
        *("com.baidu.input_mi", "com.baidu.input_oppo", "com.tencent.wetype", "com.tencent.qqpinyin", "com.lge.ime"),
        *("dev.patrickgold.florisboard", "jp.co.omronsoft.openwnn", "com.adamrocker.android.input.simeji"),
    ],
)
def test_keyboards_whose_names_do_not_say_it(package: str) -> None:
    hierarchy = parse_hierarchy(write(El(package="com.app"), El(package=package, bounds=(0, 1500, 1080, 2400))))
    assert keyboard_windows(hierarchy, "com.app") == {1}
    assert front_package(hierarchy, package) == front_package(hierarchy, None) == "com.app"
    assert not is_helper_package("com.baidu.inputs") and not is_helper_package("com.primer.app")


def test_a_keyboard_is_what_the_phone_says_it_is() -> None:
    hierarchy = parse_hierarchy(write(El(package="com.app"), El(package="com.odd", bounds=(0, 1500, 1080, 2400))))
    told = replace(hierarchy, keyboard="com.odd")
    assert keyboard_windows(hierarchy, "com.app") == frozenset() and keyboard_windows(told, "com.app") == {1}
    assert keyboard_windows(told, "com.odd") == frozenset(), "its own page is an app"
    assert front_package(told, None) == "com.app"


def letters(package: str, *, top: int = 1500, keys: str = "qwertyuiopasdfghjklzxcvbnm") -> El:
    children = [
        El(package=package, text=key, flags="clickable", bounds=(40 * at, top, 40 * at + 40, top + 90))
        for at, key in enumerate(keys)
    ]
    return El(package=package, bounds=(0, top, 1080, 2400), children=children)


def test_a_window_full_of_letters_at_the_bottom_is_a_keyboard_and_an_app_that_looks_like_one_is_none() -> None:
    app = El(package="com.app")
    typed = parse_hierarchy(write(app, letters("com.odd")))
    assert keyboard_windows(typed, "com.app") == keyboard_windows(typed, None) == {1}
    assert keyboard_windows(typed, "com.odd") == frozenset(), "never the app in front"
    for other in (
        (letters("com.odd"),),
        (El(package="com.android.systemui", bounds=(0, 0, 1080, 60)), letters("com.odd")),
        (app, letters("com.odd", top=0)),
        (app, letters("com.odd", keys="0123456789+-*/=C")),
        (app, letters("com.app")),
        (letters("com.odd"), El(package="com.odd")),
    ):
        assert keyboard_windows(parse_hierarchy(write(*other)), None) == frozenset()


def node_and_tree(*path: tuple[int, int, int, int]) -> tuple[Hierarchy, Node]:
    el = El(bounds=path[-1], text="leaf")
    for bounds in reversed(path[:-1]):
        el = El(bounds=bounds, children=[el])
    hierarchy = parse_hierarchy(write(el))
    return hierarchy, hierarchy.nodes[-1]


def test_visible_bounds_are_clipped_by_all_ancestors_and_the_display() -> None:
    hierarchy, leaf = node_and_tree((0, 0, 2000, 2400), (0, 100, 2000, 1000), (500, 0, 2000, 3000))
    assert visible_bounds(hierarchy, leaf, DISPLAY) == Bounds(500, 100, 1080, 1000)


def test_an_ancestor_without_area_does_not_clip() -> None:
    hierarchy, leaf = node_and_tree((0, 0, 1080, 2400), (0, 0, 0, 0), (10, 10, 20, 20))
    assert visible_bounds(hierarchy, leaf, DISPLAY) == Bounds(10, 10, 20, 20)


@pytest.mark.parametrize("bounds", [(0, 0, 0, 0), (5, 5, 6, 6), (1080, 0, 2160, 2400), (-50, -50, 1, 10)])
def test_attack_a11_a12_tiny_and_off_screen_nodes_are_not_visible(bounds: tuple[int, int, int, int]) -> None:
    _, leaf = node_and_tree((0, 0, 1080, 2400), bounds)
    assert not is_visible(leaf, DISPLAY)


def test_attack_a13_nodes_marked_invisible_are_not_visible() -> None:
    (node,) = parse_hierarchy(write(El(more={"visible-to-user": "false"}))).nodes
    assert not is_visible(node, DISPLAY)


def test_health_names_keyboard_opaque_surface_cut_and_foreign_windows() -> None:
    assert screen_of(own("keyboard_windows.xml")).health.has_keyboard
    assert not screen_of(own("settings_rows.xml")).health.has_keyboard
    assert screen_of(own("canvas.xml")).health.is_opaque
    assert not screen_of(own("settings_rows.xml")).health.is_opaque
    assert not screen_of(own("cut.xml")).health.is_complete
    assert screen_of(own("overlay.xml"), front="com.example.app").health.notes == ("also a window of com.evil.overlay",)
    assert screen_of(own("settings_rows.xml")).health.notes == ()
    assert screen_of(own("no_nodes.xml")).health.notes == ("no nodes",)


def test_a_screen_on_which_nothing_speaks_or_takes_a_press_is_opaque() -> None:
    preview = El("android.view.TextureView", bounds=(0, 900, 1080, 1500))
    frame = El("android.widget.FrameLayout", children=[preview])
    assert screen_of(write(frame)).health.is_opaque
    frame.children.append(El("android.widget.TextView", text="Ready", bounds=(0, 0, 1080, 100)))
    assert not screen_of(write(frame)).health.is_opaque


def test_nodes_whose_bounds_cannot_be_read_are_counted_and_not_passed_over_in_silence() -> None:
    odd = [El(text="Pay", flags="clickable", more={"bounds": bounds}) for bounds in ("[a,b][c,d]", "", "[0,0]")]
    empty = El(text="away", bounds=(0, 0, 0, 0))
    screen = screen_of(write(El("android.widget.FrameLayout", children=[*odd, empty])))
    assert "3 nodes without readable bounds" in screen.health.notes
    assert screen_of(write(El(text="fine", children=[empty]))).health.notes == ()


def test_an_activity_is_told_only_of_the_app_in_front() -> None:
    hierarchy = parse_hierarchy(own("keyboard_windows.xml"))

    def activity(package: str) -> str | None:
        return make_screen(
            number=1, hierarchy=hierarchy, foreground_package=package, activity=".A", width=1, height=1, rotation=0
        ).activity

    assert activity("com.example.notes") == ".A"
    assert activity("com.android.systemui") is None


def test_refs_lead_to_nodes_and_back() -> None:
    screen = screen_of(own("settings_rows.xml"))
    for ref, index in screen.refs.items():
        node = screen.node_of(ref)
        assert node is not None and node.index == index and screen.ref_of(node) == ref
    assert screen.node_of(999) is None
    assert screen.ref_of(screen.nodes[0]) is None


def test_the_display_of_every_dump_has_an_area(all_dumps: list[Path]) -> None:
    for path in all_dumps:
        try:
            hierarchy = parse_hierarchy(path.read_bytes())
        except ScreenUnreadable:
            continue
        assert not display_of(hierarchy).is_empty or not hierarchy.nodes, path.name
