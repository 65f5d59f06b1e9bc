"""Somebody else at the phone: what counts, what does not, and what happens then. On the whole road."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fakes.driver import Call, FakeDriver, State, node
from tests.fakes.road import Road, chat, make_road

from droidpilot.core.calls import Status
from droidpilot.core.events import ScreenTaken

LATER_S = 30.0


def road_of(react: Callable[[FakeDriver, Call], None] | None = None, **states: State) -> Road:
    first = State([chat()], "com.chat", "com.chat.Main")
    others = {
        "mail": State([chat(package="com.mail")], "com.mail", "com.mail.Inbox"),
        "page": State([chat()], "com.chat", "com.chat.Other"),
    }
    road = make_road(FakeDriver({"chat": first, **others, **states}, "chat", react))
    road.executor.first_look()
    return road


def takes(road: Road) -> list[ScreenTaken]:
    return [line for line in road.lines if isinstance(line, ScreenTaken)]


@pytest.mark.parametrize("state", ["mail", "page"])
def test_another_app_or_page_that_nothing_explains_stops_the_call_and_is_told(state: str) -> None:
    road = road_of()
    road.clock.advance(LATER_S)
    road.driver.show(state)
    result = road.submit("press", key="back")
    assert (result.status, result.code, result.sent) == (Status.REFUSED, "screen_taken", "no")
    assert not road.writes and "<screen" in result.text
    (taken,) = takes(road)
    assert (taken.was_package, taken.call_id) == ("com.chat", result.call_id) and taken.after_s >= LATER_S
    # and then it goes on
    assert road.submit("press", key="back").sent == "yes"
    assert len(takes(road)) == 1


def test_a_read_is_not_refused_and_the_change_is_written_down() -> None:
    road = road_of()
    road.clock.advance(LATER_S)
    road.driver.show("mail")
    assert road.submit("ui_tree").status is Status.OK
    assert len(takes(road)) == 1
    assert road.submit("press", key="back").sent == "yes"


def test_what_our_own_write_brings_late_is_ours() -> None:
    road = road_of(lambda fake, call: fake.show("page") if call.args == ("menu",) else None)
    assert road.submit("press", key="menu").sent == "yes"
    road.clock.advance(2.0)
    road.driver.show("mail")
    assert road.submit("press", key="back").sent == "yes" and not takes(road)


def test_a_write_without_a_result_yet_may_bring_it_at_any_time() -> None:
    road = road_of()
    road.submit("press", key="tab")  # nothing is seen of it
    road.clock.advance(LATER_S)
    road.driver.show("mail")
    assert road.submit("press", key="back").sent == "yes" and not takes(road)


def test_a_page_that_was_loading_goes_on_by_itself() -> None:
    spinner = node(cls="android.widget.ProgressBar", bounds=(400, 900, 600, 1100), package="com.chat")
    road = road_of(loading=State([chat(extra=(spinner,))], "com.chat", "com.chat.Main"))
    road.clock.advance(1.0)
    road.driver.show("loading")
    road.submit("ui_tree")
    road.clock.advance(LATER_S)
    road.driver.show("mail")
    assert road.submit("press", key="back").sent == "yes" and not takes(road)


@pytest.mark.parametrize(
    "state",
    [
        # a clock, a badge, a toast: the same app and page say something else
        State([chat(extra=(node(text="12:01", package="com.android.systemui"),))], "com.chat", "com.chat.Main"),
        State([chat(extra=(node(text="3 new messages", package="com.chat"),))], "com.chat", "com.chat.Main"),
        # the notification shade, a keyboard, or a moment at which the phone does not say
        State([chat()], "com.android.systemui", None),
        State([chat()], "com.google.android.inputmethod.latin", None),
        State([chat()], None, None),
        State([chat()], "com.chat", None),
    ],
)
def test_what_changes_by_itself_is_nobody(state: State) -> None:
    road = road_of(other=state)
    road.clock.advance(LATER_S)
    road.driver.show("other")
    road.submit("press", key="back")
    assert not takes(road) and len(road.writes) == 1


@pytest.mark.parametrize(
    ("key", "words"), [("back", "did not react to back"), ("tab", "do not repeat it"), ("menu", "do not repeat it")]
)
def test_a_write_that_changes_nothing_says_so(key: str, words: str) -> None:
    result = road_of().submit("press", key=key)
    assert result.status is Status.OK and "No change was seen" in result.text and words in result.text


def test_a_clock_in_the_bars_is_no_change_that_a_write_made() -> None:
    def tick(fake: FakeDriver, call: Call) -> None:
        bar = node(text="12:01", package="com.android.systemui")
        fake.states["chat"].frames[:] = [chat(extra=(bar,))]

    assert "did not react to back" in road_of(tick).submit("press", key="back").text


def test_a_back_that_leads_elsewhere_says_no_such_thing() -> None:
    result = road_of(lambda fake, call: fake.show("mail")).submit("press", key="back")
    assert "No change" not in result.text and result.text.startswith("Done.")
