"""An approver that is a command: what it is told, what counts as its answer, and that all else means no."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from droidpilot.cli.approve_command import CommandApprover
from droidpilot.core.errors import Interrupted, UsageError
from droidpilot.core.stop import Stop
from droidpilot.pipeline.approval import ApprovalRequest
from tests.cli.cli_shell import running_bench
from tests.cli.test_cli_approve import request

ROOT = Path(__file__).parents[2]
ANSWER = "import json, sys; q = json.load(sys.stdin); print(json.dumps({%s}))"


def approver(code: str, *, stop: Stop | None = None, env: Mapping[str, str] = os.environ) -> CommandApprover:
    return CommandApprover(shlex.join([sys.executable, "-c", code]), stop=stop or Stop(), env=env)


def answer(code: str, asked: ApprovalRequest | None = None, env: Mapping[str, str] = os.environ) -> str:
    reply = approver(code, env=env).ask(asked or request())
    assert reply.prompt_id == "p1"
    return reply.answer


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("'prompt_id': q['prompt_id'], 'answer': 'yes'", "yes"),
        ("'prompt_id': q['prompt_id'], 'answer': 'no'", "no"),
        ("'prompt_id': q['prompt_id'], 'answer': 'Yes'", "nobody"),
        ("'prompt_id': q['prompt_id'], 'answer': True", "nobody"),
        ("'prompt_id': 'p0', 'answer': 'yes'", "nobody"),
        ("'answer': 'yes'", "nobody"),
    ],
)
def test_only_a_yes_to_this_question_is_one(fields: str, expected: str) -> None:
    assert answer(ANSWER % fields) == expected


@pytest.mark.parametrize(
    "code",
    [
        "", "print('yes')", "print('[]')", "print('{')", "print('x' * 100_000)", "raise SystemExit(3)",
        "import sys; sys.stdin.close(); raise SystemExit(1)", "print('[' * 100_000)",
        ANSWER % "'prompt_id': q['prompt_id'], 'answer': 'yes'" + "; sys.exit(1)",
        "import sys; sys.stdout.buffer.write(b'\\xff\\xfe')",
    ],
)  # fmt: skip
def test_a_command_that_fails_means_that_nobody_could_be_asked(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(code) == "nobody"
    assert capsys.readouterr().err.count("\n") == 1


def test_a_strong_yes_repeats_the_challenge() -> None:
    strong = request(level="strong", challenge="Pay 12.00")
    yes = "'prompt_id': q['prompt_id'], 'answer': 'yes'"
    assert answer(ANSWER % yes, strong) == "nobody"
    assert answer(ANSWER % (yes + ", 'challenge': 'Pay'"), strong) == "nobody"
    assert answer(ANSWER % (yes + ", 'challenge': q['challenge']"), strong) == "yes"


def test_no_answer_in_time_is_none_and_nothing_of_the_command_is_left(tmp_path: Path) -> None:
    marker = tmp_path / "late"
    child = f"import time; time.sleep(2); open({str(marker)!r}, 'w')"
    code = f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    asked = replace(request(), expires_s=0.8)
    began = time.monotonic()
    assert answer(code, asked) == "expired"
    assert time.monotonic() - began < 10
    time.sleep(2.5)
    assert not marker.exists()


def test_the_command_sees_the_question_and_no_key(tmp_path: Path) -> None:
    told = tmp_path / "told"
    code = (
        f"import json, os, sys; q = json.load(sys.stdin); "
        f"open({str(told)!r}, 'w').write(json.dumps([q, dict(os.environ)])); "
        "print(json.dumps({'prompt_id': q['prompt_id'], 'answer': 'no'}))"
    )
    env = {"OPENAI_API_KEY": "sk-1", "DROIDPILOT_AUDIT_KEY": "0123456789abcdef", "MINE": "kept"}
    assert answer(code, env={**os.environ, **env}) == "no"
    question, seen = json.loads(told.read_text())
    assert question["sentence"] == "Tap Send in com.chat" and question["signals"] == ["word: send"]
    assert seen["MINE"] == "kept" and not {"OPENAI_API_KEY", "DROIDPILOT_AUDIT_KEY"} & set(seen)


@pytest.mark.parametrize("command", ["", "  ", "'open", "/nosuch/program", "nosuchprogram --x"])
def test_a_command_that_cannot_be_run_is_an_error_before_anything_starts(command: str) -> None:
    with pytest.raises(UsageError) as caught:
        CommandApprover(command, stop=Stop(), env=os.environ)
    assert caught.value.hint


def test_a_stop_before_the_question_is_a_stop() -> None:
    stop = Stop()
    stop.request()
    with pytest.raises(Interrupted):
        approver(ANSWER % "'answer': 'yes'", stop=stop).ask(request())


def test_call_asks_the_command_and_rules_may_want_a_person(tmp_path: Path) -> None:
    with running_bench(tmp_path / "bench") as bench:
        program = bench.shell.cwd / "approve.py"
        program.write_text(ANSWER % "'prompt_id': q['prompt_id'], 'answer': sys.argv[1]")
        command = shlex.join([sys.executable, str(program)])
        (bench.shell.cwd / "ask.rules").write_text("ask press matching home\nask person press matching back\n")
        words = ("--policy", "./ask.rules", "--approver")
        assert bench.call("press", "key=home", *words, f"{command} yes").returncode == 0
        assert bench.call("press", "key=home", *words, f"{command} no").returncode == 5
        person = bench.call("press", "key=back", *words, f"{command} yes")
        assert person.returncode == 5 and "a person's own yes" in person.stderr
        wrong = bench.call("press", "key=home", *words, "nosuchprogram")
        assert wrong.returncode == 2 and wrong.stderr.count("\n") == 1
        (bench.shell.cwd / "droidpilot.toml").write_text('approver = "/bin/true"\n')
        project = bench.call("press", "key=home")
        assert project.returncode == 2 and "may not be set by a project" in project.stderr


def test_the_program_of_the_page_answers_as_the_page_says(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "howto" / "approver.md").read_text(encoding="utf-8")
    program = tmp_path / "approver.py"
    (code,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program.write_text(code)
    strong = request(level="strong", challenge="x")
    asked = CommandApprover(f"{sys.executable} {program}", stop=Stop(), env=os.environ)
    assert asked.ask(strong).answer == "no"
    assert asked.ask(request()).answer in ("yes", "no")
    shown, _ = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert set(json.loads(shown)) == set(ApprovalRequest.__dataclass_fields__)
