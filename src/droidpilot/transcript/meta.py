"""The small file beside a transcript that a list of sessions is made of. A convenience: the transcript is the truth."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from droidpilot.core.errors import TranscriptError, UsageError
from droidpilot.core.text import one_line, shorten
from droidpilot.transcript import chain, files
from droidpilot.transcript.redaction import Redactor

MAX_BYTES = 256 * 1024
MAX_TITLE = 60
_PROC = Path("/proc")


class Meta(BaseModel):
    """What a session was and how it stands. Unknown fields of a later version are left out when read."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str = Field(description="the session's id")
    goal: str = Field(default="", description="the goal in the person's words")
    title: str = Field(
        default="", description="the goal, or the call where there is none, on one line of at most 60 characters"
    )
    started: str = Field(description="UTC ISO 8601")
    ended: str | None = Field(default=None, description="UTC ISO 8601, null while it runs or where it was killed")
    outcome: str = Field(default="", description="as in session_ended, empty before")
    exit_code: int | None = Field(default=None, description="the program's exit code")
    serial: str = Field(default="", description="the phone's serial")
    phone: str = Field(default="", description="names the phone across sessions; empty: its serial does")
    model: str = Field(default="", description="the model's name, empty where none was used")
    pid: int = Field(default=0, description="the process that runs it")
    pid_started: str = Field(
        default="", description="when that process began, to tell it from a later one of the same id"
    )
    turns: int = Field(default=0, description="model requests made")
    actions: int = Field(default=0, description="writes sent")
    unknown: int | None = Field(
        default=None, description="writes of which nobody knows whether they happened; null where that was not counted"
    )
    tokens: int = Field(default=0, description="tokens used")
    usd: float | None = Field(default=None, description="money spent, null where unknown")
    is_running: bool = Field(default=False, description="whether it ran when this was written")

    @property
    def is_alive(self) -> bool:
        """Whether the process that runs it is still there (INV-39)."""
        return self.is_running and self.pid > 0 and self.pid_started == process_started(self.pid) != ""


class MetaFile:
    """Reads and writes the meta file of one session directory."""

    def __init__(self, directory: Path, *, redactor: Redactor | None = None) -> None:
        self._path = directory / files.META
        self._redactor = redactor or Redactor()

    def write(self, meta: Meta) -> None:
        """Replace the file at once and on disk. Raises TranscriptError where that fails."""
        fields = self._redactor.fields(meta)
        # A title is always there, so that a list reads well.
        fields["title"] = shorten(one_line(fields["title"] or fields["goal"]), MAX_TITLE)
        try:
            files.replace(self._path, (chain.to_json(fields) + "\n").encode(), is_synced=True)
        except OSError as error:
            raise TranscriptError(f"cannot write {self._path}: {error}", hint="is the disk full?") from error

    def read(self) -> Meta:
        """Read the file. Raises UsageError where it is missing or not what we write: it is never taken for empty."""
        try:
            with self._path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            if len(data) > MAX_BYTES:
                raise UsageError(
                    f"{self._path} is too big to be a meta file", hint="`session show ID` reads the transcript"
                )
            return Meta.model_validate_json(data)
        except FileNotFoundError as error:
            raise UsageError(f"{self._path} is missing", hint="the session was killed while it started") from error
        except (OSError, ValidationError) as error:
            reason = f"{error.error_count()} faults" if isinstance(error, ValidationError) else str(error)
            raise UsageError(
                f"{self._path} cannot be read: {reason}", hint="`session show ID` reads the transcript itself"
            ) from error


def process_started(pid: int) -> str:
    """Tell when a process began, in ticks since boot; empty where there is none or the system does not say.

    Source: proc(5), field 22 of /proc/PID/stat; the name in parentheses may hold spaces and parentheses itself.
    """
    try:
        stat = (_PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    parts = stat.rpartition(")")[2].split()
    return parts[19] if len(parts) > 19 and parts[0] != "Z" else ""
