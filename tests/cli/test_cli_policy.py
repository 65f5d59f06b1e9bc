"""`policy list|check|explain`: what the rules are, whether they can be read, and what they would say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_shell import Shell, running_bench


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def rules(shell: Shell, text: str) -> str:
    (shell.cwd / "my.rules").write_text(text, encoding="utf-8")
    return "./my.rules"


def test_list_names_shipped_and_own_policies_and_the_one_in_force(shell: Shell) -> None:
    own = shell.home / "policies"
    own.mkdir(parents=True)
    (own / "mine.rules").write_text("deny tap\n")
    (own / "broken.rules").write_text("dny tap\n")
    told = shell.json("policy", "list", DROIDPILOT_POLICY="mine")
    assert told["in_force"] == "mine"
    by_name = {one["name"]: one for one in told["policies"]}
    assert {"default", "read-only", "ci", "unattended", "mine", "broken"} == set(by_name)
    assert by_name["mine"]["lines"] == 1 and by_name["mine"]["path"] == str(own / "mine.rules")
    assert "broken.rules:1" in by_name["broken"]["problem"]
    lines = shell.quick("policy", "list", DROIDPILOT_POLICY="mine").stdout.splitlines()
    assert [line.split()[1] for line in lines if line.startswith("*")] == ["mine"]


@pytest.mark.parametrize("name", ["default", "read-only", "ci", "unattended"])
def test_the_shipped_policies_are_whole_and_have_no_dead_line(shell: Shell, name: str) -> None:
    told = shell.json("policy", "check", name)
    assert told["lines"] > 0 and told["warnings"] == []


def test_check_warns_of_lines_that_can_never_decide_and_exits_0(shell: Shell) -> None:
    path = rules(shell, "deny tap in com.bank.*\nallow tap in com.bank.app matching Pay\nask tap\n")
    done = shell.quick("policy", "check", path)
    assert done.returncode == 0
    assert "./my.rules:2: allow tap in com.bank.app matching Pay: can never decide: line 1" in done.stdout
    assert "3 lines, 1 warning (" in done.stdout
    told = shell.json("policy", "check", path)
    assert [one["line"] for one in told["warnings"]] == [2]


def test_check_without_a_name_reads_the_one_in_force_with_the_projects_lines(shell: Shell) -> None:
    (shell.cwd / "droidpilot.toml").write_text('rules = ["deny press", "ask press matching home"]\n')
    told = shell.json("policy", "check")
    assert told["policy"] == "default" and told["project_lines"] == 2
    assert [(one["source"], one["line"]) for one in told["warnings"]] == [("./droidpilot.toml", 2)]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nosuch", "there is no such policy"),
        ("my.rules", "./my.rules"),
        ("./nosuch.rules", "cannot be read"),
        ("./", "cannot be read"),
        ("", ""),
        ("a\tb", ""),
        ("./bad.rules", "./bad.rules:2: "),
        ("./latin.rules", "UTF-8"),
        ("./huge.rules", "1 MiB"),
        ("./x\udcff.rules", "policy"),
    ],
)
def test_rules_that_cannot_be_read_are_one_line_and_exit_2(shell: Shell, given: str, said: str) -> None:
    rules(shell, "deny tap\n")
    (shell.cwd / "bad.rules").write_text("deny tap\nallow tap matching (\n")
    (shell.cwd / "latin.rules").write_bytes(b"deny tap matching \xe4\n")
    (shell.cwd / "huge.rules").write_bytes(b"# " + b"x" * 1024 * 1024)
    done = shell.quick("policy", "check", given, "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def explained(shell: Shell, *words: str, **env: str) -> Any:
    done = shell.quick("policy", "explain", *words, "--json", **env)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_explain_names_the_deciding_line_and_what_comes_of_it(shell: Shell) -> None:
    path = rules(shell, "deny tap in com.bank.*\nask tap matching (?i)pay\nallow tap in com.shop\n")
    denied = explained(shell, "tap", "--policy", path, "--package", "com.bank.app", "--text", "Pay")
    assert denied["rules"] == {"answer": "deny", "code": "rule", "rule": "./my.rules:1: deny tap in com.bank.*"}
    assert (denied["at_terminal"], denied["without_terminal"]) == ("refused", "refused")
    asked = explained(shell, "tap", "--policy", path, "--package", "com.shop", "--text", "Pay now")
    assert asked["rules"]["rule"].startswith("./my.rules:2: ")
    assert (asked["at_terminal"], asked["without_terminal"]) == ("asks", "refused")
    allowed = explained(shell, "tap", "--policy", path, "--package", "com.shop", "--text", "Look")
    assert allowed["rules"]["answer"] == "allow" and allowed["rules"]["rule"].startswith("./my.rules:3: ")
    assert (allowed["at_terminal"], allowed["without_terminal"]) == ("goes_ahead", "goes_ahead")


def test_explain_tells_signals_and_the_mode_where_no_line_matches(shell: Shell) -> None:
    words = ("tap", "--package", "com.shop", "--text", "Pay now")
    risky = explained(shell, *words)
    assert risky["rules"] == {"answer": "allow", "code": "no_rule", "rule": None}
    assert [signal["name"] for signal in risky["signals"]] == ["risky_word"]
    assert risky["at_terminal"] == "asks"
    assert explained(shell, *words, "--ask", "never")["at_terminal"] == "goes_ahead"
    harmless = ("tap", "--package", "com.shop", "--text", "Wi-Fi")
    assert explained(shell, *harmless)["at_terminal"] == "goes_ahead"
    assert explained(shell, *harmless, DROIDPILOT_ASK="every")["at_terminal"] == "asks"


def test_explain_says_why_it_asks_where_neither_a_line_nor_a_signal_does(shell: Shell) -> None:
    told = explained(shell, "tap")
    assert (told["at_terminal"], told["signals"], told["rules"]["rule"]) == ("asks", [], None)
    assert told["why"] == ["nothing can be read under it, and what cannot be read needs a yes in this app"]
    assert "why:           nothing can be read" in shell.quick("policy", "explain", "tap").stdout
    assert explained(shell, "tap", "--package", "com.shop", "--text", "Pay now")["why"] == []


def test_two_signals_are_a_strong_confirm_with_its_challenge(shell: Shell) -> None:
    words = ("tap", "--package", "com.chase.bank", "--text", "Pay 40")
    told = explained(shell, *words, "--ask", "never")
    assert (told["at_terminal"], told["challenge"]) == ("asks_strongly", "Pay 40")
    assert "must type Pay 40" in shell.quick("policy", "explain", *words).stdout


def test_an_app_that_is_not_given_is_one_that_cannot_be_told(shell: Shell) -> None:
    told = explained(shell, "tap", "--policy", rules(shell, "deny tap in com.bank.*\n"), "--text", "Pay")
    assert told["rules"]["code"] == "package_unknown" and told["at_terminal"] == "refused"
    done = shell.quick("policy", "explain", "tap", "--text", "Wi-Fi")
    assert "name it with --package" in done.stdout
    assert "--package" not in shell.quick("policy", "explain", "wait").stdout


def test_ids_keys_apps_settings_and_typed_text_are_seen_as_the_gates_see_them(shell: Shell) -> None:
    path = rules(
        shell,
        "deny tap matching ^permission_allow_button$\ndeny press matching ^power$\ndeny open_app in com.bank.*\n"
        "deny read_setting matching ^global/\ndeny type_text matching secret\ndeny press matching Send\n",
    )
    for line, words in (
        (1, ("tap", "--package", "a.b", "--id", "com.x:id/permission_allow_button")),
        (2, ("press", "--text", "power")),
        (2, ("press", "key=power")),
        (3, ("open_app", "--package", "com.bank.app", "--text", "Bank")),
        (4, ("read_setting", "--text", "global/wifi_on")),
        (5, ("type_text", "text=my secret", "--text", "Note", "--package", "a.b")),
        (6, ("press", "key=enter", "--text", "Send", "--package", "a.b")),
    ):
        told = explained(shell, *words, "--policy", path)
        assert str(told["rules"]["rule"]).startswith(f"./my.rules:{line}: "), words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tapp",), "did you mean tap?"),
        (("tap", "x"), "KEY=VALUE"),
        (("tap", "nosuch=1"), "nosuch"),
        (("tap", "ref=7"), "no ref 7"),
        (("press",), "key"),
        (("press", "--text", "Send"), "key"),
        (("press", "key=nosuch"), "key"),
        (("open_app",), "--package"),
        (("read_setting",), "NAMESPACE/KEY"),
        (("read_setting", "--text", "a/b"), "namespace"),
        (("tap", "--ask", "always"), "ask"),
        (("tap", "--policy", "nosuch"), "policy"),
        (("tap", "--text", "x" * 6000), "--text"),
    ],
)
def test_a_call_that_cannot_be_imagined_is_one_line_and_exit_2(shell: Shell, words: tuple[str, ...], said: str) -> None:
    done = shell.quick("policy", "explain", *words)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert said in done.stderr


def test_odd_labels_are_taken_as_they_are(shell: Shell) -> None:
    for text in ('a "b" <c> & d', "two\nlines", "\x01\x02", "\ud83d", "P\u0430y", "\u202eyaP"):
        done = shell.quick("policy", "explain", "tap", "--package", "a.b", "--text", text)
        assert done.returncode == 0, text
    assert explained(shell, "tap", "--package", "a.b", "--text", "S\u200bend")["signals"]


@pytest.mark.parametrize(
    "words, code",
    [
        ("tap --package com.shop --text Home", 0),
        ("--policy read-only tap --package com.shop --text Home", 5),
        ("tap --package com.shop --text Pay", 5),
        ("--policy read-only", 0),
        ("read-only --policy ci", 2),
        ("--text Pay", 2),
    ],
)
def test_check_takes_a_call_too_and_exits_by_what_would_come_of_it(shell: Shell, words: str, code: int) -> None:
    assert shell.quick("policy", "check", *words.split()).returncode == code


def test_replay_says_what_other_rules_would_have_said_of_a_recorded_session(tmp_path: Path) -> None:
    with running_bench(tmp_path / "bench") as bench:
        bench.call("press", "key=home")
        bench.call("press", "key=back")
        (bench.shell.cwd / "my.rules").write_text("deny press matching home\n")
        done = bench.shell.quick("policy", "replay", "./my.rules")
        assert done.returncode == 0
        (line, total) = done.stdout.splitlines()
        assert "Press home" in line and "refused by ./my.rules:1" in line and line.endswith("was left to --ask")
        assert total == "./my.rules: 2 calls of 2 sessions, 1 decided otherwise: 1 refused"
        told = bench.shell.json("policy", "replay", "./my.rules", "--exit-code", code=9)
        assert (told["judged"], told["not_judged"], [row["now"] for row in told["calls"]]) == (2, 0, ["deny"])
        last = bench.shell.json("session", "list")["sessions"][0]["id"]
        assert bench.shell.json("policy", "replay", "./my.rules", last)["calls"] == []
        assert len(bench.shell.json("policy", "replay", "./my.rules", last, "--all")["calls"]) == 1
        transcript = bench.shell.home / "sessions" / last / "transcript.jsonl"
        assert bench.shell.json("policy", "replay", "default", str(transcript))["judged"] == 1
        for wrong in ("./nosuch.jsonl", "zzzz"):
            refused = bench.shell.quick("policy", "replay", "default", wrong)
            assert refused.returncode == 2 and refused.stderr.count("\n") == 1
