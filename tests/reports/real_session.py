"""A session on a virtual phone, through everything: policy, road, driver, adb server, adbd."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.e2e.setting import SHIPPED, Setting

from droidpilot.core.calls import Origin
from droidpilot.core.clock import SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.stop import Stop
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.screens.screen import Screen
from droidpilot.session import Session, open_session


def plan_of(folder: Path, *, goal: str = "", **flags: Any) -> SessionPlan:
    """Plan a session that may do everything, with a home in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "open.rules").write_text("allow *\n")
    if goal:
        flags = {"model": "fake", "base_url": "http://127.0.0.1:9/v1", **flags}
    given = {"ask": "never", "max_actions": 10_000, "policy": str(folder / "open.rules"), **flags}
    return SessionPlan(
        home=folder / "home",
        origin=Origin.MODEL if goal else Origin.HUMAN,
        goal=goal,
        is_check_waived=bool(goal),
        settings=load_settings(given, cwd=folder, env={}).settings,
        user_policies=folder / "policies",
        shipped_policies=SHIPPED,
    )


@contextmanager
def real_session(setting: Setting, folder: Path, **flags: Any) -> Iterator[Session]:
    address = PhoneAddress(serial=setting.phone.serial, adb_port=setting.adb_port, is_virtual=True)
    with open_session(prepare(plan_of(folder, **flags)), address, clock=SystemClock(), stop=Stop()) as session:
        yield session


def look(session: Session) -> Screen:
    screen = session.call("ui_tree", {}).value
    assert isinstance(screen, Screen)
    return screen


def last_input(setting: Setting) -> dict[str, Any]:
    """Return the last input that the phone really executed."""
    event = setting.truth("inputs")["events"][-1]
    assert isinstance(event, dict)
    return event


def inputs(setting: Setting) -> int:
    return int(setting.truth("inputs")["count"])


def inputs_since(setting: Setting, count: int) -> list[dict[str, Any]]:
    """Return what the phone executed after its first `count` inputs."""
    return [event for event in setting.truth("inputs")["events"] if event["n"] > count]
