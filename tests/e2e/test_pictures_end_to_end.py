"""Pictures through the real command line: what reaches the model, what never does, and what it costs."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import PIL.Image
import pytest
from tests.e2e.setting import Setting, virtual_setting

from droidpilot.model.scripted import ScriptedCall, ScriptedServer, Step, StepSource

PROGRAM = str(Path(sys.executable).with_name("droidpilot"))
DONE = Step(calls=[ScriptedCall(tool="done", args={"summary": "Seen."})])


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


def do(tool: str, **args: Any) -> ScriptedCall:
    return ScriptedCall(tool=tool, args=args)


def run(
    setting: Setting, home: Path, steps: Sequence[StepSource], *, rules: str = "", model: str = ""
) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]], list[bytes]]:
    """Run a goal; return what it printed, the bodies that the model got, and the pictures in the last of them."""
    home.mkdir(exist_ok=True)
    policy = home / "test.rules"
    policy.write_text(f"{rules}\nallow *\n")
    with ScriptedServer(steps=steps) as server:
        env = {
            **os.environ,
            "DROIDPILOT_HOME": str(home),
            "ANDROID_ADB_SERVER_PORT": str(setting.adb_port),
            "DROIDPILOT_MODEL": model or server.model,
            "DROIDPILOT_BASE_URL": server.base_url,
        }
        words = [PROGRAM, "run", "Look at it", "--no-check", "--device", setting.phone.serial, "--policy", str(policy)]
        done = subprocess.run(
            words, env=env, capture_output=True, text=True, timeout=100, stdin=subprocess.DEVNULL, check=False
        )
        bodies = [request.body for request in server.requests]
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done, bodies, pictures(bodies[-1]) if bodies else []


def pictures(body: dict[str, Any]) -> list[bytes]:
    urls = [
        part["image_url"]["url"]
        for message in body["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
        if part["type"] == "image_url"
    ]
    return [base64.b64decode(url.partition(",")[2]) for url in urls]


def lines(home: Path) -> list[dict[str, Any]]:
    (session,) = (home / "sessions").iterdir()
    return [json.loads(line) for line in (session / "transcript.jsonl").read_text().splitlines()]


def test_a_model_gets_a_small_picture_and_taps_a_place_in_it(setting: Setting, tmp_path: Path) -> None:
    setting.phone.phone.home()
    # "Settings" is the third icon of the first row: about (660, 440) of 1080 x 2340, (310, 206) of 508 x 1100.
    steps = [Step(calls=[do("screenshot")]), Step(calls=[do("tap", x=310, y=206, picture=1)]), DONE]
    done, bodies, shown = run(setting, tmp_path / "home", steps)
    assert done.returncode == 0, done.stderr
    assert setting.phone.phone.state()["package"] == "com.android.settings"
    with PIL.Image.open(io.BytesIO(shown[0])) as image:
        assert (image.format, image.size) == ("JPEG", (508, 1100))
    assert [message["role"] for message in bodies[1]["messages"]][-3:] == ["assistant", "tool", "user"]
    digest = next(line["picture"] for line in lines(tmp_path / "home") if line.get("picture"))
    kept = next((tmp_path / "home" / "sessions").glob(f"*/artifacts/{digest}.jpg"))
    assert kept.read_bytes() == shown[0]


@pytest.mark.parametrize("rules", ["deny screenshot in com.android.settings", "deny ui_tree in com.android.settings"])
def test_a_denied_screen_sends_no_picture_to_the_model(setting: Setting, tmp_path: Path, rules: str) -> None:
    steps = [Step(calls=[do("open_app", app="Settings")]), Step(calls=[do("screenshot")]), DONE]
    done, bodies, _ = run(setting, tmp_path / "home", steps, rules=rules)
    assert done.returncode == 0, done.stderr
    assert all("image_url" not in json.dumps(body) for body in bodies)
    assert len(bodies) == 3
    assert list((tmp_path / "home" / "sessions").glob("*/artifacts/*.jpg")) == []


def test_a_secure_screen_is_told_in_words(setting: Setting, tmp_path: Path) -> None:
    phone = setting.phone.phone
    phone.start("com.google.android.contacts")
    with phone.lock:
        phone.top.is_secure = True
        phone.changed()
    done, bodies, shown = run(setting, tmp_path / "home", [Step(calls=[do("screenshot")]), DONE])
    phone.stop("com.google.android.contacts")
    assert done.returncode == 0, done.stderr
    assert shown == []
    assert "forbids pictures of this screen" in bodies[-1]["messages"][-1]["content"]


def test_a_model_that_reads_no_images_is_offered_no_pictures(setting: Setting, tmp_path: Path) -> None:
    done, bodies, _ = run(setting, tmp_path / "home", [DONE], model="deepseek-chat")
    assert "reads no images" in done.stderr + json.dumps(lines(tmp_path / "home"))
    assert "screenshot" not in [tool["function"]["name"] for tool in bodies[0]["tools"]]
