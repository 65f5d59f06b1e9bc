"""Phones that make it hard, through the real stack: no helper, slow, no touch allowed, half answers; and what is left.

The in-phone server suspends the user's accessibility services while it runs, so it must be gone when a session is.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.e2e.setting import Setting, find, virtual_setting
from tests.reports.real_session import inputs, look, plan_of, real_session

from droidpilot.core.calls import Status
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceError, DeviceRefused
from droidpilot.core.progress import Progress
from droidpilot.core.stop import Stop
from droidpilot.device import rpc
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.plan import PhoneAddress, prepare
from droidpilot.session import Session, open_session

FIELD_APP = "com.google.android.apps.messaging"


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("hard")) as setting:
        yield setting


@pytest.fixture
def setting(still: Setting) -> Iterator[Setting]:
    still.phone.phone.faults.clear()
    still.phone.phone.reset()
    yield still
    still.phone.phone.faults.clear()


def is_helper_running(setting: Setting) -> bool:
    link = PhoneLink(AdbServer(setting.adb_port), setting.phone.serial)
    try:
        return rpc.get(link, "/ping", Deadline.after(SystemClock(), 3)) == b"pong"
    except DeviceError:
        return False


def a_row(session: Session) -> int:
    """Return the ref of something on the screen that takes a tap."""
    screen = look(session)
    return next(ref for ref, index in screen.refs.items() if screen.nodes[index].clickable)


def soon(is_true: Callable[[], bool], *, within_s: float = 5.0) -> bool:
    """Wait for something that another process brings about."""
    end = time.monotonic() + within_s
    while time.monotonic() < end:
        if is_true():
            return True
        time.sleep(0.05)
    return is_true()


def lines(session: Session) -> str:
    return (session.directory / "transcript.jsonl").read_text()


# without the helper


def test_a_phone_that_cannot_run_the_helper_is_driven_by_plain_adb_and_it_is_said(
    setting: Setting, tmp_path: Path
) -> None:
    setting.phone.phone.faults.set("no-helper")
    with real_session(setting, tmp_path) as session:
        text = session.call("open_app", {"app": FIELD_APP}).text
        assert "by plain ADB: slower, types only ASCII" in text
        before = inputs(setting)
        assert session.call("tap", {"ref": a_row(session)}).status is Status.OK
        assert inputs(setting) == before + 1
        screen = look(session)
        field = next(ref for ref, index in screen.refs.items() if screen.nodes[index].is_editable)
        refused = session.call("type_text", {"ref": field, "text": "hi"})
        assert refused.code == "not_focused" and refused.sent == "no" and "tap the field first" in refused.text
        session.call("tap", {"ref": field})
        refused = session.call("type_text", {"ref": field, "text": "Grüße"})
        assert refused.code == "no_route" and "ü" in refused.text and refused.sent == "no"
        typed = session.call("type_text", {"ref": field, "text": "a; input keyevent 3"})
        assert typed.status is Status.OK and "a; input keyevent 3" in session.call("ui_tree", {}).text
        picture = session.call("screenshot", {})
        assert picture.status is Status.OK and picture.image is not None
    told = lines(session)
    assert '"way":"plain"' in told.replace(" ", "") and "the helper cannot run on this phone" in told


def test_a_helper_that_cannot_go_on_in_mid_session_is_left_for_good(setting: Setting, tmp_path: Path) -> None:
    with real_session(setting, tmp_path) as session:
        look(session)
        setting.phone.phone.faults.set("no-helper")
        time.sleep(0.06)
        assert session.call("ui_tree", {}).status is Status.OK
        setting.phone.phone.faults.clear("no-helper")
        time.sleep(0.06)
        assert "by plain ADB" in session.call("open_app", {"app": FIELD_APP}).text
        assert not is_helper_running(setting)
    assert lines(session).count("from here on by plain ADB") == 1


def test_never_idle_and_stale_files_of_uiautomator_dump(setting: Setting, tmp_path: Path) -> None:
    setting.phone.phone.faults.set("no-helper")
    with real_session(setting, tmp_path) as session:
        session.call("open_app", {"app": FIELD_APP})
        setting.phone.phone.faults.set("dump-error", "idle", "times=1")
        time.sleep(0.06)
        assert look(session).package == FIELD_APP  # the compressed dump does it
        setting.phone.phone.faults.set("dump-error", "stale-file", "times=10")
        time.sleep(0.06)
        result = session.call("ui_tree", {})
        assert result.status is Status.TRANSIENT and result.value is None


@pytest.mark.parametrize("has_helper", [True, False])
def test_a_phone_that_may_not_be_touched_says_which_switch(setting: Setting, tmp_path: Path, has_helper: bool) -> None:
    if not has_helper:
        setting.phone.phone.faults.set("no-helper")
    with real_session(setting, tmp_path) as session:
        session.call("open_app", {"app": FIELD_APP})
        row = a_row(session)
        setting.phone.phone.faults.set("inject-denied")
        before = inputs(setting)
        result = session.call("tap", {"ref": row})
        assert "USB debugging (Security settings)" in result.text and inputs(setting) == before


# half answers and slow ones


def test_b17_a_cut_dumpsys_leaves_the_app_in_front_unknown_and_fails_nothing(setting: Setting, tmp_path: Path) -> None:
    with real_session(setting, tmp_path) as session:
        session.call("open_app", {"app": FIELD_APP})
        setting.phone.phone.faults.set("dumpsys-cut", "always")
        time.sleep(0.06)
        result = session.call("ui_tree", {})
        assert result.status is Status.OK and "does not say which app is in front" in result.text
        setting.phone.phone.faults.clear()


def test_an_old_slow_phone_can_be_worked_with(setting: Setting, tmp_path: Path) -> None:
    setting.phone.phone.faults.set("slow", "old")
    with real_session(setting, tmp_path) as session:
        text = session.call("open_app", {"app": "com.android.settings"})
        assert text.status is Status.OK and "never idle" not in text.text
        result = session.call("tap", {"ref": find("Battery", text.text)})
        assert result.status is Status.OK and "Battery" in result.text
        assert "does not say" not in result.text and "not settled" not in result.text


# what is left behind


def test_the_helper_is_gone_after_a_session(setting: Setting, tmp_path: Path) -> None:
    with real_session(setting, tmp_path) as session:
        look(session)
        assert is_helper_running(setting)
    assert soon(lambda: not is_helper_running(setting))


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt(), DeviceRefused("x")])
def test_the_helper_is_gone_after_an_error_and_after_ctrl_c(
    setting: Setting, tmp_path: Path, error: BaseException
) -> None:
    with pytest.raises(type(error)), real_session(setting, tmp_path) as session:
        look(session)
        assert is_helper_running(setting)
        raise error
    assert soon(lambda: not is_helper_running(setting))


def test_the_helper_is_gone_after_ctrl_c_in_the_middle_of_connecting(setting: Setting, tmp_path: Path) -> None:
    address = PhoneAddress(serial=setting.phone.serial, adb_port=setting.adb_port, is_virtual=True)

    def press(text: str) -> None:
        said.append(text)
        if "starting the helper" in text:
            raise KeyboardInterrupt

    said: list[str] = []

    with (
        pytest.raises(KeyboardInterrupt),
        open_session(
            prepare(plan_of(tmp_path)), address, clock=SystemClock(), stop=Stop(), progress=Progress(on_step=press)
        ),
    ):
        raise AssertionError("it was not interrupted")
    assert soon(lambda: not is_helper_running(setting))


HOLDER = """
import sys, time
from pathlib import Path
from tests.e2e.setting import Setting
from tests.reports.real_session import plan_of
from droidpilot.core.clock import SystemClock
from droidpilot.core.stop import Stop
from droidpilot.plan import PhoneAddress, prepare
from droidpilot.session import open_session
address = PhoneAddress(serial=sys.argv[2], adb_port=int(sys.argv[3]), is_virtual=True)
with open_session(prepare(plan_of(Path(sys.argv[1]))), address, clock=SystemClock(), stop=Stop()) as session:
    session.call("ui_tree", {})
    print("ready", flush=True)
    time.sleep(60)
"""


def test_the_helper_is_gone_after_kill_9(setting: Setting, tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path), setting.phone.serial, str(setting.adb_port)],
        cwd=root,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None and process.stdout.readline().strip() == "ready"
        assert is_helper_running(setting)
    finally:
        process.kill()
        process.communicate(timeout=10)
    # adb closes the stream of the dead process, and with it goes what runs at its other end.
    assert soon(lambda: not is_helper_running(setting))
