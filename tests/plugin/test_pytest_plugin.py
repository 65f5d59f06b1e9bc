"""The fixture `virtual_phone`: light at pytest's start, one line where its marker is wrong, a new phone a test."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from droidpilot.core.errors import DeviceError, UsageError
from droidpilot.testbed import PhoneUnderTest, virtual_phone
from tests.plugin.test_without_a_phone import plugin_words

pytest_plugins = ["pytester"]
HEAVY = (
    "adbutils",
    "uiautomator2",
    "openai",
    "PIL",
    "pydantic",
    "typer",
    "lxml",
    "droidpilot.testbed",
    "droidpilot.core.config",
)


def run(pytester: pytest.Pytester, *lines: str) -> pytest.RunResult:
    pytester.makepyfile("\n".join(("import os", "import pytest", *lines)))
    return pytester.runpytest_subprocess(*plugin_words(), "-q")


def test_loading_the_plugin_imports_nothing_heavy() -> None:
    code = f"import sys, droidpilot.pytest_plugin; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"


def test_each_test_has_a_phone_of_its_own_and_the_environment_stays(pytester: pytest.Pytester) -> None:
    done = run(
        pytester,
        "SEEN = []",
        "@pytest.mark.parametrize('number', [1, 2])",
        "def test_one(virtual_phone, number):",
        "    before = dict(os.environ)",
        "    assert virtual_phone.inputs == []",
        "    assert virtual_phone.call('tap', ref=virtual_phone.ref('Settings'), rules='allow *').is_ok",
        "    assert dict(os.environ) == before",
        "    SEEN.append((virtual_phone.serial, virtual_phone.home, virtual_phone.adb_port))",
        "def test_two():",
        "    assert len(set(SEEN)) == 2 and len({port for _, _, port in SEEN}) == 1",
    )
    done.assert_outcomes(passed=3)


@pytest.mark.parametrize(
    "marker, words",
    [
        ("scene='nowhere.xml'", "nowhere.xml cannot be read"),
        ("faults=['no-such-fault']", "no fault 'no-such-fault'"),
        ("profile='ancient'", "slow does not take 'ancient'"),
        ("seeds=1", "there is no option 'seeds'"),
        ("'checkout.xml'", "options have names"),
    ],
)
def test_a_wrong_marker_is_one_line(pytester: pytest.Pytester, marker: str, words: str) -> None:
    done = run(pytester, f"@pytest.mark.virtual_phone({marker})", "def test_one(virtual_phone): pass")
    done.assert_outcomes(errors=1)
    text = done.stdout.str()
    assert words in text and "Traceback" not in text and "Error:" not in text.replace("UsageError", "")


@pytest.fixture(scope="module")
def phone() -> Iterator[PhoneUnderTest]:
    with virtual_phone() as running:
        yield running


@pytest.fixture(scope="module")
def broken() -> Iterator[PhoneUnderTest]:
    with virtual_phone() as running:
        yield running


def test_a_command_that_fails_says_why_and_changes_nothing_here(phone: PhoneUnderTest) -> None:
    before = dict(os.environ)
    ran = phone.droidpilot("look", "--device", "127.0.0.1:1")
    assert ran.exit_code == 3 and "127.0.0.1:1" in ran.err
    with pytest.raises(ValueError, match="no JSON, exit code 3"):
        ran.json()
    assert phone.droidpilot("look", "--nonsense").exit_code == 2
    assert dict(os.environ) == before and sys.stdin is not None


@pytest.mark.parametrize(
    "data, code",
    [
        (b"\xef\xbb\xbf", "empty"),
        (b"\r\n\0\0", "empty"),
        (b"Null root returned", "null_root"),
        (b"uiautomator: root node is null", "null_root"),
        (b"ERROR: could not get idle state.", "never_idle"),
    ],
)
def test_a_screen_that_cannot_be_read_has_a_code_as_a_saved_dump_of_it(
    broken: PhoneUnderTest, tmp_path: Path, data: bytes, code: str
) -> None:
    broken.show(data)
    with pytest.raises(DeviceError) as caught:
        broken.look()
    assert caught.value.code == code and caught.value.message.startswith("the screen cannot be read: ")
    assert caught.value.hint and "Nothing was sent" not in str(caught.value) and '""' not in str(caught.value)
    ran = broken.droidpilot("look", "--json", "--device", broken.serial)
    assert (ran.exit_code, ran.json()["error"]["code"]) == (1, code) and ran.err
    (file := tmp_path / "saved.xml").write_bytes(data)
    assert broken.droidpilot("look", "--json", "--dump", str(file)).json()["error"]["code"] == code


def test_json_tells_in_one_document_that_the_phone_is_not_there(phone: PhoneUnderTest, tmp_path: Path) -> None:
    for more in ((), ("--image", str(tmp_path / "seen.png"))):
        ran = phone.droidpilot("look", "--json", "--device", "127.0.0.1:1", *more)
        assert ran.exit_code == 3 and ran.json()["error"]["code"]


def test_what_is_given_wrongly_is_refused_before_anything_is_done(phone: PhoneUnderTest) -> None:
    count = len(phone.inputs)
    with pytest.raises(UsageError, match="no tool"):
        phone.call("tapp", ref=1)
    with pytest.raises(UsageError, match="policy and rules"):
        phone.call("tap", ref=1, policy="default", rules="allow *")
    with pytest.raises(LookupError, match="0 things begin with"):
        phone.ref("Nowhere to be seen")
    assert len(phone.inputs) == count


def test_somebody_s_own_settings_play_no_part(phone: PhoneUnderTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DROIDPILOT_POLICY", "read-only")
    monkeypatch.setenv("ANDROID_SERIAL", "other")
    assert phone.call("press", key="home", rules="allow *").is_ok
    assert os.environ["DROIDPILOT_POLICY"] == "read-only"


def test_a_scene_that_is_not_there_starts_nothing(phone: PhoneUnderTest) -> None:
    ran = phone.droidpilot("virtual", "start", "--scene", "nowhere.xml")
    assert ran.exit_code == 2 and "nowhere.xml cannot be read" in ran.err and ran.out == ""
