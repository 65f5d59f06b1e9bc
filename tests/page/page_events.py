"""Lines of sessions to make pages of: each maker fills in all that a test does not care for."""

from __future__ import annotations

from typing import Any, Literal

from droidpilot.core.events import (
    AskedFor,
    DeviceConnected,
    ModelAsked,
    ModelReplied,
    ScreenObserved,
    SessionEnded,
    SessionStarted,
    Target,
    TargetNode,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)

SHOP = "com.example.shop"
GATES = ("capability", "rules", "approval", "budget", "staleness")

Status = Literal["ok", "transient", "logic", "refused", "fatal", "unknown", "stopped"]


def started(
    goal: str = "Buy the blue kettle, but only if it costs less than 40 euros", **changes: Any
) -> SessionStarted:
    return SessionStarted(
        goal=goal,
        origin="model",
        version="0.1.0",
        serial="emulator-5554",
        is_virtual=False,
        model="test-model",
        base_url="http://127.0.0.1:9/v1",
        policy="default",
        policy_digest="ab" * 32,
        ask="risky",
        approver="terminal",
        tools=["ui_tree", "tap", "type_text", "screenshot", "done"],
        limits={"turns": 50.0, "actions": 100.0, "tokens": 500_000.0, "usd": None, "seconds": 900.0},
        checks=["text=Order placed"],
    ).model_copy(update=changes)


def connected() -> DeviceConnected:
    return DeviceConnected(serial="emulator-5554", transport="emulator", model="Pixel 8", sdk=34, ms=210)


def ended(outcome: str = "unknown", code: int = 7, **changes: Any) -> SessionEnded:
    return SessionEnded(
        outcome=outcome,
        exit_code=code,
        reason="a write may or may not have happened",
        summary="The kettle is on its way!",
        turns=5,
        actions=3,
        tokens=9_321,
        usd=0.0123,
        seconds=41.5,
    ).model_copy(update=changes)


def asked(turn: int) -> ModelAsked:
    return ModelAsked(turn=turn, messages=2 * turn, estimated_tokens=2_000 + 150 * turn)


def replied(turn: int, text: str, *calls: tuple[str, str, dict[str, Any]], **changes: Any) -> ModelReplied:
    return ModelReplied(
        turn=turn,
        model="test-model-2026",
        text=text,
        calls=[
            AskedFor(call_id=call_id, model_call_id=call_id, tool=tool, arguments=arguments)
            for call_id, tool, arguments in calls
        ],
        finish_reason="tool_calls" if calls else "stop",
        prompt_tokens=2_000 + 150 * turn,
        completion_tokens=21,
        cached_tokens=1_800 if turn > 1 else 0,
        usd=0.0021,
        is_estimated=False,
        attempts=1,
        ms=812,
    ).model_copy(update=changes)


def look(screen: int, fingerprint: str = "", **changes: Any) -> ScreenObserved:
    return ScreenObserved(
        screen=screen,
        why="call",
        package=SHOP,
        activity=f"{SHOP}.MainActivity",
        fingerprint=fingerprint or f"{screen:064x}",
        nodes=31,
        is_settled=True,
        is_complete=True,
        ms=14,
        artifact="",
        width=1080,
        height=2400,
    ).model_copy(update=changes)


def node(label: str, bounds: tuple[int, int, int, int], ref: int | None = 7, *, folded: str = "") -> TargetNode:
    return TargetNode(
        ref=ref,
        cls="android.widget.Button",
        resource_id=f"{SHOP}:id/button",
        package=SHOP,
        bounds=bounds,
        raw=label,
        cleaned=label,
        folded=folded or label,
    )


def verdicts(*, until: str = "", answer: str = "deny", **changes: Any) -> list[VerdictLine]:
    """Make a row of gates that allow, up to one that does not."""
    made = []
    for gate in GATES:
        if gate == until:
            made.append(VerdictLine(gate=gate, answer=answer, **changes))
            break
        made.append(VerdictLine(gate=gate, answer="allow", code="no_rule" if gate == "rules" else ""))
    return made


def called(call_id: str, sentence: str, *, screen: int = 1, target: Target | None = None, **changes: Any) -> ToolCalled:
    return ToolCalled(
        call_id=call_id,
        origin="model",
        turn_kind="user",
        tool="tap",
        effect="write",
        tier="reconcilable",
        arguments={"ref": 7},
        sentence=sentence,
        screen=screen,
        target=target,
        signals=[],
        verdicts=verdicts(),
        send_key="d42b643fcc6440c2893bf326c7da2525",
    ).model_copy(update=changes)


def returned(call_id: str, text: str, *, status: Status = "ok", **changes: Any) -> ToolReturned:
    return ToolReturned(
        call_id=call_id,
        tool="tap",
        status=status,
        sent="yes" if status == "ok" else "no",
        code="" if status == "ok" else status,
        text=text,
        artifact="",
        screen=None,
        ms=431,
        ends="",
    ).model_copy(update=changes)


BUY = Target(
    package=SHOP,
    points=[(540, 2190)],
    nodes=[node("Buy now", (65, 2094, 1015, 2291)), node("", (0, 0, 1080, 2400), None)],
)
