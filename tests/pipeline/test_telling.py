"""What an asker is told of a screen, through the whole road: parts, changes, health, and which refs it may use."""

from __future__ import annotations

import pytest
from tests.fakes.driver import Call, FakeDriver, State, dump, node
from tests.fakes.road import Road, make_road

from droidpilot.core.calls import Status
from droidpilot.core.clock import Deadline
from droidpilot.device.driver import Display, Foreground
from droidpilot.device.settle import CAP_S, SETTLE_GAP_S
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.telling import screen_limit_bytes

PACKAGE = "com.list"


def page(rows: int = 12, *, first: int = 0, clock: str = "", rotation: int = 0) -> bytes:
    found = [
        node(
            text=f"Row {first + row}",
            cls="android.widget.Button",
            clickable=True,
            bounds=(0, row * 100, 1080, row * 100 + 100),
            package=PACKAGE,
        )
        for row in range(rows)
    ]
    if clock:
        found.append(node(text=clock, bounds=(0, 2000, 1080, 2100), package=PACKAGE))
    return dump(node(*found, cls="android.widget.FrameLayout", package=PACKAGE), rotation=rotation)


def road_over(*dumps: bytes, limit_bytes: int | None = None) -> Road:
    names = [f"s{number}" for number in range(len(dumps))]
    driver = FakeDriver({name: State([one], PACKAGE) for name, one in zip(names, dumps, strict=True)}, names[0])
    return make_road(driver, ask=AskMode.NEVER, limit_bytes=limit_bytes)


def test_a_ref_that_was_cut_off_may_not_be_used_before_it_was_shown() -> None:
    road = road_over(page(), limit_bytes=30)
    first = road.submit("ui_tree")
    assert "! cut: 9 of 12 lines left off, ui_tree from_ref=4 goes on" in first.text and "3 Row 2" in first.text
    refused = road.submit("tap", ref=4)
    assert (refused.status, refused.code) == (Status.LOGIC, "never_printed")
    assert road.writes == []
    rest = road.submit("ui_tree", from_ref=4)
    assert rest.status is Status.OK and "4 Row 3" in rest.text and "3 Row 2" not in rest.text
    assert road.submit("tap", ref=4).status is Status.OK
    assert road.submit("tap", ref=1).status is Status.OK
    assert [call.name for call in road.writes] == ["tap", "tap"]


def test_going_on_from_a_ref_that_is_not_there_is_refused_with_its_code() -> None:
    road = road_over(page())
    result = road.submit("ui_tree", from_ref=99)
    assert (result.status, result.code) == (Status.LOGIC, "no_line")


def test_a_screen_is_never_cut_below_a_quarter_of_the_window() -> None:
    assert screen_limit_bytes(128_000) == 128_000
    road = road_over(page(24), limit_bytes=screen_limit_bytes(8_000))
    assert "cut" not in road.submit("ui_tree").text


def test_refs_of_a_diff_may_be_used_at_once() -> None:
    road = road_over(page(), page(first=2))

    def turn(driver: FakeDriver, call: Call) -> None:
        driver.show("s1")

    road.driver.react = turn
    road.submit("ui_tree")
    moved = road.submit("tap", ref=1)
    assert "+13 Row 12" in moved.text and "gone: 1-2" in moved.text and "Row 5" not in moved.text
    assert road.submit("tap", ref=13).status is Status.OK
    assert road.submit("tap", ref=2).code == "stale_ref"
    assert road.submit("tap", ref=50).code == "no_ref"


@pytest.mark.parametrize(
    ("foreground", "words"),
    [
        (Foreground(PACKAGE, None, is_locked=True), "! locked"),
        (Foreground(PACKAGE, None, is_off=True), "! display off"),
        (Foreground(PACKAGE, None, is_secure=True), "! secure: pictures of it are black"),
    ],
)
def test_what_the_phone_says_of_itself_stands_in_the_health_line(foreground: Foreground, words: str) -> None:
    class Telling(FakeDriver):
        def foreground(self, deadline: Deadline) -> Foreground:
            super().foreground(deadline)
            return foreground

    road = make_road(Telling({"s": State([page()], PACKAGE)}, "s"), ask=AskMode.NEVER)
    assert words in road.submit("ui_tree").text.splitlines()


def test_a_turned_display_is_said_against_the_screen_that_was_told_before() -> None:
    road = road_over(page(), page(rotation=1))
    assert "turned" not in road.submit("ui_tree").text
    road.driver.show("s1")
    road.driver.screen = Display(2400, 1080, 1)
    assert "! turned: rotation was 0, is 1" in road.submit("ui_tree").text


class Ticking(FakeDriver):
    """A phone with a clock that changes at every read."""

    reads = 0

    def dump(self, deadline: Deadline) -> bytes:
        super().dump(deadline)
        self.reads += 1
        return page(clock=f"0:{self.reads}")


def test_a_screen_that_never_rests_costs_the_cap_once_and_is_said_to_be_so() -> None:
    driver = Ticking({"s": State([b""], PACKAGE)}, "s")
    road = make_road(driver, ask=AskMode.NEVER)
    started = road.clock.monotonic()
    assert "! never idle: something keeps moving" in road.submit("ui_tree").text
    assert road.clock.monotonic() - started == pytest.approx(CAP_S, abs=2 * SETTLE_GAP_S)
    for _ in range(3):
        started = road.clock.monotonic()
        assert "never idle" in road.submit("ui_tree").text
        assert road.clock.monotonic() - started < 0.2
    started = road.clock.monotonic()
    tapped = road.submit("tap", ref=1)
    assert tapped.status is Status.OK and "still moving" not in tapped.text
    assert road.clock.monotonic() - started < 1


def test_a_screen_like_it_that_does_change_is_still_waited_for() -> None:
    driver = Ticking({"s": State([b""], PACKAGE)}, "s")
    road = make_road(driver, ask=AskMode.NEVER)
    road.submit("ui_tree")
    frames = [page(first=n, clock=f"1:{n}") for n in range(5, 9)]
    quiet = FakeDriver({"s": State([*frames, frames[-1]], PACKAGE)}, "s")
    driver.dump = quiet.dump  # type: ignore[method-assign]  # the same phone, later
    assert "Row 19" in road.submit("ui_tree").text


def test_a_tap_that_moves_the_focus_at_once_and_opens_something_later_is_waited_out() -> None:
    def button(*, focused: bool) -> bytes:
        return dump(node(text="Open", clickable=True, focused=focused, bounds=(0, 0, 500, 100), package=PACKAGE))

    opened = page(3)
    driver = FakeDriver({"s": State([button(focused=False)], PACKAGE), "later": State([b""], PACKAGE)}, "s")
    road = make_road(driver, ask=AskMode.NEVER)

    def touched(fake: FakeDriver, call: Call) -> None:
        fake.states["later"].frames[:] = [button(focused=True)] * 4 + [opened] * 4
        fake.show("later")

    driver.react = touched
    road.submit("ui_tree")
    assert "Row 2" in road.submit("tap", ref=1).text
