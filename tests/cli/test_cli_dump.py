"""`look --dump`: a saved dump is shown as a phone's screen; whatever else the file holds is one line and a code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.cli_shell import COMMAND, Shell

ROW = (
    '<node text="{text}" class="android.widget.Button" package="com.example.app" clickable="true" enabled="true" '
    'bounds="[0,{top}][1080,{bottom}]" />'
)
GOOD = (
    '<?xml version="1.0" encoding="UTF-8"?><hierarchy rotation="1"><node class="android.widget.FrameLayout" '
    'package="com.example.app" bounds="[0,0][1080,2400]">'
    + ROW.format(text="Wi-Fi", top=0, bottom=200)
    + ROW.format(text="Battery", top=200, bottom=400)
    + "</node></hierarchy>"
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def saved(shell: Shell, content: str | bytes, name: str = "screen.xml") -> str:
    path = shell.cwd / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return name


def test_a_dump_is_shown_as_a_phones_screen_and_nothing_is_made(shell: Shell) -> None:
    done = shell.quick("look", "--dump", saved(shell, GOOD))
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "com.example.app"
    assert "1 Wi-Fi" in lines and "2 Battery" in lines
    assert not shell.home.exists()


def test_as_json_it_has_the_fields_of_a_phones_look(shell: Shell) -> None:
    seen = shell.json("look", "--dump", saved(shell, GOOD))
    assert (seen["package"], seen["size"], seen["rotation"]) == ("com.example.app", [1080, 2400], 1)
    assert seen["activity"] is None and seen["health"]["complete"] is True
    assert [(one["ref"], one["label"], one["bounds"]) for one in seen["refs"]] == [
        (1, "Wi-Fi", [0, 0, 1080, 200]),
        (2, "Battery", [0, 200, 1080, 400]),
    ]
    assert "error" not in seen


def test_a_dash_reads_standard_input(shell: Shell) -> None:
    done = subprocess.run(
        [COMMAND, "look", "--dump", "-", "--json"],
        input=GOOD.encode(),
        cwd=shell.cwd,
        env=shell.environment(),
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert json.loads(done.stdout)["package"] == "com.example.app"


def test_of_a_cut_dump_what_could_be_read_is_told_but_it_is_an_error(shell: Shell) -> None:
    name = saved(shell, GOOD[: GOOD.index('<node text="Battery"') + 30])
    done = shell.quick("look", "--dump", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert "1 Wi-Fi" in done.stderr.splitlines() and "Battery" not in done.stderr
    assert done.stderr.splitlines()[-1].startswith("droidpilot: screen.xml is cut")
    told = shell.json("look", "--dump", name, code=2)
    assert told["error"]["code"] == "cut"
    assert "1 Wi-Fi" in told["text"].splitlines() and told["health"]["complete"] is False


BAD: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "empty"),
    "white space and NULs": (b" \r\n\0\0", "empty"),
    "words": (b"hello", "no_xml"),
    "JSON": (b'{"a": 1}', "no_xml"),
    "a picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe", "no_xml"),
    "a zip file with something like a tag in it": (b"PK\x03\x04\x14\0<a>\0\0", "no_xml"),
    "gzip": (b"\x1f\x8b\x08\0<b\xff", "compressed"),
    "HTML": (b"<html><body>404</body></html>", "no_hierarchy"),
    "other XML": (b'<?xml version="1.0"?><manifest package="a.b"/>', "no_hierarchy"),
    "one bracket": (b"<", "cut"),
    "a prologue": (b'<?xml version="1.0"', "cut"),
    "half of the first tag": (b'<?xml version="1.0"?><hierar', "cut"),
    "no first node": (b'<hierarchy rotation="0">', "cut"),
    "half of the first node": (b'<hierarchy rotation="0"><node text="a', "cut"),
    "never idle": (b"ERROR: could not get idle state.\n", "never_idle"),
    "null root": (b"ERROR: null root node returned by UiTestAutomationBridge.\n", "null_root"),
    "illegal character": (b"java.lang.IllegalArgumentException: Illegal character (d83d)", "illegal_character"),
    "another error": (b"ERROR: something else\n", "error_text"),
    "an exception": (b"java.lang.RuntimeException: at a.b.C", "error_text"),
    "adb's complaint": (b"adb: error: device offline", "error_text"),
    "too big": (b"\0" * (16 * 1024 * 1024 + 1), "too_big"),
}


@pytest.mark.parametrize("name", BAD)
def test_each_file_that_is_no_dump_has_its_code_and_one_line(shell: Shell, name: str) -> None:
    content, code = BAD[name]
    file = saved(shell, content, "bad file.xml")
    done = shell.quick("look", "--dump", file)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("droidpilot: bad file.xml ") and done.stderr.count("\n") == 1
    assert len(done.stderr) < 400
    told = shell.json("look", "--dump", file, code=2)
    assert set(told) == {"error"} and set(told["error"]) == {"code", "message", "hint"}
    assert told["error"]["code"] == code
    assert told["error"]["hint"]


def test_more_nodes_than_are_read_is_too_big_and_shows_those_that_were(shell: Shell) -> None:
    silent = '<node class="android.view.View" package="com.example.app" bounds="[0,0][0,0]" />' * 20_001
    name = saved(shell, GOOD.replace("</node></hierarchy>", f"{silent}</node></hierarchy>"))
    told = shell.json("look", "--dump", name, code=2)
    assert told["error"]["code"] == "too_big" and "Wi-Fi" in told["text"]


@pytest.mark.parametrize(
    ("file", "code"), [("nosuch.xml", "no_file"), (".", "is_folder"), ("", "no_file"), ("a/b\udcff", "no_file")]
)
def test_a_path_that_is_no_file_is_one_line(shell: Shell, file: str, code: str) -> None:
    told = shell.quick("look", "--dump", file, "--json")
    assert told.returncode == 2 and told.stderr.count("\n") == 1
    assert json.loads(told.stdout)["error"]["code"] == code


def test_a_file_and_a_phone_are_not_looked_at_together(shell: Shell) -> None:
    for words in (("--device", "virtual"), ("--policy", "read-only")):
        done = shell.quick("look", "--dump", saved(shell, GOOD), *words)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_words_in_a_bad_file_do_not_drive_the_terminal(shell: Shell) -> None:
    done = shell.quick("look", "--dump", saved(shell, b"\x1b[2J\x1b]0;owned\x07 hello \xe2\x80\xae"))
    assert "\x1b" not in done.stderr and "\u202e" not in done.stderr and done.stderr.count("\n") == 1


def test_every_dump_at_hand_is_shown_or_refused(shell: Shell, cases_dir: Path | None) -> None:
    folders = [Path(__file__).parents[1] / "data", *([cases_dir / "dumps"] if cases_dir else [])]
    files = [path for folder in folders for path in sorted(folder.rglob("*.xml"))]
    assert files
    for path in files:
        done = shell.quick("look", "--dump", str(path), "--json")
        told = json.loads(done.stdout)
        assert done.returncode == (2 if "error" in told else 0), path
        assert "error" in told or told["text"], path
