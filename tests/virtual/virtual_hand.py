"""A hand for tests of the virtual phone: finds a node by its label and taps it, without any wire."""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.clock import ManualClock
from droidpilot.virtual.phone import SDK, Phone
from droidpilot.virtual.touch import Touch
from droidpilot.virtual.ui.hierarchy import SeenNode


@dataclass
class Hand:
    phone: Phone
    touch: Touch
    clock: ManualClock

    @classmethod
    def at(cls, *, seed: int = 0, transition_ms: int = 0, sdk: int = SDK) -> Hand:
        clock = ManualClock()
        phone = Phone(seed=seed, transition_ms=transition_ms, clock=clock, sdk=sdk)
        return cls(phone, Touch(phone), clock)

    def nodes(self) -> list[SeenNode]:
        return [node for root in self.phone.look().roots for node in root.walk()]

    def labels(self) -> list[str]:
        return [node.text or node.view.desc for node in self.nodes() if node.text or node.view.desc]

    def node(self, label: str) -> SeenNode:
        return next(node for node in self.nodes() if label in (node.text, node.view.desc, node.view.id))

    def tap(self, *labels: str) -> None:
        for label in labels:
            bounds = self.node(label).bounds
            self.touch.tap((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2)

    def settle(self) -> None:
        """Let all transitions end."""
        self.clock.advance(2.0)
        self.phone.advance()
        self.clock.advance(2.0)
