"""What reaches the terminal: results on stdout, progress on stderr, and nothing that could drive the terminal.

Whatever a phone or a model says is data: control, bidi and invisible characters are taken out of every line here. A
reader that goes away is never a reason for the work to stop; a result that cannot be written is an error, for nobody
would miss it. This file must never know what a session is.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import shutil
import stat
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TextIO

from droidpilot.core.errors import UsageError

Style = Literal["plain", "bold", "dim", "good", "bad", "warn"]

_CODES: dict[Style, str] = {"plain": "", "bold": "1", "dim": "2", "good": "32", "bad": "31", "warn": "33"}

#: Escape sequences as a whole (so that no `[31m` is left behind), then every control, bidi, invisible, tag character.
#: Newline, tab and the joiners that emoji and Indic or Persian words need (ZWNJ, ZWJ) stay.
_UNSAFE = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"
    r"|\x9b[0-?]*[ -/]*[@-~]|\r(?!\n)"
    r"|[\x00-\x08\x0b-\x0c\x0d-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
#: The same for JSON, where they can be written as escapes.
_JSON_UNSAFE = re.compile(
    r"[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)


#: What a stream's end cannot take: a full disk, a quota, a file that grew too large, a disk that fails. Whoever called
#: us chose where the output goes, so it is a usage error (2), as with every other thing a person gave.
FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


class _Nowhere(io.StringIO):
    """Stands for a stream that was closed before the program began. Keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


def safe(text: str) -> str:
    """Return `text` without anything that a terminal would act on or hide."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub("", text)


def prepare_streams() -> None:
    """Make both streams take any text: what a terminal's encoding lacks becomes a question mark; pipes are UTF-8.

    One that was closed before we began (`>&-`) goes nowhere from now on, and its number is taken, so that no file or
    socket of ours gets it and is written to in its place.
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    if sys.stdout is None:
        sys.stdout = _Nowhere()
    if sys.stderr is None:
        sys.stderr = _Nowhere()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace", encoding=None if stream.isatty() else "utf-8")


def require_stdout() -> None:
    """Refuse to begin where the answer, which is all that is wanted, has nowhere to go.

    Raises:
        UsageError: stdout was closed before we began.
    """
    if isinstance(sys.stdout, _Nowhere):
        raise UsageError("stdout is closed, so there is nowhere to put the answer", hint="leave out >&-")


def program() -> str:
    """Return what to type to run this program again: its name, or its path as it was typed where PATH has another."""
    typed = Path(sys.argv[0])
    if typed.name != "droidpilot":
        return "droidpilot"
    found = shutil.which("droidpilot")
    is_on_path = found is not None and typed.exists() and typed.samefile(found)
    return "droidpilot" if is_on_path else shlex.quote(sys.argv[0])


def result(text: str = "", *, style: Style = "plain") -> None:
    """Write one line (or several) of the result to stdout."""
    _write(sys.stdout, painted(text, style, sys.stdout) + "\n")


def note(text: str = "", *, style: Style = "plain") -> None:
    """Write one line of progress to stderr."""
    _write(sys.stderr, painted(text, style, sys.stderr) + "\n")


def piece(text: str, *, style: Style = "plain") -> None:
    """Write part of a line of progress to stderr."""
    _write(sys.stderr, painted(text, style, sys.stderr))


def result_json(document: Any) -> None:
    """Write one JSON document to stdout."""
    _write(sys.stdout, json_text(document) + "\n")


def json_text(document: Any) -> str:
    """Return a document as JSON in which characters that a terminal might act on are escaped."""
    return _JSON_UNSAFE.sub(_as_escape, json.dumps(document, ensure_ascii=False, indent=2))


def table(rows: Iterable[Sequence[str]]) -> None:
    """Write rows to stdout in aligned columns; the last one is not padded."""
    cleaned = [[safe(cell).replace("\n", " ").replace("\t", " ") for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cleaned, strict=True)]
    for row in cleaned:
        result("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def painted(text: str, style: Style, stream: TextIO) -> str:
    """Return `text` made safe and, on a terminal that wants colours, styled."""
    cleaned = safe(text)
    if not _CODES[style] or not cleaned or not stream.isatty() or not _is_color_wanted():
        return cleaned
    return f"\x1b[{_CODES[style]}m{cleaned}\x1b[0m"


def _is_color_wanted() -> bool:
    # Here and not above: pydantic comes with it, and `--help` needs neither.
    from droidpilot.core.config import environment, is_color_wanted

    return is_color_wanted(environment())


def _as_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1]


def silence(stream: TextIO) -> None:
    """Send whatever is still written to `stream`, and what it holds already, nowhere."""
    try:
        number = stream.fileno()
    except OSError:  # it is no file at all
        return
    with Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), number)


def _write(stream: TextIO, text: str) -> None:
    """Write and flush.

    A reader that went away and a terminal after a hang-up are not our trouble: the rest goes nowhere and the work goes
    on. So it does for notes, whatever happens to them: there is no other place to tell.

    Raises:
        UsageError: a result could not be written.
    """
    try:
        stream.write(text)
        stream.flush()
    except OSError as error:
        is_forgiven = stream is sys.stderr or _is_reader_gone(stream, error)
        silence(stream)
        if not is_forgiven:
            raise UsageError(
                f"the results cannot be written to stdout: {error.strerror or error}",
                hint="is the disk full? What was done on a phone is recorded: droidpilot session show",
            ) from error


def _is_reader_gone(stream: TextIO, error: OSError) -> bool:
    if isinstance(error, BrokenPipeError | ConnectionResetError):
        return True
    if error.errno != errno.EIO:
        return False
    try:
        # isatty() says no after a hang-up; what kind of file it is does not change.
        return stat.S_ISCHR(os.fstat(stream.fileno()).st_mode)
    except OSError:
        return False
