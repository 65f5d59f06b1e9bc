"""The wire: what an endpoint may send, what may travel to it, and every foreign error translated."""

from __future__ import annotations

import gzip
import inspect
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import openai
import pytest
from pydantic import SecretStr
from tests.fakes.raw_endpoint import Answer, RawEndpoint, delta, http, sse

from droidpilot.core.clock import ManualClock, SystemClock
from droidpilot.core.errors import (
    ConfigError,
    Interrupted,
    ModelError,
    ModelRejected,
    ModelUnreachable,
    ModelUnusable,
)
from droidpilot.core.stop import Stop
from droidpilot.model import openai_wire
from droidpilot.model.client import ModelReply, ModelRequest
from droidpilot.model.openai_chat import OpenAIChat
from droidpilot.model.openai_wire import failure_of, foreign_errors
from droidpilot.model.provider import Key, ModelSettings
from droidpilot.model.scripted import ScriptedCall, ScriptedServer, Step

REQUEST = ModelRequest(messages=[{"role": "user", "content": "hi"}])
SECRET = "sk-secret-0123456789"
GOOD = http(sse(delta(content="fine"), delta("stop"), "[DONE]"))
CALL = {"index": 0, "id": "c1", "function": {"name": "tap", "arguments": '{"ref": 1}'}}


def settings_for(base_url: str, **more: Any) -> ModelSettings:
    return ModelSettings(model="m", base_url=base_url, key=Key("DROIDPILOT_API_KEY", SecretStr(SECRET)), **more)


def asked(
    answers: list[Answer], *, stop: Stop | None = None, on_text: Callable[[str], None] = lambda piece: None
) -> ModelReply:
    with RawEndpoint(answers) as endpoint:
        chat = OpenAIChat(settings_for(endpoint.base_url), clock=ManualClock())
        try:
            return chat.ask(REQUEST, on_text=on_text, stop=stop or Stop(), timeout_s=600)
        finally:
            chat.close()


# --- what an endpoint may send ---


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param(b"", id="closed at once"),
        pytest.param(b"\x16\x03\x01garbage\r\n\r\n", id="no HTTP"),
        pytest.param(http(b""), id="no event"),
        pytest.param(http(sse("[DONE]")), id="only DONE"),
        pytest.param(http(b"data: {\xff\xfe\n\n"), id="no UTF-8"),
        pytest.param(http(sse("{not json")), id="no JSON"),
        pytest.param(http(b"data: " + b"[" * 100_000 + b"\n\n"), id="too deep"),
        pytest.param(http(sse([1, 2])), id="a list"),
        pytest.param(http(sse({"choices": []})), id="no choices"),
        pytest.param(http(sse({"choices": None, "error": {"code": 429, "message": "slow"}})), id="B42 in a stream"),
        pytest.param(
            http(b'{"choices":null,"error":{"code":429,"message":"slow"}}', kind="application/json"), id="B42 as JSON"
        ),
        pytest.param(http(b'{"choices":[]}', kind="application/json"), id="B42 without choices"),
        pytest.param(http(b"{", kind="application/json"), id="half a JSON"),
        pytest.param(http(sse({"object": "error", "message": "busy"})), id="an error without an error field"),
        pytest.param(http(sse(delta(tool_calls=[CALL]))), id="B46 no finish_reason"),
        pytest.param(http(sse(delta(content=None)), headers="Content-Length: 9000\r\n"), id="shorter than it said"),
    ],
)
def test_a_broken_answer_is_asked_for_again(broken: bytes) -> None:
    reply = asked([broken, GOOD])
    assert reply.text == "fine"
    assert reply.attempts == 2


def test_only_broken_answers_are_a_model_error_with_the_endpoints_words() -> None:
    error = {"error": {"code": 429, "message": "slow\x1b[31m down"}}
    with pytest.raises(ModelUnreachable) as raised:
        asked([http(sse(error))] * 4)
    assert "slow [31m down" in raised.value.message
    assert raised.value.hint


def test_a_final_status_inside_a_stream_is_not_tried_again() -> None:
    with pytest.raises(ModelRejected):
        asked([http(sse({"error": {"code": 404, "message": "no such model"}})), GOOD])


def test_an_answer_that_is_no_stream_is_read_all_the_same() -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "tap", "arguments": '{"ref": 1}'}},
        {"id": "b", "type": "function", "function": {"name": "tap", "arguments": '{"ref": 2}'}},
    ]
    message = {"role": "assistant", "content": "Both.", "tool_calls": calls}
    whole = {
        "model": "big",
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3},
    }
    reply = asked([http(json.dumps(whole).encode(), kind="application/json; charset=utf-8")])
    assert (reply.text, reply.model, reply.usage.tokens) == ("Both.", "big", 10)
    assert [call.arguments["ref"] for call in reply.calls] == [1, 2]


def test_a_web_page_names_base_url() -> None:
    with pytest.raises(ModelRejected) as raised:
        asked([http(b"<!doctype html>", kind="text/html")])
    assert "base_url" in raised.value.hint


def test_a_reply_whose_usage_is_lost_is_whole() -> None:
    reply = asked([http(sse(delta(tool_calls=[CALL]), delta("tool_calls")), headers="Content-Length: 9000\r\n")])
    assert reply.calls[0].arguments == {"ref": 1}
    assert reply.usage.is_estimated


def test_a_compressed_answer_is_refused_before_it_is_unpacked() -> None:
    packed = gzip.compress(sse(delta(content="x" * 1000)) * 1000)
    with pytest.raises(ModelUnusable):
        asked([http(packed, headers="Content-Encoding: gzip\r\n")])
    with pytest.raises(ModelRejected):
        asked([http(packed, status="403 Forbidden", headers="Content-Encoding: gzip\r\n")])


def test_an_endless_answer_ends() -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(http(b""))
        while True:
            connection.sendall(b": " + b"x" * 65536 + b"\n\n")

    with pytest.raises(ModelUnusable):
        asked([endless])


def test_an_endless_error_ends() -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(http(b"", status="400 Bad Request"))
        while True:
            connection.sendall(b"x" * 65536)

    with pytest.raises(ModelUnusable):
        asked([endless])


def test_a_dripping_answer_ends_with_the_time_given() -> None:
    clock = ManualClock()

    def dripping(connection: socket.socket) -> None:
        connection.sendall(http(b""))
        while True:
            clock.advance(1.0)
            connection.sendall(b": waiting\n\n")

    with RawEndpoint([dripping]) as endpoint, pytest.raises(ModelUnreachable) as raised:
        OpenAIChat(settings_for(endpoint.base_url), clock=clock).ask(
            REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=60
        )
    assert raised.value.code == "model_timeout"


def test_a_mute_endpoint_ends_with_the_time_given() -> None:
    done = threading.Event()

    def mute(connection: socket.socket) -> None:
        done.wait(20)

    with RawEndpoint([mute]) as endpoint:
        chat = OpenAIChat(settings_for(endpoint.base_url), clock=SystemClock())
        with pytest.raises(ModelUnreachable) as raised:
            chat.ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=0.3)
        done.set()
    assert raised.value.code == "model_timeout"


def test_an_error_of_the_caller_is_not_taken_for_one_of_the_endpoint() -> None:
    def broken(piece: str) -> None:
        raise ValueError("the terminal is gone")

    with pytest.raises(ValueError, match="the terminal is gone"):
        asked([GOOD, GOOD], on_text=broken)


# --- stop ---


@pytest.fixture
def stop_on_signal() -> Iterator[Stop]:
    stop = Stop()
    before = signal.signal(signal.SIGUSR1, lambda number, frame: stop.request())
    yield stop
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("start", [b"", http(sse(delta(content="Well")))], ids=["before the answer", "in the answer"])
def test_inv_52_a_stop_cuts_a_mute_stream_within_a_second(stop_on_signal: Stop, start: bytes) -> None:
    seen: list[float] = []
    cut = threading.Event()

    def mute(connection: socket.socket) -> None:
        if start:
            connection.sendall(start)
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)  # by now the client waits for us
        seen.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGUSR1)
        connection.settimeout(10)
        if connection.recv(1) == b"":
            cut.set()

    with pytest.raises(Interrupted):
        asked([mute], stop=stop_on_signal)
    assert time.monotonic() - seen[0] < 1.0
    assert cut.wait(1.0), "the connection was left open"


def test_inv_52_a_stop_from_another_thread_is_seen_at_the_next_bytes() -> None:
    stop = Stop()

    def stopping(connection: socket.socket) -> None:
        connection.sendall(http(sse(delta(content="Well"))))
        with pytest.raises(Interrupted):
            stop.request()
        while True:
            connection.sendall(b": waiting\n\n")

    with pytest.raises(Interrupted):
        asked([stopping], stop=stop)


def test_a_stop_counts_more_than_the_error_that_came_with_it() -> None:
    stop = Stop()

    def stopping(connection: socket.socket) -> None:
        with pytest.raises(Interrupted):
            stop.request()
        connection.sendall(http(b"", status="400 Bad Request"))

    with pytest.raises(Interrupted):
        asked([stopping], stop=stop)


def test_a_stop_cuts_the_wait_before_a_retry(stop_on_signal: Stop) -> None:
    class Impatient(ManualClock):
        def sleep(self, seconds: float) -> None:
            signal.raise_signal(signal.SIGUSR1)
            super().sleep(seconds)

    clock = Impatient()
    with RawEndpoint([b"", GOOD]) as endpoint, pytest.raises(Interrupted):
        OpenAIChat(settings_for(endpoint.base_url), clock=clock).ask(
            REQUEST, on_text=lambda piece: None, stop=stop_on_signal, timeout_s=60
        )
    assert clock.monotonic() == 0, "it waited on"


# --- what may travel ---


def test_nothing_but_what_was_set_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    foreign = {
        "OPENAI_API_KEY": "sk-vendor",
        "OPENAI_ADMIN_KEY": "sk-admin",
        "OPENAI_ORG_ID": "org-env",
        "OPENAI_PROJECT_ID": "proj-env",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/elsewhere",
        "OPENAI_WEBHOOK_SECRET": "wh-env",
        "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-custom\nX-Api-Key: sk-header",
    }
    for name, value in foreign.items():
        monkeypatch.setenv(name, value)
    with RawEndpoint([GOOD, GOOD]) as endpoint:
        for key in (Key("DROIDPILOT_API_KEY", SecretStr(SECRET)), Key()):
            OpenAIChat(ModelSettings(model="m", base_url=endpoint.base_url, key=key), clock=ManualClock()).ask(
                REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=9
            )
    for received, expected in zip(endpoint.received, (f"Bearer {SECRET}", None), strict=True):
        head = received.partition(b"\r\n\r\n")[0].decode().lower()
        headers = dict(line.split(": ", 1) for line in head.split("\r\n")[1:])
        assert headers.pop("authorization", None) == (expected.lower() if expected else None)
        assert set(headers) == {
            "host", "accept", "accept-encoding", "connection", "content-length", "content-type", "user-agent",
        }  # fmt: skip
        assert not [value for value in foreign.values() if value.encode() in received]
        assert b"stainless" not in received.lower()


def test_organization_and_project_are_sent_where_set() -> None:
    with ScriptedServer(steps=[Step(say="Hi.")]) as server:
        OpenAIChat(settings_for(server.base_url, organization="org-1", project="proj-1"), clock=ManualClock()).ask(
            REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=9
        )
        headers = server.requests[0].headers
    assert (headers["openai-organization"], headers["openai-project"]) == ("org-1", "proj-1")


@pytest.mark.parametrize("status", ["301 Moved", "307 Temporary Redirect", "308 Permanent Redirect"])
def test_a_redirect_is_not_followed(status: str) -> None:
    with RawEndpoint([GOOD]) as elsewhere:
        moved = http(b"", status=status, headers=f"Location: {elsewhere.base_url}/chat/completions\r\n")
        with pytest.raises(ModelRejected) as raised:
            asked([moved])
        assert elsewhere.received == []
    assert "redirects" in raised.value.hint


def test_an_endpoint_on_this_machine_is_reached_without_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert asked([GOOD]).text == "fine"


def test_another_endpoint_is_reached_through_the_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "ALL_PROXY", "all_proxy", "http_proxy"):
        monkeypatch.delenv(name, raising=False)
    with RawEndpoint([GOOD]) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{proxy.port}")
        chat = OpenAIChat(settings_for("http://model.test/v1"), clock=ManualClock())
        assert chat.ask(REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=9).text == "fine"
    assert proxy.received[0].startswith(b"POST http://model.test/v1/chat/completions HTTP/1.1\r\n")


def test_a_proxy_that_cannot_be_used_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "gopher://127.0.0.1:9")
    with pytest.raises(ConfigError) as raised:
        OpenAIChat(settings_for("https://model.test/v1"), clock=ManualClock()).prepare()
    assert "HTTPS_PROXY" in raised.value.hint


# --- foreign errors ---


def every_foreign_class() -> list[type[Exception]]:
    """List every public exception class of the client library and of the HTTP library below it."""
    found: set[type[Exception]] = set()
    for library in (openai, httpx2):
        for value in list(vars(library).values()):
            if inspect.isclass(value) and issubclass(value, Exception) and not issubclass(value, Warning):
                found.add(value)
    todo = list(found)
    while todo:
        for child in todo.pop().__subclasses__():
            if child.__module__.partition(".")[0] in ("openai", "httpx2") and child not in found:
                found.add(child)
                todo.append(child)
    return sorted(found, key=lambda kind: f"{kind.__module__}.{kind.__qualname__}")


def made(kind: type[Exception]) -> Exception:
    request = httpx2.Request("POST", "http://model.test/v1/chat/completions")
    response = httpx2.Response(getattr(kind, "status_code", 418), request=request)
    known: dict[str, Any] = {
        "message": "scripted",
        "request": request,
        "response": response,
        "body": {"message": "scripted"},
        "completion": openai.types.chat.ChatCompletion.model_construct(
            id="c", choices=[], created=0, model="m", object="chat.completion", usage=None
        ),
        "unsent_messages": [],
        "messages": [],
        "required_actions": [],
        "turn": None,
    }
    positional: list[Any] = []
    named: dict[str, Any] = {}
    try:
        parameters = inspect.signature(kind).parameters.values()
    except ValueError:  # no constructor of its own
        return kind("scripted")
    for parameter in parameters:
        value = known.get(parameter.name, "scripted")
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional.append("scripted")
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = value
        elif parameter.kind is not parameter.VAR_KEYWORD:
            positional.append(value)
    return kind(*positional, **named)


def test_there_are_foreign_errors_to_translate() -> None:
    names = {kind.__name__ for kind in every_foreign_class()}
    assert {"RateLimitError", "APITimeoutError", "ConnectError", "StreamClosed"} <= names
    assert len(names) > 30


@pytest.mark.parametrize("kind", every_foreign_class(), ids=lambda kind: kind.__qualname__)
def test_every_foreign_error_is_caught_and_translated(kind: type[Exception]) -> None:
    assert issubclass(kind, foreign_errors())
    failure = failure_of(made(kind), settings_for("http://model.test/v1"), clock=ManualClock())
    assert isinstance(failure.error, ModelError)
    assert failure.error.hint
    assert failure.error.message


@pytest.mark.parametrize(
    ("words", "is_retried", "hint"),
    [
        ("[Errno 111] Connection refused", True, "is the server running"),
        ("[Errno -2] Name or service not known", True, "spelt right"),
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed", False, "SSL_CERT_FILE"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number", True, "http://"),
        ("timed out", True, "network"),
    ],
)
def test_a_broken_connection_says_what_to_do(words: str, is_retried: bool, hint: str) -> None:
    error = openai.APIConnectionError(request=httpx2.Request("POST", "http://model.test"))
    error.__cause__ = httpx2.ConnectError(words)
    failure = failure_of(error, settings_for("http://model.test/v1"), clock=ManualClock())
    assert failure.is_retried is is_retried
    assert hint in failure.error.hint
    assert words in failure.error.message


@pytest.mark.parametrize(
    ("base_url", "is_retried"),
    [("http://127.0.0.1:9/v1", False), ("http://localhost:9/v1", False), ("http://10.0.0.1/v1", True)],
)
def test_only_a_server_of_another_machine_is_waited_for(base_url: str, is_retried: bool) -> None:
    error = openai.APIConnectionError(request=httpx2.Request("POST", base_url))
    error.__cause__ = httpx2.ConnectError("[Errno 111] Connection refused")
    failure = failure_of(error, settings_for(base_url), clock=ManualClock())
    assert failure.is_retried is is_retried
    assert ("Start it first" in failure.error.hint) is not is_retried


def test_spent_credit_is_not_tried_again() -> None:
    body = json.dumps({"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}).encode()
    with pytest.raises(ModelRejected) as raised:
        asked([http(body, status="429 Too Many Requests", kind="application/json"), GOOD])
    assert "credit" in raised.value.hint


def test_no_module_but_the_wire_names_the_client_library() -> None:
    folder = Path(openai_wire.__file__).parent
    named = [
        file.name for file in folder.glob("*.py") if re.search(r"(import|from) (openai|httpx2)\b", file.read_text())
    ]
    assert named == ["openai_wire.py"]


def test_importing_the_room_does_not_import_the_client_library() -> None:
    code = "import sys, droidpilot.model.openai_chat, droidpilot.model.scripted; print('openai' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_glued_calls_over_the_wire_stay_two_calls() -> None:
    first = {"index": 0, "id": "a", "function": {"name": "tap", "arguments": '{"ref": 1}'}}
    second = {"index": 0, "id": "b", "function": {"name": "press", "arguments": '{"key": "back"}'}}
    reply = asked([http(sse(delta(tool_calls=[first]), delta(tool_calls=[second]), delta("tool_calls")))])
    assert [(call.id, call.tool, dict(call.arguments)) for call in reply.calls] == [
        ("a", "tap", {"ref": 1}),
        ("b", "press", {"key": "back"}),
    ]


def test_the_scripted_call_survives_the_road_there_and_back() -> None:
    text = '去哪里"吃饭"呀？\n\n• one'
    with ScriptedServer(steps=[Step(calls=[ScriptedCall(tool="type_text", args={"text": text})])]) as server:
        reply = OpenAIChat(settings_for(server.base_url), clock=ManualClock()).ask(
            REQUEST, on_text=lambda piece: None, stop=Stop(), timeout_s=9
        )
    assert reply.calls[0].arguments["text"] == text  # report_B40
