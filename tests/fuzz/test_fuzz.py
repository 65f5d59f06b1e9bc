"""Damaged dumps end in a screen or in an error of ours, never in anything else, and in bounded time.

`make fuzz` does the same a hundred thousand times.
"""

from __future__ import annotations

import time

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from droidpilot.screens.hits import target_nodes
from droidpilot.screens.parse import parse_hierarchy
from tests.conftest import cases_folder
from tests.fuzz.looking import OWN, Count, dumps_in, try_one
from tests.fuzz.mutations import CHANGES, PLACES, Recipe, applied, recipes

DUMPS = dumps_in(OWN)


@settings(
    max_examples=120,
    database=None,
    phases=[Phase.generate, Phase.shrink],
    suppress_health_check=list(HealthCheck),
)
@given(name=st.sampled_from(sorted(DUMPS)), recipe=recipes())
def test_no_damage_ends_outside_of_the_error_tree(name: str, recipe: Recipe) -> None:
    try_one(name, DUMPS[name], recipe, Count())


@pytest.mark.parametrize("change", sorted(CHANGES))
def test_each_kind_of_damage(change: str) -> None:
    count = Count()
    for name in ("settings_rows.xml", "keyboard_windows.xml"):
        for n in (0, 3, 7):
            try_one(name, DUMPS[name], ((change, PLACES // 3, PLACES // 2 + n, n),), count)
    assert count.tries == 6


def test_each_change_changes_something() -> None:
    data = DUMPS["settings_rows.xml"]
    for change in CHANGES:
        made = {applied(((change, at, at // 2 + 1, n),), data) for at in (20_000, 50_001) for n in range(8)}
        assert made - {data}, change


def test_deep_nesting_is_no_recursion() -> None:
    opening = b'<node text="deep" class="a.B" bounds="[0,0][1080,2400]" clickable="true">'
    data = b"<hierarchy rotation='0'>" + opening * 5_000 + b"</node>" * 5_000 + b"</hierarchy>"
    count = Count()
    try_one("deep", data, (), count)
    assert count.errors == {}


def test_thousands_of_windows_cost_no_square_of_them() -> None:
    """A hundred million steps take a minute, ten thousand a fraction of a second."""
    leaf = b'<node text="w" class="a.B" package="a.b" bounds="[0,0][1080,2400]" clickable="true"/>'
    hierarchy = parse_hierarchy(b"<hierarchy>" + leaf * 10_000 + b"</hierarchy>")
    began = time.process_time()
    assert len(target_nodes(hierarchy, 500, 500)) == 10_000
    assert time.process_time() - began < 8


def test_the_cases_are_damaged_too() -> None:
    folder = cases_folder()
    if folder is None:
        pytest.skip("DROIDPILOT_CASES is not set")
    count = Count()
    for number, (name, data) in enumerate(dumps_in(folder / "dumps").items()):
        change = sorted(CHANGES)[number % len(CHANGES)]
        try_one(name, data, ((change, number * 997 % PLACES, number * 499 % PLACES, number),), count)
    assert count.tries > 50
