"""The probe: what an endpoint may answer to the question for its models, and what travels to it."""

from __future__ import annotations

import json
import socket
import threading
from typing import Any

import pytest
from pydantic import SecretStr
from tests.fakes.raw_endpoint import Answer, RawEndpoint, http

from droidpilot.core.clock import SystemClock
from droidpilot.model.probe import ProbeResult, probe
from droidpilot.model.provider import Key, ModelSettings
from droidpilot.model.scripted import ScriptedServer, parse_script

SECRET = "sk-probe-0123456789"


def listing(value: object) -> bytes:
    return http(json.dumps(value).encode(), kind="application/json")


def asked(answer: Answer, *, timeout_s: float = 5.0) -> tuple[ProbeResult, list[bytes]]:
    with RawEndpoint([answer, answer]) as endpoint:
        settings = ModelSettings(
            model="m", base_url=endpoint.base_url, key=Key("DROIDPILOT_API_KEY", SecretStr(SECRET))
        )
        return probe(settings, clock=SystemClock(), timeout_s=timeout_s), endpoint.received


def test_the_list_is_asked_for_once_with_the_key_and_nothing_else() -> None:
    result, received = asked(listing({"object": "list", "data": [{"id": "m"}, {"id": "n"}]}))
    assert result.models == ("m", "n") and result.error is None
    assert result.knows("m") is True and result.knows("x") is False
    assert len(received) == 1
    head = received[0].decode().lower()
    assert head.startswith("get /v1/models http/1.1\r\n")
    assert f"authorization: bearer {SECRET}" in head
    assert "x-stainless" not in head and "user-agent: droidpilot\r\n" in head
    assert received[0].endswith(b"\r\n\r\n")


def test_the_scripted_server_lists_its_model() -> None:
    with ScriptedServer(parse_script("steps: []\nthen: done\n")) as server:
        settings = ModelSettings(model=server.model, base_url=server.base_url)
        assert probe(settings, clock=SystemClock(), timeout_s=5).knows(server.model) is True


@pytest.mark.parametrize("status", ["404 Not Found", "405 Method Not Allowed", "501 Not Implemented"])
def test_an_endpoint_without_a_list_is_no_failure(status: str) -> None:
    result, _ = asked(http(b"{}", status=status, kind="application/json"))
    assert (result.error, result.models, result.knows("m")) == (None, None, None)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        pytest.param(http(b'{"error": {"message": "no"}}', status="401 Unauthorized"), "model_rejected", id="401"),
        pytest.param(http(b"", status="403 Forbidden"), "model_rejected", id="403"),
        pytest.param(http(b"", status="302 Found", headers="Location: http://x/\r\n"), "model_rejected", id="302"),
        pytest.param(http(b"", status="503 Service Unavailable"), "model_unreachable", id="503"),
        pytest.param(http(b"<html>hi</html>", kind="text/html"), "model_rejected", id="a web page"),
        pytest.param(b"", "model_unreachable", id="closed at once"),
        pytest.param(b"\x16\x03\x01", "model_unreachable", id="no HTTP"),
        pytest.param(http(b"[" * 200_000, kind="application/json"), "model_unreachable", id="too deep"),
        pytest.param(http(b"{no json", kind="application/json"), "model_unreachable", id="no JSON"),
        pytest.param(http(b" " * 11_000_000, kind="application/json"), "model_unusable", id="a flood"),
    ],
)
def test_an_endpoint_that_does_not_serve_is_an_error_with_a_next_step(answer: Answer, code: str) -> None:
    result, received = asked(answer)
    assert result.error is not None and result.error.code == code
    assert result.error.hint and result.models is None
    assert SECRET not in str(result.error)
    assert len(received) == 1


@pytest.mark.parametrize(
    "value", [{}, [], None, 5, {"data": None}, {"data": [None, 5, {"id": 7}, {"id": "a\x1b[2J" + "b" * 5000}]}]
)
def test_odd_lists_are_no_reason_to_fail(value: Any) -> None:
    result, _ = asked(listing(value))
    assert result.error is None
    assert all(len(name) <= 200 and "\x1b" not in name for name in result.models or ())


def test_an_endpoint_that_trickles_or_hangs_ends_at_the_timeout() -> None:
    over = threading.Event()

    def hang(connection: socket.socket) -> None:
        over.wait(1)

    def trickle(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not over.wait(0.05):
            connection.sendall(b" ")

    clock = SystemClock()
    try:
        for answer in (hang, trickle):
            started = clock.monotonic()
            result, _ = asked(answer, timeout_s=0.4)
            assert result.error is not None and result.error.code == "model_timeout"
            assert clock.monotonic() - started < 6
    finally:
        over.set()
