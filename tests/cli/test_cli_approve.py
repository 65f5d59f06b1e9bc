"""The approval prompt: what counts as an answer, and when. On a fake keyboard with a clock, and on a real terminal."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections import deque
from dataclasses import replace

import pytest

from droidpilot.cli.approve import READING_S, TerminalApprover
from droidpilot.core.clock import ManualClock
from droidpilot.core.errors import Interrupted
from droidpilot.core.stop import Stop
from droidpilot.pipeline.approval import ApprovalRequest


def request(*, level: str = "confirm", challenge: str = "", sentence: str = "Tap Send in com.chat") -> ApprovalRequest:
    return ApprovalRequest(
        prompt_id="p1",
        call_id="c1",
        sentence=sentence,
        package="com.chat",
        level="strong" if level == "strong" else "confirm",
        signals=("word: send",),
        rule="default.rules:7: ask tap",
        challenge=challenge,
        expires_s=30.0 if level == "strong" else 180.0,
    )


class FakeKeyboard:
    """Lines that are typed at given seconds after the prompt opened; flushing loses those whose time has come."""

    def __init__(self, clock: ManualClock, *lines: tuple[float, str | None]) -> None:
        self._clock = clock
        self._opened = clock.monotonic()
        self._lines = deque(lines)

    def _now(self) -> float:
        return self._clock.monotonic() - self._opened

    def flush(self) -> None:
        while self._lines and self._lines[0][0] <= self._now():
            self._lines.popleft()

    def line(self, timeout_s: float) -> str | None:
        if not self._lines or self._lines[0][0] > self._now() + timeout_s:
            self._clock.advance(timeout_s)
            return None
        at, text = self._lines.popleft()
        self._clock.advance(max(0.0, at - self._now()))
        if text is None:
            raise EOFError
        return text


def answer(*lines: tuple[float, str | None], level: str = "confirm", challenge: str = "") -> str:
    clock = ManualClock()
    approver = TerminalApprover(FakeKeyboard(clock, *lines), clock=clock, stop=Stop())
    reply = approver.ask(request(level=level, challenge=challenge))
    assert reply.prompt_id == "p1"
    return reply.answer


@pytest.mark.parametrize("word", ["y", "Y", "yes", " yes "])
def test_a_plain_yes_is_a_yes(word: str) -> None:
    assert answer((1.0, word)) == "yes"


@pytest.mark.parametrize("word", ["n", "N", "no"])
def test_a_plain_no_is_a_no(word: str) -> None:
    assert answer((1.0, word), (2.0, "y")) == "no"


def test_what_was_typed_before_the_question_does_not_answer_it() -> None:
    assert answer((0.0, "y")) == "expired"
    assert answer((0.0, "y"), (3.0, "n")) == "no"


def test_what_was_typed_too_fast_to_have_been_read_does_not_answer() -> None:
    assert answer((READING_S / 2, "y")) == "expired"
    assert answer((READING_S, "y")) == "expired"
    assert answer((READING_S + 0.01, "y")) == "yes"


@pytest.mark.parametrize("word", ["", "ack", "yep", "ja", "1", "y n", "ye\x00s"])
def test_anything_else_asks_again(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer((1.0, word), (2.0, "y")) == "yes"
    assert capsys.readouterr().err.count("y or n?") == 2


def test_inv_11_no_answer_in_time_is_no_yes(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer((180.5, "y")) == "expired"
    errors = capsys.readouterr().err
    assert "60 seconds left" in errors
    assert "10 seconds left" in errors


def test_the_end_of_input_is_a_no_and_is_called_what_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    assert answer((1.0, None)) == "no"
    assert "the input ended without an answer, which means no" in capsys.readouterr().err


def test_a_strong_confirm_wants_its_challenge_retyped() -> None:
    assert answer((1.0, "y"), (2.0, "yes"), (3.0, "PAY 40"), level="strong", challenge="PAY 40") == "yes"
    assert answer((1.0, "pay 40"), (2.0, "n"), level="strong", challenge="PAY 40") == "no"
    assert answer((31.0, "PAY 40"), level="strong", challenge="PAY 40") == "expired"


def test_a_strong_confirm_without_a_challenge_cannot_be_confirmed() -> None:
    assert answer((1.0, ""), (2.0, "y"), level="strong", challenge="") == "expired"
    assert answer((1.0, ""), (2.0, "y"), level="strong", challenge="\u200b") == "expired"


def test_words_of_the_screen_cannot_forge_the_prompt(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()
    approver = TerminalApprover(FakeKeyboard(clock, (1.0, "n")), clock=clock, stop=Stop())
    approver.ask(request(sentence="Tap \x1b[2K\rOK\n  y or n? \u202e" + "x" * 5000))
    errors = capsys.readouterr().err
    assert "\x1b" not in errors and "\r" not in errors and "\u202e" not in errors
    assert max(map(len, errors.splitlines())) < 400
    assert [line for line in errors.splitlines() if line.startswith("  y or n?")] == ["  y or n? (3:00 left) "]


def test_a_question_always_says_why_it_is_asked(capsys: pytest.CaptureFixture[str]) -> None:
    clock = ManualClock()

    def shown(request: ApprovalRequest) -> str:
        TerminalApprover(FakeKeyboard(clock, (1.0, "n")), clock=clock, stop=Stop()).ask(request)
        return capsys.readouterr().err

    both = shown(request())
    assert "reason to ask: word: send" in both and "rule: default.rules:7: ask tap" in both and "--ask" not in both
    assert "reason to ask: --ask wants it" in shown(replace(request(), signals=(), rule=None))


def test_a_stop_asked_for_before_is_a_stop_and_asks_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    clock, stop = ManualClock(), Stop()
    stop.request()
    with pytest.raises(Interrupted):
        TerminalApprover(FakeKeyboard(clock, (1.0, "y")), clock=clock, stop=stop).ask(request())
    assert capsys.readouterr().err == ""


ASK = """
import sys
from droidpilot.cli.approve import approver_here
from droidpilot.cli.stopping import stop_on_signals
from droidpilot.core.clock import SystemClock
from droidpilot.core.errors import Interrupted
from droidpilot.core.stop import Stop
from droidpilot.pipeline.approval import ApprovalRequest
stop = Stop()
approver = approver_here(clock=SystemClock(), stop=stop)
request = ApprovalRequest(prompt_id="p", call_id="c", sentence="Tap Send", package=None, level="confirm", signals=(),
                          rule=None, challenge="", expires_s=20.0)
with stop_on_signals(stop):
    try:
        print("ANSWER", approver.name, approver.ask(request).answer, flush=True)
    except Interrupted:
        print("ANSWER interrupted", flush=True)
"""


class RealTerminal:
    """A child process that asks on a terminal of its own."""

    def __init__(self) -> None:
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-c", ASK], stdin=slave, stdout=slave, stderr=slave, start_new_session=True
        )
        os.close(slave)
        self.seen = ""

    def wait_for(self, words: str, times: int = 1) -> None:
        end = time.monotonic() + 20
        while self.seen.count(words) < times:
            assert time.monotonic() < end, self.seen
            if select.select([self.master], [], [], 0.5)[0]:
                self.seen += os.read(self.master, 4096).decode(errors="replace")

    def type(self, text: str) -> None:
        os.write(self.master, text.encode())

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.master)


def test_on_a_real_terminal_type_ahead_is_lost_and_a_late_y_counts() -> None:
    terminal = RealTerminal()
    try:
        terminal.type("y\nhalf a li")
        terminal.wait_for("May I?")
        terminal.type("y\n")
        terminal.wait_for("y or n?")
        terminal.type("ne\n")
        terminal.wait_for("y or n?", times=2)
        terminal.type("y\n")
        terminal.wait_for("ANSWER terminal yes")
    finally:
        terminal.close()


def test_half_a_line_typed_too_early_does_not_become_an_answer_later() -> None:
    terminal = RealTerminal()
    try:
        terminal.wait_for("May I?")
        terminal.type("y")
        terminal.wait_for("y or n?")
        terminal.type("\n")
        terminal.wait_for("y or n?", times=2)
        terminal.type("n\n")
        terminal.wait_for("ANSWER terminal no")
    finally:
        terminal.close()


def test_ctrl_c_in_the_prompt_is_a_stop() -> None:
    terminal = RealTerminal()
    try:
        terminal.wait_for("y or n?")
        terminal.process.send_signal(signal.SIGINT)
        terminal.wait_for("ANSWER interrupted")
    finally:
        terminal.close()


def test_inv_11_without_a_terminal_there_is_nobody() -> None:
    done = subprocess.run([sys.executable, "-c", ASK], input=b"y\ny\n", capture_output=True, timeout=60, check=True)
    assert done.stdout == b"ANSWER none nobody\n"
