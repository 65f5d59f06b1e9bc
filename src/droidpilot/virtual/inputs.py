"""The log of inputs that the phone really executed, so that a test can prove what was sent and how often.

Typed text is noted by its length only. This file must never know a view.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

KEPT = 1_000


@dataclass(slots=True)
class InputLog:
    """Counts every executed input and keeps the last thousand."""

    count: int = 0
    events: deque[dict[str, object]] = field(default_factory=lambda: deque(maxlen=KEPT))

    def note(self, kind: str, **facts: object) -> None:
        """Note one executed input; its number `n` begins with 1 and never repeats."""
        self.count += 1
        self.events.append({"n": self.count, "kind": kind, **facts})

    def state(self) -> dict[str, object]:
        return {"count": self.count, "events": list(self.events)}
