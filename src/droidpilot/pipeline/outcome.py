"""Outcome: what a session came to. Success is what was checked; where several things hold, the gravest is the exit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from droidpilot.core.errors import Exit, strictest_exit

_EXITS = {
    "failed": Exit.FAILED,
    "budget": Exit.BUDGET,
    "refused": Exit.REFUSED,
    "device": Exit.DEVICE,
    "model": Exit.MODEL,
    "stopped": Exit.INTERRUPTED,
    "internal": Exit.INTERNAL,
}
_NAMES = {
    Exit.DONE: "done",
    Exit.FAILED: "failed",
    Exit.DEVICE: "device",
    Exit.MODEL: "model",
    Exit.REFUSED: "refused",
    Exit.BUDGET: "budget",
    Exit.UNKNOWN: "unknown",
    Exit.UNCHECKED: "unchecked",
    Exit.DRIFT: "drift",
    Exit.INTERNAL: "internal",
    Exit.INTERRUPTED: "interrupted",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a session ended, in one word, an exit code and a reason; with what it cost."""

    exit: Exit
    name: str
    reason: str
    summary: str = ""
    turns: int = 0
    actions: int = 0
    tokens: int = 0
    usd: float | None = None
    seconds: float = 0.0


def judge_outcome(
    how: str, reason: str, *, checks: Sequence[bool | None], is_check_waived: bool, unknown_writes: int
) -> tuple[Exit, str]:
    """Choose exit and reason from how the loop ended, what the checks saw, and what is still unknown."""
    codes: set[Exit] = set()
    if unknown_writes:
        codes.add(Exit.UNKNOWN)
        reason = (
            f"{reason}; {unknown_writes} {'write' if unknown_writes == 1 else 'writes'} may or may not have happened"
        )
    if how != "done":
        codes.add(_EXITS.get(how, Exit.INTERNAL))
    elif not checks:
        codes.add(Exit.DONE if is_check_waived else Exit.UNCHECKED)
        if not is_check_waived:
            reason = f"{reason}, but nothing was checked (say how with --check, or waive it with --no-check)"
    elif all(passed is True for passed in checks):
        codes.add(Exit.DONE)
        reason = "done and checked" if not unknown_writes else reason
    else:
        codes.add(Exit.FAILED)
        failed = sum(passed is not True for passed in checks)
        reason = f"{reason}, but {failed} of {len(checks)} checks did not pass"
    return strictest_exit(codes), reason


def outcome_name(code: Exit) -> str:
    return _NAMES[code]
