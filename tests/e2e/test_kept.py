"""kill -9 of a run while the phone's keyboard is switched: whatever moment was hit, the phone is as it was then."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.cli.cli_shell import COMMAND
from tests.e2e.setting import Setting, virtual_setting
from tests.reports.typed import open_form, open_phone

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.events import PhoneChanged
from droidpilot.device.adb import AdbServer
from droidpilot.device.keeper import left_behind, repair
from droidpilot.virtual.store import INITIAL, Change

ROOT = Path(__file__).resolve().parents[2]
#: Random moments of one run of the tests.
MOMENTS = int(os.environ.get("KEPT_MOMENTS", "12"))
#: From the first thing that a run changes on the phone, so long is it watched: a text takes about 0.2 s.
WINDOW_S = 1.2
KEPT = (
    ("secure", "default_input_method"),
    ("secure", "enabled_input_methods"),
    ("global", "window_animation_scale"),
    ("global", "transition_animation_scale"),
    ("global", "animator_duration_scale"),
)


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


def truth(setting: Setting) -> dict[tuple[str, str], str | None]:
    return {key: setting.phone.phone.settings.get(*key) for key in KEPT}


AS_FOUND = {(namespace, key): INITIAL[namespace][key] for namespace, key in KEPT}


def killed(setting: Setting, home: Path, *, at_change: int = 0, after_s: float = 0.0) -> None:
    """Start a run, and kill it at its N-th change of the phone, or so long after its first one."""
    changes = setting.phone.phone.settings.changes
    changes.clear()  # it keeps the last thousand only
    words = [sys.executable, "-m", "tests.e2e.killed_typing", str(home), setting.phone.serial, str(setting.adb_port)]
    child = subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True)
    patience = time.monotonic() + 60
    while len(changes) < max(1, at_change) and child.poll() is None and time.monotonic() < patience:
        time.sleep(0.0005)
    time.sleep(after_s if child.poll() is None else 0)
    child.kill()
    _, problem = child.communicate()
    assert child.returncode == -signal.SIGKILL, problem


def put_back(setting: Setting, home: Path, *, by_next_run: bool) -> list[str]:
    """Let the next run, or doctor's way, put back what was left; return what was said of it."""
    if by_next_run:
        with open_phone(setting, home) as typing:
            assert truth(setting) == AS_FOUND, "before anything else"
        return [event.words for event in typing.events if isinstance(event, PhoneChanged)]
    clock = SystemClock()
    server = AdbServer(setting.adb_port)
    done = repair(home, server, setting.phone.serial, clock, Deadline.after(clock, 20))
    return [one.words for one in done]


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_killed_at_random_moments(setting: Setting, tmp_path: Path) -> None:
    random = Random(4)
    home = tmp_path / "home"
    left = 0
    with open_form(setting, home) as typing:
        typing.type("ink", "x")
    for moment in range(MOMENTS):
        killed(setting, home, after_s=random.uniform(0, WINDOW_S))
        was_left = truth(setting) != AS_FOUND
        left += was_left
        said = put_back(setting, home, by_next_run=moment % 2 == 0)
        assert truth(setting) == AS_FOUND, f"moment {moment}"
        assert said or not was_left, "what was put back is said"
        assert left_behind(home) == []
    assert left, "no kill left anything: the moments prove nothing"


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("at_change", range(1, 8))
def test_killed_at_each_change_of_the_phone(setting: Setting, tmp_path: Path, at_change: int) -> None:
    """Three scales, enabled, default, default back, disabled again: right behind each of them."""
    home = tmp_path / "home"
    with open_form(setting, home) as typing:
        typing.type("ink", "x")
    killed(setting, home, at_change=at_change)
    assert truth(setting) != AS_FOUND
    said = put_back(setting, home, by_next_run=at_change % 2 == 0)
    assert truth(setting) == AS_FOUND
    assert any("a run that ended without putting it back" in words for words in said)


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
@pytest.mark.parametrize("at_change", [1, 4, 5, 6])
def test_ctrl_c_leaves_nothing_behind(setting: Setting, tmp_path: Path, at_change: int) -> None:
    """Also in the middle of switching, or of switching back: the program itself, with its own signal handling."""
    home = tmp_path / "home"
    with open_form(setting, home) as typing:
        typing.type("ink", "x")
    changes = setting.phone.phone.settings.changes
    changes.clear()
    env = os.environ | {
        "DROIDPILOT_HOME": str(home),
        "DROIDPILOT_KEYBOARD": "switch",
        "DROIDPILOT_ANIMATIONS": "off",
        "DROIDPILOT_ASK": "never",
        "ANDROID_ADB_SERVER_PORT": str(setting.adb_port),
    }
    words = [str(COMMAND), "call", "type_text", "text=שלום", "-d", setting.phone.serial]
    child = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    patience = time.monotonic() + 60
    while len(changes) < at_change and child.poll() is None and time.monotonic() < patience:
        time.sleep(0.0005)
    assert child.poll() is None, child.communicate()[0]
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=60)
    assert child.returncode in (0, 130), said
    assert truth(setting) == AS_FOUND, said
    assert left_behind(home) == []


def test_what_a_person_set_after_the_kill_stays(setting: Setting, tmp_path: Path) -> None:
    home = tmp_path / "home"
    with open_form(setting, home) as typing:
        typing.type("ink", "x")
    killed(setting, home, at_change=3)
    settings = setting.phone.phone.settings
    settings.put("global", "window_animation_scale", "0.5", source="person")
    said = put_back(setting, home, by_next_run=False)
    assert settings.get("global", "window_animation_scale") == "0.5"
    assert any("somebody set since" in words for words in said)
    ours = [one for one in settings.changes if one == Change("global", "window_animation_scale", "0.5", "shell")]
    assert not ours
    settings.put("global", "window_animation_scale", "1.0", source="person")
