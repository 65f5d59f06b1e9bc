"""What every command that drives a phone does first: settings, folders, notes about both. It opens nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from droidpilot.cli import output
from droidpilot.core import config
from droidpilot.core.config import Loaded, Settings


@dataclass(frozen=True, slots=True)
class Start:
    """Settings in force, where they come from, and our folders."""

    loaded: Loaded
    home: Path
    user_policies: Path
    shipped_policies: Path
    api_keys: Mapping[str, str]

    @property
    def settings(self) -> Settings:
        return self.loaded.settings


def start(flags: Mapping[str, Any]) -> Start:
    """Load the settings under these flags (None: not given) and make sure of the state folder.

    Raises:
        ConfigError: see load_settings and state_home.
    """
    env = config.environment()
    loaded = config.load_settings(flags, cwd=Path.cwd(), env=env)
    for text in loaded.notes:
        output.note(f"note: {text}", style="dim")
    return Start(
        loaded=loaded,
        home=config.state_home(env),
        user_policies=config.user_policies_dir(env),
        shipped_policies=config.shipped_dir("policies"),
        api_keys=config.api_keys(env),
    )
