"""Two root windows, one illegal character: what ends in a claimed success elsewhere ends in what is true here.

Source: on such screens a peer's read fails, its taps go on blind, the run exits 0, and on the way the phone's
accessibility settings are overwritten.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.setting import Setting, virtual_setting
from tests.screens.screen_maker import own

from droidpilot.model.scripted import ScriptedCall, ScriptedServer, Step, StepSource
from droidpilot.virtual.scenes.file import scene_of
from droidpilot.virtual.scenes.scene import show

PROGRAM = str(Path(sys.executable).with_name("droidpilot"))
#: A shop with a dialog of another app over it; one label holds a character and a reference that XML does not know.
TWO_ROOTS = (
    own("dialog_two_roots.xml")
    .replace(b'text="Checkout"', b'text="Check\x01out &#x0;"')
    .replace(b"com.google.android.permissioncontroller", b"com.example.survey")
)
CLAIM = Step(calls=[ScriptedCall(tool="done", args={"summary": "Paid. Goal achieved."})])
#: Seconds that a whole run may take; the peer's took 68.
MOST_S = 30.0


@pytest.fixture(scope="module")
def whole_setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


@pytest.fixture
def setting(whole_setting: Setting) -> Iterator[Setting]:
    yield whole_setting
    whole_setting.phone.phone.faults.clear()


def tap(find: str | None = None, **args: Any) -> Step:
    return Step(calls=[ScriptedCall(tool="tap", find=find, args=args)])


def run(
    setting: Setting, home: Path, steps: Sequence[StepSource], *options: str
) -> tuple[int, list[dict[str, Any]], list[dict[str, Any]]]:
    """Run a goal; return the exit code, what the phone executed, and the requests that the model got."""
    before = setting.truth("inputs")["count"]
    rules = home.with_name("all.rules")  # so that only the screen is a reason not to do it
    rules.write_text("allow *\n")
    with ScriptedServer(steps=steps) as server:
        env = {
            **os.environ,
            "DROIDPILOT_HOME": str(home),
            "ANDROID_ADB_SERVER_PORT": str(setting.adb_port),
            "DROIDPILOT_MODEL": server.model,
            "DROIDPILOT_BASE_URL": server.base_url,
        }
        words = [PROGRAM, "run", "Pay", "--device", setting.phone.serial, "--policy", str(rules), *options]
        began = time.monotonic()
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, check=False
        )
        assert time.monotonic() - began < MOST_S
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        bodies = [request.body for request in server.requests]
    executed = [event for event in setting.truth("inputs")["events"] if event["n"] > before]
    return done.returncode, executed, bodies


def told(bodies: list[dict[str, Any]]) -> str:
    return "\n".join(str(message["content"]) for message in bodies[-1]["messages"] if message["role"] != "system")


def untouched(setting: Setting) -> bool:
    """Tell whether the run wrote no setting at all, accessibility and keyboard included."""
    return setting.phone.phone.state()["settings_changed"] == []


def test_both_windows_are_read_and_a_tap_lands_on_what_was_named(setting: Setting, tmp_path: Path) -> None:
    show(setting.phone.phone, scene_of(TWO_ROOTS))
    button = "Don't allow"
    code, executed, bodies = run(setting, tmp_path / "home", [tap(find=button), CLAIM])
    assert "Pay 12.00" in told(bodies) and button in told(bodies)
    assert [(event["kind"], event["on"].endswith(button)) for event in executed] == [("tap", True)]
    assert code == 8, "the model's word for it is not a check"
    assert untouched(setting)


def test_what_lies_under_the_dialog_is_not_tapped(setting: Setting, tmp_path: Path) -> None:
    show(setting.phone.phone, scene_of(TWO_ROOTS))
    code, executed, _ = run(setting, tmp_path / "home", [tap(find="Pay 12.00"), CLAIM], "--check", "text=Paid")
    assert executed == [] or all("Pay" not in str(event["on"]) for event in executed)
    assert code == 1 and untouched(setting)


@pytest.mark.parametrize("is_from_the_start", [True, False])
def test_no_step_is_blind_where_the_phone_cannot_write_the_character(
    setting: Setting, tmp_path: Path, is_from_the_start: bool
) -> None:
    phone = setting.phone.phone
    show(phone, scene_of(TWO_ROOTS))
    if is_from_the_start:
        phone.faults.set("dump-error", "illegal-character", "always")

    def tap_when_broken(_: dict[str, Any]) -> Step:
        phone.faults.set("dump-error", "illegal-character", "always")
        return tap(x=540, y=1200)

    steps: list[StepSource] = [tap_when_broken, tap(x=100, y=2200), tap(x=1, y=1), CLAIM]
    code, executed, bodies = run(setting, tmp_path / "home", steps)
    assert executed == [], "nothing is sent to a screen that nobody saw"
    assert code != 0 and untouched(setting)
    if is_from_the_start:
        assert code == 3 and bodies == [], "the model is not even asked"
    else:
        assert "cannot be read" in told(bodies)


def test_a_check_that_holds_is_the_only_way_to_0(setting: Setting, tmp_path: Path) -> None:
    show(setting.phone.phone, scene_of(TWO_ROOTS))
    code, _, _ = run(setting, tmp_path / "home", [CLAIM], "--check", "text=Pay 12.00 €")
    assert code == 0 and untouched(setting)
