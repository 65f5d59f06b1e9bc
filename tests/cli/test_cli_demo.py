"""The demo as a newcomer sees it: everything shown, nothing needed, and the transcript proves it."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
from pathlib import Path

import pytest

from tests.cli.cli_shell import COMMAND, Shell


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
    assert "check text=You: Wi-Fi is on now: passed" in seen
    outcome, verified = done.stdout.splitlines()
    assert outcome.startswith("done: ") and str(shell.home) in outcome
    assert verified.startswith("transcript verified: ")
    assert f"{COMMAND} session show" in seen or "  droidpilot session show" in seen

    told = json.loads(shell.quick("session", "show", "--json").stdout)
    assert told["verification"]["ok"]
    assert told["totals"]["refused"] == 1
    assert told["header"]["ask"] == "risky, demo answers"
    asked = [call for call in told["calls"] if call["approval"]]
    assert [(call["approver"], call["approval"], call["state"]) for call in asked] == [("demo", "yes", "ok")]
    assert not list((shell.home / "virtual").iterdir())


def test_a_no_is_not_done_and_checked_and_the_demo_says_why(shell: Shell) -> None:
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [COMMAND, "demo"], cwd=shell.cwd, env=shell.environment(), stdin=slave, stdout=slave, stderr=slave
    )
    os.close(slave)
    seen = b""
    try:
        while select.select([master], [], [], 60)[0]:
            try:
                seen += os.read(master, 65_536)
            except OSError:  # the other end is closed
                break
            if b"y or n?" in seen and b"you said no" not in seen:
                os.write(master, b"n\n")
    finally:
        os.close(master)
        code = process.wait(60)
    text = seen.decode()
    assert code == 1, text
    assert "you said no" in text
    assert "check text=You: Wi-Fi is on now: FAILED" in text
    assert "\nfailed: " in text.replace("\r", "").replace("\x1b[31m", "")
    assert "This is not done and checked" in text
