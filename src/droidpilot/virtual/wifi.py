"""The Wi-Fi radio of the phone: which networks are in reach, which are saved, which one is connected.

Passwords are kept as digests only. This file must never know a view.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from random import Random

from droidpilot.virtual.store import Settings

PLACES = ("Fern", "Harbor", "Juniper", "Maple", "Quarry", "Tulip", "Willow", "Zephyr")
KINDS = ("Cafe", "Home", "Library", "Office", "Studio")
MIN_PASSWORD = 8


@dataclass(frozen=True, slots=True)
class Network:
    ssid: str
    is_secured: bool
    bars: int
    """Signal, 1..4."""


@dataclass(slots=True)
class Wifi:
    """Follows `global wifi_on`, whoever sets it."""

    settings: Settings
    networks: tuple[Network, ...]
    saved: dict[str, str | None] = field(default_factory=dict)
    """Saved networks: ssid to the SHA-256 of the password, None where there is none."""
    chosen: str | None = None

    @property
    def is_on(self) -> bool:
        return self.settings.is_on("global", "wifi_on") and not self.settings.is_on("global", "airplane_mode_on")

    @property
    def connected(self) -> str | None:
        return self.chosen if self.is_on else None

    def connect(self, ssid: str, password: str | None) -> None:
        """Save a network and connect to it."""
        self.saved[ssid] = None if password is None else hashlib.sha256(password.encode()).hexdigest()
        self.chosen = ssid

    def forget(self, ssid: str) -> None:
        self.saved.pop(ssid, None)
        if self.chosen == ssid:
            self.chosen = None

    def state(self) -> dict[str, object]:
        """Return the truth for checks; no password in clear."""
        return {"on": self.is_on, "connected": self.connected, "saved": dict(self.saved)}


def networks_in_reach(random: Random) -> tuple[Network, ...]:
    """Make the networks of a seed: six with different names, one of them open, strongest first."""
    names: list[str] = []
    while len(names) < 6:
        name = f"{random.choice(PLACES)} {random.choice(KINDS)}"
        if name not in names:
            names.append(name)
    open_one = random.randrange(1, len(names))
    return tuple(Network(name, number != open_one, 4 - number * 3 // 5) for number, name in enumerate(names))
