"""Asking a command of the user's own: the question as JSON on its stdin, the answer as JSON on its stdout.

Whatever goes wrong with the command, nobody was asked, which means no. It is a program and no person, so a line that
wants a person is not for it. It must never be named by a project's file.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import Literal

from droidpilot.cli import output
from droidpilot.core.config import AUDIT_KEY
from droidpilot.core.errors import UsageError
from droidpilot.core.stop import Stop
from droidpilot.core.text import one_line, shorten
from droidpilot.pipeline.approval import ApprovalReply, ApprovalRequest

#: An answer is one short object.
MAX_ANSWER_BYTES = 64 * 1024


class CommandApprover:
    """Runs the command once for each question."""

    name = "command"
    is_person = False

    def __init__(self, command: str, *, stop: Stop, env: Mapping[str, str]) -> None:
        """Raises UsageError where the command cannot be run as it is written."""
        try:
            self._argv = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"the approver {command!r} cannot be read: {error}", hint="check its quotes") from error
        if not self._argv or shutil.which(self._argv[0], path=env.get("PATH")) is None:
            raise UsageError(
                f"the approver's program {shorten(' '.join(self._argv[:1]), 100)!r} is not there or cannot be run",
                hint="name it with its path, and make it executable; no shell is used",
            )
        self._stop = stop
        self._env = {name: value for name, value in env.items() if not name.endswith("_API_KEY") and name != AUDIT_KEY}

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        """Ask the command; it must answer with the same prompt id, and for a strong confirm repeat the challenge."""
        with self._stop.interruptible():
            answer, problem = self._run(request)
        if problem:
            output.note(f"  the approver {self._argv[0]}: {problem}, which means no", style="warn")
        return ApprovalReply(request.prompt_id, answer)

    def _run(self, request: ApprovalRequest) -> tuple[Literal["yes", "no", "expired", "nobody"], str]:
        question = json.dumps(asdict(request)).encode()
        try:
            child = subprocess.Popen(
                self._argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._env, start_new_session=True
            )
        except OSError as error:
            return "nobody", f"it does not start ({error.strerror or error})"
        try:
            told, _ = child.communicate(question, timeout=request.expires_s)
        except subprocess.TimeoutExpired:
            return "expired", "no answer in time"
        finally:
            _end(child)
        if child.returncode != 0:
            return "nobody", f"it ended with {child.returncode}"
        return _answer_of(told, request)


def _answer_of(told: bytes, request: ApprovalRequest) -> tuple[Literal["yes", "no", "nobody"], str]:
    try:
        answer = json.loads(told) if len(told) <= MAX_ANSWER_BYTES else None
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict) or answer.get("answer") not in ("yes", "no"):
        said = shorten(one_line(told[:200].decode("utf-8", "replace")), 80)
        return "nobody", f'its answer is not {{"prompt_id": ..., "answer": "yes" or "no"}} ({said})'
    if answer.get("prompt_id") != request.prompt_id:
        return "nobody", "it answers another question"
    if answer["answer"] == "yes" and request.level == "strong" and answer.get("challenge") != request.challenge:
        return "nobody", 'a yes to this needs the question\'s "challenge" in the answer'
    return ("yes", "") if answer["answer"] == "yes" else ("no", "")


def _end(child: subprocess.Popen[bytes]) -> None:
    """End the command and all that it started."""
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            child.kill()
        else:
            os.killpg(child.pid, signal.SIGKILL)
    with contextlib.suppress(OSError, ValueError):
        child.communicate()
