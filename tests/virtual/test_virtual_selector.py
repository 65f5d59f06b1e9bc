"""Selectors: every field, steps to children and siblings, and what a hostile one gets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand
from uiautomator2._selector import Selector

from droidpilot.virtual.rpc.selector import BadSelector, describe, find
from droidpilot.virtual.ui.hierarchy import SeenNode


def found(**fields: object) -> list[SeenNode]:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet")
    return find(hand.phone.look().roots, Selector(**fields))


@pytest.mark.parametrize(
    ("fields", "texts"),
    [
        ({"text": "Wi-Fi"}, ["Wi-Fi"]),
        ({"text": "wi-fi"}, []),
        ({"textContains": "PLANE"}, ["Airplane mode"]),
        ({"textStartsWith": "air"}, ["Airplane mode"]),
        ({"textMatches": "Air.*"}, ["Airplane mode"]),
        ({"textMatches": "Air"}, []),
        ({"resourceId": "android:id/title", "instance": 1}, ["Mobile data"]),
        ({"resourceIdMatches": ".*/title", "instance": 9}, []),
        ({"className": "android.widget.TextView", "textContains": "Virtual"}, ["Virtual Mobile"]),
        ({"checked": True}, [""]),
        ({"packageName": "com.android.settings", "text": "Wi-Fi"}, ["Wi-Fi"]),
        ({"packageNameMatches": "com\\.nothing.*"}, []),
    ],
)
def test_fields_find_what_uiautomator_would(fields: dict[str, object], texts: list[str]) -> None:
    assert [node.text for node in found(**fields)] == texts


def test_description_finds_the_up_button() -> None:
    assert [node.view.cls for node in found(description="Navigate up")] == ["android.widget.ImageButton"]
    assert len(found(descriptionContains="NAVIGATE")) == 1
    assert len(found(descriptionStartsWith="up")) == 0


def test_child_and_sibling_steps_are_followed() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet")
    roots = hand.phone.look().roots
    rows = Selector(className="android.widget.LinearLayout", clickable=True).child(text="Airplane mode")
    assert [node.text for node in find(roots, rows)] == ["Airplane mode"]
    beside = Selector(text="Mobile data").sibling(resourceId="android:id/summary")
    assert [node.text for node in find(roots, beside)] == ["Virtual Mobile"]


@pytest.mark.parametrize(
    "selector",
    [None, 3, "x", [], {}, {"mask": "1"}, {"mask": 1}, {"mask": 1, "text": 5}, {"mask": 4, "textMatches": "(" * 50},
     {"mask": 4, "textMatches": "a" * 2000}, {"mask": 0x1000000, "instance": "0"},
     {"mask": 1, "text": "a", "childOrSibling": ["up"], "childOrSiblingSelector": [{"mask": 0}]},
     {"mask": 0, "childOrSibling": ["child"], "childOrSiblingSelector": []},
     {"mask": 0, "childOrSibling": ["child"] * 11, "childOrSiblingSelector": [{"mask": 0}] * 11}],
)  # fmt: skip
def test_a_selector_that_makes_no_sense_is_refused(selector: object) -> None:
    with pytest.raises(BadSelector):
        find(Hand.at().phone.look().roots, selector)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["mask", "text", "index", "instance", "childOrSibling", "childOrSiblingSelector", "textMatches"]), inner, max_size=5), max_leaves=12))  # fmt: skip  # noqa: E501
def test_any_value_either_finds_or_is_refused(selector: object) -> None:
    try:
        find(Hand.at().phone.look().roots, selector)
    except BadSelector:
        return


def test_a_pattern_that_would_explode_answers_at_once() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    assert find(hand.phone.look().roots, {"mask": 4, "textMatches": "(a+)+" * 20 + "b"}) == []


def test_a_selector_is_described_as_uiselector_does() -> None:
    assert describe(Selector(text="nope")) == "UiSelector[TEXT=nope]"
