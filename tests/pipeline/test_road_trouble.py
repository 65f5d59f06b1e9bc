"""What the road does when things go wrong: lost phones, unknown writes, stale and hidden screens, secrets, nonsense."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.driver import Call, FakeDriver, State, dump, node
from tests.fakes.road import BACK, NAME, SEND, Person, Road, chat, make_road

from droidpilot.core.calls import Status
from droidpilot.core.errors import DeviceLost, DeviceRefused, DeviceTimeout, Interrupted, ScreenUnreadable
from droidpilot.core.events import TEXT_SECRET
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.budget import Limits


def never(**options: object) -> Road:
    return make_road(ask=AskMode.NEVER, **options)  # type: ignore[arg-type]


def in_chat(*dumps: bytes, package: str = "com.chat") -> FakeDriver:
    names = [f"s{number}" for number in range(len(dumps))]
    return FakeDriver({name: State([one], package) for name, one in zip(names, dumps, strict=True)}, names[0])


# -- statuses


def test_phone_lost_before_sending_is_fatal_and_nothing_was_sent() -> None:
    road = never()
    road.driver.fail("dump", DeviceLost("the cable is out"))
    result = road.submit("tap", x=200, y=2050)
    assert (result.status, result.sent, result.ends) == (Status.FATAL, "no", "device")
    assert road.writes == []


def test_a_read_without_answer_in_time_is_transient() -> None:
    road = never()
    road.driver.fail("dump", DeviceTimeout("no answer"))
    result = road.submit("ui_tree")
    assert (result.status, result.ends) == (Status.TRANSIENT, "")


def test_an_unreadable_screen_stops_a_tap_and_says_so() -> None:
    road = never()
    road.driver.fail("dump", ScreenUnreadable("illegal character", code="illegal_character"))
    result = road.submit("tap", x=200, y=2050)
    assert (result.status, result.code) == (Status.TRANSIENT, "illegal_character")
    assert road.writes == []


def test_a_write_that_the_phone_refused_is_logic_and_gives_its_action_back() -> None:
    road = never()
    road.driver.fail("tap", DeviceRefused("said no", code="said_no"))
    result = road.submit("tap", x=200, y=2050)
    assert (result.status, result.sent, road.budget.actions) == (Status.LOGIC, "no", 0)


def test_a_write_whose_reply_is_lost_is_unknown_and_counts() -> None:
    road = never()
    road.driver.fail("tap", DeviceTimeout("no reply", sent="unknown"), has_happened=True)
    result = road.submit("tap", x=200, y=2050)
    assert (result.status, result.sent, road.budget.actions) == (Status.UNKNOWN, "unknown", 1)
    assert road.executor.unresolved_writes == 1


def test_an_unknown_write_blocks_its_own_repetition_however_it_is_asked_for() -> None:
    road = never()
    ref = road.ref("Send")
    road.driver.fail("tap", DeviceTimeout("no reply", sent="unknown"), has_happened=True)
    assert road.submit("tap", ref=ref).status is Status.UNKNOWN
    for again in (road.submit("tap", ref=ref), road.submit("tap", x=220, y=2070)):
        assert (again.status, again.code) == (Status.REFUSED, "unresolved")
    assert road.submit("tap", x=BACK[0] + 5, y=BACK[1] + 5).status is Status.OK
    assert [call.args for call in road.writes] == [(220, 2070), (BACK[0] + 5, BACK[1] + 5)]


def test_an_unknown_text_that_stands_in_the_field_is_resolved_by_the_look() -> None:
    road = never()
    road.driver.fail("set_text", DeviceTimeout("no reply", sent="unknown"), has_happened=True)
    result = road.submit("type_text", text="hello")
    assert (result.status, result.sent, result.read_back) == (Status.OK, "yes", "exact")
    assert "outcome_resolved" in road.kinds
    assert road.executor.unresolved_writes == 0


def test_an_unknown_text_that_cannot_be_seen_stays_unknown() -> None:
    road = never()
    road.driver.fail("set_text", DeviceTimeout("no reply", sent="unknown"))
    assert road.submit("type_text", text="hello").status is Status.UNKNOWN
    assert "outcome_resolved" not in road.kinds
    assert road.submit("type_text", text="hello").code == "unresolved"
    assert len(road.writes) == 1


def test_a_stop_while_a_write_is_on_its_way_is_unknown_and_ends_the_session() -> None:
    road = never()

    def stop(driver: FakeDriver, call: Call) -> None:
        raise Interrupted("stopped")

    road.driver.react = stop
    result = road.submit("tap", x=200, y=2050)
    assert (result.status, result.ends) == (Status.UNKNOWN, "stopped")
    assert road.kinds[-1] == "tool_returned"


def test_a_bug_in_a_tool_ends_the_session_and_is_logged_not_shown() -> None:
    road = never()

    def bug(driver: FakeDriver, call: Call) -> None:
        raise ZeroDivisionError("secret detail")

    road.driver.react = bug
    result = road.submit("tap", x=200, y=2050)
    assert (result.status, result.ends) == (Status.UNKNOWN, "internal")
    assert "secret detail" not in result.text
    assert "ZeroDivisionError" in road.log[0]


# -- people


def test_inv_12_after_a_no_the_same_call_is_not_asked_again_and_ends_the_run() -> None:
    person = Person("no")
    road = make_road(approver=person)
    ref = road.ref("Send")
    assert road.submit("tap", ref=ref).ends == ""
    again = road.submit("tap", x=220, y=2070)
    assert (again.ends, again.code) == ("refused", "refused_twice")
    assert len(person.asked) == 1
    assert road.writes == []


def test_inv_20_an_answer_to_another_question_is_no_answer() -> None:
    class Confused(Person):
        def ask(self, request):  # type: ignore[no-untyped-def]
            reply = super().ask(request)
            return type(reply)("another-prompt", reply.answer)

    road = make_road(approver=Confused("yes"))
    assert road.submit("tap", x=220, y=2070).code == "expired"
    assert road.writes == []


def test_two_signals_ask_strongly_even_in_mode_never_and_a_no_ends_the_run() -> None:
    person = Person("no")
    driver = in_chat(chat(send="Pay", package="com.paypal.android.p2pmobile"), package="com.paypal.android.p2pmobile")
    road = make_road(driver, ask=AskMode.NEVER, approver=person, rules="allow tap")
    result = road.submit("tap", x=220, y=2070)
    assert (person.asked[0].level, person.asked[0].challenge) == ("strong", "Pay")
    assert result.ends == "refused"


class Program(Person):
    """Answers for a person, and is none."""

    is_person = False


@pytest.mark.parametrize(
    "line", ["ask person tap", "ask tap\nask person tap matching Next", "ask person tap matching (?i)pay"]
)
def test_no_program_answers_a_line_that_wants_a_person(line: str) -> None:
    label = "Pay" if "pay" in line else "Next"
    program = Program("yes")
    road = make_road(in_chat(chat(send=label)), approver=program, rules=line)
    result = road.submit("tap", x=220, y=2070)
    if line.startswith("ask tap"):
        assert len(program.asked) == 1 and result.status is Status.OK
    else:
        assert (result.code, program.asked, road.writes) == ("needs_person", [], [])
    person = Person("yes")
    road = make_road(in_chat(chat(send=label)), approver=person, rules=line)
    assert road.submit("tap", x=220, y=2070).status is Status.OK and len(person.asked) == 1


def test_a_line_that_wants_a_person_does_so_in_a_strong_confirm_too() -> None:
    package = "com.paypal.android.p2pmobile"
    program = Program("yes")
    road = make_road(
        in_chat(chat(send="Pay", package=package), package=package), approver=program, rules="ask person tap"
    )
    assert road.submit("tap", x=220, y=2070).code == "needs_person"
    assert (program.asked, road.writes) == ([], [])


def test_the_reason_of_a_line_is_shown_to_the_person_and_in_a_refusal() -> None:
    person = Person("yes")
    road = make_road(in_chat(chat(send="Next")), approver=person, rules="ask tap\n#why: the guest may not buy")
    road.submit("tap", x=220, y=2070)
    assert "the guest may not buy" in person.asked[0].signals
    road = make_road(in_chat(chat(send="Next")), rules="deny tap\n#why: the guest may not buy")
    assert "the guest may not buy" in road.submit("tap", x=220, y=2070).text


def test_seconds_spent_waiting_for_a_person_do_not_count() -> None:
    road = make_road(approver=None)
    person = Person("yes", think=lambda: road.clock.advance(100))
    road = make_road(approver=person, limits=Limits(seconds=50))
    person._think = lambda: road.clock.advance(100)
    assert road.submit("tap", x=220, y=2070).status is Status.OK
    assert road.budget.seconds < 50


# -- staleness


def test_coordinates_chosen_on_a_screen_that_is_gone_are_refused_with_the_new_one() -> None:
    driver = in_chat(chat(send="Cancel"), chat(send="Pay"))
    road = make_road(driver, ask=AskMode.NEVER)
    road.submit("ui_tree")
    driver.show("s1")
    road.clock.advance(10)
    result = road.submit("tap", x=220, y=2070)
    assert (result.status, result.code) == (Status.REFUSED, "stale")
    assert "Pay" in result.text
    assert road.writes == []


def test_inv_30_a_ref_whose_label_changed_is_stale() -> None:
    driver = in_chat(chat(send="Cancel"), chat(send="Pay"))
    road = make_road(driver, ask=AskMode.NEVER)
    ref = road.ref("Cancel")
    driver.show("s1")
    road.clock.advance(10)
    result = road.submit("tap", ref=ref)
    assert (result.status, result.code) == (Status.LOGIC, "stale_ref")
    assert "Pay" in result.text
    assert road.writes == []


def test_a_ref_that_moved_is_tapped_where_it_is_now() -> None:
    moved = (40, 1000, 400, 1140)
    lower = chat()
    higher = dump(
        node(
            node(cls="android.widget.ImageButton", desc="Back", bounds=BACK, clickable=True, package="com.chat"),
            node(
                cls="android.widget.EditText",
                hint="Message",
                resource_id="com.chat:id/field",
                bounds=NAME,
                clickable=True,
                focused=True,
                package="com.chat",
            ),
            node(
                cls="android.widget.Button",
                text="Send",
                resource_id="com.chat:id/go",
                bounds=moved,
                clickable=True,
                package="com.chat",
            ),
            cls="android.widget.FrameLayout",
            package="com.chat",
        )
    )
    driver = in_chat(lower, higher)
    road = make_road(driver, ask=AskMode.NEVER)
    ref = road.ref("Send")
    driver.show("s1")
    road.clock.advance(10)
    assert road.submit("tap", ref=ref).status is Status.OK
    assert road.writes == [Call("tap", (220, 1070))]


def test_an_amount_that_changed_while_a_person_thought_is_stale_elsewhere_on_the_screen_too() -> None:
    def with_total(total: str) -> bytes:
        return chat(send="Pay", extra=(node(text=f"Total {total}", bounds=(40, 600, 900, 700), package="com.chat"),))

    driver = in_chat(with_total("$5.00"), with_total("$500.00"))
    person = Person("yes", think=lambda: driver.show("s1"))
    road = make_road(driver, approver=person)
    assert road.submit("tap", x=220, y=2070).code == "stale"
    assert road.writes == []


def test_inv_88_a_clock_that_went_on_is_not_stale() -> None:
    def at(time: str) -> bytes:
        return chat(send="Pay", beside=(node(text=time, bounds=(40, 0, 200, 60), package="com.android.systemui"),))

    driver = in_chat(at("12:00"), at("12:01"))
    person = Person("yes", think=lambda: driver.show("s1"))
    road = make_road(driver, approver=person)
    assert road.submit("tap", x=220, y=2070).status is Status.OK


# -- reading denied


SECRET_LABEL = "Balance 1234"


def hidden_road(rules: str = "deny ui_tree in com.bank") -> Road:
    screen = chat(
        send="Continue",
        package="com.bank",
        extra=(node(text=SECRET_LABEL, bounds=(0, 500, 900, 600), package="com.bank"),),
    )
    driver = in_chat(screen, chat(send="Cancel", package="com.bank"), package="com.bank")
    return make_road(driver, rules=rules, ask=AskMode.NEVER)


@pytest.mark.parametrize("rules", ["deny ui_tree in com.bank", "ask ui_tree in com.bank", "deny ui_tree matching x"])
def test_a_screen_that_may_not_be_read_is_hidden_in_every_result(rules: str) -> None:
    road = hidden_road(rules)
    results = [
        road.submit("ui_tree"),
        road.submit("tap", x=220, y=2070),
        road.submit("tap", ref=1),
        road.submit("tap", x=5000, y=5000),
        road.submit("type_text", text="x", ref=99),
        road.submit("press", key="back"),
        road.submit("scroll", direction="down"),
        road.submit("swipe", x1=1, y1=1, x2=2, y2=2),
        road.submit("wait", ms=100),
    ]
    told = "\n".join([road.executor.first_look(), *(result.text for result in results)])
    assert "com.bank" in told
    for word in ("Balance", "1234", "Continue", "Message"):
        assert word not in told


def test_a_reading_that_a_person_approved_is_told_once_and_the_next_result_is_not() -> None:
    road = hidden_road()
    road = make_road(road.driver, rules="ask ui_tree in com.bank", approver=Person("yes"), ask=AskMode.NEVER)
    assert SECRET_LABEL in road.submit("ui_tree").text
    assert SECRET_LABEL not in road.submit("press", key="back").text


def test_an_approval_to_read_does_not_reach_an_app_that_came_to_the_front_meanwhile() -> None:
    driver = hidden_road().driver
    driver.states["s1"].package = "com.vault"
    person = Person("yes", think=lambda: driver.show("s1"))
    road = make_road(driver, rules="deny ui_tree in com.vault\nask ui_tree", approver=person, ask=AskMode.NEVER)
    result = road.submit("ui_tree")
    assert result.status is Status.REFUSED
    assert "Cancel" not in result.text


def test_a_stale_refusal_does_not_tell_what_stands_on_a_hidden_screen() -> None:
    road = hidden_road("deny ui_tree in com.bank\nask tap")
    driver = road.driver
    person = Person("yes", think=lambda: driver.show("s1"))
    road = make_road(driver, rules="deny ui_tree in com.bank\nask tap", approver=person)
    result = road.submit("tap", x=220, y=2070)
    assert result.code == "stale"
    assert "Cancel" not in result.text and "Continue" not in result.text


def test_inv_5_an_unknown_app_hides_the_screen_where_any_app_may_not_be_read() -> None:
    driver = in_chat(chat())
    driver.states["s0"].package = None
    road = make_road(driver, rules="deny ui_tree in com.bank", ask=AskMode.NEVER)
    assert "Send" not in road.executor.first_look()


# -- secrets and nonsense


def test_inv_40_a_text_for_a_password_field_is_written_nowhere() -> None:
    road = make_road(in_chat(chat(password=True)), ask=AskMode.NEVER)
    result = road.submit("type_text", text="hunter2hunter2")
    assert result.status is Status.OK
    assert road.called[0].arguments["text"] == TEXT_SECRET
    assert road.secrets == ["hunter2hunter2"]
    assert "hunter2" not in "".join(line.model_dump_json() for line in road.lines)
    assert "hunter2" not in result.text
    assert road.writes[0].args[2] == "hunter2hunter2"


@pytest.mark.parametrize("arguments", [{"ref": 77}, {"mode": "sideways"}, {"malformed": "cut"}])
def test_a_text_whose_field_was_not_found_is_a_bare_placeholder(arguments: dict[str, object]) -> None:
    road = never()
    road.submit("type_text", text="hunter2hunter2", **arguments)  # type: ignore[arg-type]
    assert "hunter2" not in "".join(line.model_dump_json() for line in road.lines)
    assert road.writes == []


def test_a_text_for_an_ordinary_field_stands_in_the_line_that_was_judged() -> None:
    road = never()
    road.submit("type_text", text="hello there")
    assert road.called[0].arguments["text"] == "hello there"


def test_inv_51_malformed_arguments_are_answered_and_never_executed() -> None:
    road = never()
    result = road.submit("press", malformed="the arguments are cut off", key="back")
    assert (result.status, result.code) == (Status.LOGIC, "malformed")
    assert road.driver.calls == []
    assert road.kinds == ["tool_called", "tool_returned"]


@pytest.mark.parametrize(
    "tool, arguments",
    [
        ("tap", {}),
        ("tap", {"ref": 1, "x": 2, "y": 3}),
        ("tap", {"x": 2}),
        ("tap", {"ref": "seven"}),
        ("tap", {"ref": -1}),
        ("tap", {"ref": 1, "force": True}),
        ("swipe", {"x1": 1, "y1": 1, "x2": 1, "y2": 1, "duration_ms": 99999}),
        ("scroll", {"direction": "sideways"}),
        ("press", {"key": "self_destruct"}),
        ("wait", {"ms": 1e9}),
        ("read_setting", {"namespace": "global", "key": "a; reboot"}),
        ("type_text", {"text": None}),
    ],
)
def test_wrong_arguments_say_which_and_give_an_example(tool: str, arguments: dict[str, object]) -> None:
    road = never()
    result = road.submit(tool, **arguments)  # type: ignore[arg-type]
    assert (result.status, result.code) == (Status.LOGIC, "bad_arguments")
    assert "example" in result.text
    assert road.driver.calls == []


def test_a_disabled_button_is_refused_by_ref_and_by_coordinates() -> None:
    button = node(
        cls="android.widget.Button", text="Go", bounds=SEND, clickable=True, enabled=False, package="com.chat"
    )
    road = make_road(in_chat(dump(node(button, package="com.chat"))), ask=AskMode.NEVER)
    ref = road.ref("Go")
    assert road.submit("tap", ref=ref).code == "disabled"
    assert road.submit("tap", x=220, y=2070).code == "disabled"
    assert road.writes == []


# -- properties

RULE = st.sampled_from(
    [
        "allow tap",
        "allow tap in com.chat",
        "allow * matching Send",
        "ask tap matching (?i)send",
        "ask * in com.*",
        "deny tap matching Back",
        "deny press",
        "deny ui_tree in com.bank",
    ]
)
DENY = st.sampled_from(
    ["deny *", "deny tap", "deny * in com.chat", "deny tap matching Send", "deny press matching back", "deny scroll"]
)
CALL = st.sampled_from(
    [
        ("tap", {"x": 220, "y": 2070}),
        ("tap", {"x": BACK[0] + 5, "y": BACK[1] + 5}),
        ("press", {"key": "back"}),
        ("press", {"key": "enter"}),
        ("type_text", {"text": "hi"}),
        ("scroll", {"direction": "down"}),
        ("ui_tree", {}),
        ("read_setting", {"namespace": "global", "key": "wifi_on"}),
    ]
)


@given(st.lists(RULE, max_size=5), DENY, st.integers(0, 5), CALL, st.sampled_from(list(AskMode)))
def test_adding_a_deny_line_never_allows_more(
    rules: list[str], deny: str, at: int, call: tuple[str, dict[str, object]], ask: AskMode
) -> None:
    tool, arguments = call
    before = make_road(rules="\n".join(rules), ask=ask).submit(tool, **arguments)  # type: ignore[arg-type]
    tightened = make_road(rules="\n".join([*rules[:at], deny, *rules[at:]]), ask=ask)
    after = tightened.submit(tool, **arguments)  # type: ignore[arg-type]
    if before.status is Status.REFUSED:
        assert after.status is Status.REFUSED
        assert tightened.writes == []


def test_words_of_nobody_knows_which_app_are_kept_back_where_any_app_may_not_be_read() -> None:
    stray = node(text=SECRET_LABEL, bounds=(0, 500, 900, 600), package="")
    road = make_road(in_chat(chat(extra=(stray,))), rules="deny ui_tree in com.bank", ask=AskMode.NEVER)
    assert SECRET_LABEL not in road.executor.first_look()
    assert SECRET_LABEL in make_road(in_chat(chat(extra=(stray,))), ask=AskMode.NEVER).executor.first_look()


@pytest.mark.parametrize("package, is_hidden", [("com.android.systemui", False), ("com.chat.vault", True)])
def test_bars_of_the_system_hide_an_app_only_where_a_line_names_them(package: str, is_hidden: bool) -> None:
    bar = node(text="12:00", bounds=(0, 0, 200, 60), package=package)
    for rules, hides in (("allow ui_tree in com.chat\ndeny ui_tree", is_hidden), (f"deny ui_tree in {package}", True)):
        road = make_road(in_chat(chat(beside=(bar,))), rules=rules, ask=AskMode.NEVER)
        assert ("12:00" not in road.executor.first_look()) == hides, rules


def test_a_write_that_an_earlier_session_left_open_is_not_done_again_by_any_name() -> None:
    first = never()
    first.driver.fail("tap", DeviceLost("the cable is out", sent="unknown"))
    assert first.submit("tap", x=220, y=2070).status is Status.UNKNOWN
    (event,) = [line for line in first.called if line.tool == "tap"]
    assert event.same_as
    later = never()
    later.executor._approval.note_earlier(event.same_as, "20260101-000000-aaaa c1")
    for result in (
        later.submit("tap", x=220, y=2070),
        later.submit("long_press", x=230, y=2075),
        later.submit("tap", ref=later.ref("Send")),
    ):
        assert (result.status, result.code) == (Status.REFUSED, "unresolved")
        assert "session actions resolve 20260101-000000-aaaa c1" in result.text
    assert later.writes == []
    assert later.submit("tap", x=500, y=300).status is Status.OK


def test_what_may_be_done_twice_without_harm_is_not_held_against_a_later_session() -> None:
    road = never()
    field = road.ref("Message")
    road.submit("type_text", ref=field, text="hello")
    road.submit("press", key="home")
    road.submit("scroll", direction="down", ref=field)
    assert {one.tool for one in road.called if one.send_key} >= {"type_text", "press"}
    assert all(one.same_as == [] for one in road.called)
    road.submit("press", key="enter")
    assert road.called[-1].same_as
    road.submit("type_text", text="hello\n")
    assert road.called[-1].same_as
    road.submit("type_text", text="more", mode="append")
    assert road.called[-1].same_as


def test_of_a_typed_secret_not_even_a_digest_is_kept() -> None:
    field = node(cls="android.widget.EditText", package="com.chat", password=True, focused=True, clickable=True)
    road = never(driver=in_chat(dump(field)))
    road.submit("type_text", text="hunter2hunter2")
    (event,) = [line for line in road.called if line.tool == "type_text"]
    assert event.send_key and event.same_as == []


def test_a_key_whose_effect_a_look_shows_is_done_and_not_unknown() -> None:
    road = never()

    def go_home(driver: FakeDriver, call: Call) -> None:
        driver.states["home"] = State(driver.states[driver.showing].frames, "com.launcher")
        driver.show("home")

    road.driver.react = go_home
    road.driver.fail("press", DeviceTimeout("no reply", sent="unknown"), has_happened=True)
    result = road.submit("press", key="home")
    assert (result.status, result.sent) == (Status.OK, "yes"), result.text
    assert result.text.startswith("Done. no reply, but the screen shows that it happened.")
    assert road.kinds[-1] == "outcome_resolved" and road.executor.unresolved_writes == 0
