"""The promises, through the real command line: honest exit codes, secrets written nowhere, screens kept back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.e2e.setting import Setting, virtual_setting

from droidpilot.model.scripted import ScriptedCall, ScriptedServer, Step, StepSource

PROGRAM = str(Path(sys.executable).with_name("droidpilot"))
PASSWORD = "corr3ct-horse-b4ttery"


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def step(*calls: ScriptedCall, say: str = "") -> Step:
    return Step(say=say, calls=list(calls))


def do(tool: str, find: str | None = None, **args: Any) -> ScriptedCall:
    return ScriptedCall(tool=tool, find=find, args=args)


DONE = step(do("done", summary="All is done."))


def run(
    setting: Setting, home: Path, steps: Sequence[StepSource], *options: str, folder: Path | None = None
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Run a goal against a scripted model; return what it printed and the requests that the model got."""
    with ScriptedServer(steps=steps) as server:
        env = {
            **os.environ,
            "DROIDPILOT_HOME": str(home),
            "ANDROID_ADB_SERVER_PORT": str(setting.adb_port),
            "DROIDPILOT_MODEL": server.model,
            "DROIDPILOT_BASE_URL": server.base_url,
        }
        words = [PROGRAM, "run", "Do it", "--device", setting.phone.serial, *options]
        done = subprocess.run(
            words,
            env=env,
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=100,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return done, [request.body for request in server.requests]


HOME = step(do("press", key="home"))
#: Different keys in turn, so that no breaker ends the run first.
WANDER = [step(do("press", key=key)) for key in ("home", "recents") * 5]


@pytest.mark.parametrize(
    "steps, options, code",
    [
        ([HOME, DONE], ("--check", "setting:global/wifi_on=0"), 0),
        ([HOME, DONE], ("--no-check",), 0),
        ([HOME, DONE], (), 8),
        ([HOME, DONE], ("--check", "setting:global/wifi_on=1"), 1),
        ([HOME, DONE], ("--check", "setting:global/wifi_on=0", "--check", "text=Nowhere to be seen"), 1),
        ([HOME, DONE], ("--check", "text!=Settings"), 1),
        (WANDER, ("--no-check", "--max-turns", "3"), 6),
        (WANDER, ("--no-check", "--max-actions", "2"), 6),
        (WANDER, ("--no-check", "--max-tokens", "10"), 6),
        ([step(say="I have done everything you asked for.")] * 3, ("--no-check",), 1),
        ([step(do("tap", ref=4000 + n)) for n in range(9)], ("--no-check",), 1),
        ([Step(fault="empty")] * 12, ("--no-check",), 4),
        ([Step(fault="content_filter")] * 3, ("--no-check",), 4),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, tuple | int) else "",
)
def test_the_exit_code_tells_what_was_checked(
    setting: Setting, home: Path, steps: list[Step], options: tuple[str, ...], code: int
) -> None:
    done, _ = run(setting, home, steps, *options)
    assert done.returncode == code, done.stderr


@pytest.mark.parametrize(
    "options, words",
    [
        (("--max-usd", "1"), "price"),
        (("--check", "nonsense"), "setting:"),
        (("--policy", "nosuchpolicy"), "nosuchpolicy"),
        (("--max-turns", "0"), "max"),
        (("--ask", "sometimes"), "ask"),
    ],
)
def test_what_cannot_be_used_costs_nothing(setting: Setting, home: Path, options: tuple[str, ...], words: str) -> None:
    done, requests = run(setting, home, [DONE], *options)
    assert done.returncode == 2
    assert words in done.stderr
    assert requests == [] and not (home / "sessions").exists()


def test_inv_40_a_wifi_password_is_written_nowhere(setting: Setting, home: Path) -> None:
    steps: list[StepSource] = [
        step(do("open_app", app="Settings")),
        step(do("tap", find="Network & internet")),
        step(do("tap", find="Wi-Fi")),
        step(do("tap", find="Use Wi-Fi")),
        network,
        password_typed,
        step(do("tap", find="Show password")),
        step(do("tap", find="CONNECT"), say=f"The password {PASSWORD} is in, I connect."),
        step(do("done", summary=f"Connected with {PASSWORD}.")),
    ]
    done, requests = run(setting, home, steps, "--no-check", "--ask", "never", "--json")
    assert done.returncode == 0, done.stderr
    assert PASSWORD in json.dumps(requests), "the model keeps what it asked for"
    assert setting.truth("wifi")["connected"], "the password really arrived"
    for path in home.rglob("*"):
        if path.is_file():
            assert PASSWORD.encode() not in path.read_bytes(), path
    assert PASSWORD not in done.stdout + done.stderr


def network(body: dict[str, Any]) -> Step:
    """Tap the first secured network of the list."""
    text = newest_screen(body)
    line = next(line for line in text.splitlines() if "Secured" in line or "secured" in line)
    return step(do("tap", ref=int(line.removeprefix("+").split(" ")[0])))


def password_typed(body: dict[str, Any]) -> Step:
    line = next(line for line in newest_screen(body).splitlines() if "password" in line and "edit" in line)
    return step(do("type_text", ref=int(line.removeprefix("+").split(" ")[0]), text=PASSWORD))


def newest_screen(body: dict[str, Any]) -> str:
    return next(
        str(message["content"]) for message in reversed(body["messages"]) if "<screen" in str(message["content"])
    )


def test_a_screen_that_may_not_be_read_never_reaches_the_model(setting: Setting, home: Path, tmp_path: Path) -> None:
    rules = tmp_path / "private.rules"
    rules.write_text("deny ui_tree in com.google.android.apps.messaging\n")
    steps = [
        HOME,
        step(do("open_app", app="com.google.android.apps.messaging")),
        step(do("ui_tree")),
        step(do("tap", x=500, y=500)),
        step(do("press", key="back")),
        step(do("tap", ref=1)),
        step(do("done", summary="x")),
    ]
    done, requests = run(setting, home, steps, "--no-check", "--ask", "never", "--policy", str(rules))
    assert done.returncode == 0, done.stderr
    sent = json.dumps(requests, ensure_ascii=False)
    assert "com.google.android.apps.messaging" in sent
    _, shown = run(setting, home, steps[:3], "--no-check", "--ask", "never")
    names = [line.split(" ", 1)[1][:8] for line in newest_screen(shown[-1]).splitlines() if line[:1].isdigit()][1:5]
    assert len(names) == 4, "another policy tells the names that this one must keep back"
    assert [name for name in names if name in sent] == []
