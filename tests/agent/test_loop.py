"""The loop on a model and a road in memory: what it asks, what it submits, and every way in which it ends."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.driver import Call, FakeDriver, State
from tests.fakes.model import FakeModel, call, reply
from tests.fakes.road import Person, Road, chat, make_road

from droidpilot.agent.loop import Ending, Loop
from droidpilot.agent.prompt import NUDGE_CUT, NUDGE_EMPTY, NUDGE_PROSE, SKIPPED
from droidpilot.core.calls import Origin
from droidpilot.core.errors import DeviceLost, Interrupted, ModelUnreachable
from droidpilot.core.events import TEXT_ELSEWHERE, ModelReplied
from droidpilot.model.client import Usage
from droidpilot.pipeline.approval import AskMode
from droidpilot.pipeline.budget import Limits

DONE = reply("", call("done", id="end", summary="It is done."))


def run(model: FakeModel, road: Road | None = None, **options: Any) -> tuple[Ending, Road]:
    road = road or make_road(ask=AskMode.NEVER, **options)
    loop = Loop(
        model=model,
        dispatch=road.executor,
        budget=road.budget,
        tools=[],
        shown_screen=lambda: road.executor.shown_screen,
        shows_secret=lambda: road.executor.shows_secret_field,
        record=road.lines.append,
        on_text=lambda piece: None,
        clock=road.clock,
        stop=road.stop,
    )
    return loop.run("Say hello", road.executor.first_look()), road


def test_it_works_until_done_and_answers_every_call() -> None:
    model = FakeModel([reply("I press back.", call("press", id="a", key="back")), DONE])
    ending, road = run(model)
    assert (ending.how, ending.summary) == ("done", "It is done.")
    assert [line.tool for line in road.called] == ["press", "done"]
    assert {line.origin for line in road.called} == {Origin.MODEL.value}
    second = model.requests[1].messages
    assert [message["role"] for message in second] == ["system", "user", "assistant", "tool"]
    assert second[3]["tool_call_id"] == "a"
    assert "Say hello" in second[1]["content"] and "<screen" in second[1]["content"]


def test_a_reply_is_written_before_its_calls() -> None:
    _, road = run(FakeModel([DONE]))
    assert road.kinds.index("model_replied") < road.kinds.index("tool_called")


def test_calls_after_one_that_is_not_ok_are_skipped_and_answered() -> None:
    model = FakeModel(
        [
            reply(
                "", call("tap", id="a", ref=999), call("press", id="b", key="back"), call("press", id="c", key="home")
            ),
            DONE,
        ]
    )
    _, road = run(model)
    assert road.writes == []
    answers = [message for message in model.requests[1].messages if message["role"] == "tool"]
    assert [answer["tool_call_id"] for answer in answers] == ["a", "b", "c"]
    assert [answer["content"] for answer in answers[1:]] == [SKIPPED, SKIPPED]
    assert [line.call_id for line in road.called] == ["t1c1", "t2c1"]


@pytest.mark.parametrize(
    "answer, nudge, how",
    [
        (reply("All done!"), NUDGE_PROSE, "failed"),
        (reply(""), NUDGE_EMPTY, "model"),
        (reply("very long", finish_reason="length"), NUDGE_CUT, "failed"),
    ],
)
def test_prose_and_empty_replies_are_nudged_once_and_never_count_as_done(answer: Any, nudge: str, how: str) -> None:
    model = FakeModel([answer, answer, DONE])
    ending, road = run(model)
    assert ending.how == how
    assert road.kinds.count("nudged") == 1
    assert model.requests[1].messages[-1] == {"role": "user", "content": nudge}


@pytest.mark.parametrize(
    "limits, requests",
    [(Limits(turns=2), 2), (Limits(tokens=150), 2), (Limits(usd=0.015), 2)],
)
def test_inv_54_a_spent_budget_ends_the_run(limits: Limits, requests: int) -> None:
    usage = Usage(prompt_tokens=90, completion_tokens=10, usd=0.01)
    model = FakeModel([reply("", call("press", key=key), usage=usage) for key in ("back", "home", "tab", "enter")])
    ending, _ = run(model, limits=limits)
    assert ending.how == "budget"
    assert len(model.requests) == requests


def test_a_price_that_is_not_known_ends_a_run_with_a_money_limit() -> None:
    ending, _ = run(FakeModel([reply("", call("press", key="back")), DONE]), limits=Limits(usd=1.0))
    assert (ending.how, "unknown" in ending.reason) == ("budget", True)


def test_done_in_the_last_turn_is_done() -> None:
    ending, _ = run(FakeModel([DONE]), limits=Limits(turns=1))
    assert ending.how == "done"


def test_inv_94_five_failures_in_a_row_trip() -> None:
    model = FakeModel([reply("", call("tap", ref=900 + number)) for number in range(9)])
    ending, road = run(model)
    assert (ending.how, len(road.called)) == ("failed", 5)


def test_inv_94_the_same_unknown_tool_three_times_trips() -> None:
    model = FakeModel([reply("", call("fly", height=number)) for number in range(9)])
    ending, road = run(model)
    assert (ending.how, len(road.called)) == ("failed", 3)


def test_inv_94_three_identical_calls_that_change_nothing_trip() -> None:
    model = FakeModel([reply("", call("press", key="back")) for _ in range(9)])
    ending, road = run(model)
    assert (ending.how, len(road.writes)) == ("failed", 3)


def test_identical_calls_that_change_the_screen_do_not_trip() -> None:
    road = make_road(ask=AskMode.NEVER)

    def react(driver: FakeDriver, write: Call) -> None:
        frames = driver.states[driver.showing].frames
        frames[0] = (
            frames[0].replace(b"Message", b"Message ")
            if b"Message " not in frames[0]
            else frames[0].replace(b"Message ", b"Message")
        )

    road.driver.react = react
    model = FakeModel([*(reply("", call("press", key="dpad_down")) for _ in range(6)), DONE])
    ending, _ = run(model, road)
    assert ending.how == "done"


@pytest.mark.parametrize("how", ["device", "model", "stopped", "refused"])
def test_how_it_ends_is_told_apart(how: str) -> None:
    road = make_road(ask=AskMode.EVERY, approver=Person("no"))
    answers: list[Any] = [reply("", call("press", key="back")), reply("", call("press", key="back"))]
    if how == "device":
        road = make_road(ask=AskMode.NEVER)
        road.driver.fail("press", DeviceLost("gone"))
    elif how == "model":
        answers = [ModelUnreachable("no answer")]
    elif how == "stopped":

        def stop(request: object) -> Any:
            raise Interrupted("stopped")

        answers = [stop]
    ending, _ = run(FakeModel(answers), road)
    assert ending.how == how


def test_a_stop_between_two_calls_finishes_the_present_one_and_sends_no_other() -> None:
    road = make_road(ask=AskMode.NEVER)
    road.driver.react = lambda driver, write: road.stop.request()
    model = FakeModel([reply("", call("press", id="a", key="back"), call("press", id="b", key="home"))])
    ending, _ = run(model, road)
    assert ending.how == "stopped"
    assert [write.args for write in road.writes] == [("back",)]
    assert road.returned[-1].status == "ok"


def test_a_text_to_type_is_not_written_with_the_reply_that_asks_for_it() -> None:
    model = FakeModel(
        [
            reply(
                "I type hunter2hunter2 now.",
                call("type_text", text="hunter2hunter2"),
                call("done", id="d", summary="x"),
            )
        ]
    )
    _, road = run(model)
    line = next(line for line in road.lines if isinstance(line, ModelReplied))
    assert "hunter2" not in line.model_dump_json()
    assert line.calls[0].arguments["text"] == TEXT_ELSEWHERE
    assert road.called[0].arguments["text"] == "hunter2hunter2"


def test_what_failed_attempts_cost_is_counted() -> None:
    error = ModelUnreachable("cut off three times")
    error.spent_tokens, error.spent_usd = 300, 0.02
    ending, road = run(FakeModel([error]))
    assert (ending.how, road.budget.tokens, road.budget.usd) == ("model", 300, 0.02)


def test_a_model_that_is_still_answering_when_the_seconds_are_over_is_a_spent_budget() -> None:
    road = make_road(ask=AskMode.NEVER, limits=Limits(seconds=30))

    def slow(request: object) -> Any:
        road.clock.advance(31)
        raise ModelUnreachable("no whole answer in time", code="model_timeout")

    ending, _ = run(FakeModel([slow]), road)
    assert ending.how == "budget"


@pytest.mark.parametrize(
    "asked",
    [
        call("input_text", value="hunter2hunter2"),
        call("input_text", value=["hunter2hunter2"]),
        call("type_text", ref="hunter2hunter2", text=7),
        call("tap", ref="hunter2hunter2"),
    ],
)
def test_before_a_password_field_only_names_are_kept_of_a_call_that_is_refused(asked: Any) -> None:
    driver = FakeDriver({"s": State([chat(password=True)], "com.chat")}, "s")
    road = make_road(driver, ask=AskMode.NEVER)
    _, road = run(FakeModel([reply("Now.", asked), DONE]), road)
    kept = [line.model_dump_json() for line in road.lines if isinstance(line, ModelReplied)]
    kept += [line.model_dump_json() for line in road.called] + [line.model_dump_json() for line in road.returned]
    assert not any("hunter2" in line for line in kept)
    assert set(road.called[0].arguments) == set(asked.arguments)
