"""What every command that drives a phone does first: settings, folders, notes about both. It opens nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from droidpilot.cli import output
from droidpilot.core import config
from droidpilot.core.config import Loaded, Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Settings in force, where they come from, the folders of rules, and the keys."""

    loaded: Loaded
    user_policies: Path
    shipped_policies: Path
    api_keys: Mapping[str, str]
    audit_key: bytes = field(default=b"", repr=False)  # seals transcripts; empty: they are not sealed

    @property
    def settings(self) -> Settings:
        return self.loaded.settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Start(Sources):
    """The same with the state folder, which exists."""

    home: Path


def sources(flags: Mapping[str, Any]) -> Sources:
    """Load the settings under these flags (None: not given); nothing is made.

    Raises:
        ConfigError: see load_settings.
    """
    env = config.environment()
    loaded = config.load_settings(flags, cwd=Path.cwd(), env=env)
    for text in loaded.notes:
        output.note(f"note: {text}", style="dim")
    return Sources(
        loaded=loaded,
        user_policies=config.user_policies_dir(env),
        shipped_policies=config.shipped_dir("policies"),
        api_keys=config.api_keys(env),
        audit_key=config.audit_key(env),
    )


def start(flags: Mapping[str, Any]) -> Start:
    """Load the settings under these flags and make sure of the state folder.

    Raises:
        ConfigError: see load_settings and state_home.
    """
    found = sources(flags)
    return Start(
        loaded=found.loaded,
        user_policies=found.user_policies,
        shipped_policies=found.shipped_policies,
        api_keys=found.api_keys,
        audit_key=found.audit_key,
        home=config.state_home(config.environment()),
    )
