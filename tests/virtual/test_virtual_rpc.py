"""The in-phone server without a wire: errors as the jar gives them, and any request is answered."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand
from uiautomator2._selector import Selector

from droidpilot.virtual.rpc.methods import METHODS
from droidpilot.virtual.wire.http import Request
from droidpilot.virtual.wire.services import Services

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5_000, 5_000) | st.floats(allow_nan=False) | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
WAITS = {"waitForExists", "waitUntilGone", "waitForIdle"}


def call(hand: Hand, body: bytes) -> dict[str, Any]:
    services = Services.of(hand.phone)
    reply = asyncio.run(services.server.answer(Request("POST", "/jsonrpc/0", body)))
    assert reply.status == 200
    told: dict[str, Any] = json.loads(reply.body)
    return told


def rpc(hand: Hand, method: str, *params: object) -> Any:
    told = call(hand, json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}).encode())
    assert told["id"] == 1
    return told.get("result") if "result" in told else told["error"]


def test_a_missing_element_is_the_jars_error() -> None:
    assert rpc(Hand.at(), "getText", Selector(text="nope")) == {
        "code": -32001,
        "message": "androidx.test.uiautomator.UiObjectNotFoundException",
        "data": "UiSelector[TEXT=nope]",
    }


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("nothing", [], -32601),
        ("__class__", [], -32601),
        ("click", [], -32602),
        ("click", ["1", "2"], -32602),
        ("click", [True, 2], -32602),
        ("click", [1e9, 2], -32602),
        ("click", [10**400, 1], -32602),
        ("click", [-(10**400), 1], -32602),
        ("dumpWindowHierarchy", [False, 10**400], -32602),
        ("takeScreenshot", [10**400, 80], -32602),
        ("waitForExists", [{"mask": 0}, 10**400], -32602),
        ("click", [{"mask": "x"}], -32602),
        ("swipePoints", [[1, 2, 3], 5], -32602),
        ("setText", [{"mask": 0}], -32602),
        ("setText", [{"mask": 0}, "x" * 200_000], -32602),
        ("scrollTo", [{"mask": 0}], -32602),
        ("dumpWindowHierarchy", ["yes"], -32602),
    ],
)
def test_bad_calls_get_codes_of_their_own(method: str, params: list[object], code: int) -> None:
    assert rpc(Hand.at(), method, *params)["code"] == code


@pytest.mark.parametrize(
    "body",
    [b"", b"nonsense", b"[]", b"{}", b'{"method": 5}', b"[" * 100_000, b'{"method":"click","params":3}', b"\xff"],
)
def test_a_body_that_is_no_call_gets_an_error(body: bytes) -> None:
    assert "error" in call(Hand.at(), body)


@given(method=st.sampled_from(sorted(set(METHODS) - WAITS)), params=st.lists(JSON, max_size=5))
@settings(max_examples=300)
def test_any_parameters_are_answered_and_never_by_a_bug_of_ours(method: str, params: list[object]) -> None:
    answer = rpc(Hand.at(), method, *params)
    if isinstance(answer, dict) and "code" in answer:
        assert answer["code"] in (-32602, -32001)
        assert "RuntimeException" not in answer["message"]


def test_set_text_says_no_where_nothing_can_be_typed() -> None:
    hand = Hand.at()
    assert rpc(hand, "setText", Selector(text="Settings"), "x") is False
    assert hand.phone.inputs.count == 0


def test_waiting_ends_when_the_element_comes() -> None:
    hand = Hand.at()
    assert rpc(hand, "waitForExists", Selector(text="Settings"), 1000) is True
    assert rpc(hand, "waitUntilGone", Selector(text="nope"), 1000) is True
    assert rpc(hand, "waitForExists", Selector(text="nope"), 0) is False


def test_an_input_waits_until_the_gesture_before_it_is_over() -> None:
    hand = Hand.at(transition_ms=280)

    def body(method: str, *params: object) -> Request:
        text = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        return Request("POST", "/jsonrpc/0", text.encode())

    async def main() -> None:
        server = Services.of(hand.phone).server
        swipe = asyncio.create_task(server.answer(body("swipe", 540, 1500, 540, 1000, 100)))
        await asyncio.sleep(0)
        click = asyncio.create_task(server.answer(body("click", 5, 5)))
        for _ in range(20):
            await asyncio.sleep(0)
        assert [event["kind"] for event in hand.phone.inputs.events] == ["swipe"]
        assert not swipe.done()
        hand.clock.advance(1.0)
        await asyncio.gather(swipe, click)
        assert [event["kind"] for event in hand.phone.inputs.events] == ["swipe", "tap"]

    asyncio.run(main())


def test_a_click_gives_whether_the_point_is_on_the_screen() -> None:
    assert rpc(Hand.at(), "click", 540.0, 100.5) is True
    assert rpc(Hand.at(), "click", 5000, 100) is False


def test_routes_answer_as_the_jar_does() -> None:
    server = Services.of(Hand.at().phone).server
    answers = [asyncio.run(server.answer(Request(*words, b""))) for words in (("GET", "/ping"), ("GET", "/x"))]
    assert [(reply.status, reply.body) for reply in answers] == [(200, b"pong"), (404, b"Not Found!!!")]


def test_stop_ends_the_server_and_another_start_is_not_stopped_by_the_first() -> None:
    async def main() -> None:
        server = Services.of(Hand.at().phone).server
        first = server.start(9008)
        assert first is not None
        assert server.start(9009) is None
        assert (await server.answer(Request("GET", "/stop", b""))).body == b"Server stopped!!!"
        assert first.is_set()
        second = server.start(9009)
        assert second is not None
        server.stop(first)
        assert server.port == 9009
        server.stop(second)
        assert server.port is None

    asyncio.run(main())
