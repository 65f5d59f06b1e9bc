"""`config show`: each value with its origin, and never a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from droidpilot.core.config import Settings
from droidpilot.model.provider import KEY_NAMES
from tests.cli.cli_shell import Shell

SECRET = "sk-never-shown-1234567890"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_each_value_stands_with_the_layer_that_set_it(shell: Shell) -> None:
    shell.home.mkdir()
    (shell.home / "config.toml").write_text('model = "qwen"\nmax_turns = 30\n[prices]\ninput = 1\noutput = 2\n')
    (shell.cwd / "droidpilot.toml").write_text('max_turns = 9\nask = "never"\nrules = ["deny tap"]\n')
    told = shell.json("config", "show", DROIDPILOT_POLICY="ci")
    settings = told["settings"]
    assert set(settings) == set(Settings.model_fields)
    assert settings["model"] == {"value": "qwen", "origin": f"{shell.home / 'config.toml'}:1"}
    assert settings["max_turns"] == {"value": 9, "origin": f"{shell.cwd / 'droidpilot.toml'}:1"}
    assert settings["policy"] == {"value": "ci", "origin": "DROIDPILOT_POLICY"}
    assert settings["adb_port"] == {"value": shell.adb_port, "origin": "ANDROID_ADB_SERVER_PORT"}
    assert settings["max_actions"] == {"value": 100, "origin": "default"}
    assert settings["prices"]["value"] == {"input": 1.0, "output": 2.0, "cached": None}
    assert told["rules"] == ["deny tap"]
    assert "ask" in told["notes"][0] and settings["ask"]["value"] == "risky"
    assert told["files"]["your_settings"] == {"path": str(shell.home / "config.toml"), "exists": True}
    assert told["files"]["your_policies"]["exists"] is False


def test_in_words_it_is_a_table_and_makes_no_folder(shell: Shell) -> None:
    done = shell.quick("config", "show")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert next(line for line in lines if line.startswith("ask ")).split() == ["ask", "risky", "default"]
    assert any(line.startswith("state") and str(shell.home) in line for line in lines)
    assert not shell.home.exists()


@pytest.mark.parametrize("words", [("config", "show"), ("config", "show", "--json")])
def test_a_key_is_never_printed_only_whether_it_is_set(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell.quick(
        *words,
        OPENAI_API_KEY=SECRET,
        DROIDPILOT_API_KEY=SECRET[::-1],
        DROIDPILOT_BASE_URL=f"https://me:{SECRET}@example.org/v1",
    )
    assert done.returncode == 0
    assert SECRET not in done.stdout + done.stderr and SECRET[::-1] not in done.stdout + done.stderr
    assert "example.org" in done.stdout


def test_every_variable_that_can_hold_a_key_is_told(shell: Shell) -> None:
    keys = shell.json("config", "show", MISTRAL_API_KEY="x")["keys"]
    assert keys == {name: name == "MISTRAL_API_KEY" for name in KEY_NAMES}


@pytest.mark.parametrize(
    "text", ["max_turns = 0", "nosuch = 1", "api_key = 'x'", "a = [", "\x00", "max_turns = 1\nmax_turns = 2"]
)
def test_settings_that_cannot_be_read_are_one_line_and_exit_2(shell: Shell, text: str) -> None:
    shell.home.mkdir()
    (shell.home / "config.toml").write_text(text)
    done = shell.quick("config", "show", "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "config.toml" in done.stderr
