"""`doctor` on this computer's adb: one program or several, their versions, the server's, and proxies in the way."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from droidpilot.device.adb_programs import loopback_proxies, programs_on
from tests.cli.cli_shell import Shell
from tests.fakes.told_phone import told_phones


def adb(folder: Path, internal: str, *, content: str = "") -> Path:
    """Write a program that says it is an adb of this version."""
    folder.mkdir(parents=True)
    program = folder / "adb"
    program.write_text(
        content or f"#!/bin/sh\necho 'Android Debug Bridge version 1.0.{internal}'\necho 'Version 3{internal}.0'\n"
    )
    program.chmod(0o755)
    return program


def examined(shell: Shell, *, port: int, code: int = 0, **env: str) -> dict[str, dict[str, str]]:
    done = shell.quick("doctor", "--json", ANDROID_ADB_SERVER_PORT=str(port), **env)
    assert done.returncode == code, done.stdout + done.stderr
    document: Any = json.loads(done.stdout)
    return {one["code"]: one for one in document["checks"]}


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_one_adb_of_the_servers_version_is_fine(shell: Shell, tmp_path: Path) -> None:
    program = adb(tmp_path / "one", "41")
    with told_phones({}) as told:
        found = examined(shell, port=told.port, ADBUTILS_ADB_PATH=str(program), PATH=str(program.parent))
    assert found["adb_program.ok"]["text"] == f"{program} (341.0)"
    assert "version 41" in found["adb_server.ok"]["text"]
    assert not [code for code in found if code.startswith("adb_programs")]


def test_several_versions_on_path_and_another_one_of_the_server_are_named(shell: Shell, tmp_path: Path) -> None:
    used, other = adb(tmp_path / "one", "40"), adb(tmp_path / "two", "41")
    path = os.pathsep.join([str(used.parent), str(other.parent), str(tmp_path / "nosuch"), ""])
    with told_phones({}) as told:
        found = examined(shell, port=told.port, ADBUTILS_ADB_PATH=str(used), PATH=path)
    several = found["adb_programs.several_versions"]
    assert several["level"] == "warn" and f"{other} (41)" in several["text"] and "keep one" in several["next_step"]
    server = found["adb_server.other_version"]
    assert server["level"] == "warn" and "has version 41, the program 40" in server["text"]


def test_the_same_adb_twice_and_one_that_does_not_run_are_no_trouble(tmp_path: Path) -> None:
    used = adb(tmp_path / "one", "41")
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "adb").symlink_to(used)
    adb(tmp_path / "broken", "0", content="#!/bin/sh\nexit 1\n")
    adb(tmp_path / "odd", "0", content="not a program")
    folders = [str(tmp_path / name) for name in ("one", "link", "broken", "odd")]
    assert [one.path for one in programs_on(":".join(folders), separator=":")] == [str(used)]


def test_a_program_in_the_folder_where_one_happens_to_be_is_never_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adb(tmp_path / "here", "41")
    monkeypatch.chdir(tmp_path / "here")
    assert programs_on(":.:../here", separator=":") == []


def test_a_path_full_of_programs_is_not_asked_without_end(tmp_path: Path) -> None:
    folders = [str(adb(tmp_path / str(number), "41").parent) for number in range(20)]
    assert len(programs_on(":".join(folders), separator=":")) == 8


@pytest.mark.parametrize(
    ("env", "caught"),
    [
        ({}, ()),
        ({"HTTP_PROXY": "http://me:secret@proxy:3128"}, ("HTTP_PROXY",)),
        ({"http_proxy": "x", "ALL_PROXY": "y", "PROXY": "z"}, ("ALL_PROXY", "http_proxy")),
        ({"HTTP_PROXY": ""}, ()),
        ({"HTTP_PROXY": "x", "NO_PROXY": "example.org, 127.0.0.1"}, ()),
        ({"HTTP_PROXY": "x", "no_proxy": "*"}, ()),
        ({"HTTP_PROXY": "x", "NO_PROXY": "localhost"}, ("HTTP_PROXY",)),
        ({"HTTP_PROXY": "x", "NO_PROXY": "example.org"}, ("HTTP_PROXY",)),
    ],
)
def test_a_proxy_that_catches_the_loopback_is_found_by_name(env: dict[str, str], caught: tuple[str, ...]) -> None:
    assert loopback_proxies(env) == caught


def test_a_proxy_is_named_and_its_value_never_told(shell: Shell) -> None:
    with told_phones({}) as told:
        done = shell.quick("doctor", ANDROID_ADB_SERVER_PORT=str(told.port), HTTP_PROXY="http://me:secret@proxy:3128")
        found = examined(shell, port=told.port, HTTP_PROXY="http://me:secret@proxy:3128")
    assert (
        found["proxy.catches_loopback"]["level"] == "warn" and "HTTP_PROXY" in found["proxy.catches_loopback"]["text"]
    )
    assert "NO_PROXY=127.0.0.1" in found["proxy.catches_loopback"]["next_step"]
    assert "secret" not in done.stdout + done.stderr


def test_the_lines_stand_in_groups_and_the_end_counts_them(shell: Shell) -> None:
    with told_phones({"R5": "unauthorized", "R6": "device", "R7": "device"}) as told:
        done = shell.quick("doctor", ANDROID_ADB_SERVER_PORT=str(told.port))
    titles = [line.strip() for line in done.stdout.splitlines() if line.startswith("      ") and "->" not in line]
    assert titles == ["this computer", "the model", "adb and its phones"]
    warnings = sum(line.startswith("warn") for line in done.stdout.splitlines())
    assert done.stderr.splitlines()[-1] == f"0 failures, {warnings} warnings" and warnings > 1
