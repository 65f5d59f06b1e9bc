"""OpenAIChat against the scripted server: retries, empty replies, usage, prices. Time passes on a clock of the test."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from pydantic import SecretStr

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import ModelError, ModelRejected, ModelUnreachable
from droidpilot.core.stop import Stop
from droidpilot.model.client import ModelReply, ModelRequest
from droidpilot.model.openai_chat import OpenAIChat
from droidpilot.model.provider import Key, ModelSettings, Reasoning
from droidpilot.model.script import parse_script
from droidpilot.model.scripted import (
    ReceivedRequest,
    ScriptedCall,
    ScriptedServer,
    ScriptedUsage,
    StatusFault,
    Step,
)
from droidpilot.model.usage import Prices

TAP = Step(say="I tap it.", calls=[ScriptedCall(tool="tap", args={"ref": 12})])
TOOLS = [{"type": "function", "function": {"name": "tap", "parameters": {"type": "object"}}}]
REQUEST = ModelRequest(messages=[{"role": "user", "content": "tap it"}], tools=TOOLS)


class Asked:
    """One ask and all that can be seen of it."""

    def __init__(self, steps: Sequence[Step], *, timeout_s: float = 600.0, prices: Prices | None = None) -> None:
        self.clock = ManualClock()
        self.pieces: list[str] = []
        self.reply: ModelReply | None = None
        self.error: ModelError | None = None
        with ScriptedServer(steps=steps) as server:
            settings = ModelSettings(
                model="scripted",
                base_url=server.base_url,
                key=Key("DROIDPILOT_API_KEY", SecretStr("sk-test")),
                prices=prices,
            )
            chat = OpenAIChat(settings, clock=self.clock)
            try:
                self.reply = chat.ask(REQUEST, on_text=self.pieces.append, stop=Stop(), timeout_s=timeout_s)
            except ModelError as error:
                self.error = error
            chat.close()
            self.total = chat.total
            self.requests: list[ReceivedRequest] = server.requests

    @property
    def answer(self) -> ModelReply:
        assert self.reply is not None, self.error
        return self.reply

    @property
    def waited_s(self) -> float:
        return self.clock.monotonic()


def test_the_request_is_what_the_wire_format_asks_for() -> None:
    asked = Asked([TAP])
    body = asked.requests[0].body
    assert body["messages"] == list(REQUEST.messages)
    assert body["tools"] == TOOLS
    assert body["tool_choice"] == "auto"
    assert body["stream"] is True
    assert body["stream_options"] == {"include_usage": True}
    assert body["max_tokens"] == 4096
    assert asked.requests[0].headers["authorization"] == "Bearer sk-test"
    assert asked.answer.attempts == 1
    assert asked.answer.calls[0].arguments_json == '{"ref": 12}'


def test_inv_53_no_reasoning_field_unless_one_is_set() -> None:
    bodies = {}
    choices: tuple[Reasoning, ...] = ("default", "off", "high")
    for reasoning in choices:
        with ScriptedServer(steps=[TAP]) as server:
            settings = ModelSettings(model="m", base_url=server.base_url, reasoning=reasoning)
            OpenAIChat(settings, clock=ManualClock()).ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=9)
            bodies[reasoning] = server.requests[0].body
    assert not [field for field in bodies["default"] if "reasoning" in field]
    assert bodies["off"]["reasoning_effort"] == "none"
    assert bodies["high"]["reasoning_effort"] == "high"


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524])
def test_inv_50_a_passing_trouble_is_tried_again(status: int) -> None:
    fault = Step(fault=StatusFault(status=status))
    asked = Asked([fault, fault, fault, TAP])
    assert asked.answer.attempts == 4
    assert asked.waited_s == 1 + 2 + 4
    assert asked.pieces[:3] == ["", "", ""]


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 413, 422])
def test_inv_50_a_final_refusal_is_not_tried_again(status: int) -> None:
    asked = Asked([Step(fault=StatusFault(status=status, message="no way")), TAP])
    assert isinstance(asked.error, ModelRejected)
    assert str(status) in asked.error.message
    assert "no way" in asked.error.message
    assert asked.error.hint
    assert len(asked.requests) == 1
    assert asked.waited_s == 0


def test_inv_50_after_three_retries_it_is_given_up() -> None:
    fault = Step(fault=StatusFault(status=503))
    asked = Asked([fault] * 4 + [TAP])
    assert isinstance(asked.error, ModelUnreachable)
    assert len(asked.requests) == 4


def test_retry_after_is_honoured_and_capped() -> None:
    asked = Asked([Step(fault=StatusFault(status=429, retry_after=7.5)), TAP])
    assert asked.waited_s == 7.5
    asked = Asked([Step(fault=StatusFault(status=429, retry_after=3600)), TAP])
    assert asked.waited_s == 30


def test_no_retry_is_begun_that_the_time_left_does_not_allow() -> None:
    asked = Asked([Step(fault=StatusFault(status=429, retry_after=20)), TAP], timeout_s=10)
    assert isinstance(asked.error, ModelUnreachable)
    assert asked.waited_s == 0


def test_the_key_never_stands_in_a_message() -> None:
    asked = Asked([Step(fault=StatusFault(status=401, message="bad key sk-test in your request"))])
    assert asked.error is not None
    assert "sk-test" not in str(asked.error) + repr(asked.error)
    assert "DROIDPILOT_API_KEY" in asked.error.hint


def test_report_b46_a_stream_that_dies_in_a_call_is_asked_for_again_and_still_counted() -> None:
    asked = Asked([Step(say="I tap it.", calls=TAP.calls, fault="cut_stream"), TAP])
    assert asked.answer.attempts == 2
    assert [call.arguments_json for call in asked.answer.calls] == ['{"ref": 12}']
    assert asked.answer.usage.is_estimated
    assert asked.answer.usage.prompt_tokens > Asked([TAP]).answer.usage.prompt_tokens
    assert asked.pieces == ["I tap it.", "", "I tap it."]


def test_text_that_arrived_before_the_stream_died_is_kept() -> None:
    asked = Asked([Step(say="I look around and then I tap the button.", fault="cut_stream")])
    assert asked.answer.finish_reason == "cut"
    assert asked.answer.text == "I look around and th"
    assert len(asked.requests) == 1


def test_a_stream_that_always_breaks_off_is_not_called_a_host_that_cannot_be_reached() -> None:
    asked = Asked([Step(calls=TAP.calls, fault="cut_stream")] * 4)
    assert isinstance(asked.error, ModelUnreachable)
    assert "broke off its reply" in asked.error.message


def test_report_b42_an_error_object_in_the_stream_is_tried_again() -> None:
    asked = Asked([Step(say="Well", fault="error_in_stream"), TAP])
    assert asked.answer.attempts == 2
    assert asked.pieces == ["Well", "", "I tap it."]
    asked = Asked([Step(fault="error_in_stream")] * 4)
    assert isinstance(asked.error, ModelUnreachable)
    assert "scripted error in the stream" in asked.error.message


@pytest.mark.parametrize("fault", ["empty", "reasoning_only"])
def test_an_empty_reply_is_asked_for_twice_more_and_then_returned(fault: str) -> None:
    empty = Step.model_validate({"fault": fault})
    asked = Asked([empty, empty, TAP])
    assert asked.answer.attempts == 3
    assert asked.waited_s == pytest.approx(0.7 + 1.4)
    asked = Asked([empty] * 3)
    assert asked.answer.text == ""
    assert asked.answer.calls == ()
    assert len(asked.requests) == 3


def test_a_content_filter_is_model_trouble() -> None:
    asked = Asked([Step(fault="content_filter")])
    assert isinstance(asked.error, ModelRejected)
    assert asked.error.code == "content_filter"


def test_inv_51_a_call_with_broken_arguments_is_malformed() -> None:
    (call,) = Asked([Step(calls=TAP.calls, fault="bad_json")]).answer.calls
    assert call.tool == "tap"
    assert "not valid JSON" in call.malformed


def test_report_b43_a_reply_cut_by_the_token_limit_executes_nothing() -> None:
    whole = ScriptedCall(tool="tap", args={"ref": 3})
    reply = Asked([Step(calls=[whole, whole], fault="length")]).answer
    assert reply.finish_reason == "length"
    assert all("token limit" in call.malformed for call in reply.calls)


def test_usage_is_taken_as_reported() -> None:
    usage = Asked(
        [Step(say="Hi.", usage=ScriptedUsage(prompt=1200, completion=40, cached=1000, cost=0.25))]
    ).answer.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens) == (1200, 40, 1000)
    assert usage.usd == 0.25
    assert not usage.is_estimated


def test_prices_count_where_the_endpoint_tells_no_cost() -> None:
    step = Step(say="Hi.", usage=ScriptedUsage(prompt=1_000_000, completion=500_000, cached=400_000))
    prices = Prices(input_usd=2.0, cached_usd=0.5, output_usd=10.0)
    assert Asked([step], prices=prices).answer.usage.usd == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 5.0)
    assert Asked([step]).answer.usage.usd is None


def test_usage_that_is_nothing_is_estimated_by_bytes() -> None:
    usage = Asked([Step(say="Grüße", usage=ScriptedUsage(prompt=0))]).answer.usage
    assert usage.is_estimated
    assert usage.completion_tokens == 3
    assert usage.prompt_tokens == pytest.approx(len(json.dumps([*REQUEST.messages, *TOOLS])) / 3, rel=0.2)


def test_total_counts_what_failed_too() -> None:
    asked = Asked([Step(fault="content_filter", usage=ScriptedUsage(prompt=70, completion=1))])
    assert asked.error is not None
    assert asked.total.prompt_tokens == 70


def test_an_endpoint_without_stream_options_is_asked_without_them() -> None:
    refusal = Step(fault=StatusFault(status=400, message="Unknown field: stream_options"))
    asked = Asked([refusal, TAP])
    assert "stream_options" not in asked.requests[1].body
    assert asked.answer.usage.is_estimated
    assert asked.waited_s == 0
    assert len(Asked([refusal, refusal]).requests) == 2


def test_an_endpoint_that_wants_the_newer_limit_field_gets_it() -> None:
    message = (
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    )
    asked = Asked([Step(fault=StatusFault(status=400, message=message)), TAP])
    assert "max_tokens" not in asked.requests[1].body
    assert asked.requests[1].body["max_completion_tokens"] == 4096


def test_what_was_learned_holds_for_the_next_request() -> None:
    refusal = Step(fault=StatusFault(status=400, message="stream_options is not allowed"))
    with ScriptedServer(steps=[refusal, TAP, TAP]) as server:
        chat = OpenAIChat(ModelSettings(model="m", base_url=server.base_url), clock=ManualClock())
        for _ in range(2):
            chat.ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=9)
        assert len(server.requests) == 3


def test_half_a_character_in_a_message_does_not_break_the_request() -> None:
    with ScriptedServer(steps=[TAP]) as server:
        chat = OpenAIChat(ModelSettings(model="m", base_url=server.base_url), clock=ManualClock())
        request = ModelRequest(messages=[{"role": "user", "content": "a\ud83d b"}])
        chat.ask(request, on_text=lambda piece: None, stop=Stop(), timeout_s=9)
        assert server.requests[0].body["messages"][0]["content"] == "a? b"


def test_the_network_is_not_used_before_the_first_request() -> None:
    chat = OpenAIChat(ModelSettings(model="m", base_url="http://127.0.0.1:9/v1"), clock=ManualClock())
    chat.prepare()
    assert chat.name == "m"
    with pytest.raises(ModelUnreachable) as raised:
        chat.ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=60)
    assert "is the server running" in raised.value.hint


def test_every_new_attempt_is_told_with_its_reason_before_the_pause() -> None:
    told: list[tuple[float, str]] = []
    clock = ManualClock()
    text = """
steps:
  - fault: {status: 503, message: busy}
  - fault: {status: 429, retry_after: 12.5}
  - fault: empty
  - say: hello
"""
    with ScriptedServer(parse_script(text)) as server:
        settings = ModelSettings(model="m", base_url=server.base_url)
        chat = OpenAIChat(settings, clock=clock, on_retry=lambda words: told.append((clock.monotonic(), words)))
        chat.ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=60)
        chat.close()
    assert told == [
        (0.0, "127.0.0.1 answered 503: busy; trying again in 1 s (2 of 4)"),
        (1.0, "127.0.0.1 answered 429: scripted error; trying again in 12 s (3 of 4)"),
        (13.5, "m sent an empty reply; trying again in 0.7 s (2 of 3)"),
    ]
