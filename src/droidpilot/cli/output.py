"""What reaches the terminal: results on stdout, progress on stderr, and nothing that could drive the terminal.

Whatever a phone or a model says is data: control, bidi and invisible characters are taken out of every line here, and a
closed pipe is never a reason for the work to stop. This file must never know what a session is.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TextIO

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


def safe(text: str) -> str:
    """Return `text` without anything that a terminal would act on or hide."""
    return text if text.isascii() and text.isprintable() else _UNSAFE.sub("", text)


def prepare_streams() -> None:
    """Make both streams take any text: what a terminal's encoding lacks becomes a question mark; pipes are UTF-8."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace", encoding=None if stream.isatty() else "utf-8")


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


def _write(stream: TextIO, text: str) -> None:
    """Write and flush. A reader that went away is not our trouble: the rest goes nowhere and the work goes on."""
    try:
        stream.write(text)
        stream.flush()
    except (BrokenPipeError, ConnectionResetError):
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 (Path has no better way to open the null device)
            os.dup2(nowhere.fileno(), stream.fileno())
    except OSError:  # the terminal is gone (EIO after a hang-up): the session must still end in order
        return
