"""Pictures kept for people: one before each write, none of a field for a secret, and no failure because of one."""

from __future__ import annotations

from typing import Any

from tests.fakes.driver import FakeDriver, State
from tests.fakes.road import Road, chat, make_road

from droidpilot.core.calls import Status
from droidpilot.core.errors import DeviceTimeout
from droidpilot.pipeline.approval import AskMode


def keeping(driver: FakeDriver | None = None, **options: Any) -> Road:
    return make_road(driver, ask=AskMode.NEVER, keep=lambda data: f"kept-{len(data) > 0}", **options)


def test_a_picture_of_the_screen_stands_with_each_write_and_with_no_read() -> None:
    road = keeping(keeps_pictures=True)
    road.submit("press", key="back")
    road.submit("ui_tree")
    assert [line.picture for line in road.called] == ["kept-True", ""]


def test_no_picture_is_kept_unless_it_was_asked_for() -> None:
    road = keeping()
    road.submit("press", key="back")
    assert road.called[0].picture == ""
    assert "screenshot" not in [call.name for call in road.driver.calls]


def test_inv_40_no_picture_is_kept_of_a_screen_with_a_field_for_a_secret() -> None:
    driver = FakeDriver({"s": State([chat(password=True)], "com.chat")}, "s")
    road = keeping(driver, keeps_pictures=True)
    road.submit("press", key="back")
    assert road.called[0].picture == ""


def test_a_picture_that_cannot_be_taken_stops_nothing() -> None:
    road = keeping(keeps_pictures=True)
    road.driver.fail("screenshot", DeviceTimeout("no picture", code="capture_failed"))
    assert road.submit("press", key="back").status is Status.OK
    assert road.called[0].picture == ""
