"""The command as a user runs it: help, exit codes, one-line errors, and how fast help comes."""

from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from droidpilot import __version__
from droidpilot.cli.app import guarded
from droidpilot.core.errors import ConfigError, Exit, Interrupted
from tests.cli.cli_shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_version_and_help_need_nothing(shell: Shell) -> None:
    assert shell.run("--version").stdout == f"droidpilot {__version__}\n"
    done = shell.run("--help")
    assert done.returncode == 0
    for name in ("run", "demo", "call", "look", "devices", "session", "virtual", "model-server"):
        assert f"\n  {name} " in done.stdout
    assert not shell.home.exists()


@pytest.mark.parametrize(
    "words",
    [
        ("nosuch",),
        ("run",),
        ("run", " "),
        ("run", "x" * 20_001),
        ("run", "goal \udcff"),
        ("run", "goal", "--check", "text=\udcff"),
        ("run", "goal", "--device", "\udcff"),
        ("run", "goal", "--nosuch"),
        ("run", "goal", "--max-turns", "many"),
        ("run", "goal", "--max-turns", "201"),
        ("run", "goal", "--max-usd", "-1"),
        ("run", "goal", "--ask", "always"),
        ("run", "goal", "--check", "text=x", "--no-check"),
        ("session", "nosuch"),
        ("session", "show", "../../etc"),
        ("session", "show"),
        ("session", "verify", "zzz"),
        ("virtual", "start", "--port", "70000"),
        ("virtual", "start", "--port", "5555"),
        ("model-server", "nosuch.yaml"),
    ],
)
def test_usage_errors_exit_2_without_a_traceback(shell: Shell, words: tuple[str, ...]) -> None:
    done = shell.quick(*words)
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_a_bad_setting_is_one_line_with_the_place(shell: Shell) -> None:
    (shell.cwd / "droidpilot.toml").write_text('policy = "mine"\n')
    done = shell.run("run", "goal")
    assert done.returncode == 2
    assert done.stderr.startswith("droidpilot: ")
    assert "droidpilot.toml:1" in done.stderr
    assert done.stderr.count("\n") == 1
    (shell.cwd / "droidpilot.toml").unlink()
    done = shell.run("devices", DROIDPILOT_MODLE="x")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "did you mean DROIDPILOT_MODEL?" in done.stderr


def test_only_typer_is_loaded_on_the_way_to_help(shell: Shell) -> None:
    code = "import sys, droidpilot.cli.app; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    heavy = {"pydantic", "rich", "openai", "uiautomator2", "adbutils", "yaml", "lxml", "re2", "platformdirs", "asyncio"}
    assert not heavy & set(done.stdout.split())


def test_an_error_is_one_line_with_its_hint_and_code(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ConfigError("what\nwent \x1b[31mwrong", hint="do this")

    assert guarded(fail) is Exit.USAGE
    assert capsys.readouterr().err == "droidpilot: what went wrong (do this)\n"


def test_interruptions_exit_130(capsys: pytest.CaptureFixture[str]) -> None:
    def stopped() -> None:
        raise Interrupted("stopped")

    def pressed() -> None:
        raise KeyboardInterrupt

    assert guarded(stopped) is Exit.INTERRUPTED
    assert guarded(pressed) is Exit.INTERRUPTED
    assert capsys.readouterr().err == "droidpilot: stopped\n" * 2


def test_a_bug_is_one_line_and_a_private_file_without_the_refused_value(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from pydantic import BaseModel\n"
        "from droidpilot.cli.app import guarded\n"
        "class Box(BaseModel):\n    number: int\n"
        "def broken():\n    Box(number=open('secret').read())\n"
        "sys.exit(guarded(broken))\n"
    )
    (tmp_path / "secret").write_text("hunter2\n\nhunter3")
    home = tmp_path / "home"
    environment = {**os.environ, "DROIDPILOT_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 70
    assert done.stderr.count("\n") == 1
    found = re.search(r"our bug: ValidationError \(please report it with (.*)\)", done.stderr)
    assert found is not None
    path = Path(found[1])
    assert home in path.parents
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert "Traceback" in text and "Box" in text
    assert "hunter" not in text + done.stderr


#: Stands for a person who types Ctrl-C while the program is still being imported.
_IMPATIENT = """
import sys
class Impatient:
    def find_spec(self, name, path, target=None):
        if name == {name!r}:
            raise KeyboardInterrupt
sys.meta_path.insert(0, Impatient())
from droidpilot.__main__ import main
main()
"""


@pytest.mark.parametrize("name", ["droidpilot.cli.app", "droidpilot.cli.virtual", "typer"])
def test_ctrl_c_while_it_is_imported_is_no_traceback(name: str) -> None:
    words = [sys.executable, "-c", _IMPATIENT.format(name=name), "--version"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "droidpilot: stopped\n")


def test_the_package_is_the_program() -> None:
    words = [sys.executable, "-m", "droidpilot", "--version"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0 and done.stdout.startswith("droidpilot ")
