"""The one tree of errors. Two families never mix: what was asked went wrong, and the phone or the wire is in trouble.

    DroidpilotError                  exit
    |-- UsageError                   2     flags, arguments, files that a person gave us
    |   |-- ConfigError              2     a settings file or variable
    |   |-- PolicyError              2     a rules file; carries source and line
    |   `-- DumpError                2     a saved hierarchy that cannot be read; carries code
    |-- ToolError                    1     the tool call cannot do what was asked (a result, not the end)
    |   |-- BadArguments             1     arguments do not fit the tool's schema
    |   `-- TargetError              1     no such ref, stale, covered, disabled, off the screen
    |-- DeviceError                  3     the phone or the wire; carries `sent`
    |   |-- DeviceNotChosen          3     several phones and no serial, or none attached
    |   |-- DeviceUnavailable        3     unauthorized, offline, unknown serial
    |   |-- DeviceBusy               3     another process holds the lease
    |   |-- DeviceTimeout            3     no answer inside the deadline
    |   |-- DeviceLost               3     the connection broke
    |   |-- DeviceRefused            3     the phone answered with an error of its own
    |   `-- ScreenUnreadable         3     the hierarchy could not be read; carries code
    |-- ModelError                   4     the endpoint or what it sent
    |   |-- ModelUnreachable         4     transport failed after retries
    |   |-- ModelRejected            4     a 4xx answer, or refused by a content filter
    |   `-- ModelUnusable            4     empty, truncated or malformed replies only
    |-- TranscriptError              70    a transcript cannot be written; the run must stop
    `-- Interrupted                  130   a person stopped us

This file must never know where an error is shown.
"""

from __future__ import annotations

from enum import IntEnum
from typing import ClassVar, Literal

Sent = Literal["no", "yes", "unknown"]


class Exit(IntEnum):
    """Exit codes of the program (DESIGN.md section 6)."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    DEVICE = 3
    MODEL = 4
    REFUSED = 5
    BUDGET = 6
    UNKNOWN = 7
    UNCHECKED = 8
    DRIFT = 9
    INTERNAL = 70
    INTERRUPTED = 130


#: Where several outcomes hold, the first of these is the exit code. 2 never meets the others: nothing was started.
EXIT_ORDER: tuple[Exit, ...] = (
    Exit.INTERRUPTED,
    Exit.INTERNAL,
    Exit.DEVICE,
    Exit.MODEL,
    Exit.UNKNOWN,
    Exit.BUDGET,
    Exit.REFUSED,
    Exit.DRIFT,
    Exit.FAILED,
    Exit.UNCHECKED,
    Exit.DONE,
)


def strictest_exit(codes: set[Exit]) -> Exit:
    """Choose the exit code where several outcomes hold; an empty set is our own fault."""
    if Exit.USAGE in codes:
        return Exit.USAGE
    return next((code for code in EXIT_ORDER if code in codes), Exit.INTERNAL)


class DroidpilotError(Exception):
    """An error a person can act on: a stable code, one sentence, and what to do next."""

    code: str = "error"
    exit: ClassVar[Exit] = Exit.INTERNAL

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        if code is not None:
            self.code = code

    def __str__(self) -> str:
        return f"{self.message} ({self.hint})" if self.hint else self.message


class UsageError(DroidpilotError):
    code = "usage"
    exit = Exit.USAGE


class ConfigError(UsageError):
    code = "config"


class PolicyError(UsageError):
    code = "policy"

    def __init__(self, message: str, *, source: str, line: int, hint: str = "") -> None:
        super().__init__(f"{source}:{line}: {message}" if line else f"{source}: {message}", hint=hint)
        self.source = source
        self.line = line


class DumpError(UsageError):
    code = "dump"


class ToolError(DroidpilotError):
    code = "tool_failed"
    exit = Exit.FAILED


class BadArguments(ToolError):
    code = "bad_arguments"


class TargetError(ToolError):
    """The target cannot be used.

    Codes: no_ref, never_printed, foreign_ref, stale_ref, ambiguous_ref, no_line, covered, disabled, off_screen,
    no_field.
    """

    code = "no_target"


class DeviceError(DroidpilotError):
    """Trouble with the phone or the wire. `sent` says whether a write may have reached the phone."""

    code = "device"
    exit = Exit.DEVICE

    def __init__(self, message: str, *, hint: str = "", code: str | None = None, sent: Sent = "no") -> None:
        super().__init__(message, hint=hint, code=code)
        self.sent: Sent = sent


class DeviceNotChosen(DeviceError):
    code = "device_not_chosen"


class DeviceUnavailable(DeviceError):
    code = "device_unavailable"


class DeviceBusy(DeviceError):
    code = "device_busy"


class DeviceTimeout(DeviceError):
    code = "device_timeout"


class DeviceLost(DeviceError):
    code = "device_lost"


class DeviceRefused(DeviceError):
    code = "device_refused"


class ScreenUnreadable(DeviceError):
    """Codes: unreadable (not XML), empty (zero bytes), never_idle, null_root, illegal_character, dump_failed."""

    code = "unreadable"


class ModelError(DroidpilotError):
    """Trouble with the endpoint. What the failed attempts cost is counted all the same; `spent_usd` None is unknown."""

    code = "model"
    exit = Exit.MODEL

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message, hint=hint, code=code)
        self.spent_tokens = 0
        self.spent_usd: float | None = 0.0


class ModelUnreachable(ModelError):
    code = "model_unreachable"


class ModelRejected(ModelError):
    code = "model_rejected"


class ModelUnusable(ModelError):
    code = "model_unusable"


class TranscriptError(DroidpilotError):
    code = "transcript"
    exit = Exit.INTERNAL


class Interrupted(DroidpilotError):
    code = "interrupted"
    exit = Exit.INTERRUPTED
