"""Pictures on the road: how often, of what, to whom; and what a place in one touches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.driver import FakeDriver, State, dump, node, plain_picture
from tests.fakes.road import SEND, Person, Road, chat, make_road

from droidpilot.core.calls import Origin, Status
from droidpilot.core.clock import Deadline, ManualClock
from droidpilot.core.errors import DeviceRefused
from droidpilot.device.driver import Display, Picture
from droidpilot.pipeline.approval import AskMode
from droidpilot.tools.picture_frame import Taken

MIDDLE = ((SEND[0] + SEND[2]) // 2, (SEND[1] + SEND[3]) // 2)


class Watched(FakeDriver):
    """A FakeDriver that does something at the moment of a picture."""

    at_picture: Callable[[], None] = staticmethod(lambda: None)

    def screenshot(self, deadline: Deadline) -> Picture:
        self.at_picture()
        return super().screenshot(deadline)


class ActingClock(ManualClock):
    """A clock that does something once, the next time that somebody waits."""

    act: Callable[[], None] = staticmethod(lambda: None)

    def sleep(self, seconds: float) -> None:
        act, self.act = self.act, lambda: None
        act()
        super().sleep(seconds)


class Kept(list[bytes]):
    """Artifacts in memory."""

    def keep(self, data: bytes) -> str:
        self.append(data)
        return f"digest{len(self)}"


def road_of(**options: Any) -> Road:
    driver = Watched(
        {"chat": State([chat()], "com.chat"), "bank": State([chat(package="com.bank")], "com.bank")}, "chat"
    )
    return make_road(driver, **({"ask": AskMode.NEVER} | options))


def pictures(road: Road) -> int:
    return sum(call.name == "screenshot" for call in road.driver.calls)


def in_picture(road: Road, x: int, y: int) -> dict[str, Any]:
    """Return the arguments that name a px of the display by the last picture."""
    taken = road.submit("screenshot").value
    assert isinstance(taken, Taken)
    frame, screen = taken.frame, road.driver.screen
    return {"x": x * frame.width // screen.width, "y": y * frame.height // screen.height, "picture": frame.number}


def test_a_picture_comes_small_with_its_size_and_number() -> None:
    kept = Kept()
    road = road_of(keep=kept.keep)
    result = road.submit("screenshot")
    assert result.status is Status.OK and result.image is not None
    assert (result.image.mime, result.image.width, result.image.height) == ("image/jpeg", 508, 1100)
    assert "Picture 1 follows, 508 x 1100 px, of a screen of 1080 x 2340" in result.text
    assert "picture=1" in result.text and "<screen" not in result.text
    assert road.returned[-1].picture and kept[-1] == result.image.data
    assert road.called[-1].effect == "read"
    assert not road.writes


def test_two_pictures_are_a_second_apart_and_the_second_waits_instead_of_failing() -> None:
    road = road_of()
    road.submit("screenshot")
    at: list[float] = []
    assert isinstance(road.driver, Watched)
    road.driver.at_picture = lambda: at.append(road.clock.monotonic())
    began = road.clock.monotonic()
    assert road.submit("screenshot").status is Status.OK
    road.submit("screenshot")
    assert 0.5 < at[0] - began < 1.2 and at[1] - at[0] >= 1.0
    road.clock.advance(5)
    began = road.clock.monotonic()
    road.submit("screenshot")
    assert at[2] - began < 0.2, "nobody waits who did not ask too often"


def test_a_stop_ends_the_wait() -> None:
    clock = ActingClock()
    road = road_of(clock=clock)
    road.submit("screenshot")
    clock.act = road.stop.request
    result = road.submit("screenshot")
    assert (result.status, result.image, pictures(road)) == (Status.STOPPED, None, 1)


def test_inv_32_a_place_in_the_picture_is_the_place_on_the_display() -> None:
    road = road_of()
    result = road.submit("tap", **in_picture(road, *MIDDLE))
    assert result.status is Status.OK, result.text
    x, y = road.writes[0].args
    assert abs(int(str(x)) - MIDDLE[0]) <= 3 and abs(int(str(y)) - MIDDLE[1]) <= 3
    target = road.called[-1].target
    assert target is not None and target.points == [(x, y)] and target.nodes[0].raw == "Send"


def test_gates_see_what_lies_under_a_place_in_a_picture() -> None:
    road = road_of(rules="deny tap matching (?i)send")
    result = road.submit("tap", **in_picture(road, *MIDDLE))
    assert (result.status, road.writes) == (Status.REFUSED, [])


def test_without_a_picture_x_and_y_are_px_of_the_display() -> None:
    road = road_of()
    road.submit("screenshot")
    assert road.submit("tap", x=MIDDLE[0], y=MIDDLE[1]).status is Status.OK
    assert road.writes[0].args == MIDDLE


def test_swipes_and_long_presses_take_places_in_a_picture_too() -> None:
    road = road_of()
    place = in_picture(road, *MIDDLE)
    assert road.submit("long_press", **place).status is Status.OK
    swipe: dict[str, Any] = {"x1": 254, "y1": 800, "x2": 254, "y2": 300, "picture": place["picture"]}
    assert road.submit("swipe", **swipe).status is Status.OK
    assert road.writes[1].args[:4] == (541, 1702, 541, 639)


def test_inv_31_only_the_last_picture_names_places() -> None:
    road = road_of()
    first = in_picture(road, *MIDDLE)
    road.submit("screenshot")
    result = road.submit("tap", **first)
    assert (result.status, result.code, road.writes) == (Status.LOGIC, "no_picture", [])


def test_report_b33_a_turned_screen_makes_a_picture_stale() -> None:
    road = road_of()
    place = in_picture(road, *MIDDLE)
    road.driver.screen = Display(2340, 1080, 1)
    road.clock.advance(1)
    result = road.submit("tap", **place)
    assert (result.status, result.code, road.writes) == (Status.LOGIC, "stale_picture", [])


def test_another_thing_at_that_place_makes_it_stale() -> None:
    road = road_of()
    place = in_picture(road, *MIDDLE)
    road.driver.states["chat"].frames[0] = chat(send="Delete")
    road.clock.advance(1)
    result = road.submit("tap", **place)
    assert (result.status, result.code, road.writes) == (Status.REFUSED, "stale", [])


def test_report_b34_a_picture_on_its_side_is_flagged_and_names_no_places() -> None:
    road = road_of()
    road.driver.screen = Display(2340, 1080, 1)
    road.driver.states["chat"].picture = plain_picture(1080, 2340)
    result = road.submit("screenshot")
    assert result.status is Status.OK and "take no places from it" in result.text
    tap = road.submit("tap", x=10, y=10, picture=1)
    assert (tap.status, tap.code, road.writes) == (Status.LOGIC, "mismatched_picture", [])


def test_a_screen_that_turns_while_the_picture_is_taken_names_no_places() -> None:
    road = road_of()

    def turn() -> None:
        road.driver.screen = Display(2340, 1080, 1)

    assert isinstance(road.driver, Watched)
    road.driver.at_picture = turn
    assert "take no places from it" in road.submit("screenshot").text


@pytest.mark.parametrize(
    ("arguments", "code"),
    [({"ref": 1, "picture": 1}, "bad_arguments"), ({"x": 600, "y": 5, "picture": 1}, "outside_picture")],
)
def test_a_place_must_be_in_the_picture(arguments: dict[str, Any], code: str) -> None:
    road = road_of()
    road.submit("screenshot")
    result = road.submit("tap", **arguments)
    assert (result.code, road.writes) == (code, [])


@pytest.mark.parametrize("rules", ["deny screenshot in com.chat", "deny ui_tree in com.chat", "deny ui_tree", "deny *"])
def test_a_denied_screen_is_not_even_taken(rules: str) -> None:
    road = road_of(rules=rules)
    result = road.submit("screenshot")
    assert (result.status, result.image, result.value) == (Status.REFUSED, None, None)
    assert pictures(road) == 0


def test_a_picture_that_may_not_be_taken_does_not_hide_the_text() -> None:
    road = road_of(rules="deny screenshot")
    assert road.submit("screenshot").status is Status.REFUSED
    assert road.submit("ui_tree").status is Status.OK


@pytest.mark.parametrize("when", ["at the picture", "before it", "before it and gone after it"])
@pytest.mark.parametrize(
    "rules", ["deny ui_tree in com.bank", "deny screenshot in com.bank", "ask ui_tree in com.bank"]
)
def test_a_denied_app_that_comes_to_the_front_meanwhile_is_in_no_picture(rules: str, when: str) -> None:
    kept, clock = Kept(), ActingClock()
    road = road_of(rules=rules, keep=kept.keep, clock=clock)
    road.submit("screenshot")

    def show_bank() -> None:
        road.driver.show("bank")

    assert isinstance(road.driver, Watched)
    if when == "at the picture":
        road.driver.at_picture = show_bank
    else:
        clock.act = show_bank
    if when == "before it and gone after it":
        road.driver.at_picture = lambda: road.driver.show("chat")
    result = road.submit("screenshot")
    assert (result.status, result.code, result.image, result.value) == (Status.REFUSED, "hidden", None, None)
    assert road.returned[-1].picture == ""
    assert sum(data.startswith(b"\xff\xd8") for data in kept) == 1, "only the first one was kept"


def test_where_a_rule_asks_a_yes_shows_the_picture_and_a_no_does_not() -> None:
    for answer, status in (("yes", Status.OK), ("no", Status.REFUSED)):
        person = Person(answer)
        road = road_of(rules="ask ui_tree in com.chat", approver=person)
        result = road.submit("screenshot")
        assert (result.status, result.image is not None) == (status, answer == "yes")
        assert len(person.asked) == 1


def test_a_secure_screen_is_said_to_be_one_and_not_sent() -> None:
    road = road_of()
    road.driver.states["chat"].picture = plain_picture(1080, 2340, color="black", is_secure=True)
    result = road.submit("screenshot")
    assert (result.status, result.code, result.image) == (Status.LOGIC, "secure_screen", None)
    assert "com.chat forbids pictures" in result.text and "ui_tree" in result.text
    assert road.returned[-1].picture == ""


def test_report_b45_a_failed_capture_is_another_thing() -> None:
    road = road_of()
    road.driver.fail("screenshot", DeviceRefused("the phone took no picture: Permission denied", code="capture_failed"))
    result = road.submit("screenshot")
    assert (result.status, result.code, result.image) == (Status.LOGIC, "capture_failed", None)
    assert "forbids" not in result.text and "Permission denied" in result.text


def test_report_b21_after_a_failed_capture_the_one_before_is_not_used() -> None:
    road = road_of()
    road.submit("screenshot")
    road.driver.fail("screenshot", DeviceRefused("no", code="capture_failed"))
    assert road.submit("screenshot").value is None


def test_a_black_picture_says_so_without_a_guess() -> None:
    road = road_of()
    road.driver.states["chat"].picture = plain_picture(1080, 2340, color="black")
    result = road.submit("screenshot")
    assert (result.status, result.code, result.image) == (Status.LOGIC, "black_picture", None)


def test_people_go_the_same_road() -> None:
    road = road_of(rules="deny screenshot")
    assert road.submit("screenshot", origin=Origin.HUMAN).status is Status.REFUSED


def test_a_node_without_a_label_can_be_reached_by_its_place() -> None:
    driver = Watched(
        {"game": State([dump(node(cls="android.view.SurfaceView", package="com.game"), rotation=0)], "com.game")},
        "game",
    )
    road = make_road(driver, ask=AskMode.NEVER)
    result = road.submit("tap", **in_picture(road, 700, 900))
    assert result.status is Status.OK, result.text
    assert road.writes[0].name == "tap"
