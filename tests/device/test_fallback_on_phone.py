"""When a helper is given up on a real line: where it dies under our looks, and not where the cable is loose."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device import fallback
from droidpilot.device.adb import AdbServer
from droidpilot.device.driver import Driver
from droidpilot.device.lifeline import Keep
from droidpilot.virtual.server import VirtualPhone

Within = Callable[[float], Deadline]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def chosen(adb: AdbServer, phone: VirtualPhone, said: list[str]) -> Iterator[Driver]:
    clock = SystemClock()
    made = fallback.connect(
        adb,
        phone.serial,
        clock=clock,
        deadline=Deadline.after(clock, 20),
        note=said.append,
        keep=Keep(patience_s=20.0),
    )
    yield made
    made.close()


def test_a_line_that_drops_again_and_again_is_no_reason_to_give_the_helper_up(
    chosen: Driver, phone: VirtualPhone, said: list[str], within: Within
) -> None:
    for _ in range(4):
        phone.phone.faults.set("drop")
        assert b"<hierarchy" in chosen.dump(within(20))
    for when in ("before", "cut", "after"):
        phone.phone.faults.schedule("drop", "dump:+1", when)
        assert b"<hierarchy" in chosen.dump(within(20))
    assert not chosen.facts.is_plain and said == []


def test_a_helper_that_is_ended_between_our_looks_is_started_again_and_goes_on(
    chosen: Driver, phone: VirtualPhone, said: list[str], within: Within
) -> None:
    for _ in range(4):
        phone.phone.faults.set("server-killed")
        assert b"<hierarchy" in chosen.dump(within(20))
    assert not chosen.facts.is_plain and said == []


def test_a_helper_that_dies_under_our_looks_twice_on_one_screen_is_given_up(
    chosen: Driver, phone: VirtualPhone, said: list[str], within: Within
) -> None:
    for number in range(2):
        assert not chosen.facts.is_plain, number
        phone.phone.faults.schedule("server-killed", "dump:+1", "cut")
        chosen.dump(within(20))
    assert chosen.facts.is_plain and len(said) == 1 and "died 2 times" in said[0]
    assert b"<hierarchy" in chosen.dump(within(20))
