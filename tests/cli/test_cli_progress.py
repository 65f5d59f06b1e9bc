"""How a session is drawn: one line per call with its verdict, prose as it streams, whole lines in a pipe."""

from __future__ import annotations

import pytest

from droidpilot.cli.progress import TerminalProgress, verdict_words
from droidpilot.core.events import CheckFinished, ModelReplied, Noted, ToolCalled, ToolReturned, VerdictLine


def called(*verdicts: VerdictLine) -> ToolCalled:
    return ToolCalled(
        call_id="c1",
        origin="model",
        turn_kind="user",
        tool="tap",
        effect="write",
        tier="blind",
        arguments={},
        sentence="Tap \x1b[31mSend\nin com.chat",
        screen=1,
        target=None,
        signals=[],
        verdicts=list(verdicts),
        send_key="k",
    )


def returned(status: str = "ok", text: str = "Done.") -> ToolReturned:
    return ToolReturned.model_validate(
        {
            "call_id": "c1",
            "tool": "tap",
            "status": status,
            "sent": "no",
            "code": "",
            "text": text,
            "artifact": "",
            "screen": None,
            "ms": 120,
            "ends": "",
        }
    )


def replied(text: str) -> ModelReplied:
    return ModelReplied(
        turn=1,
        model="m",
        text=text,
        calls=[],
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        cached_tokens=0,
        usd=None,
        is_estimated=False,
        attempts=1,
        ms=1,
    )


def verdicts(*, last: str = "staleness", **more: VerdictLine) -> list[VerdictLine]:
    gates = ["capability", "rules", "approval", "budget", "staleness"]
    return [more.get(gate, VerdictLine(gate=gate, answer="allow")) for gate in gates[: gates.index(last) + 1]]


def test_a_call_is_one_line_with_its_verdict_and_its_status(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=False)
    progress.on_event(called(*verdicts()))
    assert capsys.readouterr().err == ""
    progress.on_event(returned())
    assert capsys.readouterr().err == "  Tap Send in com.chat  [allowed] ok 0.1 s\n"


def test_on_a_terminal_the_call_is_seen_before_it_ends(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=True)
    progress.on_event(called(*verdicts()))
    assert capsys.readouterr().err == "  Tap Send in com.chat  [allowed]"
    progress.on_event(returned("logic", "no\nway"))
    assert capsys.readouterr().err == " logic 0.1 s: no way\n"


def test_a_note_in_the_middle_of_a_call_begins_a_line_of_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=True)
    progress.on_event(called(*verdicts()))
    progress.on_event(Noted(text="slow"))
    assert capsys.readouterr().err.splitlines()[1] == "  note: slow"


def test_prose_streams_on_a_terminal_and_is_not_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=True)
    for piece in ("I ta", "p \x1b", "[2Jit"):
        progress.on_text(piece)
    progress.on_event(replied("I tap it"))
    progress.on_event(called(*verdicts()))
    assert capsys.readouterr().err.splitlines()[0] == "I tap [2Jit"


def test_prose_that_starts_over_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=True)
    progress.on_text("half")
    progress.on_text("")
    progress.on_text("whole")
    progress.on_event(replied("whole"))
    assert capsys.readouterr().err.splitlines() == ["half", "  (the reply was cut; it starts over)", "whole"]


def test_in_a_pipe_prose_comes_as_it_was_recorded(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=False)
    progress.on_text("secret")
    progress.on_event(replied("[redacted]"))
    assert capsys.readouterr().err == "[redacted]\n"


def test_a_brief_progress_leaves_calls_out_and_keeps_notes(capsys: pytest.CaptureFixture[str]) -> None:
    progress = TerminalProgress(is_live=False, is_brief=True)
    for event in (called(*verdicts()), returned(), Noted(text="careful")):
        progress.on_event(event)
    progress.on_step("connecting")
    assert capsys.readouterr().err == "  note: careful\n"


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (verdicts(), "allowed"),
        ([], "not judged"),
        (verdicts(last="capability"), "not judged"),
        (verdicts(last="budget"), "not judged"),
        (
            verdicts(rules=VerdictLine(gate="rules", answer="allow", rule="x.rules:3: allow tap")),
            "allowed by x.rules:3: allow tap",
        ),
        (
            verdicts(approval=VerdictLine(gate="approval", answer="allow", code="approved", reason="approved by demo")),
            "approved by demo",
        ),
        (
            verdicts(last="rules", rules=VerdictLine(gate="rules", answer="deny", rule="x.rules:1: deny tap")),
            "refused by rules: x.rules:1: deny tap",
        ),
        (
            verdicts(last="budget", budget=VerdictLine(gate="budget", answer="halt", reason="all 2 turns are used")),
            "refused by budget: all 2 turns are used",
        ),
    ],
)
def test_the_verdict_in_a_few_words(lines: list[VerdictLine], words: str) -> None:
    assert verdict_words(lines) == words


@pytest.mark.parametrize(
    ("passed", "words"), [(True, "passed"), (False, "FAILED"), (None, "not judged, so not passed")]
)
def test_a_check_says_what_it_saw(passed: bool | None, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    TerminalProgress(is_live=False).on_event(CheckFinished(expression="text=On", passed=passed, reason="saw it"))
    assert capsys.readouterr().err == f"  check text=On: {words} (saw it)\n"
