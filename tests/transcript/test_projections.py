"""What became of each call, at every line where a session can be killed, and what `session show` makes of it."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.events import (
    AnyEvent,
    ApprovalAnswered,
    ApprovalAsked,
    AskedFor,
    CheckFinished,
    CheckStarted,
    CommandGiven,
    ModelAsked,
    ModelReplied,
    Noted,
    OutcomeResolved,
    SessionEnded,
    SessionStarted,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.transcript import chain
from droidpilot.transcript.projections import CallState, calls, totals, unknown_writes
from droidpilot.transcript.reader import Line, RawEvent, parse
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.session_view import session_view

SESSION = "20261130-211455-k3f9"


def lines(*events: AnyEvent | RawEvent) -> list[Line]:
    return [Line(seq + 1, seq, f"t{seq}", SESSION, event, b"") for seq, event in enumerate(events)]


def replied(*tools: str, usd: float | None = 0.5) -> ModelReplied:
    return ModelReplied(
        turn=1,
        model="m",
        text="I tap it",
        calls=[
            AskedFor(call_id=f"c{at}", model_call_id=f"m{at}", tool=tool, arguments={"ref": at})
            for at, tool in enumerate(tools, 1)
        ],
        finish_reason="tool_calls",
        prompt_tokens=100,
        completion_tokens=10,
        cached_tokens=50,
        usd=usd,
        is_estimated=False,
        attempts=1,
        ms=5,
    )


def called(
    call_id: str = "c1", *, effect: Literal["read", "write"] = "write", answers: tuple[str, ...] = ("allow",)
) -> ToolCalled:
    return ToolCalled(
        call_id=call_id,
        origin="model",
        turn_kind="user",
        tool="tap" if effect == "write" else "ui_tree",
        effect=effect,
        tier="blind",
        arguments={"ref": 1},
        sentence="Tap Send in com.chat",
        screen=1,
        target=None,
        signals=["risky_word"],
        verdicts=[
            VerdictLine(gate="rules", answer=answer, reason=f"because {answer}", rule="default.rules:1: ask tap")
            for answer in answers
        ],
        send_key="k" if effect == "write" else "",
    )


def returned(call_id: str = "c1", *, status: Any = "ok", sent: Literal["no", "yes", "unknown"] = "yes") -> ToolReturned:
    return ToolReturned(
        call_id=call_id,
        tool="tap",
        status=status,
        sent=sent,
        code="",
        text="Done.",
        artifact="",
        screen=2,
        ms=7,
        ends="",
    )


ASKED = ApprovalAsked(
    prompt_id="p1",
    call_id="c1",
    sentence="Tap Send in com.chat",
    level="confirm",
    signals=["risky_word"],
    rule=None,
    approver="terminal",
    expires_s=180,
)
YES = ApprovalAnswered(prompt_id="p1", call_id="c1", answer="yes", approver="terminal", waited_s=2.5)


def states(*events: AnyEvent | RawEvent) -> list[str]:
    return [view.state.value for view in calls(lines(*events))]


@pytest.mark.parametrize(
    ("kept", "expected"), [(1, "not_sent"), (2, "not_sent"), (3, "not_sent"), (4, "unknown"), (5, "ok")]
)
def test_a_write_killed_at_each_line_of_the_road(kept: int, expected: str) -> None:
    road: list[AnyEvent] = [replied("tap"), ASKED, YES, called(), returned()]
    assert states(*road[:kept]) == [expected]


@pytest.mark.parametrize(("kept", "expected"), [(1, "not_sent"), (2, "stopped"), (3, "ok")])
def test_a_read_killed_at_each_line_of_the_road(kept: int, expected: str) -> None:
    road: list[AnyEvent] = [replied("ui_tree"), called(effect="read"), returned(sent="no")]
    assert states(*road[:kept]) == [expected]


def test_the_calls_of_a_reply_that_were_not_reached_were_not_sent() -> None:
    assert states(replied("tap", "tap", "tap"), called("c1"), returned("c1"), called("c2")) == [
        "ok",
        "unknown",
        "not_sent",
    ]


@pytest.mark.parametrize("answer", ["deny", "halt"])
def test_a_call_that_a_gate_refused_reads_refused_with_and_without_its_answer(answer: str) -> None:
    refused = called(answers=("allow", answer))
    assert states(replied("tap"), refused) == ["refused"]
    assert states(replied("tap"), refused, returned(status="refused", sent="no")) == ["refused"]
    (view,) = calls(lines(replied("tap"), refused))
    assert view.deciding is not None and view.deciding.reason == f"because {answer}"


def test_a_verdict_that_asked_is_the_deciding_one() -> None:
    (view,) = calls(lines(replied("tap"), ASKED, YES, called(answers=("ask", "allow")), returned()))
    assert view.deciding is not None and view.deciding.answer == "ask"
    assert (view.approval, view.approver) == ("yes", "terminal")


@pytest.mark.parametrize("status", ["ok", "transient", "logic", "refused", "fatal", "unknown", "stopped"])
def test_an_answered_call_has_the_status_of_its_answer(status: str) -> None:
    assert states(replied("tap"), called(), returned(status=status)) == [status]


@pytest.mark.parametrize(("outcome", "state"), [("done", "done"), ("not_done", "not_done")])
def test_an_unknown_write_can_be_resolved_and_only_that(outcome: Any, state: str) -> None:
    resolved = OutcomeResolved(call_id="c1", outcome=outcome, by="look")
    assert states(replied("tap"), called(), resolved) == [state]
    assert states(replied("tap"), called(), returned(status="unknown", sent="unknown"), resolved) == [state]
    assert states(replied("tap"), called(), returned(), resolved) == ["ok"]
    assert states(replied("tap"), resolved) == ["not_sent"]
    assert states(resolved) == []


def test_unknown_writes_are_those_nobody_resolved() -> None:
    road = lines(
        replied("tap", "tap", "ui_tree"), called("c1"), called("c2"), returned("c2"), called("c3", effect="read")
    )
    assert [view.call_id for view in unknown_writes(road)] == ["c1"]


def test_calls_of_a_person_and_of_a_check_are_listed_too() -> None:
    given_call = CommandGiven(tool="tap", arguments={"ref": 5}, call_id="h1")
    check = CheckStarted(expression="text=On", call_id="k1")
    views = calls(lines(given_call, check))
    assert [(view.origin, view.tool, view.state.value) for view in views] == [
        ("human", "tap", "not_sent"),
        ("check", "ui_tree", "not_sent"),
    ]


def test_a_call_that_no_line_asked_for_is_listed() -> None:
    assert states(called("nested")) == ["unknown"]
    assert states(returned("lost", status="ok")) == ["ok"]


def test_a_call_of_another_version_that_may_have_been_sent_does_not_look_unsent() -> None:
    raw = RawEvent("tool_called", {"kind": "tool_called", "call_id": "c1", "tool": "tap", "effect": "teleport"})
    assert states(replied("tap"), raw) == ["unknown"]
    answer = RawEvent("tool_returned", {"kind": "tool_returned", "call_id": "c1", "status": "ok"})
    assert states(replied("tap"), raw, answer) == ["ok"]
    assert states(RawEvent("tool_called", {"call_id": 5})) == []


def test_totals_add_up() -> None:
    asked = ModelAsked(turn=1, messages=2, estimated_tokens=100)
    road = lines(
        asked, replied("tap", "tap", "ui_tree", "tap"), ASKED, YES, called("c1"), returned("c1"),
        called("c2", answers=("deny",)), returned("c2", status="refused", sent="no"),
        called("c3", effect="read"), returned("c3", sent="no"), asked, replied(), called("c4"),
    )  # fmt: skip
    found = totals(road)
    assert (found.turns, found.calls, found.actions, found.refused, found.unknown) == (2, 4, 2, 1, 1)
    assert (found.prompt_tokens, found.completion_tokens, found.cached_tokens, found.tokens) == (200, 20, 100, 220)
    assert (found.usd, found.waited_s) == (1.0, 2.5)


def test_a_write_that_failed_before_it_was_sent_is_no_action() -> None:
    assert totals(lines(replied("tap"), called(), returned(status="transient", sent="no"))).actions == 0


def test_money_is_not_known_where_one_price_is_not() -> None:
    assert totals(lines(replied(usd=0.5), replied(usd=None))).usd is None
    assert totals([]).usd == 0.0


def test_the_view_shows_each_line_of_interest_in_order() -> None:
    started = SessionStarted(
        goal="send\nit",
        origin="model",
        version="1",
        serial="emulator-1",
        is_virtual=True,
        model="m",
        policy="default",
        policy_digest="d",
        ask="risky",
        approver="terminal",
        tools=["tap"],
        limits={"turns": 5, "usd": None},
        checks=["text=Sent"],
    )
    ended = SessionEnded(
        outcome="done",
        exit_code=0,
        reason="checked",
        summary="I did it",
        turns=1,
        actions=1,
        tokens=110,
        usd=0.5,
        seconds=3,
    )
    view = session_view(
        lines(
            started, ModelAsked(turn=1, messages=2, estimated_tokens=9), replied("tap", "tap"), ASKED, YES,
            called(answers=("ask", "allow")), returned(), Noted(text="a\x1b[31m note"),
            CheckStarted(expression="text=Sent", call_id="k1"),
            CheckFinished(expression="text=Sent", passed=None, reason="not readable"), ended,
        )
    )  # fmt: skip
    assert dict(view.header)["goal"] == "send it"
    assert dict(view.header)["limits"] == "turns 5"
    assert [(entry.word, entry.state) for entry in view.entries] == [
        ("reply", ""),
        ("call", "not_sent"),
        ("asked", ""),
        ("answer", "yes"),
        ("call", "ok"),
        ("note", ""),
        ("call", "not_sent"),
        ("check", "not judged"),
        ("end", "done"),
    ]
    call = view.entries[4]
    assert call.text == "Tap Send in com.chat"
    assert "default.rules:1" in call.detail and "terminal was asked: yes" in call.detail
    assert view.entries[1].text == "tap ref=2"
    assert (view.outcome, view.exit_code) == ("done", 0)
    assert "\x1b" not in "".join(entry.text for entry in view.entries)


def test_the_view_of_a_killed_session_says_so() -> None:
    view = session_view(lines(replied("tap"), called()))
    assert (view.outcome, view.exit_code) == ("killed or running", None)
    assert view.entries[-1].state == "unknown"
    assert session_view([]).entries == ()


_steps = st.sampled_from(
    [
        replied("tap", "ui_tree"), called("c1"), called("c1", answers=("deny",)), called("c2", effect="read"),
        returned("c1"), returned("c1", status="unknown", sent="unknown"), returned("c2", sent="no"), ASKED, YES,
        OutcomeResolved(call_id="c1", outcome="done", by="person"),
        CommandGiven(tool="tap", arguments={}, call_id="c1"),
        RawEvent("tool_called", {"call_id": "c1", "tool": "tap"}), RawEvent("x", {}),
    ]
)  # fmt: skip


@given(st.lists(_steps, max_size=12))
def test_any_order_of_lines_can_be_viewed_and_no_open_write_looks_unsent(events: list[AnyEvent | RawEvent]) -> None:
    road = lines(*events)
    session_view(road)
    totals(road)
    last = {view.call_id: view for view in calls(road)}
    is_called = any(isinstance(event, ToolCalled) and event.call_id == "c1" for event in events)
    if is_called:
        assert last["c1"].state is not CallState.NOT_SENT


def test_a_transcript_cut_at_every_byte_reads_each_call_as_not_sent_unknown_or_answered() -> None:
    data, head = b"", chain.START
    for seq, event in enumerate((replied("tap", "tap"), called("c1"), returned("c1"), called("c2"), returned("c2"))):
        fields = {"v": 1, "seq": seq, "ts": "t", "session": SESSION, **Redactor().fields(event)}
        line, digest = chain.seal(fields, head.hash)
        data, head = data + line, chain.Head(seq, digest)
    order = ["not_sent", "unknown", "ok"]
    before = [0, 0]
    for cut in range(len(data) + 1):
        now = [order.index(view.state.value) for view in calls(parse(data[:cut]).lines)] or [0, 0]
        assert all(new >= old for new, old in zip(now, before, strict=True))
        before = now
    assert before == [2, 2]
