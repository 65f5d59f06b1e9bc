"""The phone's time goes on by itself: whoever asks finds it as it is now, whichever command or call he asks with."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from tests.virtual.virtual_hand import Hand
from tests.virtual.virtual_rig import Rig, adb_server, attached_rig

from droidpilot.virtual.apps.packages import SETTINGS


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port, attached_rig(port, transition_ms=280) as made:
        yield made


@pytest.fixture
def due(rig: Rig) -> Rig:
    """A phone where nothing runs yet, and the start of an app was asked for long enough ago."""
    rig.adb.shell(f"am force-stop {SETTINGS}")
    rig.adb.shell(f"monkey -p {SETTINGS} 1")
    time.sleep(0.4)
    return rig


@pytest.mark.parametrize("line", [f"pidof {SETTINGS}", "ps -A", "dumpsys activity top", "dumpsys window"])
def test_a_started_app_runs_whoever_asks_first(due: Rig, line: str) -> None:
    said = due.cli("shell", line).stdout.decode()
    assert said.strip().isdigit() if line.startswith("pidof") else SETTINGS in said


def test_a_line_that_sleeps_finds_what_came_meanwhile(rig: Rig) -> None:
    rig.adb.shell(f"am force-stop {SETTINGS}")
    assert rig.adb.shell(f"monkey -p {SETTINGS} 1 >/dev/null; sleep 0.5; pidof {SETTINGS}").strip().isdigit()


def test_uiautomator2_waits_for_an_app_no_longer_than_it_takes(rig: Rig) -> None:
    rig.u2.app_stop(SETTINGS)
    began = time.monotonic()
    rig.u2.app_start(SETTINGS, wait=True)
    assert time.monotonic() - began < 5
    rig.u2.app_stop(SETTINGS)
    began = time.monotonic()
    assert rig.u2.session(SETTINGS).running()
    assert time.monotonic() - began < 8


def test_what_was_granted_on_the_screen_is_granted_for_the_package_manager() -> None:
    hand = Hand.at(transition_ms=280)
    hand.phone.later(lambda: hand.phone.permissions.put(SETTINGS, "android.permission.CAMERA", True))
    hand.clock.advance(1)
    from tests.virtual.test_virtual_shell import run

    assert "CAMERA: granted=true" in run(f"dumpsys package {SETTINGS}", hand=hand)[0]
