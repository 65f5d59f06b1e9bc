"""look, call, devices and virtual, by the installed command, on a virtual phone in a process of its own."""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.cli_shell import Bench, Shell, running_bench

MESSAGES = "com.google.android.apps.messaging"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("bench")) as running:
        yield running


def test_look_as_json_names_what_can_be_done_with_each_ref(bench: Bench) -> None:
    bench.call("press", "key=home")
    seen = bench.look()
    assert {"package", "activity", "size", "rotation", "health", "text", "refs"} <= set(seen)
    assert seen["package"] == "com.android.launcher3"
    settings = next(one for one in seen["refs"] if one["label"] == "Settings")
    assert settings["actions"] == ["tap"] or "tap" in settings["actions"]
    assert len(settings["bounds"]) == 4
    assert f"{settings['ref']} Settings" in seen["text"].splitlines()


def test_look_in_words_is_the_same_text(bench: Bench) -> None:
    bench.call("press", "key=home")
    done = bench.shell.quick("look", "--device", bench.serial)
    assert done.returncode == 0
    assert any(line.endswith(" Settings") for line in done.stdout.splitlines())
    assert done.stderr == ""


def test_a_call_uses_the_refs_of_the_last_look_and_refs_count_on(bench: Bench) -> None:
    bench.call("press", "key=home")
    ref = bench.ref("Settings")
    done = bench.call("tap", f"ref={ref}")
    assert done.returncode == 0, done.stderr
    assert bench.state()["package"] == "com.android.settings"
    refs = [one["ref"] for one in bench.look()["refs"]]
    assert min(refs) > ref
    stale = bench.call("tap", f"ref={ref}")
    assert stale.returncode == 1
    assert stale.stdout == ""
    assert str(ref) in stale.stderr


def test_a_value_is_text_until_the_tool_wants_something_else(bench: Bench) -> None:
    bench.call("open_app", f"app={MESSAGES}")
    bench.call(
        "tap", f"ref={bench.ref('Liam')}" if "Liam" in bench.look()["text"] else f"ref={bench.look()['refs'][1]['ref']}"
    )
    field = next(one["ref"] for one in bench.look()["refs"] if "type" in one["actions"])
    done = bench.call("type_text", f"ref={field}", "text=007=8")
    assert done.returncode == 0, done.stderr
    assert "007=8" in bench.look()["text"]


def test_a_wrong_call_is_a_usage_error_before_anything_is_touched(bench: Bench) -> None:
    before = len(list((bench.shell.home / "sessions").iterdir()))
    for words, said in (
        (("tapp", "ref=1"), "did you mean tap?"),
        (("tap", "reff=1"), "reff"),
        (("tap", "ref=x"), "ref"),
        (("tap", "ref"), "KEY=VALUE"),
        (("tap", "=1"), "KEY=VALUE"),
        (("tap", "ref=1", "ref=2"), "twice"),
        (("tap", "reff=1"), "there is no argument reff; did you mean ref? (example: tap ref=12)"),
        (("tap", "ref=x"), "ref must be a whole number"),
        (("wait", "ms=5"), "ms must be at least 100 (example: wait ms=1000)"),
        (("scroll", "direction=sideways"), "direction must be one of up, down, left, right"),
        (("y" * 5000, "ref=1"), "there is no tool 'yyy"),
        (("tap", "x" * 5000), "is not KEY=VALUE"),
        (("tap", "x" * 5000 + "=1"), "there is no argument xxx"),
    ):
        done = bench.call(*words)
        assert (done.returncode, done.stdout) == (2, ""), words
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
        assert len(done.stderr) < 450
        for word in ("Value error", "Extra inputs", "Input should", "valid integer"):
            assert word not in done.stderr
    assert len(list((bench.shell.home / "sessions").iterdir())) == before


def test_a_call_that_was_not_done_says_so_in_words_at_the_end(bench: Bench) -> None:
    bench.call("press", "key=home")
    done = bench.call("tap", "ref=99999")
    assert done.returncode == 1
    lines = done.stderr.splitlines()
    assert any(line.endswith(" Settings") for line in lines)
    assert lines[-1].startswith("not done: there is no ref 99999")
    assert "logic" not in done.stderr


def test_a_call_that_needs_a_yes_says_what_why_and_how_to_allow_it(bench: Bench) -> None:
    bench.call("press", "key=home")
    (bench.shell.cwd / "ask.rules").write_text("ask press matching (?i)back\n")
    done = bench.call("press", "key=back", "--policy", "./ask.rules")
    assert done.returncode == 5
    lines = done.stderr.splitlines()
    assert lines[0] == "  needs a yes: Press back in com.android.launcher3"
    assert "./ask.rules:1: ask press matching (?i)back" in lines[1]
    assert lines[2].startswith("    to allow it: run it in a terminal")
    assert lines[-1] == "refused: it needs a yes, and nobody can be asked here"


def test_a_list_of_sessions_says_what_was_called_but_no_text(bench: Bench) -> None:
    bench.call("press", "key=home")
    bench.look()
    bench.call("type_text", "text=hunter2", "ref=99999")
    titles = [one["meta"]["title"] for one in bench.shell.json("session", "list")["sessions"][:3]]
    assert titles == ["call type_text text=... ref=99999", "look", "call press key=home"]


def test_a_serial_that_was_misspelt_is_guessed(bench: Bench) -> None:
    done = bench.shell.quick("look", "--device", "virtaul")
    assert done.returncode == 3
    assert "did you mean --device virtual?" in done.stderr
    done = bench.shell.quick("look", "--device", "s" * 5000)
    assert len(done.stderr) < 450


def test_a_pipe_is_no_policy_and_holds_nothing_up(bench: Bench) -> None:
    os.mkfifo(bench.shell.cwd / "pipe.rules")
    done = bench.call("press", "key=home", "--policy", "./pipe.rules")
    assert (done.returncode, done.stderr) == (
        2,
        "droidpilot: ./pipe.rules: is no ordinary file (give a file of rules)\n",
    )


def test_a_call_is_refused_by_the_policy_and_by_nobody_being_there(bench: Bench) -> None:
    bench.call("press", "key=home")
    inputs = bench.state()["inputs"]
    done = bench.call("press", "key=back", "--policy", "read-only")
    assert done.returncode == 5
    assert "read-only.rules:" in done.stderr
    done = bench.call("press", "key=back", "--ask", "every")
    assert done.returncode == 5
    assert "nobody" in done.stderr
    assert bench.state()["inputs"] == inputs


def test_the_projects_rules_tighten_a_call(bench: Bench) -> None:
    rules = bench.shell.cwd / "droidpilot.toml"
    rules.write_text('rules = ["deny press matching (?i)^back$"]\n')
    try:
        done = bench.call("press", "key=back")
        assert done.returncode == 5
        assert "droidpilot.toml" in done.stderr
        rules.write_text('rules = ["deny ui_tree"]\n')
        done = bench.shell.quick("look", "--device", bench.serial, "--json")
        assert (done.returncode, done.stdout) == (5, "")
        assert "Settings" not in done.stderr
    finally:
        rules.unlink()


def test_inv_40_a_password_typed_by_hand_is_nowhere(bench: Bench) -> None:
    secret = "Tr0ub4dor&3"
    bench.call("open_app", "app=Settings")
    while bench.look()["text"].splitlines()[1] != "- Settings":
        bench.call("press", "key=back")
    bench.call("tap", f"ref={bench.ref('Network')}")
    bench.call("tap", f"ref={bench.ref('Wi-Fi')}")
    if not bench.state()["wifi"]["on"]:
        bench.call("tap", f"ref={bench.ref('Use Wi-Fi')}")
    secured = next(one for one in bench.look()["refs"] if "ecured" in one["label"] or "WPA" in one["label"])
    bench.call("tap", f"ref={secured['ref']}")
    field = next(one["ref"] for one in bench.look()["refs"] if "type" in one["actions"])
    done = bench.call("type_text", f"ref={field}", f"text={secret}")
    assert done.returncode == 0, done.stderr
    assert secret not in done.stdout + done.stderr
    shown = bench.shell.quick("session", "show", "--json").stdout + bench.shell.quick("session", "show").stdout
    assert secret not in shown
    for path in bench.shell.home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    bench.call("press", "key=home")


def test_devices_lists_the_virtual_phone_and_starts_no_more_than_a_server(bench: Bench) -> None:
    listed = bench.shell.json("devices")["devices"]
    assert [(one["serial"], one["is_ready"], one["is_virtual"]) for one in listed] == [(bench.serial, True, True)]
    done = bench.shell.quick("devices")
    assert bench.serial in done.stdout
    # The only phone there is need not be named.
    assert bench.shell.quick("look").returncode == 0


def test_an_unknown_phone_is_exit_3_and_says_what_is_there(bench: Bench) -> None:
    done = bench.shell.quick("look", "--device", "nosuch")
    assert (done.returncode, done.stdout) == (3, "")
    assert bench.serial in done.stderr
    assert done.stderr.startswith("droidpilot: ")
    done = bench.shell.quick("virtual", "state", "127.0.0.1:1")
    assert done.returncode == 3
    assert "virtual start" in done.stderr


def test_virtual_for_one_command_says_that_it_ends_and_leaves_nothing(shell: Shell) -> None:
    done = shell.run("look", "--device", "virtual")
    assert done.returncode == 0, done.stderr
    assert "its state ends with this command" in done.stderr
    assert not list((shell.home / "virtual").iterdir())
    assert servers_of(shell.home) == []


def test_a_killed_phones_adb_server_is_reaped_by_the_next_command(shell: Shell) -> None:
    with shell.serving("virtual", "start") as (process, serial):
        (server,) = servers_of(shell.home)
        watch = next(pid for pid, words in processes() if f"kill {server}".encode() in b" ".join(words))
        os.kill(watch, signal.SIGKILL)  # what would have ended the server with the phone is killed too
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert servers_of(shell.home) == [server]
        done = shell.quick("virtual", "state", serial)
        assert done.returncode == 3
        assert servers_of(shell.home) == []


def test_a_killed_phone_has_ended_and_no_cable_will_help(shell: Shell) -> None:
    with shell.serving("virtual", "start") as (process, serial):
        process.send_signal(signal.SIGKILL)
        # It is a zombie, for nobody waited for it yet, and its adb server still calls it a phone.
        done = shell.quick("devices")
        assert done.returncode == 0
        assert f"this virtual phone has ended: {serial} (start one with: " in done.stderr
        assert "unplug" not in done.stderr and serial not in done.stdout
        for words in (("look",), ("call", "press", "key=home")):
            done = shell.quick(*words, "--device", serial)
            assert done.returncode == 3
            assert f"this virtual phone has ended: {serial}" in done.stderr and "virtual start" in done.stderr
            assert "plug" not in done.stderr and "USB" not in done.stderr
        shell.end_adb_server()


def test_a_phone_that_is_killed_during_a_call_has_ended(shell: Shell) -> None:
    with shell.serving("virtual", "start") as (process, serial):
        call = shell.start("call", "wait", "ms=1000", "--device", serial)
        sessions = shell.home / "sessions"
        end = time.monotonic() + 30
        while time.monotonic() < end and '"kind":"tool_called"' not in "".join(
            path.read_text() for path in sessions.glob("*/transcript.jsonl")
        ):
            time.sleep(0.02)  # there is no other way to see into another process
        process.send_signal(signal.SIGKILL)
        _, said = call.communicate(timeout=60)
    assert f"this virtual phone has ended: {serial}" in said


def test_an_adb_server_that_was_started_can_be_stopped_as_it_says(shell: Shell) -> None:
    done = shell.quick("devices", PATH="/nonexistent")
    assert f"started an adb server on port {shell.adb_port}" in done.stderr
    command = done.stderr.split("to stop it: ", 1)[1].splitlines()[0]
    words = shlex.split(command)
    assert Path(words[0]).is_absolute()
    subprocess.run(words, check=True, capture_output=True, timeout=30, env=shell.environment())
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", shell.adb_port)) != 0


def test_virtual_start_tells_its_serial_as_json_and_ends_in_order(shell: Shell) -> None:
    process = shell.start("virtual", "start", "--seed", "9", "--json")
    assert process.stdout is not None
    lines = [process.stdout.readline() for _ in range(7)]
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert '"seed": 9' in "".join(lines)
    assert rest == ""
    assert servers_of(shell.home) == []


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def processes() -> Iterator[tuple[int, list[bytes]]]:
    """List the processes of this machine with the words they were started with."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                yield int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")


def servers_of(home: Path) -> list[int]:
    """List the processes whose environment says that this folder is theirs and that are adb servers."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                environment = (entry / "environ").read_bytes()
            except OSError:
                continue
            # Not a program that is asked for its version, nor a copy of ours that is about to become another one.
            if words[0].endswith(b"adb") and b"nodaemon" in words and str(home).encode() in environment:
                found.append(int(entry.name))
    return found
