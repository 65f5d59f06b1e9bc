"""The scripted server, as any client over HTTP sees it."""

from __future__ import annotations

import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from droidpilot.core.errors import ConfigError, UsageError
from droidpilot.model.scripted import (
    ReceivedRequest,
    Script,
    ScriptedCall,
    ScriptedServer,
    SlowFault,
    StatusFault,
    Step,
    serve,
)

ASK: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "4 Send"}]}
SAY = Step(say="Hello there, this is more than one piece.", calls=[ScriptedCall(tool="tap", find="Send")])


def send(server: ScriptedServer, method: str, path: str, body: bytes | None = None) -> tuple[int, str, bytes]:
    parts = urlsplit(server.base_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
    try:
        connection.request(method, path, body)
        answer = connection.getresponse()
        return answer.status, answer.headers.get("Content-Type", ""), answer.read()
    finally:
        connection.close()


def ask(server: ScriptedServer, **more: Any) -> tuple[int, Any]:
    status, kind, body = send(server, "POST", "/v1/chat/completions", json.dumps({**ASK, **more}).encode())
    if kind == "text/event-stream":
        return status, [line[6:] for line in body.decode().split("\n\n") if line]
    return status, json.loads(body)


def test_a_streamed_reply_has_the_form_of_the_field() -> None:
    with ScriptedServer(steps=[SAY]) as server:
        status, events = ask(server, stream=True, stream_options={"include_usage": True})
    assert status == 200
    assert events[-1] == "[DONE]"
    chunks = [json.loads(event) for event in events[:-1]]
    deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
    assert "".join(delta.get("content") or "" for delta in deltas) == SAY.say
    pieces = [call for delta in deltas for call in delta.get("tool_calls", ())]
    assert pieces[0]["function"]["name"] == "tap"
    assert "".join(piece["function"]["arguments"] for piece in pieces) == '{"ref": 4}'
    assert chunks[-2]["choices"][0]["finish_reason"] == "tool_calls"
    assert chunks[-1]["choices"] == []
    assert chunks[-1]["usage"]["total_tokens"] > 0


def test_usage_is_streamed_only_where_asked_for() -> None:
    with ScriptedServer(steps=[SAY]) as server:
        _, events = ask(server, stream=True)
    assert not [event for event in events if "usage" in event]


def test_a_whole_reply_has_the_form_of_the_field() -> None:
    with ScriptedServer(steps=[SAY]) as server:
        _, reply = ask(server)
    message = reply["choices"][0]["message"]
    assert message["content"] == SAY.say
    assert message["tool_calls"][0]["function"] == {"name": "tap", "arguments": '{"ref": 4}'}
    assert reply["usage"]["prompt_tokens"] > 0


def test_the_same_script_gives_the_same_bytes() -> None:
    answers = []
    for _ in range(2):
        with ScriptedServer(steps=[SAY, SAY]) as server:
            answers.append([ask(server, stream=True), ask(server)])
    assert answers[0] == answers[1]


@pytest.mark.parametrize(("then", "expected"), [("done", "done"), ("repeat", "tap"), ("error", None)])
def test_after_the_last_step_comes_what_the_script_says(then: str, expected: str | None) -> None:
    script = Script.model_validate({"steps": [SAY.model_dump()], "then": then})
    with ScriptedServer(script) as server:
        ask(server)
        status, reply = ask(server)
    if expected is None:
        assert status == 400
        assert "1 steps" in reply["error"]["message"]
    else:
        assert reply["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == expected


def test_a_step_may_be_a_function_of_the_request() -> None:
    def echo(body: dict[str, Any]) -> Step:
        return Step(say=body["messages"][-1]["content"])

    with ScriptedServer(steps=[echo]) as server:
        assert ask(server)[1]["choices"][0]["message"]["content"] == "4 Send"


def test_a_label_that_is_nowhere_fails_loudly() -> None:
    with ScriptedServer(steps=[Step(calls=[ScriptedCall(tool="tap", find="Pay")])]) as server:
        status, reply = ask(server)
    assert status == 400
    assert reply["error"]["code"] == "label_not_found"
    assert "'Pay'" in reply["error"]["message"]
    assert "4 Send" in reply["error"]["message"]


def test_requests_are_kept_with_their_headers() -> None:
    with ScriptedServer(steps=[SAY]) as server:
        ask(server)
        assert server.requests[0].body == ASK
        assert server.requests[0].headers["content-length"]


def test_the_model_is_listed() -> None:
    with ScriptedServer(Script(model="mine")) as server:
        status, _, body = send(server, "GET", "/v1/models")
    assert status == 200
    assert [model["id"] for model in json.loads(body)["data"]] == ["mine"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/", None, 404),
        ("POST", "/v1/responses", b'{"messages": []}', 404),
        ("POST", "/v1/chat/completions", b"{", 400),
        ("POST", "/v1/chat/completions", b"[]", 400),
        ("POST", "/v1/chat/completions", b'{"messages": {}}', 400),
        ("POST", "/v1/chat/completions", b"[" * 200_000, 400),
    ],
)
def test_a_request_of_another_kind_is_refused_in_words(method: str, path: str, body: bytes | None, status: int) -> None:
    with ScriptedServer(steps=[SAY]) as server:
        answer = send(server, method, path, body)
        assert server.requests == []
    assert answer[0] == status
    assert json.loads(answer[2])["error"]["message"]


def test_a_body_without_a_bound_is_not_read() -> None:
    with ScriptedServer() as server:
        parts = urlsplit(server.base_url)
        for length in (str(10**12), "-1", "x"):
            with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
                head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {length}\r\n\r\n"
                connection.sendall(head.encode())
                assert connection.recv(65536).startswith(b"HTTP/1.1 400")


def test_a_client_that_cuts_does_not_disturb_the_next(capfd: pytest.CaptureFixture[str]) -> None:
    with ScriptedServer(steps=[Step(say="x" * 500_000), SAY]) as server:
        parts = urlsplit(server.base_url)
        body = json.dumps({**ASK, "stream": True}).encode()
        with socket.create_connection((parts.hostname, parts.port), timeout=10) as connection:
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            connection.recv(10)
        assert ask(server)[0] == 200
    assert capfd.readouterr() == ("", "")


def test_a_status_fault_has_status_and_retry_after() -> None:
    with ScriptedServer(steps=[Step(fault=StatusFault(status=429, retry_after=2))]) as server:
        parts = urlsplit(server.base_url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        connection.request("POST", "/v1/chat/completions", json.dumps(ASK))
        answer = connection.getresponse()
        assert (answer.status, answer.headers["Retry-After"]) == (429, "2")
        connection.close()


def test_closing_does_not_wait_for_a_slow_reply_or_an_idle_client() -> None:
    with ScriptedServer(steps=[Step(fault=SlowFault(slow=300))]) as server:
        parts = urlsplit(server.base_url)
        came = threading.Event()
        server.on_request = lambda request: came.set()
        idle = socket.create_connection((parts.hostname, parts.port), timeout=10)
        body = json.dumps(ASK).encode()
        waiting = socket.create_connection((parts.hostname, parts.port), timeout=10)
        waiting.sendall(f"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        assert came.wait(10)
    for connection in (idle, waiting):
        while connection.recv(65536):
            pass
        connection.close()


def test_a_port_that_is_taken_is_said() -> None:
    with ScriptedServer() as server:
        port = urlsplit(server.base_url).port or 0
        with pytest.raises(UsageError) as raised, ScriptedServer(port=port):
            pass
    assert str(port) in raised.value.message


def test_it_listens_on_this_machine_only() -> None:
    with ScriptedServer() as server:
        assert server.base_url.startswith("http://127.0.0.1:")


def test_serve_reads_the_script_before_it_takes_the_port(tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("steps: 7", encoding="utf-8")
    ready: list[str] = []
    with pytest.raises(ConfigError):
        serve(path, on_ready=ready.append)
    assert ready == []


def test_serve_answers_until_it_is_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text("steps: [{say: Hi.}]", encoding="utf-8")
    code = (
        "import signal, sys; from pathlib import Path; from droidpilot.model.scripted import serve\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell's background job ignores it
        "say = lambda text: (sys.stdout.write(text + chr(10)), sys.stdout.flush())\n"
        "try:\n serve(Path(sys.argv[1]), on_ready=say, on_request=lambda request: say('asked'))\n"
        "except KeyboardInterrupt:\n say('stopped')\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        parts = urlsplit(process.stdout.readline().strip())
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=10)
        connection.request("POST", "/v1/chat/completions", json.dumps(ASK))
        assert json.loads(connection.getresponse().read())["choices"][0]["message"]["content"] == "Hi."
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "asked\nstopped\n"
        connection.close()


def test_a_received_request_is_a_value() -> None:
    assert ReceivedRequest({}, {}) == ReceivedRequest({}, {})
