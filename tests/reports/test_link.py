"""The link to the phone: one test per report (B..) and per row of the field's list, through a whole session.

Each goes through the real adb server and is held against the virtual phone's own truth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.cli.cli_shell import Shell
from tests.e2e.setting import SHIPPED, Setting, virtual_setting
from tests.fakes.cut_proxy import cut_proxy
from tests.fakes.stand_in_adb import StandInAdb, served

from droidpilot.core.calls import Origin, Status
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.errors import DeviceError, DeviceRefused, Exit
from droidpilot.core.events import Noted, ScreenObserved
from droidpilot.core.stop import Stop
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.android import connect
from droidpilot.device.attached import connect_tcp
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import Session, open_session
from droidpilot.transcript.files import TRANSCRIPT
from droidpilot.transcript.reader import read_events
from droidpilot.virtual.server import running_phone

ROOT = Path(__file__).resolve().parents[2]
ODD_SERIAL = "adb-R5AA (2)._adb-tls-connect._tcp"
SETTINGS = "com.android.settings"


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


@pytest.fixture(autouse=True)
def _healthy(setting: Setting) -> Iterator[None]:
    yield
    setting.phone.phone.faults.clear()


@contextmanager
def opened(
    folder: Path,
    setting: Setting,
    *,
    rules: str = "allow *",
    adb_port: int | None = None,
    serial: str = "",
    patience_s: float | None = None,
) -> Iterator[Session]:
    """Open a session by hand on the phone of a setting."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "own.rules").write_text(rules + "\n")
    flags = {"ask": "never", "policy": str(folder / "own.rules"), "link_patience_s": patience_s}
    plan = SessionPlan(
        home=folder / "home",
        origin=Origin.HUMAN,
        settings=load_settings(flags, cwd=folder, env={}).settings,
        user_policies=folder / "policies",
        shipped_policies=SHIPPED,
    )
    address = PhoneAddress(serial=serial or setting.phone.serial, adb_port=adb_port or setting.adb_port)
    with open_session(prepare(plan), address, clock=SystemClock(), stop=Stop()) as session:
        yield session


def inputs(setting: Setting) -> int:
    return int(setting.truth("inputs")["count"])


# -- B15: a reset that does not help is done once


def test_b15_a_lost_accessibility_connection_is_reset_once_and_then_a_typed_error(setting: Setting) -> None:
    clock, faults = SystemClock(), setting.phone.phone.faults
    server, serial = AdbServer(setting.adb_port), setting.phone.serial
    driver = connect(server, serial, clock=clock, deadline=Deadline.after(clock, 30))
    faults.set("not-connected", "even-after-restart")
    before, tapped = faults.calls["dump"], inputs(setting)
    with pytest.raises(DeviceRefused) as caught:
        driver.dump(Deadline.after(clock, 30))
    assert caught.value.code == "not_connected" and "UiAutomation not connected" in caught.value.message
    assert faults.calls["dump"] - before == 2, "once, and once after the one reset"
    with pytest.raises(DeviceError):
        driver.tap(5, 5, Deadline.after(clock, 10))
    driver.close()
    assert inputs(setting) == tapped


def test_b15_a_session_goes_on_another_way_and_says_so_once(setting: Setting, tmp_path: Path) -> None:
    faults = setting.phone.phone.faults
    with opened(tmp_path, setting) as session:
        faults.set("not-connected", "even-after-restart")
        before = faults.calls["dump"]
        assert session.call("ui_tree", {}).status is Status.OK
        assert session.call("ui_tree", {}).status is Status.OK
        assert faults.calls["dump"] - before <= 8, "no loop of resets"
        directory = session.directory
    notes = [one.event.text for one in read_events(directory / TRANSCRIPT).lines if isinstance(one.event, Noted)]
    assert len([text for text in notes if "plain ADB" in text]) == 1, notes


def test_b15_a_reset_that_helps_is_not_noticed(setting: Setting, tmp_path: Path) -> None:
    with opened(tmp_path, setting) as session:
        setting.phone.phone.faults.set("not-connected", "until-restart")
        assert session.call("ui_tree", {}).status is Status.OK


# -- B17: a foreground query that breaks off


def test_b17_one_query_that_breaks_off_is_asked_again_and_the_write_goes_out_once(
    setting: Setting, tmp_path: Path
) -> None:
    with opened(tmp_path, setting) as session:
        before = inputs(setting)
        setting.phone.phone.faults.schedule("dumpsys-cut", "+1")
        result = session.call("tap", {"x": 500, "y": 1500})
    assert result.status is Status.OK, result.text
    assert inputs(setting) == before + 1


def test_b17_where_the_app_in_front_cannot_be_told_rules_about_an_app_fail_closed(
    setting: Setting, tmp_path: Path
) -> None:
    rules = f"ask press in {SETTINGS}\nallow *"
    setting.phone.phone.home()
    with opened(tmp_path, setting, rules=rules) as session:
        assert session.call("press", {"key": "back"}).status is Status.OK, "the rule is about another app"
        before = inputs(setting)
        setting.phone.phone.faults.set("dumpsys-cut", "always")
        assert session.call("ui_tree", {}).status is Status.OK, "what it shows can still be read"
        result = session.call("press", {"key": "back"})
        directory = session.directory
    assert result.status is Status.REFUSED and result.sent == "no", result.text
    assert inputs(setting) == before, "nothing was sent, and nothing was repeated"
    looks = [one.event for one in read_events(directory / TRANSCRIPT).lines if isinstance(one.event, ScreenObserved)]
    assert looks[-1].package is None and looks[-1].activity is None


# -- B19: every call names the serial; a failed capture is an error


def test_b19_with_two_phones_every_call_names_its_serial(setting: Setting, tmp_path: Path) -> None:
    clock = SystemClock()
    with running_phone(seed=7, transition_ms=0) as second, served(StandInAdb(), behind=setting.adb_port) as front:
        connect_tcp(AdbServer(setting.adb_port), second.serial, Deadline.after(clock, 10))
        with opened(tmp_path, setting, adb_port=front.port) as session:
            assert session.call("ui_tree", {}).status is Status.OK
            assert session.call("screenshot", {}).status is Status.OK
            assert session.call("open_app", {"app": SETTINGS}).status is Status.OK
            # The in-phone server cannot take a picture, so that `screencap` does.
            assert session.call("press", {"key": "home"}).status is Status.OK
        AdbServer(setting.adb_port).ask(f"host:disconnect:{second.serial}", Deadline.after(clock, 10))
        assert second.phone.state()["inputs"] == {"count": 0, "events": []}
    to_phones = [words for words in front.asked if "transport" in words or "tport" in words or "host-serial" in words]
    assert len(to_phones) > 10
    assert all(setting.phone.serial in words for words in to_phones), set(to_phones)
    assert not any(words in ("host:transport-any", "host:tport:any", "host:transport-usb") for words in front.asked)


@pytest.mark.parametrize("how", ["denied", "no-file", "empty"])
def test_b19_b21_a_capture_that_fails_is_an_error_of_the_capture_and_no_picture_of_before(
    setting: Setting, tmp_path: Path, how: str
) -> None:
    with opened(tmp_path, setting) as session:
        good = session.call("screenshot", {})
        assert good.status is Status.OK and good.image is not None
        setting.phone.phone.faults.set("screencap-fails", how)
        bad = session.call("screenshot", {})
    assert bad.status is not Status.OK and bad.image is None
    assert re.search("picture|screencap|screenshot", bad.text), bad.text
    assert "secure" not in bad.text.lower() and "protected" not in bad.text.lower()


# -- B20: serials with spaces and parentheses


def test_b20_an_odd_serial_reaches_adb_unchanged_and_no_file_is_called_so(setting: Setting, tmp_path: Path) -> None:
    with served(StandInAdb(), behind=setting.adb_port, renamed={setting.phone.serial: ODD_SERIAL}) as front:
        shell = Shell(tmp_path)
        port = {"ANDROID_ADB_SERVER_PORT": str(front.port)}
        listed = shell.quick("devices", **port)
        assert any(line.startswith(f"{ODD_SERIAL}  ready") for line in listed.stdout.splitlines()), listed.stdout
        done = shell.run("call", "press", "key=home", "--device", ODD_SERIAL, **port)
        assert done.returncode == 0, done.stderr
    assert any(words == f"host:tport:serial:{ODD_SERIAL}" for words in front.asked)
    names = [path.name for path in shell.home.rglob("*")]
    assert any(name.startswith("adb-R5AA_2_") for name in names)
    assert not [name for name in names if set(name) & set(" ()/\\:")]


# -- B21 stands with B19


# -- B30: the helper that cannot be copied; folders with spaces and other scripts


def test_b30_a_helper_that_cannot_be_copied_is_named_and_is_one_error(setting: Setting, tmp_path: Path) -> None:
    clock = SystemClock()
    with running_phone(seed=3, transition_ms=0) as fresh:
        connect_tcp(AdbServer(setting.adb_port), fresh.serial, Deadline.after(clock, 10))
        fresh.phone.faults.set("storage-full")
        with pytest.raises(DeviceError) as caught, opened(tmp_path, setting, serial=fresh.serial):
            pass
        assert caught.value.exit is Exit.DEVICE
        assert "helper" in caught.value.message and caught.value.hint
        shell = Shell(tmp_path / "shell")
        done = shell.run("look", "--device", fresh.serial, ANDROID_ADB_SERVER_PORT=str(setting.adb_port))
        assert done.returncode == 3 and "Traceback" not in done.stderr and done.stdout == ""
        fresh.phone.faults.clear()
        done = shell.run("look", "--device", fresh.serial, ANDROID_ADB_SERVER_PORT=str(setting.adb_port))
        assert done.returncode == 0, "it is copied as soon as there is room"
        AdbServer(setting.adb_port).ask(f"host:disconnect:{fresh.serial}", Deadline.after(clock, 10))


def test_b30_a_folder_with_spaces_and_another_script_is_as_good_as_any(setting: Setting, tmp_path: Path) -> None:
    shell = Shell(tmp_path / "工具" / "x y")
    done = shell.run("look", "--device", setting.phone.serial, ANDROID_ADB_SERVER_PORT=str(setting.adb_port))
    assert done.returncode == 0, done.stderr


# -- the field's list


def test_row_36_and_37_no_port_is_forwarded_and_phones_are_listed_once(setting: Setting, tmp_path: Path) -> None:
    with served(StandInAdb(), behind=setting.adb_port) as front:
        shell = Shell(tmp_path)
        done = shell.run(
            "look", "--device", setting.phone.serial, ANDROID_ADB_SERVER_PORT=str(front.port), ADB_MDNS="0"
        )
        assert done.returncode == 0, done.stderr
    assert not [words for words in front.asked if "forward" in words]
    assert [front.asked.count(words) for words in ("host:devices", "host:devices-l")] == [1, 1]


def test_row_41_bytes_that_are_no_utf8_are_replaced_and_break_nothing(setting: Setting) -> None:
    clock = SystemClock()
    link = PhoneLink(AdbServer(setting.adb_port), setting.phone.serial)
    gbk = "测试".encode("gbk")
    link.device(Deadline.after(clock, 10)).sync.push(gbk, "/data/local/tmp/gbk", check=True)
    answer = link.shell(["cat", "/data/local/tmp/gbk"], Deadline.after(clock, 10))
    assert answer.code == 0 and "\ufffd" in answer.text


def test_row_41_and_42_nothing_of_ours_goes_through_a_host_shell() -> None:
    for path in (ROOT / "src").rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"shell\s*=\s*True|os\.system|os\.popen|create_subprocess_shell", text), path


@pytest.mark.parametrize("package", ["com.x; reboot", "$(reboot)", "com.x\nreboot", "../x", "com.android.settings'"])
def test_row_42_what_is_no_package_reaches_no_shell(setting: Setting, tmp_path: Path, package: str) -> None:
    with opened(tmp_path, setting) as session:
        before = setting.phone.phone.faults.calls["start"]
        result = session.call("open_app", {"app": package})
    assert result.status is Status.LOGIC and result.sent == "no"
    assert setting.phone.phone.faults.calls["start"] == before


def test_row_34_a_line_that_drops_in_a_session_is_told_once_and_the_session_goes_on(
    setting: Setting, tmp_path: Path
) -> None:
    with opened(tmp_path, setting) as session:
        before = inputs(setting)
        setting.phone.phone.faults.set("offline", 1.5)
        assert session.call("tap", {"x": 500, "y": 1500}).status is Status.OK
        directory = session.directory
    assert inputs(setting) == before + 1
    events = [one.event for one in read_events(directory / TRANSCRIPT).lines]
    assert [event.kind for event in events if event.kind.startswith("link_")] == ["link_lost", "link_restored"]


def test_row_34_a_phone_that_stays_away_is_one_clear_error_and_exit_3(setting: Setting, tmp_path: Path) -> None:
    with opened(tmp_path, setting, patience_s=1.0) as session:
        setting.phone.phone.faults.set("offline", 8.0)
        result = session.call("tap", {"x": 500, "y": 1500})
        assert (result.status, result.sent, result.ends) == (Status.FATAL, "no", "device")
        assert "did not come back in 1 s" in result.text
        assert session.end_call(result).exit is Exit.DEVICE
    clock = SystemClock()
    deadline = Deadline.after(clock, 30)
    while True:  # the other tests want the phone
        try:
            PhoneLink(AdbServer(setting.adb_port), setting.phone.serial).shell(["true"], deadline)
            return
        except DeviceError:
            connect_again(setting, deadline)


def test_row_35_one_phone_under_two_serials_is_driven_by_one_session(setting: Setting, tmp_path: Path) -> None:
    clock = SystemClock()
    with cut_proxy(setting.phone.port) as proxy:
        other = f"127.0.0.1:{proxy.port}"
        connect_tcp(AdbServer(setting.adb_port), other, Deadline.after(clock, 10))
        with opened(tmp_path, setting) as first:
            assert first.call("ui_tree", {}).status is Status.OK
            with pytest.raises(DeviceError) as caught, opened(tmp_path, setting, serial=other):
                pass
        AdbServer(setting.adb_port).ask(f"host:disconnect:{other}", Deadline.after(clock, 10))
    assert caught.value.code == "device_busy" and "under another serial" in caught.value.message
    assert setting.phone.serial in caught.value.message


def connect_again(setting: Setting, deadline: Deadline) -> None:
    try:
        connect_tcp(AdbServer(setting.adb_port), setting.phone.serial, deadline)
    except DeviceError:
        SystemClock().sleep(0.1)
