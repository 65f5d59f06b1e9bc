"""What an asker is told of a screen: the whole or what changed, framed as data; or why it is hidden.

Every word about a screen that goes into a result passes through here, so there is one place that keeps a screen back.
"""

from __future__ import annotations

from droidpilot.pipeline.observer import Observer
from droidpilot.pipeline.visibility import READINGS, hidden_reason
from droidpilot.policy.rules import RuleSet
from droidpilot.screens.diff import diff_of, half_seen, told_late
from droidpilot.screens.render import frame_news, framed
from droidpilot.screens.screen import Screen

#: Part of the model's context window that one screen may take; below it a screen is never cut.
SCREEN_SHARE = 0.25
#: Bytes of UTF-8 that a token stands for. Source: o200k_base on screens, Latin and CJK alike, 3 to 4.
BYTES_PER_TOKEN = 4


def screen_limit_bytes(context_tokens: int) -> int:
    """Return how long the text of one screen may be for a model with such a context window."""
    return int(context_tokens * SCREEN_SHARE) * BYTES_PER_TOKEN


class Teller:
    """Knows which screen the asker was told last, through the observer. `limit_bytes` None: screens are never cut."""

    def __init__(self, observer: Observer, rules: RuleSet, *, limit_bytes: int | None = None) -> None:
        self._observer = observer
        self._rules = rules
        self._limit_bytes = limit_bytes

    def hidden(self, screen: Screen, *, is_approved: bool = False, reading: str = "ui_tree") -> str:
        """Say why `screen` must not be told, naming its package only; empty where it may be."""
        return hidden_reason(self._rules, screen, is_approved=is_approved, tools=READINGS[reading])

    def whole(self, screen: Screen, *, from_ref: int | None = None) -> tuple[str, Screen]:
        """Return the screen as text, and the screen with the refs that the text shows. It must not be hidden.

        With `from_ref` the text begins with the line of that ref.

        Raises:
            TargetError: code no_line: there is no such line.
        """
        shown = self._observer.show(screen)
        told = framed(shown, limit_bytes=self._limit_bytes, from_ref=from_ref)
        self._observer.note_printed(told.refs)
        return told.text, shown

    def whole_or_hidden(self, screen: Screen) -> str:
        """Return the whole screen as text, or why it is hidden."""
        return self._kept_back(screen) or self.whole(screen)[0]

    def news(self, after: Screen) -> str:
        """Say what changed since the asker was told a screen, the whole where that is no longer; "" if nothing did."""
        hidden = self._kept_back(after)
        if hidden:
            return hidden
        before = self._observer.shown
        shown = self._observer.show(after)
        if before is None:
            return self.whole(after)[0]
        if shown is before:
            return self._held_back(shown)
        diff = diff_of(before, shown)
        if diff is None or (self._limit_bytes is not None and len(diff.text.encode()) > self._limit_bytes):
            return self.whole(after)[0]
        self._observer.note_printed(diff.refs)
        return frame_news(diff.text)

    def _held_back(self, screen: Screen) -> str:
        """Tell rows that were cut off when they appeared: nothing moves, so no later look will show them whole."""
        late = self._observer.unprinted(screen) & half_seen(screen)
        self._observer.note_printed(late)
        return frame_news("\n".join(told_late(screen, late))) if late else ""

    def _kept_back(self, screen: Screen) -> str:
        hidden = self.hidden(screen)
        if hidden:
            # Nothing that was told before says anything about what is there now.
            self._observer.shown = None
        return hidden
