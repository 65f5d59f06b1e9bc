"""`doctor` by the real program: what it says of each part, which exit code follows, and what it leaves behind."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from droidpilot.core.clock import SystemClock
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.lease import Lease
from droidpilot.model.scripted import ScriptedServer, parse_script
from tests.cli.cli_shell import Bench, Shell, running_bench
from tests.cli.test_cli_devices import PHONES, adb_server
from tests.fakes.raw_endpoint import RawEndpoint, http

SECRET = "sk-doctor-0123456789"


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("bench")) as running:
        yield running


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def examined(
    shell: Shell, *words: str, code: int = 0, env: dict[str, str] | None = None, **more: str
) -> dict[str, list[dict[str, str]]]:
    """Run it with `--json` and return its findings by name."""
    done = shell.quick("doctor", *words, "--json", **(env or {}), **more)
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    document: Any = json.loads(done.stdout)
    assert document["exit_code"] == code
    found: dict[str, list[dict[str, str]]] = {}
    for one in document["checks"]:
        assert set(one) == {"code", "group", "serial", "name", "level", "text", "next_step"} and one["level"] in (
            "ok",
            "warn",
            "fail",
        )
        assert one["level"] != "fail" or one["text"]
        found.setdefault(one["name"], []).append(one)
    return found


def levels(found: dict[str, list[dict[str, str]]], name: str) -> list[str]:
    return [one["level"] for one in found.get(name, [])]


@contextmanager
def talking(words: bytes) -> Iterator[int]:
    """Say the same to whoever connects; give the port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, suppress(OSError):
                connection.sendall(words)
                connection.recv(100)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def test_with_one_phone_all_of_it_is_looked_at_and_the_helper_is_stopped_again(bench: Bench) -> None:
    with adb_server({}) as (port, _):
        found = examined(bench.shell, ANDROID_ADB_SERVER_PORT=str(port))
    for name in ("droidpilot", "settings", "state folder", "policy", "adb program", "adb server", "keyboard"):
        assert levels(found, name) == ["ok"], name
    assert levels(found, "phone") == ["ok", "ok"]
    assert "Android 14" in found["phone"][1]["text"]
    [server] = found["in-phone server"]
    assert server["level"] == "ok" and "stopped again" in server["text"] and " ms" in server["text"]
    assert levels(found, "model") == ["warn"]
    before = bench.state()["inputs"]
    assert levels(examined(bench.shell, "--device", bench.serial), "in-phone server") == ["ok"]
    assert bench.state()["inputs"] == before
    assert not (bench.shell.home / "sessions").exists()


def test_in_words_each_line_has_its_level_and_what_to_do_next(bench: Bench) -> None:
    done = bench.shell.run("doctor", "--device", bench.serial)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert all(line.startswith(("ok    ", "warn  ", "fail  ", "      ")) for line in lines)
    at = next(number for number, line in enumerate(lines) if line.startswith("warn  model "))
    assert lines[at + 1].strip().startswith("-> ")


def test_a_phone_that_another_process_holds_is_not_touched(bench: Bench) -> None:
    with Lease.take(bench.shell.home, bench.serial, clock=SystemClock()):
        found = examined(bench.shell, "--device", bench.serial)
    [server] = found["in-phone server"]
    assert server["level"] == "warn" and "in use" in server["text"]


def test_virtual_starts_a_phone_for_the_command_and_leaves_nothing(shell: Shell) -> None:
    found = examined(shell, "--device", "virtual")
    shell.end_adb_server()
    assert levels(found, "in-phone server") == ["ok"]
    assert "copied" in found["in-phone server"][0]["text"]
    assert list((shell.home / "virtual").iterdir()) == []


def test_every_phone_has_its_state_and_next_step_and_several_are_not_chosen_from(shell: Shell) -> None:
    with adb_server(PHONES) as (port, asked):
        found = examined(shell, ANDROID_ADB_SERVER_PORT=str(port))
    by_phone = {one["text"].partition(" (")[0]: one for one in found["phone"]}
    assert by_phone["ABC123"]["level"] == "ok" and by_phone["LOCKED1"]["level"] == "warn"
    assert "unlock the phone" in by_phone["LOCKED1"]["next_step"] and "unplug" in by_phone["DEAF 2"]["next_step"]
    assert "in-phone server" not in found
    # The server was asked and nothing else: no phone was touched.
    assert set(asked) <= {"host:version", "host:devices", "host:devices-l"}


@pytest.mark.parametrize(("serial", "said"), [("LOCKED1", "unlock the phone"), ("nosuch", "droidpilot devices")])
def test_a_phone_asked_for_that_cannot_be_used_is_exit_3(shell: Shell, serial: str, said: str) -> None:
    with adb_server(PHONES) as (port, _):
        found = examined(shell, "--device", serial, code=3, ANDROID_ADB_SERVER_PORT=str(port))
    failed = [one for one in found["phone"] if one["level"] == "fail"]
    assert len(failed) == 1 and said in failed[0]["next_step"]


def test_no_phone_at_all_is_a_warning_and_an_adb_server_is_started_as_always(shell: Shell) -> None:
    found = examined(shell)
    again = examined(shell)
    shell.end_adb_server()
    assert levels(found, "phone") == ["warn"]
    assert "started" in found["adb server"][0]["text"] and "used as it is" in again["adb server"][0]["text"]


def test_something_else_on_the_port_of_adb_is_exit_3(shell: Shell) -> None:
    with talking(b"SSH-2.0-OpenSSH_9.6\r\n") as port:
        found = examined(shell, code=3, DROIDPILOT_ADB_PORT=str(port))
    assert levels(found, "adb server") == ["fail"] and "phone" not in found


def test_an_adb_program_that_is_not_there_is_exit_3(shell: Shell) -> None:
    found = examined(shell, code=3, ADBUTILS_ADB_PATH=str(shell.cwd / "nosuch"))
    assert levels(found, "adb program") == ["fail"] and found["adb program"][0]["next_step"]


def test_the_model_is_asked_for_its_name(shell: Shell) -> None:
    with adb_server({}) as (port, _), ScriptedServer(parse_script("steps: []\nthen: done\n")) as server:
        env = {"ANDROID_ADB_SERVER_PORT": str(port), "DROIDPILOT_BASE_URL": server.base_url}
        known = examined(shell, env=env, DROIDPILOT_MODEL=server.model)
        other = examined(shell, env=env, DROIDPILOT_MODEL="nosuch")
        priced = examined(shell, env=env, DROIDPILOT_PRICES_INPUT="1", DROIDPILOT_PRICES_OUTPUT="2")
    assert levels(known, "model endpoint") == ["ok"] and levels(known, "model price") == ["warn"]
    assert levels(other, "model endpoint") == ["warn"] and server.model in other["model endpoint"][0]["next_step"]
    assert levels(priced, "model price") == ["ok"] and levels(priced, "model endpoint") == ["ok"]


def test_without_a_model_and_an_endpoint_of_ones_own_nobody_is_asked(shell: Shell) -> None:
    with adb_server({}) as (port, _):
        found = examined(shell, ANDROID_ADB_SERVER_PORT=str(port), OPENAI_API_KEY=SECRET)
    assert levels(found, "model key") == ["ok"] and "model endpoint" not in found


def test_a_key_is_never_told(shell: Shell) -> None:
    answer = http(f'{{"error": {{"message": "bad key {SECRET}"}}}}'.encode(), status="401 Unauthorized")
    with adb_server({}) as (port, _), RawEndpoint([answer] * 2) as endpoint:
        env = {
            "ANDROID_ADB_SERVER_PORT": str(port),
            "DROIDPILOT_MODEL": "m",
            "DROIDPILOT_BASE_URL": endpoint.base_url,
            "DROIDPILOT_API_KEY": SECRET,
        }
        done = shell.quick("doctor", **env)
        told = shell.quick("doctor", "--json", **env)
    assert done.returncode == told.returncode == 4
    assert "check the key in DROIDPILOT_API_KEY" in done.stdout
    assert SECRET not in done.stdout + done.stderr + told.stdout + told.stderr


@pytest.mark.parametrize(
    ("env", "code", "name"),
    [
        ({"DROIDPILOT_MODL": "x"}, 2, "settings"),
        ({"DROIDPILOT_MAX_TURNS": "0"}, 2, "settings"),
        ({"DROIDPILOT_HOME": ""}, 2, "settings"),
        ({"DROIDPILOT_HOME": "/dev/null/x"}, 2, "settings"),
        ({"DROIDPILOT_POLICY": "nosuch"}, 2, "policy"),
        ({"DROIDPILOT_MODEL": "m"}, 2, "model key"),
        ({"DROIDPILOT_MODEL": "m", "DROIDPILOT_BASE_URL": "ftp://x"}, 2, "model key"),
        ({"DROIDPILOT_BASE_URL": f"https://me:{SECRET}@example.org/v1"}, 2, "model key"),
        ({"DROIDPILOT_MODEL": "m", "DROIDPILOT_BASE_URL": "http://127.0.0.1:1/v1"}, 4, "model endpoint"),
        ({"DROIDPILOT_MAX_USD": "1", "DROIDPILOT_BASE_URL": "http://127.0.0.1:1/v1"}, 2, "model price"),
        ({"DROIDPILOT_MODEL": "m", "DROIDPILOT_BASE_URL": "http://127.0.0.1:1/v1", "ALL_PROXY": "x://"}, 4, "model"),
    ],
)
def test_each_part_that_fails_has_its_line_and_exit_code(
    shell: Shell, env: dict[str, str], code: int, name: str
) -> None:
    with adb_server({}) as (port, _):
        found = examined(shell, code=code, env={"ANDROID_ADB_SERVER_PORT": str(port), **env})
        done = shell.quick("doctor", **{"ANDROID_ADB_SERVER_PORT": str(port), **env})
    assert "fail" in levels(found, name) or name == "model"
    assert SECRET not in done.stdout + done.stderr
    assert done.returncode == code


def test_rules_and_settings_of_the_project_are_part_of_it(shell: Shell) -> None:
    (shell.cwd / "droidpilot.toml").write_text('rules = ["deny nosuchtool"]\n')
    with adb_server({}) as (port, _):
        found = examined(shell, code=2, ANDROID_ADB_SERVER_PORT=str(port))
        assert "droidpilot.toml" in found["policy"][0]["text"]
        (shell.cwd / "droidpilot.toml").write_text('rules = ["deny tap"]\n')
        found = examined(shell, ANDROID_ADB_SERVER_PORT=str(port))
        assert "1 of the project" in found["policy"][0]["text"]


def test_what_a_kill_left_behind_is_ended_or_named(shell: Shell) -> None:
    with adb_server({}) as (port, _):
        with shell.serving("virtual", "start") as (process, serial):
            process.send_signal(signal.SIGKILL)
            process.wait()
            found = examined(shell, ANDROID_ADB_SERVER_PORT=str(port))
        assert serial in found["leftovers"][0]["text"] and levels(found, "leftovers") == ["ok"]
        private = start_private_server(shell.home / "adb", SystemClock())
        try:
            found = examined(shell, ANDROID_ADB_SERVER_PORT=str(port))
            assert levels(found, "leftovers") == ["warn"]
            assert f"kill {private.pid}" in found["leftovers"][0]["next_step"]
            os.kill(private.pid, 0)  # named, not ended: it may belong to a command that is just starting
        finally:
            private.stop()
        assert "leftovers" not in examined(shell, ANDROID_ADB_SERVER_PORT=str(port))


def test_wrong_words_are_usage(shell: Shell) -> None:
    for words in (("doctor", "now"), ("doctor", "--nosuch"), ("doctor", "--device", "\udcff")):
        done = shell.quick(*words)
        assert done.returncode == 2 and "Traceback" not in done.stderr


def test_a_port_where_nobody_answers_in_time_does_not_hang(shell: Shell) -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        done = shell.quick("doctor", DROIDPILOT_ADB_PORT=str(silent.getsockname()[1]))
    assert done.returncode == 3 and "no answer in time" in done.stdout
