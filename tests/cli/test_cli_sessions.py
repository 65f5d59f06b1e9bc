"""`session list|show|verify` on transcripts written by the real writer, whole, killed and tampered with."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from droidpilot.cli.app import app
from droidpilot.core.clock import ManualClock
from droidpilot.core.events import (
    AskedFor,
    CheckFinished,
    ModelReplied,
    SessionEnded,
    SessionStarted,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.transcript.meta import Meta, MetaFile, process_started
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.writer import TranscriptWriter
from tests.cli.cli_shell import running_bench

ID = "20260101-000000-abcd"


def started() -> SessionStarted:
    return SessionStarted(
        goal="turn it on",
        origin="model",
        version="0",
        serial="S1",
        is_virtual=True,
        model="m",
        policy="default",
        policy_digest="0",
        ask="risky",
        approver="none",
        tools=["tap"],
        limits={"turns": 50, "usd": None},
    )


def replied(*call_ids: str) -> ModelReplied:
    asked = [AskedFor(call_id=name, model_call_id=name, tool="tap", arguments={"ref": 3}) for name in call_ids]
    return ModelReplied(
        turn=1,
        model="m",
        text="I tap \x1b[31mit\u202e",
        calls=asked,
        finish_reason="tool_calls",
        prompt_tokens=10,
        completion_tokens=2,
        cached_tokens=0,
        usd=None,
        is_estimated=False,
        attempts=1,
        ms=5,
    )


def called(call_id: str, *, effect: str = "write", answer: str = "allow") -> ToolCalled:
    return ToolCalled(
        call_id=call_id,
        origin="model",
        turn_kind="user",
        tool="tap",
        effect="read" if effect == "read" else "write",
        tier="blind",
        arguments={"ref": 3},
        sentence=f"Tap {call_id}",
        screen=1,
        target=None,
        signals=[],
        verdicts=[VerdictLine(gate="rules", answer=answer, rule="default.rules:3: deny tap", reason="a rule says no")],
        send_key="",
    )


def returned(call_id: str) -> ToolReturned:
    return ToolReturned(
        call_id=call_id,
        tool="tap",
        status="ok",
        sent="yes",
        code="",
        text="Done.",
        artifact="",
        screen=2,
        ms=3,
        ends="",
    )


class Recorded:
    """A state folder with sessions in it, and the command line that reads it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.runner = CliRunner(env={"DROIDPILOT_HOME": str(home)})

    def write(self, session_id: str = ID, *, meta: Meta | None = None) -> Path:
        with TranscriptWriter.create(self.home, session_id, clock=ManualClock(), redactor=Redactor()) as writer:
            for event in (started(), replied("sent", "refused", "killed", "unsent"), called("sent"), returned("sent")):
                writer.append(event)
            writer.append(called("refused", answer="deny"))
            writer.append(CheckFinished(expression="text=On", passed=False, reason="not there"))
            writer.append(called("killed"))
            MetaFile(writer.directory).write(
                meta or Meta(id=session_id, title="turn it on", started="2026", serial="S1")
            )
            return writer.directory

    def run(self, *words: str) -> Result:
        return self.runner.invoke(app, list(words))

    def json(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json").stdout)


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    return Recorded(tmp_path)


def test_show_tells_what_became_of_each_call(recorded: Recorded) -> None:
    recorded.write()
    result = recorded.run("session", "show")
    assert result.exit_code == 0
    assert "Tap sent  [ok]" in result.stdout
    assert "Tap refused  [refused]" in result.stdout
    assert "default.rules:3" in result.stdout
    assert "Tap killed  [unknown]" in result.stdout
    assert "tap ref=3  [not sent]" in result.stdout
    assert "1 write may or may not have happened" in result.stdout
    assert result.stdout.splitlines()[-1] == "verified: 7 lines, the chain holds"
    states = {call["call_id"]: call["state"] for call in recorded.json("session", "show")["calls"]}
    assert states == {"sent": "ok", "refused": "refused", "killed": "unknown", "unsent": "not_sent"}


def test_show_lets_nothing_recorded_drive_the_terminal(recorded: Recorded) -> None:
    recorded.write()
    for words in (("session", "show"), ("session", "show", "--json")):
        text = recorded.run(*words).stdout
        assert "\x1b" not in text and "\u202e" not in text


def test_show_takes_the_last_session_or_a_prefix(recorded: Recorded) -> None:
    recorded.write("20260101-000000-aaaa")
    recorded.write("20260102-000000-aaaa")
    recorded.write("20260102-000000-bbbb")
    assert recorded.json("session", "show")["header"]["session"] == "20260102-000000-bbbb"
    assert recorded.json("session", "show", "20260101")["header"]["session"] == "20260101-000000-aaaa"
    result = recorded.run("session", "show", "20260102")
    assert result.exit_code != 0
    assert "2 sessions begin with 20260102" in str(result.exception)


def test_verify_names_the_first_bad_line_and_exits_1(recorded: Recorded) -> None:
    directory = recorded.write()
    assert recorded.run("session", "verify").exit_code == 0
    path = directory / "transcript.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"Tap sent", b"Tap gone"), *lines[3:]]))
    result = recorded.run("session", "verify")
    assert result.exit_code == 1
    assert "line 3 is the first bad one" in result.stdout
    assert recorded.json("session", "verify")["first_bad_line"] == 3
    shown = recorded.run("session", "show")
    assert shown.exit_code == 1
    told = shown.stdout.splitlines()
    assert told[0].startswith("NOT verified: line 3") and told[-1] == told[0]
    assert recorded.run("session", "show", "--json").exit_code == 1
    assert recorded.run("session", "show", "--html", str(recorded.home / "page.html")).exit_code == 1


@pytest.mark.parametrize(
    ("meta", "state"),
    [
        (Meta(id=ID, started="2026", outcome="done", exit_code=0), "done"),
        (
            Meta(id=ID, started="2026", is_running=True, pid=os.getpid(), pid_started=process_started(os.getpid())),
            "running",
        ),
        (Meta(id=ID, started="2026", is_running=True, pid=os.getpid(), pid_started="1"), "killed"),
    ],
)
def test_list_says_how_each_session_stands(recorded: Recorded, meta: Meta, state: str) -> None:
    recorded.write(meta=meta)
    assert recorded.json("session", "list")["sessions"][0]["state"] == state
    assert state in recorded.run("session", "list").stdout
    shown = recorded.run("session", "show").stdout
    if state in ("running", "killed"):
        assert f"outcome: {state};" in shown
        why = "no answer yet: it runs" if state == "running" else "no answer: killed while it ran"
        assert f"Tap killed  [unknown]  ({why}; " in shown


def test_what_a_session_without_an_ending_used_is_read_from_its_transcript(recorded: Recorded) -> None:
    # Its meta file was last written when it began.
    recorded.write(meta=Meta(id=ID, started="2026", serial="S1", is_running=True, pid=os.getpid(), pid_started="1"))
    told = recorded.json("session", "list")["sessions"][0]
    assert (told["state"], told["turns"], told["actions"]) == ("killed", 0, 2)
    row = recorded.run("session", "list").stdout.splitlines()[1].split()
    assert row[1:5] == ["killed", "S1", "0", "2"]


def test_a_read_that_a_kill_cut_off_did_not_stop_by_itself(recorded: Recorded) -> None:
    with TranscriptWriter.create(recorded.home, ID, clock=ManualClock(), redactor=Redactor()) as writer:
        for event in (started(), replied("read"), called("read", effect="read")):
            writer.append(event)
        MetaFile(writer.directory).write(Meta(id=ID, started="2026", is_running=True, pid=1, pid_started="0"))
    line = next(line for line in recorded.run("session", "show").stdout.splitlines() if "Tap read" in line)
    assert "(no answer: killed while it ran" in line
    assert "[" not in line
    assert recorded.json("session", "show")["calls"][0]["state"] == "stopped"


def test_a_long_rule_stands_once_and_what_a_model_was_told_not_at_all(recorded: Recorded) -> None:
    rule = "default.rules:3: deny tap matching " + "(?i)reset|" * 20
    verdict = VerdictLine(
        gate="rules", answer="deny", code="rule", reason=f"denied by {rule}; do not try it again", rule=rule
    )
    with TranscriptWriter.create(recorded.home, ID, clock=ManualClock(), redactor=Redactor()) as writer:
        writer.append(started())
        for call_id in ("first", "second"):
            writer.append(called(call_id).model_copy(update={"verdicts": [verdict]}))
            told = f"Refused by the rules gate: {verdict.reason}."
            writer.append(returned(call_id).model_copy(update={"status": "refused", "sent": "no", "text": told}))
    shown = recorded.run("session", "show").stdout
    assert shown.count(rule) == 1
    assert "Tap second  [refused]  (default.rules:3)" in shown
    assert "do not try" not in shown


def test_show_without_an_id_says_that_it_is_the_last_one(recorded: Recorded) -> None:
    recorded.write()
    assert "the last one" in recorded.run("session", "show").stdout.splitlines()[0]
    assert "the last one" not in recorded.run("session", "show", ID).stdout


def test_list_reports_an_unreadable_session_and_an_empty_folder(recorded: Recorded) -> None:
    result = recorded.run("session", "list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "droidpilot demo" in result.stderr
    assert recorded.json("session", "list") == {"sessions": []}
    directory = recorded.write()
    (directory / "meta.json").write_text("{")
    assert recorded.json("session", "list")["sessions"][0]["state"] == "unreadable"


def test_an_ended_session_shows_its_outcome(recorded: Recorded) -> None:
    with TranscriptWriter.create(recorded.home, ID, clock=ManualClock(), redactor=Redactor()) as writer:
        writer.append(started())
        writer.append(
            SessionEnded(
                outcome="failed",
                exit_code=1,
                reason="a check failed",
                summary="all done!",
                turns=1,
                actions=0,
                tokens=12,
                usd=None,
                seconds=1.0,
            )
        )
    assert "outcome: failed" in recorded.run("session", "show").stdout
    assert recorded.json("session", "show")["exit_code"] == 1


def test_a_person_sees_the_newest_thirty_sessions_and_is_told_of_the_others(recorded: Recorded) -> None:
    for number in range(32):
        session = f"20260101-0000{number:02d}-aaaa"
        with TranscriptWriter.create(recorded.home, session, clock=ManualClock(), redactor=Redactor()) as writer:
            writer.append(started())
    shown = recorded.run("session", "list")
    names = [line.split()[0] for line in shown.stdout.splitlines()[1:]]
    assert names == [f"20260101-0000{number:02d}-aaaa" for number in range(31, 1, -1)]
    assert "2 older sessions not shown" in shown.stderr
    assert len(recorded.run("session", "list", "--last", "0").stdout.splitlines()) == 33
    assert len(recorded.json("session", "list")["sessions"]) == 32
    assert len(recorded.json("session", "list", "--last", "3")["sessions"]) == 3


def test_a_session_that_asked_no_model_has_no_price(recorded: Recorded) -> None:
    recorded.write()
    assert "$" not in recorded.run("session", "show").stdout


def test_a_session_is_sealed_with_the_audit_key_of_the_environment(tmp_path: Path) -> None:
    key = {"DROIDPILOT_AUDIT_KEY": "correct horse battery staple"}
    with running_bench(tmp_path / "bench") as bench:
        assert bench.call("press", "key=home", **key).returncode == 0
    told = bench.shell.json("session", "verify", DROIDPILOT_AUDIT_KEY=key["DROIDPILOT_AUDIT_KEY"])
    assert (told["is_sealed"], told["is_seal_checked"]) == (True, True)
    assert "not checked" in bench.shell.quick("session", "verify").stdout
    wrong = bench.shell.quick("session", "verify", DROIDPILOT_AUDIT_KEY="another horse of the same kind")
    assert wrong.returncode == 1 and "line 1 is the first bad one" in wrong.stdout
    short = bench.shell.quick("session", "verify", DROIDPILOT_AUDIT_KEY="short")
    assert short.returncode == 2 and short.stderr.count("\n") == 1
    everything = b"".join(path.read_bytes() for path in bench.shell.home.rglob("*") if path.is_file())
    assert b"correct horse" not in everything


def test_a_transcript_that_was_changed_is_named_by_a_replay(recorded: Recorded) -> None:
    directory = recorded.write()
    assert recorded.run("policy", "replay", "default", "--exit-code").exit_code in (0, 9)
    path = directory / "transcript.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Tap sent", b"Tap mine"))
    done = recorded.run("policy", "replay", "default")
    assert done.exit_code == 0 and f"{ID}: its transcript does not verify" in done.stderr
    told = recorded.run("policy", "replay", "default", "--exit-code", "--json")
    assert told.exit_code == 1
    assert json.loads(told.stdout)["verified"] is False and ID in json.loads(told.stdout)["unverified"]
