"""How a session ended, in one line or as JSON: outcome, reason, turns, tokens, money, where."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from droidpilot.cli.progress import TerminalProgress
from droidpilot.core.events import CheckFinished, Event
from droidpilot.core.progress import Progress
from droidpilot.core.text import one_line, plural, shorten
from droidpilot.pipeline.outcome import Outcome

_MAX_REASON = 400


class Watched:
    """A terminal's progress that also remembers what became of each check."""

    def __init__(self, terminal: TerminalProgress) -> None:
        self._terminal = terminal
        self.checks: list[CheckFinished] = []

    def listener(self) -> Progress:
        """Return the ears that a session wants."""
        return replace(self._terminal.listener(), on_event=self._on_event)

    def _on_event(self, event: Event) -> None:
        if isinstance(event, CheckFinished):
            self.checks.append(event)
        self._terminal.on_event(event)


def outcome_line(outcome: Outcome, directory: Path) -> str:
    """Say it in one line."""
    reason = shorten(one_line(outcome.reason), _MAX_REASON)
    used = f"{plural(outcome.turns, 'turn')}, {plural(outcome.actions, 'action')}, {plural(outcome.tokens, 'token')}"
    return f"{outcome.name}: {reason}; {used}, {money(outcome.usd)}, {outcome.seconds:.1f} s; {directory}"


def outcome_json(outcome: Outcome, session: str, directory: Path, checks: list[CheckFinished]) -> dict[str, Any]:
    """Return the same as JSON values, with the checks."""
    return {
        "session": session,
        "where": str(directory),
        "outcome": outcome.name,
        "exit_code": int(outcome.exit),
        "reason": outcome.reason,
        "summary": outcome.summary,
        "turns": outcome.turns,
        "actions": outcome.actions,
        "tokens": outcome.tokens,
        "usd": outcome.usd,
        "seconds": outcome.seconds,
        "checks": [check.model_dump(mode="json", exclude={"kind"}) for check in checks],
    }


def money(usd: float | None) -> str:
    """Write an amount of US dollars; None is a price that nobody knows."""
    return "price unknown" if usd is None else f"${usd:.4f}"
