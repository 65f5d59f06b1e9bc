"""How a session is drawn: one line per call with its verdict, prose as it streams, whole lines in a pipe."""

from __future__ import annotations

import pytest

from droidpilot.cli.progress import TerminalProgress, result_words, verdict_words
from droidpilot.core.calls import Answer, Status, ToolResult, Verdict
from droidpilot.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CheckFinished,
    ModelReplied,
    Noted,
    Target,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)


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
    assert capsys.readouterr().err == " not done 0.1 s: no way\n"


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
        (
            verdicts(
                last="approval",
                approval=VerdictLine(
                    gate="approval", answer="deny", code="person_said_no", reason="x said no; do not try it again"
                ),
            ),
            "refused: a person said no",
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


def asked(*, level: str = "confirm", rule: str | None = None, signals: tuple[str, ...] = ()) -> ApprovalAsked:
    return ApprovalAsked.model_validate(
        {
            "prompt_id": "c1-p1",
            "call_id": "c1",
            "sentence": 'Tap "Send"',
            "level": level,
            "signals": list(signals),
            "rule": rule,
            "approver": "none",
            "expires_s": 180.0,
        }
    )


def answered(answer: str, approver: str) -> ApprovalAnswered:
    return ApprovalAnswered.model_validate(
        {"prompt_id": "c1-p1", "call_id": "c1", "answer": answer, "approver": approver, "waited_s": 1.0}
    )


NOBODY = VerdictLine(gate="approval", answer="deny", code="nobody_to_ask", reason="for a model")


@pytest.mark.parametrize("is_brief", [False, True])
@pytest.mark.parametrize("is_live", [False, True])
@pytest.mark.parametrize(
    ("question", "why", "remedy"),
    [
        (asked(signals=('the risky word "send"',)), 'reason to ask: the risky word "send"', "an allow line for it"),
        (asked(rule="x.rules:3: ask tap"), "rule: x.rules:3: ask tap", "an allow line before that rule"),
        (asked(), "--ask wants it", "an allow line for it"),
        (asked(level="strong", signals=("a", "b")), "reason to ask: b", "no rule can do it in your place"),
    ],
)
def test_a_refusal_for_want_of_a_person_says_what_why_and_how_to_allow_it(
    question: ApprovalAsked, why: str, remedy: str, is_live: bool, is_brief: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = TerminalProgress(is_live=is_live, is_brief=is_brief)
    call = called(*verdicts(last="approval", approval=NOBODY)).model_copy(update={"target": Target(package="com.chat")})
    for event in (question, answered("nobody", "none"), call, returned("refused", "for a model")):
        progress.on_event(event)
    seen = capsys.readouterr().err
    lines = seen.splitlines()
    at = lines.index('  needs a yes: Tap "Send" in com.chat')
    assert why in lines[at + len(question.signals or (why,))]
    assert remedy in lines[-1] and lines[-1].startswith("    to allow it: ")
    assert at == (0 if is_brief else 1)
    assert is_brief or lines[0].endswith("[refused: it needs a yes, and nobody can be asked here] 0.1 s")
    assert "asked none" not in seen and "for a model" not in seen


def test_what_a_model_is_told_is_not_told_to_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    reason = "denied by x.rules:1: deny tap; do not try it again"
    refusal = VerdictLine(gate="rules", answer="deny", code="rule", reason=reason, rule="x.rules:1: deny tap")
    progress = TerminalProgress(is_live=False)
    for event in (called(*verdicts(last="rules", rules=refusal)), returned("refused", f"Refused: {reason}")):
        progress.on_event(event)
    seen = capsys.readouterr().err
    assert "x.rules:1: deny tap" in seen
    assert "do not try" not in seen and seen.count("\n") == 1


@pytest.mark.parametrize(
    ("answer", "approver", "words"),
    [("yes", "demo", "demo said yes"), ("yes", "terminal", "you said yes"), ("no", "terminal", "you said no")],
)
def test_an_answer_is_told_as_one(answer: str, approver: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    TerminalProgress(is_live=False).on_event(answered(answer, approver))
    assert capsys.readouterr().err == f"  {words}\n"


@pytest.mark.parametrize(
    ("status", "refusal", "sentence", "words"),
    [
        (Status.LOGIC, None, "there is no ref 12 (look again).", "not done: there is no ref 12 (look again)."),
        (Status.TRANSIENT, None, "busy.", "not done: busy."),
        (Status.STOPPED, None, "Stopped before anything was sent.", "Stopped before anything was sent."),
        (Status.UNKNOWN, None, "it broke.", "nobody knows whether it was done: it broke."),
        (Status.REFUSED, None, "The screen is hidden.", "refused: The screen is hidden."),
        (
            Status.REFUSED,
            Verdict("rules", Answer.DENY, "rule", "denied by r:1: deny tap; do not try it again", "r:1: deny tap"),
            "Refused by the rules gate: ...",
            "refused by rules: r:1: deny tap",
        ),
    ],
)
def test_the_end_of_a_call_by_hand_is_a_sentence_for_a_person(
    status: Status, refusal: Verdict | None, sentence: str, words: str
) -> None:
    verdicts = (refusal,) if refusal else ()
    result = ToolResult(call_id="h1", tool="tap", status=status, text="", verdicts=verdicts)
    assert result_words(result, sentence) == words
