"""Reads a transcript: whatever the file holds, what can be read of it is returned and nothing is raised for the rest.

Reading does not judge: `verify` does.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from droidpilot.core.errors import UsageError
from droidpilot.core.events import EVENTS, FORMAT, AnyEvent
from droidpilot.transcript import chain
from droidpilot.transcript.files import HEAD, TRANSCRIPT

_ENVELOPE = ("v", "seq", "ts", "session")


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event of a kind or version that this program does not know, or whose fields it does not."""

    kind: str
    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Line:
    """One readable line."""

    number: int  # of the line in the file, from 1
    seq: int
    ts: str
    session: str
    event: AnyEvent | RawEvent
    raw: bytes  # as in the file, without the newline


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that is none of ours: torn, or written over."""

    number: int
    raw: bytes


@dataclass(frozen=True, slots=True)
class Transcript:
    """All that could be read of one file."""

    path: Path
    lines: tuple[Line, ...]
    bad: tuple[BadLine, ...]
    is_torn: bool  # the last line was not finished


def read_events(path: Path) -> Transcript:
    """Read the transcript at `path`, a file or a session's directory. Raises UsageError where there is no such file."""
    if path.is_dir():
        path = path / TRANSCRIPT
    try:
        data = path.read_bytes()
    except FileNotFoundError as error:
        if (path.parent / HEAD).is_file():
            data = b""  # killed between the two files: a session without a line
        else:
            raise UsageError(
                f"there is no transcript at {path}", hint="`droidpilot session list` shows them"
            ) from error
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error}") from error
    return parse(data, path=path)


def parse(data: bytes, *, path: Path = Path(TRANSCRIPT)) -> Transcript:
    """Read the bytes of a transcript; `path` is only recorded."""
    lines: list[Line] = []
    bad: list[BadLine] = []
    for number, raw in enumerate(chain.split(data), 1):
        line = _line(number, raw)
        if line is None:
            bad.append(BadLine(number, raw))
        else:
            lines.append(line)
    is_torn = bool(bad) and not data.endswith(b"\n") and (not lines or bad[-1].number > lines[-1].number)
    return Transcript(path, tuple(lines), tuple(bad), is_torn)


def _line(number: int, raw: bytes) -> Line | None:
    sealed = chain.unseal(raw)
    if sealed is None:
        return None
    fields = sealed.fields
    version, seq, ts, session = (fields.pop(name, None) for name in _ENVELOPE)
    if not (isinstance(seq, int) and isinstance(ts, str) and isinstance(session, str)):
        return None
    return Line(number, seq, ts, session, _event(version, fields), raw)


def _event(version: Any, fields: dict[str, Any]) -> AnyEvent | RawEvent:
    if version == FORMAT:
        try:
            return EVENTS.validate_python(fields)
        except (ValidationError, RecursionError):
            pass  # a later program may know more fields; the line is still shown as it is
    kind = fields.get("kind")
    return RawEvent(kind if isinstance(kind, str) else "", fields)
