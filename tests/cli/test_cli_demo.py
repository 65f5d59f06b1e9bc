"""The demo as a newcomer sees it: everything shown, nothing needed, and the transcript proves it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.cli_shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_the_demo_shows_a_refusal_a_question_a_check_and_a_verified_transcript(shell: Shell) -> None:
    # A project's file, a user's settings and keys of others must not spoil it.
    (shell.cwd / "droidpilot.toml").write_text('max_turns = 1\nrules = ["deny *"]\n')
    done = shell.run("demo", DROIDPILOT_MODEL="other", OPENAI_API_KEY="sk-not-to-be-used")
    assert done.returncode == 0, done.stderr
    seen = done.stderr
    assert "refused by rules: default.rules:" in seen
    assert "the demo answers for you" in seen
    assert "[approved by demo]" in seen
    assert "check setting:global/wifi_on=1: passed" in seen
    outcome, verified = done.stdout.splitlines()
    assert outcome.startswith("done: ") and str(shell.home) in outcome
    assert verified.startswith("transcript verified: ")
    assert "droidpilot session show" in seen

    told = json.loads(shell.quick("session", "show", "--json").stdout)
    assert told["verification"]["ok"]
    assert told["totals"]["refused"] == 1
    assert told["header"]["ask"] == "risky, demo answers"
    asked = [call for call in told["calls"] if call["approval"]]
    assert [(call["approver"], call["approval"], call["state"]) for call in asked] == [("demo", "yes", "ok")]
    assert not list((shell.home / "virtual").iterdir())
