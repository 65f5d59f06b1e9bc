from __future__ import annotations

from tests.screens.dump_writer import El, write

from droidpilot.screens.hierarchy import Hierarchy
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.restless import MAX_SCREENS, Restless
from droidpilot.screens.screen import fingerprint_of


def page(clock: str, *, title: str = "Player", extra: str = "", spot: int = 0) -> Hierarchy:
    """A page of still rows with a running clock and a dot that moves."""
    rows = [El(text=f"{title} {n}", bounds=(0, n * 100, 1080, n * 100 + 100), flags="clickable") for n in range(6)]
    moving = [El(text=clock, id="a:id/clock"), El(id="a:id/dot", bounds=(spot, 900, spot + 50, 950))]
    return parse_hierarchy(write(El(children=[*rows, *moving, *([El(text=extra)] if extra else [])])))


def still(memory: Restless, hierarchy: Hierarchy) -> str:
    return fingerprint_of(hierarchy, leave_out=memory.moving_in(hierarchy))


def test_what_moved_is_left_out_and_the_rest_still_counts() -> None:
    memory = Restless()
    memory.learn([page(f"0:0{n}", spot=n * 10) for n in range(8)])
    assert still(memory, page("3:14", spot=700)) == still(memory, page("9:59", spot=3))
    assert still(memory, page("3:14")) != still(memory, page("3:14", extra="Paused"))
    assert {node.resource_id for node in page("x").nodes if node.index in memory.moving_in(page("x"))} == {
        "a:id/clock",
        "a:id/dot",
    }


def test_another_screen_with_things_at_the_same_places_is_not_taken_for_it() -> None:
    memory = Restless()
    memory.learn([page(f"0:0{n}", spot=n) for n in range(8)])
    assert memory.moving_in(page("0:01", title="Settings")) == frozenset()


def test_a_screen_where_everything_moves_is_known_by_its_places() -> None:
    def game(step: int) -> Hierarchy:
        return parse_hierarchy(write(El(bounds=(0, 0, step, 9), children=[El(bounds=(step, 0, step + 5, 9))])))

    memory = Restless()
    memory.learn([game(n) for n in range(9, 15)])
    assert still(memory, game(100)) == still(memory, game(200))


def test_nothing_is_learned_where_nothing_moves() -> None:
    memory = Restless()
    memory.learn([page("0:00")] * 8)
    memory.learn([page("0:00")])
    assert memory.moving_in(page("0:00")) == frozenset()


def test_only_so_many_screens_are_remembered() -> None:
    memory = Restless()
    for number in range(MAX_SCREENS + 1):
        memory.learn([page("0:00", title=f"T{number}"), page("0:01", title=f"T{number}")])
    assert not memory.moving_in(page("0:02", title="T0"))
    assert memory.moving_in(page("0:02", title="T1")) and memory.moving_in(page("0:02", title=f"T{MAX_SCREENS}"))
