"""What every Model must do, whoever it is: tried on OpenAIChat over a scripted server and on the fake of the tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.fakes.model import FakeModel, call, reply

from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import Interrupted, ModelError
from droidpilot.core.stop import Stop
from droidpilot.model.client import Model, ModelReply, ModelRequest
from droidpilot.model.openai_chat import OpenAIChat
from droidpilot.model.provider import ModelSettings
from droidpilot.model.scripted import ScriptedCall, ScriptedServer, StatusFault, Step

REQUEST = ModelRequest(messages=[{"role": "user", "content": "open Settings"}])


@contextmanager
def over_http() -> Iterator[Model]:
    steps = [
        Step(say="I open Settings.", calls=[ScriptedCall(tool="open_app", args={"app": "Settings"})]),
        Step(calls=[ScriptedCall(tool="tap", raw='{"ref": ')]),
        Step(fault=StatusFault(status=400)),
    ]
    with ScriptedServer(steps=steps) as server:
        chat = OpenAIChat(ModelSettings(model="scripted", base_url=server.base_url), clock=ManualClock())
        yield chat
        chat.close()


@contextmanager
def in_memory() -> Iterator[Model]:
    from droidpilot.core.errors import ModelRejected

    yield FakeModel(
        [
            reply("I open Settings.", call("open_app", app="Settings")),
            reply("", call("tap", malformed="not JSON")),
            ModelRejected("scripted error"),
        ]
    )


@pytest.fixture(params=[over_http, in_memory], ids=["openai", "fake"])
def model(request: pytest.FixtureRequest) -> Iterator[Model]:
    with request.param() as made:
        yield made


def ask(model: Model, on_text: Callable[[str], None] = lambda piece: None, stop: Stop | None = None) -> ModelReply:
    return model.ask(REQUEST, on_text=on_text, stop=stop or Stop(), timeout_s=30)


def test_a_reply_brings_text_calls_and_usage(model: Model) -> None:
    pieces: list[str] = []
    answer = ask(model, pieces.append)
    assert answer.text == "".join(pieces) == "I open Settings."
    assert [(made.tool, dict(made.arguments), made.malformed) for made in answer.calls] == [
        ("open_app", {"app": "Settings"}, "")
    ]
    assert answer.calls[0].id
    assert answer.finish_reason == "tool_calls"
    assert answer.usage.prompt_tokens > 0
    assert answer.usage.completion_tokens > 0
    assert model.name


def test_inv_51_a_malformed_call_has_no_arguments_and_says_why(model: Model) -> None:
    ask(model)
    (made,) = ask(model).calls
    assert made.malformed
    assert dict(made.arguments) == {}
    assert made.arguments_json == "{}"


def test_what_goes_wrong_is_a_model_error(model: Model) -> None:
    ask(model)
    ask(model)
    with pytest.raises(ModelError):
        ask(model)


def test_no_time_left_is_a_model_error(model: Model) -> None:
    with pytest.raises(ModelError):
        model.ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=0)


def test_a_stop_before_the_request_stops_it(model: Model) -> None:
    stop = Stop()
    stop.request()
    with pytest.raises(Interrupted):
        ask(model, stop=stop)


def test_a_stop_while_text_comes_is_passed_on(model: Model) -> None:
    stop = Stop()

    def at_text(piece: str) -> None:
        stop.request()

    with pytest.raises(Interrupted):
        ask(model, at_text, stop)
