"""`droidpilot run`: what each ending prints and exits with, against a scripted model on a virtual phone."""

from __future__ import annotations

import json
import select
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import Bench, running_bench, script

HOME = "calls: [{tool: press, args: {key: home}}]"
BACK = "calls: [{tool: press, args: {key: back}}]"
DONE = "calls: [{tool: done, args: {summary: all fine}}]"
SETTINGS = "calls: [{tool: open_app, args: {app: Settings}}]"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("bench")) as running:
        yield running


def run(bench: Bench, text: str, *words: str) -> subprocess.CompletedProcess[str]:
    return bench.shell.quick("run", "the goal", *bench.model(text), *words)


def run_json(bench: Bench, text: str, *words: str) -> tuple[int, Any]:
    done = run(bench, text, *words, "--json")
    return done.returncode, json.loads(done.stdout)


def test_done_and_checked_is_0_in_one_line(bench: Bench) -> None:
    done = run(bench, script(SETTINGS, DONE), "--check", "package=com.android.settings", "--check", "text=Network")
    assert done.returncode == 0, done.stderr
    line = done.stdout.rstrip("\n")
    assert "\n" not in line
    assert line.startswith("done: ")
    assert "2 turns" in line and "1 action" in line and "tokens" in line and "price unknown" in line
    assert str(bench.shell.home / "sessions") in line
    assert bench.shell.quick("session", "verify").returncode == 0


def test_every_step_is_seen_on_stderr_as_one_line_with_its_verdict(bench: Bench) -> None:
    done = run(bench, script('{say: "I open it.", ' + SETTINGS + "}", DONE), "--no-check")
    lines = done.stderr.splitlines()
    assert "I open it." in lines
    opened = next(line for line in lines if "Settings" in line and "[" in line)
    assert "[allowed]" in opened and " ok " in opened
    assert any(line.startswith("session 2") for line in lines)
    assert any("limits: 50 turns, 100 actions, 500000 tokens, 900 seconds" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "code", "outcome"),
    [
        ((), 8, "unchecked"),
        (("--no-check",), 0, "done"),
        (("--check", "text=No such thing"), 1, "failed"),
        (("--check", "package=com.android.launcher3", "--check", "setting:global/wifi_on=7"), 1, "failed"),
        (("--check", "text!=No such thing"), 0, "done"),
    ],
)
def test_a_claim_counts_for_what_was_checked(bench: Bench, words: tuple[str, ...], code: int, outcome: str) -> None:
    exit_code, told = run_json(bench, script(HOME, DONE), *words)
    assert (exit_code, told["exit_code"], told["outcome"]) == (code, code, outcome)
    assert told["summary"] == "all fine"
    assert [check["expression"] for check in told["checks"]] == [word for word in words if not word.startswith("--")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--max-turns", "2"), "2 turns"),
        (("--max-actions", "1"), "1 action"),
        (("--max-tokens", "10"), "tokens"),
        (("--max-seconds", "0.001"), "seconds"),
    ],
)
def test_a_spent_budget_is_6_and_never_0(bench: Bench, words: tuple[str, ...], said: str) -> None:
    done = run(bench, script(HOME, BACK, HOME, BACK, DONE), "--no-check", *words)
    assert done.returncode == 6, done.stderr
    assert done.stdout.startswith("budget: ")
    assert said in done.stdout
    assert words[0] in done.stdout


def test_money_is_counted_where_prices_are_set_and_limits_a_run(bench: Bench) -> None:
    costly = "{" + HOME + ", usage: {prompt: 1000000, completion: 0}}"
    words = bench.model(script(costly, costly, DONE))
    prices = {"DROIDPILOT_PRICES_INPUT": "2", "DROIDPILOT_PRICES_OUTPUT": "8"}
    done = bench.shell.quick(
        "run", "goal", *words, "--max-usd", "1.5", "--no-check", "--max-tokens", "10000000", **prices
    )
    assert done.returncode == 6, done.stderr
    assert "$2.000" in done.stdout


def test_nothing_starts_without_a_model_or_a_price(bench: Bench) -> None:
    sessions = bench.shell.home / "sessions"
    before = len(list(sessions.iterdir())) if sessions.is_dir() else 0
    done = bench.shell.quick("run", "goal", "--device", bench.serial)
    assert done.returncode == 2
    assert "--model" in done.stderr and "demo" in done.stderr
    done = bench.shell.quick("run", "goal", *bench.model(script(DONE)), "--max-usd", "1")
    assert done.returncode == 2
    assert "prices" in done.stderr
    model = bench.model(script(DONE))
    for words in (("--check", "nonsense"), ("--policy", "nosuch"), ("--policy", "./nosuch.rules"), ("--base-url", "x")):
        done = bench.shell.quick("run", "goal", *model, *words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert done.stderr.count("\n") == 1
    assert (len(list(sessions.iterdir())) if sessions.is_dir() else 0) == before


def test_free_is_a_price_of_0(bench: Bench) -> None:
    free = {"DROIDPILOT_PRICES_INPUT": "0", "DROIDPILOT_PRICES_OUTPUT": "0"}
    done = bench.shell.quick("run", "g", *bench.model(script(DONE)), "--max-usd", "1", "--no-check", **free)
    assert done.returncode == 0, done.stderr
    assert "$0.0000" in done.stdout


def test_trouble_with_the_model_is_4_in_one_line_and_in_the_transcript(bench: Bench) -> None:
    code, told = run_json(bench, script("{say: x, fault: {status: 401}}"))
    assert (code, told["outcome"], told["exit_code"]) == (4, "model", 4)
    assert bench.shell.json("session", "show", told["session"])["exit_code"] == 4


def test_a_model_that_is_tried_again_is_seen_to_be(bench: Bench) -> None:
    done = run(bench, script("{say: x, fault: {status: 503, retry_after: 0.01}}", DONE), "--no-check")
    assert done.returncode == 0, done.stderr
    assert "answered 503" in done.stderr and "trying again in 0.01 s (2 of 4)" in done.stderr


def test_a_server_of_this_machine_that_is_not_there_ends_a_run_at_once(bench: Bench) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))  # and nobody listens
        url = f"http://127.0.0.1:{probe.getsockname()[1]}/v1"
        done = bench.shell.quick("run", "g", "--device", bench.serial, "--model", "m", "--base-url", url)
    assert done.returncode == 4
    assert "Start it first" in done.stdout and url in done.stdout
    assert "trying again" not in done.stderr


def test_the_first_example_of_the_howto_works_as_it_stands(bench: Bench) -> None:
    text = (Path(__file__).parents[2] / "docs" / "howto" / "model-server.md").read_text(encoding="utf-8")
    steps = text.split("```yaml\n", 1)[1].split("```", 1)[0]
    command = text.split("$ droidpilot run ", 1)[1].split("```", 1)[0].replace("\\\n", " ")
    (bench.shell.cwd / "wifi.yaml").write_text(steps, encoding="utf-8")
    with bench.shell.serving("model-server", "wifi.yaml") as (_, base_url):
        words = [base_url if word == "http://127.0.0.1:8765/v1" else word for word in shlex.split(command)]
        assert base_url in words
        done = bench.shell.run("run", *words)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("done: ")
        again = bench.shell.run("run", *words)
    assert again.returncode == 4
    assert "only 5 steps" in again.stdout


def test_a_policy_without_rules_is_pointed_out(bench: Bench) -> None:
    (bench.shell.cwd / "empty.rules").write_text("# nothing\n")
    done = run(bench, script(DONE), "--no-check", "--policy", "./empty.rules")
    assert "note: policy ./empty.rules has no rules" in done.stderr
    assert "has no rules" not in run(bench, script(DONE), "--no-check").stderr


def test_a_refused_call_is_a_result_and_the_model_goes_on(bench: Bench) -> None:
    bench.call("press", "key=home")
    code, told = run_json(bench, script(BACK, DONE), "--policy", "read-only", "--no-check")
    assert code == 0
    assert told["actions"] == 0
    calls = bench.shell.json("session", "show", told["session"])["calls"]
    assert [call["state"] for call in calls] == ["refused", "ok"]


def test_prose_and_screens_cannot_drive_the_terminal(bench: Bench) -> None:
    done = run(bench, script('{say: "\\e[2J\\u202eowned", ' + HOME + "}", DONE), "--no-check")
    assert "owned" in done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr


def test_the_first_ctrl_c_cuts_a_streaming_reply_at_once(bench: Bench) -> None:
    words = bench.model(script(HOME, "{say: late, fault: {slow: 60}, " + HOME + "}"))
    process = bench.shell.start("run", "goal", *words, "--json")
    assert process.stderr is not None and process.stdout is not None
    wait_for(process, " ok ")
    time.sleep(0.5)  # into the reply that does not come: there is nothing to see before it
    pressed = time.monotonic()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert time.monotonic() - pressed < 3
    told = json.loads(out)
    assert told["outcome"] == "interrupted"
    shown = bench.shell.json("session", "show", told["session"])
    assert shown["exit_code"] == 130
    assert shown["verification"]["ok"]
    assert "Ctrl-C again" in err


def test_ctrl_c_during_a_call_lets_it_finish_and_stops_before_the_next(bench: Bench) -> None:
    words = bench.model(script("calls: [{tool: wait, args: {ms: 3000}}, {tool: press, args: {key: home}}]", DONE))
    inputs = bench.state()["inputs"]
    process = bench.shell.start("run", "goal", *words, "--json")
    assert process.stderr is not None
    wait_for(process, "limits:")
    wait_for_event(process, bench, "tool_called")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    calls = bench.shell.json("session", "show", json.loads(out)["session"])["calls"]
    assert calls[1]["state"] in ("not_sent", "stopped")
    assert bench.state()["inputs"] == inputs


def test_a_killed_run_reads_as_killed_and_verifies(bench: Bench) -> None:
    words = bench.model(script(HOME, "{say: late, fault: {slow: 60}, " + HOME + "}"))
    process = bench.shell.start("run", "goal", *words)
    wait_for(process, " ok ")
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    newest = bench.shell.json("session", "list")["sessions"][0]
    assert newest["state"] == "killed"
    shown = bench.shell.quick("session", "show")
    assert "outcome: killed;" in shown.stdout
    assert newest["actions"] == 1
    assert newest["turns"] in (1, 2)  # the second request may not have been written yet
    assert shown.stdout.splitlines()[-1].startswith("verified: ")


def test_the_scripted_model_is_served_to_others(bench: Bench) -> None:
    path = bench.shell.cwd / "steps.yaml"
    path.write_text(script(HOME, DONE), encoding="utf-8")
    with bench.shell.serving("model-server", str(path)) as (process, base_url):
        words = ("--model", "scripted", "--base-url", base_url, "--device", bench.serial)
        assert bench.shell.quick("run", "goal", *words, "--no-check").returncode == 0
        process.send_signal(signal.SIGINT)
        process.wait(timeout=10)
        assert process.returncode == 0
    path.write_text("steps:\n  - {sya: x}\n", encoding="utf-8")
    done = bench.shell.quick("model-server", str(path))
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "steps.yaml:2" in done.stderr


def wait_for(process: subprocess.Popen[str], words: str) -> None:
    """Read stderr until a line holds `words`."""
    assert process.stderr is not None
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if select.select([process.stderr], [], [], 1)[0]:
            line = process.stderr.readline()
            assert line, "the command ended"
            if words in line:
                return
    raise AssertionError(f"{words!r} was not seen")


def wait_for_event(process: subprocess.Popen[str], bench: Bench, kind: str) -> None:
    """Wait until the newest transcript has a line of that kind."""
    end = time.monotonic() + 30
    while time.monotonic() < end and process.poll() is None:
        newest = max((bench.shell.home / "sessions").iterdir())
        if f'"kind":"{kind}"' in (newest / "transcript.jsonl").read_text():
            return
        time.sleep(0.02)  # there is no other way to see into another process
    raise AssertionError(f"no {kind}: {process.communicate()}")
