"""What a door may listen to while a session runs: every line as it was written, and the model's prose as it streams.

What a person sees is what was recorded: the terminal draws transcript lines (redacted by then), not a second account.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from droidpilot.core.events import Event


def _ignore_text(_piece: str) -> None:
    return


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Three callables; none may raise, none can change what happens."""

    on_event: Callable[[Event], None] | None = None  # each line after it is on disk, secrets hidden
    on_text: Callable[[str], None] = _ignore_text  # pieces of streaming prose; "" means: it starts over
    on_step: Callable[[str], None] = _ignore_text  # what long work is doing before there is a line: "connecting"
