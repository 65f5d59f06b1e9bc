"""What an asker is told of a screen: the whole or what changed, framed as data; or why it is hidden.

Every word about a screen that goes into a result passes through here, so there is one place that keeps a screen back.
"""

from __future__ import annotations

from droidpilot.pipeline.observer import Observer
from droidpilot.pipeline.visibility import hidden_reason
from droidpilot.policy.rules import RuleSet
from droidpilot.screens.diff import changes
from droidpilot.screens.render import frame, render
from droidpilot.screens.screen import Screen


class Teller:
    """Knows which screen the asker was told last, through the observer."""

    def __init__(self, observer: Observer, rules: RuleSet) -> None:
        self._observer = observer
        self._rules = rules

    def hidden(self, screen: Screen, *, is_approved: bool = False) -> str:
        """Say why `screen` must not be told, naming its package only; empty where it may be."""
        return hidden_reason(self._rules, screen, is_approved=is_approved)

    def whole(self, screen: Screen) -> tuple[str, Screen]:
        """Return the whole screen as text, and the screen with the refs that the text shows. It must not be hidden."""
        shown = self._observer.show(screen)
        return frame(render(shown), shown.package), shown

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
            return ""
        diff = changes(before, shown)
        return self.whole(after)[0] if diff is None else frame(diff, shown.package)

    def _kept_back(self, screen: Screen) -> str:
        hidden = self.hidden(screen)
        if hidden:
            # Nothing that was told before says anything about what is there now.
            self._observer.shown = None
        return hidden
