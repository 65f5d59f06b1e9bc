"""What reaches the terminal: nothing that drives or hides, one JSON document, and no trouble from a closed pipe."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import os
import pty
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.cli import output
from droidpilot.core.errors import UsageError


@given(st.text())
def test_safe_text_holds_nothing_a_terminal_acts_on_or_hides(text: str) -> None:
    cleaned = output.safe(text)
    for character in cleaned:
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") or character in "\n\t"
        assert unicodedata.bidirectional(character) not in (
            "LRE",
            "RLE",
            "PDF",
            "LRO",
            "RLO",
            "LRI",
            "RLI",
            "FSI",
            "PDI",
        )
    assert output.safe(cleaned) == cleaned


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;owned\x07title", "title"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;ZXZpbA==\x07x", "x"),
        ("\x9b2Jx", "x"),
        ("safe\rGONE", "safeGONE"),
        ("a\x08\x08b", "ab"),
        ("pay\u202e01$", "pay01$"),
        ("in\u200bvis\u2060ible\U000e0041", "invisible"),
        ("line\u2028break", "linebreak"),
        ("two\nlines\tand tabs", "two\nlines\tand tabs"),
        (
            "\U0001f468\u200d\U0001f469\u200d\U0001f467 שלום 你好 é",
            "\U0001f468\u200d\U0001f469\u200d\U0001f467 שלום 你好 é",
        ),
        ("\ud83d", ""),
        ("\x1b", ""),
    ],
)
def test_what_would_drive_the_terminal_is_taken_out(text: str, seen: str) -> None:
    assert output.safe(text) == seen


@given(st.text(), st.text())
def test_json_is_one_document_that_reads_back_and_prints_safely(key: str, value: str) -> None:
    text = output.json_text({key: value})
    assert json.loads(text) == {key: value}
    assert output.safe(text) == text


def test_any_text_prints_on_any_terminal() -> None:
    code = (
        "from droidpilot.cli import output; output.prepare_streams();"
        "output.result('caf\\u00e9 \\u4f60 \\ud83d'); output.note('\\u202e\\x1b[2J\\u00e9')"
    )
    environment = {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == "café 你 \n"
    assert done.stderr.decode() == "é\n"


def test_a_closed_pipe_does_not_stop_the_work() -> None:
    code = (
        "import sys; from droidpilot.cli import output\n"
        "for number in range(100_000): output.result('x' * 50)\n"
        "sys.exit(7)"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None and process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert process.wait(timeout=60) == 7
    assert errors == b""


FULL = Path("/dev/full")


def printed(code: str, redirections: str) -> subprocess.CompletedProcess[str]:
    """Run code in a child whose streams a shell redirected."""
    return subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" -c "$1" {redirections}', sys.executable, code],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def command(*words: str) -> str:
    """Return code that runs the command line as its entry point does."""
    return f"import sys; sys.argv = ['droidpilot', *{list(words)!r}]; from droidpilot.cli.app import main; main()"


@pytest.mark.skipif(not FULL.exists(), reason="the system has no /dev/full")
@pytest.mark.parametrize("words", [("--version",), ("--help",), ("session", "list", "--json"), ("config", "show")])
def test_a_result_that_cannot_be_written_is_one_line_and_2(words: tuple[str, ...]) -> None:
    done = printed(command(*words), ">/dev/full")
    assert done.returncode == 2
    assert "cannot be written" in done.stderr and "No space left" in done.stderr
    assert done.stderr.count("\n") == 1
    # Notes that nobody can read are no reason to fail: there is no other place to say so.
    assert printed(command(*words), "2>/dev/full").returncode == 0


@pytest.mark.parametrize("redirections", ["2>&-", "<&- 2>&-"])
def test_a_stream_that_was_closed_before_is_no_trouble(redirections: str) -> None:
    done = printed(command("session", "list", "--json"), redirections)
    assert (done.returncode, json.loads(done.stdout)) == (0, {"sessions": []})


def test_a_command_that_is_run_for_its_answer_wants_a_stdout() -> None:
    for words in (("session", "list"), ("look",), ("virtual", "state", "x")):
        done = printed(command(*words), ">&-")
        assert done.returncode == 2
        assert "stdout is closed" in done.stderr and done.stderr.count("\n") == 1
    assert (
        printed("from droidpilot.cli import output; output.prepare_streams(); output.result('x')", ">&-").returncode
        == 0
    )


def test_no_file_of_ours_takes_the_place_of_a_closed_stream() -> None:
    code = (
        "import os, sys; from droidpilot.cli import output; output.prepare_streams(); "
        "number = os.open('/dev/null', os.O_RDONLY); sys.exit(0 if number > 2 else 1)"
    )
    assert printed(code, "<&- >&- 2>&-").returncode == 0


def test_a_disk_that_fails_is_not_a_terminal_that_is_gone() -> None:
    with contextlib.redirect_stdout(GoneTerminal()), pytest.raises(UsageError, match="cannot be written"):
        output.result("lost")


@pytest.mark.parametrize(("is_on_path", "shown"), [(True, "droidpilot"), (False, "bin/droidpilot")])
def test_the_program_is_named_as_it_can_be_typed_again(tmp_path: Path, is_on_path: bool, shown: str) -> None:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "droidpilot"
    script.write_text(f"#!{sys.executable}\nfrom droidpilot.cli import output\nprint(output.program())\n")
    script.chmod(0o755)
    path = str(tmp_path / "bin") if is_on_path else ""
    words = ["droidpilot"] if is_on_path else ["bin/droidpilot"]
    done = subprocess.run(
        words, cwd=tmp_path, env={"PATH": path}, capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == f"{shown}\n"


class GoneTerminal(io.StringIO):
    """A terminal after a hang-up."""

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")


def test_a_terminal_that_is_gone_does_not_stop_the_work() -> None:
    with contextlib.redirect_stderr(GoneTerminal()):
        output.note("nobody reads this")


def test_a_table_is_aligned_and_one_line_per_row(capsys: pytest.CaptureFixture[str]) -> None:
    output.table([("SERIAL", "STATE"), ("abc\n\x1b[31mdef", "device"), ("x", "")])
    assert capsys.readouterr().out == "SERIAL   STATE\nabc def  device\nx\n"
    output.table([])
    assert capsys.readouterr().out == ""


def test_no_colour_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    output.result("good", style="good")
    assert capsys.readouterr().out == "good\n"


@pytest.mark.parametrize(
    ("environment", "seen"),
    [
        ({"TERM": "xterm"}, b"\x1b[32mgood\x1b[0m\r\n"),
        ({"TERM": "xterm", "NO_COLOR": "1"}, b"good\r\n"),
        ({"TERM": "dumb"}, b"good\r\n"),
    ],
)
def test_a_terminal_gets_colour_unless_it_is_not_wanted(environment: dict[str, str], seen: bytes) -> None:
    master, slave = pty.openpty()
    code = "from droidpilot.cli import output; output.result('good', style='good')"
    subprocess.run([sys.executable, "-c", code], stdout=slave, stderr=slave, env=environment, timeout=60, check=True)
    os.close(slave)
    assert os.read(master, 1000) == seen
    os.close(master)
