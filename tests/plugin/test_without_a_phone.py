"""docs/howto/without-a-phone.md does what it says: every block of it is run here, as a reader would."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.screens.screen_maker import OWN_DUMPS

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "without-a-phone.md"
COMMAND = Path(sys.executable).with_name("droidpilot")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"# ([\w/.]+)\n")
DUMPS = {"checkout.xml": "flutter_payment", "loading.xml": "canvas", "list.xml": "settings_rows"}


def plugin_words() -> list[str]:
    """Return what loads the plugin where the installed package does not name it yet."""
    is_installed = any(point.value == "droidpilot.pytest_plugin" for point in entry_points(group="pytest11"))
    return [] if is_installed else ["-p", "droidpilot.pytest_plugin"]


def blocks() -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in _BLOCK.finditer(PAGE.read_text(encoding="utf-8"))]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as the page's reader has it: every named block is a file in it."""
    for place in (tmp_path, tmp_path / "shop"):
        place.mkdir(exist_ok=True)
        for name, own in DUMPS.items():
            shutil.copy(OWN_DUMPS / f"{own}.xml", place / name)
    for _, text in blocks():
        named = _NAMED.match(text)
        if named is not None:
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
    return tmp_path


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "DROIDPILOT_HOME": str(folder / "home"), "PYTHONDONTWRITEBYTECODE": "1"}


def test_every_block_is_a_file_or_a_command() -> None:
    found = blocks()
    assert len(found) == 9
    for language, text in found:
        assert _NAMED.match(text) or language == "sh" or text.startswith("adb "), text


@pytest.mark.timeout(180)
def test_the_tests_of_the_page_pass(folder: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-q", *plugin_words(), "-p", "no:cacheprovider", str(folder)]
    done = subprocess.run(
        words, cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "7 passed" in done.stdout


def test_the_program_of_the_page_runs(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert "Continue payment" in done.stdout and lines[-2:] == ["0", "rule"]


def test_the_command_of_the_page_shows_the_scene(folder: Path) -> None:
    (command,) = [text.split() for language, text in blocks() if language == "sh"]
    assert command[0] == "droidpilot"
    serving = subprocess.Popen(
        [COMMAND, *command[1:]], cwd=folder, env=environment(folder), stdout=subprocess.PIPE, text=True
    )
    try:
        assert serving.stdout is not None
        serial = serving.stdout.readline().strip()
        looked = subprocess.run(
            [COMMAND, "look", "--json", "--device", serial],
            cwd=folder, env=environment(folder), capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        assert json.loads(looked.stdout)["package"] == "com.example.booking"
    finally:
        serving.send_signal(signal.SIGTERM)
        serving.communicate(timeout=30)
