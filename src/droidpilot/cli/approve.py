"""Asking a person at the terminal: a plain prompt of its own, which nothing typed before it can answer.

The question and its words come from the pipeline; this file shows them and reads one answer. It must never know what an
answer leads to. Without a terminal on both stdin and stderr there is nobody, and nobody means no.
"""

from __future__ import annotations

import sys
from typing import Literal

from droidpilot.cli import output
from droidpilot.cli.keyboard import Keyboard, Terminal
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.stop import Stop
from droidpilot.core.text import one_line, shorten
from droidpilot.pipeline.approval import ApprovalReply, ApprovalRequest, Approver, NoApprover

#: Nothing typed earlier than this after the question was shown counts: nobody can have read it sooner.
READING_S = 0.5
#: Seconds left at which the prompt says how many are left.
REMINDERS_S = (60.0, 10.0)
#: Characters of a sentence or a reason that are shown.
_MAX_SHOWN = 300


def approver_here(*, clock: Clock, stop: Stop) -> Approver:
    """Return who can be asked: the person at the terminal, or nobody."""
    if sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty():
        return TerminalApprover(Terminal(clock), clock=clock, stop=stop)
    return NoApprover()


class TerminalApprover:
    """Asks y or n, or for a strong confirm to retype the challenge."""

    name = "terminal"
    is_person = True

    def __init__(self, keyboard: Keyboard, *, clock: Clock, stop: Stop) -> None:
        self._keyboard = keyboard
        self._clock = clock
        self._stop = stop

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        """Show the question and wait for its answer; Ctrl-C is a stop, the end of input is a no, said as such."""
        with self._stop.interruptible():
            deadline = Deadline.after(self._clock, request.expires_s)
            _show(request)
            try:
                answer = self._answer(request, deadline)
                note = "  no answer in time, which means no" if answer == "expired" else ""
            except EOFError:
                # as a no that was typed: it is remembered, and ends the session at a strong question
                answer, note = "no", "  the input ended without an answer, which means no"
            output.note(note, style="dim")
        return ApprovalReply(request.prompt_id, answer)

    def _answer(self, request: ApprovalRequest, deadline: Deadline) -> Literal["yes", "no", "expired"]:
        self._discard_early(deadline)
        _prompt(request, deadline)
        while (line := self._line(deadline)) is not None:
            match _meaning(line, request):
                case "yes":
                    return "yes"
                case "no":
                    return "no"
                case "unclear":
                    self._keyboard.flush()
                    _prompt(request, deadline)
        return "expired"

    def _discard_early(self, deadline: Deadline) -> None:
        """Throw away what was typed before the question, and while it cannot have been read yet."""
        self._keyboard.flush()
        reading = deadline.sooner(READING_S)
        while not reading.is_over():
            self._keyboard.line(reading.left_s())
        self._keyboard.flush()

    def _line(self, deadline: Deadline) -> str | None:
        """Wait for a line to the deadline, reminding of it on the way; None when it passed."""
        while not deadline.is_over():
            left = deadline.left_s()
            reminder = next((mark for mark in REMINDERS_S if mark < left), 0.0)
            line = self._keyboard.line(left - reminder)
            if line is not None:
                return None if deadline.is_over() else line
            if reminder and not deadline.is_over():
                output.note(f"\n  {reminder:.0f} seconds left, then it is a no", style="dim")
        return None


def _meaning(line: str, request: ApprovalRequest) -> Literal["yes", "no", "unclear"]:
    word = line.strip()
    if word.lower() in ("n", "no"):
        return "no"
    if request.level == "strong":
        return "yes" if word and word == _challenge(request) else "unclear"
    return "yes" if word.lower() in ("y", "yes") else "unclear"


def _challenge(request: ApprovalRequest) -> str:
    """Return the challenge as it is shown, which is what can be retyped."""
    return output.safe(one_line(request.challenge)).strip()


def _show(request: ApprovalRequest) -> None:
    sentence = _shown(request.sentence)
    place = f" in {_shown(request.package)}" if request.package and request.package not in request.sentence else ""
    output.note()
    output.note(f"  May I? {sentence}{place}", style="bold")
    for signal in request.signals:
        output.note(f"    reason to ask: {_shown(signal)}")
    if request.rule:
        output.note(f"    rule: {_shown(request.rule)}")
    elif not request.signals:
        output.note("    reason to ask: --ask wants it, not a rule or a risky word")


def _prompt(request: ApprovalRequest, deadline: Deadline) -> None:
    minutes, seconds = divmod(round(deadline.left_s()), 60)
    left = f"{minutes}:{seconds:02}"
    if request.level == "strong":
        output.piece(f"  Type {_challenge(request)} to allow it, n to refuse ({left} left): ", style="warn")
    else:
        output.piece(f"  y or n? ({left} left) ", style="warn")


def _shown(text: str) -> str:
    return shorten(one_line(output.safe(text)), _MAX_SHOWN)
