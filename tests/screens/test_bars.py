"""The bars of the rendering, counted in tokens of o200k_base: short, with nothing that a person could see left out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from tests.bench.token_count import tokens
from tests.screens import plain_reader
from tests.screens.screen_maker import OWN_DUMPS, screen_of

from droidpilot.screens.render import lines_of, render

#: Tokens, header and health line included. The best peer: 531, 1045, 931.
BARS = {"s1_settings_synthetic.xml": 150, "s2_chat_synthetic.xml": 370, "s3_compose_shop_synthetic.xml": 400}
OWN_BARS = {"settings_rows.xml": 60, "cjk_chat_emoji.xml": 90, "compose_list.xml": 110}
HUGE = "79_huge_list.xml"
#: Tokens a screen may cost above its strings and two for each usable rectangle.
SPARE = 20
#: The one dump whose text must be changed: it imitates our frame.
IMITATES = "bidi_text.xml"


def floor(path: Path) -> int | None:
    """Return the least a screen can cost; None where the dump is no well-formed XML."""
    tops = plain_reader.elements(path.read_bytes())
    if not tops:
        return None
    return tokens("\n".join(plain_reader.told_strings(tops))) + 2 * len(plain_reader.usable(tops))


def cost(path: Path) -> int:
    return tokens(render(screen_of(path.read_bytes())))


@pytest.fixture(scope="session")
def readable(all_dumps: list[Path]) -> list[Path]:
    return [path for path in all_dumps if floor(path) is not None]


def test_three_ordinary_screens_cost_no_more_than_the_bars(cases_dir: Path | None) -> None:
    costs = {name: cost(OWN_DUMPS / name) for name in OWN_BARS}
    bars = dict(OWN_BARS)
    if cases_dir is not None:
        costs |= {name: cost(cases_dir / "dumps" / name) for name in BARS}
        bars |= BARS
    assert all(costs[name] <= bar for name, bar in bars.items()), costs


def test_all_screens_together_cost_their_floor_and_twenty_tokens_each(readable: list[Path]) -> None:
    for folder in {path.parent for path in readable}:
        dumps = [path for path in readable if path.parent == folder and path.name != HUGE]
        floors = sum(floor(path) or 0 for path in dumps)
        assert sum(map(cost, dumps)) <= floors + SPARE * len(dumps), folder


def test_every_string_stands_on_one_line_as_often_as_it_is_on_the_screen(readable: list[Path]) -> None:
    checked = 0
    for path in readable:
        if path.name == IMITATES:
            continue
        lines = [plain_reader.squeezed(line) for line in render(screen_of(path.read_bytes())).split("\n")]
        tops = plain_reader.elements(path.read_bytes())
        assert tops is not None
        for string, often in Counter(plain_reader.told_strings(tops)).items():
            checked += 1
            in_order = re.compile(".*?".join(map(re.escape, string.split())))
            assert sum(len(in_order.findall(line)) for line in lines) >= often, (path.name, string)
    assert checked > 80


def test_every_usable_rectangle_has_a_line_that_begins_with_its_ref_and_says_its_states(readable: list[Path]) -> None:
    checked = 0
    for path in readable:
        screen = screen_of(path.read_bytes())
        said: dict[tuple[int, ...], set[str]] = {}
        for line in lines_of(screen):
            node = screen.node_of(line.ref) if line.ref is not None else None
            if node is not None:
                assert line.text.split(" ")[0] == str(line.ref)
                bounds = node.bounds.clip(screen.display)
                place = (bounds.left, bounds.top, bounds.right, bounds.bottom)
                said.setdefault(place, set()).update(line.text.split(" ")[1:])
        tops = plain_reader.elements(path.read_bytes())
        assert tops is not None
        for rectangle, states in plain_reader.usable(tops).items():
            checked += 1
            assert states <= said[rectangle], (path.name, rectangle, states)
    assert checked > 80
