"""The whole road as a table: origin x gate x verdict -> the lines written and the calls that reached the driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.fakes.driver import Call, FakeDriver, State
from tests.fakes.road import SEND, BrokenGate, Person, Road, chat, make_road

from droidpilot.core.calls import Origin, Status
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.budget import Limits

CENTRE = ((SEND[0] + SEND[2]) // 2, (SEND[1] + SEND[3]) // 2)
TAPPED = [Call("tap", CENTRE)]


def moving_driver() -> FakeDriver:
    """A chat whose button is renamed while somebody thinks."""
    return FakeDriver({"chat": State([chat()], "com.chat"), "renamed": State([chat(send="Pay")], "com.chat")}, "chat")


def changed_while_asked() -> Road:
    driver = moving_driver()
    return make_road(driver, approver=Person("yes", think=lambda: driver.show("renamed")))


@dataclass(frozen=True)
class Row:
    """One way down the road. `gate` is the last gate that spoke, `asks` whether a question stands in the lines."""

    name: str
    road: Callable[[], Road]
    gate: str
    answer: str
    status: Status
    writes: list[Call]
    ends: str = ""
    asks: bool = False


ROWS = [
    Row("nothing objects", lambda: make_road(ask=AskMode.NEVER), "staleness", "allow", Status.OK, TAPPED),
    Row(
        "capability denies", lambda: make_road(allowed=frozenset({"ui_tree"})), "capability", "deny", Status.REFUSED, []
    ),
    Row("rules deny", lambda: make_road(rules="deny tap matching Send"), "rules", "deny", Status.REFUSED, []),
    Row("rules allow", lambda: make_road(rules="allow tap in com.chat"), "staleness", "allow", Status.OK, TAPPED),
    Row(
        "rules ask, nobody there",
        lambda: make_road(rules="ask tap in com.chat"),
        "approval",
        "deny",
        Status.REFUSED,
        [],
        asks=True,
    ),
    Row(
        "rules ask in mode never, a person says yes",
        lambda: make_road(rules="ask tap in com.chat", ask=AskMode.NEVER, approver=Person("yes")),
        "staleness",
        "allow",
        Status.OK,
        TAPPED,
        asks=True,
    ),
    Row(
        "risk asks, a person says no",
        lambda: make_road(approver=Person("no")),
        "approval",
        "deny",
        Status.REFUSED,
        [],
        asks=True,
    ),
    Row(
        "risk asks, the answer comes too late",
        lambda: _late_road(),
        "approval",
        "deny",
        Status.REFUSED,
        [],
        asks=True,
    ),
    Row(
        "budget is spent",
        lambda: make_road(ask=AskMode.NEVER, limits=Limits(actions=0)),
        "budget",
        "halt",
        Status.REFUSED,
        [],
        ends="budget",
    ),
    Row(
        "the screen changes while a person thinks",
        changed_while_asked,
        "staleness",
        "deny",
        Status.REFUSED,
        [],
        asks=True,
    ),
    *(
        Row(
            f"the {gate} gate breaks",
            lambda gate=gate: make_road(ask=AskMode.NEVER, replace_gates={gate: BrokenGate(gate)}),  # type: ignore[misc]
            gate,
            "halt",
            Status.REFUSED,
            [],
            ends="internal",
        )
        for gate in ("capability", "rules", "approval", "budget", "staleness")
    ),
]


def _late_road() -> Road:
    person = Person("yes")
    road = make_road(approver=person)
    person._think = lambda: road.clock.advance(181)
    return road


@pytest.mark.parametrize("origin", list(Origin))
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_road(row: Row, origin: Origin) -> None:
    road = row.road()
    result = road.submit("tap", x=CENTRE[0], y=CENTRE[1], origin=origin)

    assert (result.status, result.ends) == (row.status, row.ends), result.text
    assert road.writes == row.writes
    called, returned = road.called, road.returned
    assert len(called) == len(returned) == 1
    assert called[0].origin == origin.value
    last = called[0].verdicts[-1]
    assert (last.gate, last.answer) == (row.gate, row.answer)
    assert [verdict.gate for verdict in called[0].verdicts] == [
        "capability",
        "rules",
        "approval",
        "budget",
        "staleness",
    ][: len(called[0].verdicts)]
    assert bool(called[0].send_key) == bool(row.writes)
    assert road.kinds.count("approval_asked") == road.kinds.count("approval_answered") == int(row.asks)
    if row.asks:
        order = [road.kinds.index(kind) for kind in ("approval_asked", "approval_answered", "tool_called")]
        assert order == sorted(order)
    assert returned[0].status == row.status.value
    assert road.budget.actions == len(row.writes)


def test_capability_refuses_before_the_phone_is_looked_at() -> None:
    road = make_road(allowed=frozenset({"done"}))
    road.submit("tap", x=1, y=1)
    road.submit("ui_tree")
    road.submit("no_such_tool")
    assert road.driver.calls == []
    assert [line.verdicts[-1].code for line in road.called] == ["tool_not_allowed", "tool_not_allowed", "unknown_tool"]


def test_tool_called_is_written_before_the_write_reaches_the_driver() -> None:
    road = make_road(ask=AskMode.NEVER)
    seen: list[list[str]] = []
    road.driver.react = lambda driver, call: seen.append(list(road.kinds))
    road.submit("tap", x=CENTRE[0], y=CENTRE[1])
    assert seen == [["screen_observed", "tool_called"]]
    assert road.kinds[-1] == "tool_returned"
