"""What is really under the finger decides, however it is labelled, reached or asked for (attacks A14-A30, A35)."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.driver import Call, FakeDriver, State, dump, node
from tests.fakes.road import BACK, SEND, Person, Road, chat, make_road

from droidpilot.core.calls import Origin, Status, ToolCall
from droidpilot.core.errors import DeviceTimeout
from droidpilot.core.events import TEXT_SECRET
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.budget import Limits

APP = "com.chat"


def on(*children: str, package: str = APP) -> FakeDriver:
    return FakeDriver(
        {"s": State([dump(node(*children, cls="android.widget.FrameLayout", package=package))], package)}, "s"
    )


def button(bounds: tuple[int, int, int, int] = SEND, **options: Any) -> str:
    return node(cls="android.widget.Button", bounds=bounds, clickable=True, package=APP, **options)


def road_on(*children: str, **options: Any) -> Road:
    return make_road(on(*children), ask=options.pop("ask", AskMode.NEVER), **options)


def press(road: Road) -> Status:
    return road.submit("tap", x=SEND[0] + 5, y=SEND[1] + 5).status


@pytest.mark.parametrize(
    "thing",
    [
        button(text="Next", desc="Send money"),
        button(text="Next", hint="Send money"),
        button(text="Next", resource_id="com.chat:id/send_money"),
        node(
            node(text="Send 500 to Eve", bounds=(40, 2100, 200, 2140), package=APP),
            cls="android.widget.LinearLayout",
            desc="Row 1",
            clickable=True,
            bounds=SEND,
            package=APP,
        ),
    ],
    ids=["description", "hint", "id", "text inside a row that has a label of its own"],
)
def test_attack_a25_a15_every_word_of_a_thing_counts_for_deny_and_none_of_them_widens_allow(thing: str) -> None:
    assert press(road_on(thing, rules="deny tap matching (?i)send")) is Status.REFUSED
    assert press(road_on(thing, rules="allow tap matching (?i)send\ndeny tap")) is Status.REFUSED


def test_a_row_with_a_delete_icon_is_no_delete_button() -> None:
    icon = button(bounds=(300, 2000, 400, 2140), desc="Delete")
    row = node(icon, cls="android.widget.LinearLayout", desc="Row 1", clickable=True, bounds=SEND, package=APP)
    road = road_on(row, rules="deny tap matching Delete")
    assert road.submit("tap", x=60, y=2010).status is Status.OK
    assert road.submit("tap", x=350, y=2010).status is Status.REFUSED


@pytest.mark.parametrize("tool", ["tap", "long_press"])
def test_attack_a28_a_swipe_that_presses_answers_to_the_rules_of_what_it_does(tool: str) -> None:
    road = road_on(button(text="Send"), rules=f"deny {tool} matching Send")
    assert road.submit("swipe", x1=100, y1=2050, x2=104, y2=2050).status is Status.REFUSED
    assert road.writes == []


def test_a_scroll_of_something_that_does_not_scroll_is_no_press_of_it() -> None:
    road = road_on(button(text="Send"))
    result = road.submit("scroll", direction="down", ref=road.ref("Send"))
    assert (result.status, result.code) == (Status.LOGIC, "not_scrollable")


def test_a_scroll_too_short_to_move_anything_is_a_press() -> None:
    low = node(
        button(text="Send", bounds=(0, 2000, 1080, 2020)), scrollable=True, bounds=(0, 2000, 1080, 2020), package=APP
    )
    road = road_on(low, ask=AskMode.RISKY)
    assert road.submit("scroll", direction="down", ref=road.ref("scroll")).status is Status.REFUSED


def form(*inside: str) -> tuple[str, ...]:
    field = node(cls="android.widget.EditText", hint="Message", bounds=(40, 300, 900, 400), focused=True, package=APP)
    box = node(button(text="Emoji", bounds=(0, 300, 40, 400)), field, bounds=(0, 300, 1080, 400), package=APP)
    return (box, *inside)


@pytest.mark.parametrize("key", ["enter", "dpad_center", "search"])
def test_attack_a29_enter_answers_for_every_button_of_the_window(key: str) -> None:
    road = road_on(*form(button(text="Send")), rules="deny press matching Send")
    assert road.submit("press", key=key).status is Status.REFUSED
    assert road.submit("press", key="back").status is Status.OK


def test_attack_a29_a_line_break_in_a_text_is_enter() -> None:
    road = road_on(*form(button(text="Send")), rules="deny press matching Send")
    assert road.submit("type_text", text="hello").status is Status.OK
    assert road.submit("type_text", text="hello\n").status is Status.REFUSED
    assert (
        road_on(*form(button(text="Send")), ask=AskMode.RISKY).submit("type_text", text="a\n").status is Status.REFUSED
    )


def test_enter_with_nothing_in_focus_asks_in_an_app_that_a_rule_guards() -> None:
    road = road_on(button(text="Go"), rules="ask open_app in com.chat", ask=AskMode.RISKY)
    assert road.submit("press", key="enter").status is Status.REFUSED
    assert road_on(button(text="Go"), ask=AskMode.RISKY).submit("press", key="enter").status is Status.OK


# -- what changes between asking and sending


def test_a_row_whose_words_changed_before_sending_is_stale() -> None:
    def row(words: str) -> bytes:
        inside = node(text=words, bounds=(40, 2100, 200, 2140), package=APP)
        return dump(node(node(inside, cls="android.widget.LinearLayout", clickable=True, bounds=SEND, package=APP)))

    driver = FakeDriver({"a": State([row("Cancel")], APP), "b": State([row("Send money")], APP)}, "a")
    person = Person("yes", think=lambda: driver.show("b"))
    road = make_road(driver, ask=AskMode.EVERY, approver=person)
    assert press(road) is Status.REFUSED
    assert road.called[0].verdicts[-1].code == "stale"
    assert road.writes == []


@pytest.mark.parametrize(
    "before, after",
    [
        ("To: Ana", "To: Mallory"),
        ("EUR 500", "EUR 900"),
        ("500 kr", "900 kr"),
        ("$5.00", "$500.00"),
        ("5 seats", "9 seats"),
    ],
)
def test_attack_a35_a_yes_is_bound_to_the_screen_it_was_given_on(before: str, after: str) -> None:
    def screen(words: str) -> bytes:
        return chat(extra=(node(text=words, bounds=(0, 600, 900, 700), package=APP),))

    driver = FakeDriver({"a": State([screen(before)], APP), "b": State([screen(after)], APP)}, "a")
    road = make_road(driver, approver=Person("yes", think=lambda: driver.show("b")))
    assert press(road) is Status.REFUSED
    assert road.writes == []


def test_attack_a30_the_second_call_of_a_reply_by_place_is_judged_on_the_screen_that_the_model_saw() -> None:
    driver = FakeDriver(
        {"a": State([chat(send="Next")], APP), "b": State([chat(send="Confirm order 99")], APP)},
        "a",
        react=lambda fake, write: fake.show("b"),
    )
    road = make_road(driver, ask=AskMode.NEVER)
    road.submit("ui_tree")
    seen = road.executor.shown_screen
    results = [
        road.executor.submit(
            ToolCall(id=f"t1c{n}", tool="tap", arguments={"x": 220, "y": 2070}, origin=Origin.MODEL, screen=seen)
        )
        for n in (1, 2)
    ]
    assert [result.status for result in results] == [Status.OK, Status.REFUSED]
    assert len(road.writes) == 1


# -- the same call, however it is asked for


def unknown_then(road: Road, *again: tuple[str, dict[str, Any]]) -> list[str]:
    road.driver.fail("write", DeviceTimeout("no reply", sent="unknown"), has_happened=True)
    first, arguments = again[0]
    assert road.submit(first, **arguments).status is Status.UNKNOWN
    codes = [road.submit(tool, **arguments).code for tool, arguments in again[1:]]
    assert len(road.writes) == 1 + codes.count("")
    return codes


def test_an_unknown_press_is_not_repeated_by_another_name() -> None:
    assert unknown_then(
        make_road(ask=AskMode.NEVER),
        ("tap", {"x": 220, "y": 2070}),
        ("tap", {"x": SEND[0] + 1, "y": SEND[1] + 1}),
        ("long_press", {"x": 220, "y": 2070}),
        ("swipe", {"x1": 220, "y1": 2070, "x2": 221, "y2": 2070}),
        ("tap", {"x": BACK[0] + 5, "y": BACK[1] + 5}),
    ) == ["unresolved", "unresolved", "unresolved", ""]


def test_an_unknown_toggle_that_turned_is_not_turned_back() -> None:
    def row(state: str) -> bytes:
        words = (node(text="Wi-Fi", bounds=(40, 2000, 200, 2040)), node(text=state, bounds=(40, 2050, 200, 2090)))
        return dump(node(node(*words, cls="android.widget.LinearLayout", clickable=True, bounds=SEND, package=APP)))

    driver = FakeDriver(
        {"off": State([row("Off")], APP), "on": State([row("On")], APP)},
        "off",
        react=lambda fake, call: fake.show("on"),
    )
    road = make_road(driver, ask=AskMode.NEVER)
    assert unknown_then(road, ("tap", {"x": 60, "y": 2010}), ("tap", {"x": 60, "y": 2010})) == ["unresolved"]


def test_an_unknown_enter_is_not_repeated_by_another_key_nor_a_swipe_by_another_speed() -> None:
    field = form(button(text="Go"))
    assert unknown_then(
        road_on(*field), ("press", {"key": "enter"}), ("press", {"key": "dpad_center"}), ("press", {"key": "tab"})
    ) == ["unresolved", ""]
    line = {"x1": 900, "y1": 1500, "x2": 900, "y2": 900}
    assert unknown_then(
        road_on(*field), ("swipe", {**line, "duration_ms": 300}), ("swipe", {**line, "duration_ms": 301})
    ) == ["unresolved"]


def test_inv_12_a_no_holds_for_the_corner_of_the_same_button_and_for_holding_it() -> None:
    person = Person("no")
    road = make_road(approver=person)
    assert press(road) is Status.REFUSED
    again = road.submit("long_press", x=220, y=2070)
    assert (again.code, len(person.asked)) == ("refused_twice", 1)


# -- the road itself


def test_a_fault_of_ours_behind_the_write_still_leaves_both_lines() -> None:
    road = make_road(ask=AskMode.NEVER)

    def bad_display(driver: FakeDriver, write: Call) -> None:
        driver.screen = None  # type: ignore[assignment]  # a fault of ours: the look after the write will break on it

    road.driver.react = bad_display
    result = road.submit("press", key="back")
    assert (result.status, result.ends, result.sent) == (Status.UNKNOWN, "internal", "unknown")
    assert [line.kind for line in road.lines][-1] == "tool_returned"
    assert road.executor.unresolved_writes == 1


def test_wait_costs_seconds_and_ends_with_them() -> None:
    road = make_road(limits=Limits(seconds=10))
    for _ in range(20):
        road.submit("wait", ms=15_000)
    assert road.clock.monotonic() <= 10.0
    assert road.returned[-1].ends == "budget"
    assert road.submit("done", summary="x").status is Status.OK


def test_inv_40_a_field_that_was_for_a_password_stays_secret_when_it_shows_what_it_holds() -> None:
    hidden, shown = chat(password=True), chat(text="hunter2hunter2", password=False)
    driver = FakeDriver({"hidden": State([hidden], APP), "shown": State([shown], APP)}, "hidden")
    road = make_road(driver, ask=AskMode.NEVER)
    road.submit("ui_tree")
    driver.show("shown")
    road.clock.advance(1)
    road.submit("type_text", text="newsecret1")
    assert road.called[-1].arguments["text"] == TEXT_SECRET
    assert {"hunter2hunter2", "newsecret1"} <= set(road.secrets)


@pytest.mark.parametrize("hint", ["PIN", "CVV", "Verification code"])
def test_a_field_that_asks_for_a_secret_by_name_is_one(hint: str) -> None:
    field = node(cls="android.widget.EditText", hint=hint, bounds=(40, 300, 900, 400), focused=True, package=APP)
    road = road_on(field)
    road.submit("type_text", text="4711-9")
    assert road.called[-1].arguments["text"] == TEXT_SECRET


def test_a_misspelt_argument_does_not_give_the_text_away() -> None:
    road = make_road(ask=AskMode.NEVER)
    road.submit("type_text", value="hunter2hunter2")
    assert "hunter2" not in "".join(line.model_dump_json() for line in road.lines)


# -- what a second reviewer found


def test_a_slide_that_stays_on_one_button_presses_it_unless_a_list_takes_the_drag_over() -> None:
    wide = button(text="Send", bounds=(0, 2000, 1080, 2140))
    slide: dict[str, Any] = {"x1": 100, "y1": 2050, "x2": 400, "y2": 2050}
    assert road_on(wide, rules="deny tap matching Send").submit("swipe", **slide).status is Status.REFUSED
    page = node(wide, cls="android.widget.ScrollView", scrollable=True, bounds=(0, 0, 1080, 2340), package=APP)
    assert road_on(page, rules="deny tap matching Send").submit("swipe", **slide).status is Status.REFUSED
    up: dict[str, Any] = {"x1": 500, "y1": 2130, "x2": 500, "y2": 2010}
    assert road_on(page, rules="deny tap matching Send").submit("swipe", **up).status is Status.OK


def test_a_press_of_a_button_and_the_enter_that_may_press_it_are_one_call() -> None:
    field = form(button(text="Send"))
    send = ("tap", {"x": 220, "y": 2070})
    assert unknown_then(road_on(*field), ("press", {"key": "enter"}), send) == ["unresolved"]
    assert unknown_then(road_on(*field), send, ("press", {"key": "enter"})) == ["unresolved"]
    assert unknown_then(road_on(*field), ("type_text", {"text": "hi\n"}), send) == ["unresolved"]


def test_a_slide_moved_by_a_pixel_is_the_same_slide() -> None:
    track = node(text="Slide to pay", clickable=True, bounds=(0, 1000, 1080, 1200), package=APP)
    first = {"x1": 60, "y1": 1100, "x2": 1000, "y2": 1100}
    assert unknown_then(road_on(track), ("swipe", first), ("swipe", {**first, "x1": 61})) == ["unresolved"]


@pytest.mark.parametrize("x, y", [(47, 47), (48, 47), (70, 60), (20, 30)])
def test_near_places_with_nothing_to_tell_them_apart_are_one(x: int, y: int) -> None:
    road = road_on(node(cls="android.view.SurfaceView", bounds=(0, 0, 1080, 2340), package=APP))
    assert unknown_then(road, ("tap", {"x": 47, "y": 47}), ("tap", {"x": x, "y": y})) == ["unresolved"]


def test_far_places_and_the_buttons_of_other_rows_are_other_calls() -> None:
    road = road_on(node(cls="android.view.SurfaceView", bounds=(0, 0, 1080, 2340), package=APP))
    assert unknown_then(road, ("tap", {"x": 47, "y": 47}), ("tap", {"x": 600, "y": 900})) == [""]
    rows = [
        node(
            node(text=name, bounds=(0, top, 500, top + 100), package=APP),
            button(desc="Delete", resource_id="com.chat:id/delete", bounds=(900, top, 1000, top + 100)),
            bounds=(0, top, 1080, top + 100),
            package=APP,
        )
        for name, top in (("Ana", 300), ("Bob", 400))
    ]
    sheet = node(*rows, cls="androidx.recyclerview.widget.RecyclerView", scrollable=True, package=APP)
    assert unknown_then(road_on(sheet), ("tap", {"x": 950, "y": 350}), ("tap", {"x": 950, "y": 450})) == [""]
    person = Person("no", "no")
    road = road_on(sheet, ask=AskMode.RISKY, approver=person)
    results = [road.submit("tap", x=950, y=y) for y in (350, 450, 350)]
    assert [result.code for result in results] == ["person_said_no", "person_said_no", "refused_twice"]


def test_a_no_to_a_text_is_no_answer_about_another_text() -> None:
    person = Person("no", "yes")
    driver = FakeDriver({"s": State([chat(text="helo")], APP)}, "s")
    road = make_road(driver, approver=person)
    assert press(road) is Status.REFUSED
    road.submit("type_text", text="hello")
    assert press(road) is Status.OK


@pytest.mark.parametrize("before, after", [("10.50", "99.99"), ("2", "99"), ("9.00", "90.00"), ("10:30", "11:30")])
def test_prices_numbers_and_times_of_an_app_are_what_a_yes_is_about(before: str, after: str) -> None:
    test_attack_a35_a_yes_is_bound_to_the_screen_it_was_given_on(before, after)


def test_a_choice_that_flips_while_a_person_thinks_is_stale() -> None:
    def screen(is_on: bool) -> bytes:
        box = node(text="Monthly", checkable=True, checked=is_on, bounds=(0, 600, 900, 700), package=APP)
        return chat(extra=(box,))

    driver = FakeDriver({"a": State([screen(False)], APP), "b": State([screen(True)], APP)}, "a")
    road = make_road(driver, approver=Person("yes", think=lambda: driver.show("b")))
    assert press(road) is Status.REFUSED


def test_a_password_field_without_an_id_makes_no_other_field_a_secret() -> None:
    def field(hint: str, top: int, password: bool) -> str:
        bounds = (0, top, 900, top + 100)
        return node(
            cls="android.widget.EditText", hint=hint, bounds=bounds, password=password, focused=True, package=APP
        )

    login = dump(node(field("Word", 300, True), package=APP))
    talk = dump(node(field("Message", 900, False), package=APP))
    driver = FakeDriver({"login": State([login], APP), "talk": State([talk], APP)}, "login")
    road = make_road(driver, rules="deny type_text matching (?i)bank", ask=AskMode.NEVER)
    road.submit("ui_tree")
    driver.show("talk")
    road.clock.advance(1)
    assert road.submit("type_text", text="my bank").status is Status.REFUSED
    road.submit("type_text", text="hello")
    assert road.called[-1].arguments["text"] == "hello"


def test_rules_see_a_secret_that_is_typed_and_nothing_writes_it() -> None:
    driver = FakeDriver({"s": State([chat(password=True)], APP)}, "s")
    road = make_road(driver, rules="deny type_text matching hunter2", ask=AskMode.NEVER)
    assert road.submit("type_text", text="hunter2!").status is Status.REFUSED
    assert "hunter2!" not in "".join(line.model_dump_json() for line in road.lines)


@pytest.mark.parametrize(
    "inner",
    [
        node(
            cls="android.widget.Switch",
            text="Factory reset",
            checkable=True,
            bounds=(300, 2000, 400, 2140),
            package=APP,
        ),
        node(resource_id="com.chat:id/factory_reset", bounds=(300, 2000, 400, 2140), package=APP),
        node(hint="Factory reset", bounds=(300, 2000, 400, 2140), package=APP),
    ],
)
def test_whatever_a_row_holds_that_is_no_button_of_its_own_counts(inner: str) -> None:
    row = node(inner, cls="android.widget.LinearLayout", clickable=True, bounds=SEND, package=APP)
    assert press(road_on(row, rules="deny tap matching (?i)factory.reset")) is Status.REFUSED


def test_a_page_that_takes_presses_is_not_every_word_on_it() -> None:
    page = node(
        node(text="Factory reset", bounds=(0, 100, 500, 200), package=APP),
        clickable=True,
        bounds=(0, 0, 1080, 2340),
        package=APP,
    )
    road = road_on(page, rules="deny tap matching (?i)factory reset")
    assert road.submit("tap", x=900, y=2000).status is Status.OK
    assert road.submit("tap", x=100, y=150).status is Status.REFUSED


def test_an_allow_line_for_enter_is_about_the_key() -> None:
    road = road_on(*form(button(text="Go")), rules="allow press matching ^enter$\ndeny press")
    assert road.submit("press", key="enter").status is Status.OK
    assert road.submit("press", key="back").status is Status.REFUSED
