"""Faults through the real adb server: each does what it says, at the call that was named, and the truth stays true."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.virtual.virtual_rig import Rig, adb_server, attached_rig

from droidpilot.core.errors import UsageError


@pytest.fixture(scope="module")
def adb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port:
        yield port


@pytest.fixture
def rig(adb_port: int) -> Iterator[Rig]:
    with attached_rig(adb_port) as made:
        yield made


def test_a_lost_tap_is_answered_and_not_executed(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.set("tap-lost")
    rig.u2.click(10, 10)
    assert rig.inputs == before
    rig.u2.click(10, 10)
    assert rig.inputs == before + 1


def test_a_lost_input_command_exits_with_0(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.set("tap-lost", "times=2")
    for _ in range(3):
        assert rig.adb.shell2("input tap 10 10", v2=True).returncode == 0
    assert rig.inputs == before + 1


def test_a_lost_reply_was_executed(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.set("reply-lost")
    with pytest.raises(Exception, match=r"(?i)closed|disconnected|reset|EOF"):
        rig.u2.jsonrpc.click(10, 10)
    assert rig.inputs == before + 1


def test_the_call_that_was_named_and_no_other(rig: Rig) -> None:
    at = rig.faults.calls["input"] + 3
    rig.faults.schedule("tap-lost", at)
    counts = [rig.inputs]
    for _ in range(5):
        rig.u2.click(10, 10)
        counts.append(rig.inputs)
    assert [after - before for before, after in pairwise(counts)] == [1, 1, 0, 1, 1]
    assert rig.faults.calls["input"] == at + 2


@pytest.mark.parametrize(("moment", "is_done"), [("before", False), ("after", True), ("cut", True)])
def test_a_cable_pulled_around_a_tap(rig: Rig, moment: str, is_done: bool) -> None:
    before = rig.inputs
    rig.faults.set("drop", moment)
    with pytest.raises(Exception, match=r"."):
        rig.u2.jsonrpc.click(10, 10)
    assert rig.inputs == before + int(is_done)
    rig.wait_attached()
    rig.u2.click(10, 10)
    assert rig.inputs == before + 1 + int(is_done)


def test_a_cable_pulled_now_breaks_every_stream(rig: Rig) -> None:
    stream = rig.adb.shell("logcat", stream=True)
    rig.faults.set("drop")
    assert stream.read_until_close() is not None
    rig.wait_attached()


def test_a_phone_that_hangs_answers_when_it_is_over(rig: Rig) -> None:
    rig.faults.set("hang")
    done = threading.Event()

    def ask() -> None:
        assert rig.adb.shell("echo hello") == "hello"
        done.set()

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    assert not done.wait(0.3)
    assert rig.adb.get_state() == "device", "adb does not notice"
    rig.faults.clear("hang")
    assert done.wait(5)


def test_a_killed_server_is_started_again_by_its_client(rig: Rig) -> None:
    rig.faults.schedule("server-killed", "rpc:+1")
    with pytest.raises(Exception, match=r"(?i)closed connection|reset"):
        rig.u2.info  # noqa: B018 # reading it asks the phone
    assert rig.u2.info["screenOn"] is True


def test_not_connected_until_the_server_starts_anew(rig: Rig) -> None:
    rig.faults.set("not-connected")
    assert rig.u2.info["screenOn"] is True, "its client starts the server anew and asks once more"
    assert rig.faults.active() == []


def test_not_connected_even_after_that(rig: Rig) -> None:
    rig.faults.set("not-connected", "even-after-restart")
    with pytest.raises(Exception, match="UiAutomation not connected"):
        rig.u2.info  # noqa: B018 # reading it asks the phone
    rig.faults.clear()


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("illegal-character", "Illegal character"),
        ("idle", "idle state"),
        ("null-root", "null root node"),
        ("no-window", "No active window"),
    ],
)
def test_a_reading_that_fails_in_words(rig: Rig, kind: str, said: str) -> None:
    rig.faults.set("dump-error", kind)
    with pytest.raises(Exception, match=said):
        rig.u2.jsonrpc.dumpWindowHierarchy(False, 50)
    assert "<node" in rig.u2.jsonrpc.dumpWindowHierarchy(False, 50)
    rig.faults.set("dump-error", kind)
    printed = rig.adb.shell2("uiautomator dump /sdcard/d.xml", v2=True)
    assert said.lower().removeprefix("no ") in printed.output.lower()
    assert not rig.adb.sync.exists("/sdcard/d.xml")


def test_readings_that_fail_in_silence(rig: Rig) -> None:
    def read(kind: str) -> str:
        rig.faults.set("dump-error", kind)
        return str(rig.u2.jsonrpc.dumpWindowHierarchy(False, 50))

    whole = rig.u2.jsonrpc.dumpWindowHierarchy(False, 50)
    assert read("empty") == ""
    assert "<node" not in read("no-hierarchy") and "<hierarchy" in read("no-hierarchy")
    assert whole.startswith(read("cut")) and "</hierarchy>" not in read("cut")
    assert read("trailing").startswith(whole) and read("trailing") != whole
    assert "\x00" in read("garbled")


def test_a_stale_file_stays_where_it_lies(rig: Rig) -> None:
    rig.adb.shell("uiautomator dump /sdcard/d.xml")
    stale = rig.adb.sync.read_bytes("/sdcard/d.xml")
    rig.u2(text="Settings").click()
    rig.faults.set("dump-error", "stale-file")
    assert "dumped to" in rig.adb.shell("uiautomator dump /sdcard/d.xml")
    assert rig.adb.sync.read_bytes("/sdcard/d.xml") == stale
    rig.adb.shell("uiautomator dump /sdcard/d.xml")
    assert rig.adb.sync.read_bytes("/sdcard/d.xml") != stale


def test_compressed_dumps_leave_out_what_says_nothing_and_may_stick(rig: Rig) -> None:
    def nodes(*words: bool) -> int:
        return str(rig.u2.jsonrpc.dumpWindowHierarchy(*words)).count("<node")

    full, few = nodes(False), nodes(True)
    assert 0 < few < full and nodes(False) == full
    rig.faults.set("dump-error", "sticky-compressed")
    assert nodes(False) == full, "nothing was asked compressed yet"
    assert nodes(True) == few and nodes() == few, "who does not say which mode has the last one"
    assert nodes(False) == full and nodes() == full, "who does, sets it"
    assert nodes(True) == few
    rig.adb.shell("uiautomator dump --compressed /sdcard/c.xml; uiautomator dump /sdcard/f.xml")
    assert rig.adb.sync.read_bytes("/sdcard/f.xml").count(b"<node") == few
    rig.u2.stop_uiautomator()
    rig.u2.start_uiautomator()
    assert nodes() == full, "a server that starts anew has forgotten it"


def test_a_hang_begins_with_the_call_that_was_named(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.set("hang", "before", 0.4)
    began = time.monotonic()
    rig.u2.jsonrpc.click(10, 10)
    assert time.monotonic() - began >= 0.4 and rig.inputs == before + 1


def test_a_server_that_dies_with_a_tap_has_executed_it(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.schedule("server-killed", "input:+1", "after")
    with pytest.raises(Exception, match=r"(?i)closed connection|reset"):
        rig.u2.jsonrpc.click(10, 10)
    assert rig.inputs == before + 1
    rig.u2.click(10, 10)
    assert rig.inputs == before + 2


def test_a_silent_phone_answers_other_calls(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.set("reply-lost", "silence")
    rig.client.device(rig.vp.serial)
    threading.Thread(target=rig.adb.shell, args=("input tap 10 10",), daemon=True).start()
    end = time.monotonic() + 5
    while time.monotonic() < end and rig.inputs == before:
        time.sleep(0.01)  # the tap comes from another thread, and nothing tells when
    assert rig.inputs == before + 1 and rig.u2.info["screenOn"] is True


def test_an_app_start_around_a_pulled_cable(rig: Rig) -> None:
    rig.faults.schedule("drop", "start:+1", "before")
    with contextlib.suppress(Exception):  # what the client meets is not what is looked at here
        rig.adb.shell("am start -n com.android.settings/.Settings")
    assert rig.vp.phone.state()["package"] == "com.android.launcher3"
    rig.wait_attached()
    rig.faults.schedule("drop", "start:+1", "after")
    with contextlib.suppress(Exception):
        rig.adb.shell("am start -n com.android.settings/.Settings")
    assert rig.vp.phone.state()["package"] == "com.android.settings"
    rig.wait_attached()


def test_a_dumpsys_that_breaks_off_leaves_half(rig: Rig) -> None:
    whole = rig.adb.shell("dumpsys window")
    rig.faults.set("dumpsys-cut")
    half = rig.adb.shell("dumpsys window; echo more")
    assert whole.startswith(half) and 0 < len(half) < len(whole)
    assert rig.adb.shell("dumpsys window") == whole


def test_offline_is_away_for_its_time_and_comes_back(rig: Rig) -> None:
    rig.faults.set("offline", 0.5)
    assert [one["name"] for one in rig.faults.active()] == ["offline"]
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", rig.vp.port), timeout=2):
        pass
    rig.wait_attached(state="offline", at_most_s=2)
    rig.wait_attached()
    assert rig.faults.active() == []
    assert rig.adb.shell("echo back") == "back"


def test_offline_can_be_ended_early(rig: Rig) -> None:
    rig.faults.set("offline", 600)
    rig.faults.clear("offline")
    rig.wait_attached()


def test_adbd_starts_anew(rig: Rig) -> None:
    rig.faults.set("kill-adb-connection")
    rig.wait_attached(state="offline", at_most_s=2)
    rig.wait_attached()


def test_a_reboot_ends_what_ran(rig: Rig) -> None:
    rig.u2.app_start("com.android.settings")
    assert rig.vp.phone.state()["package"] == "com.android.settings"
    with contextlib.suppress(Exception):  # the connection breaks under the command
        rig.adb.shell2("reboot", v2=True)
    rig.vp.phone.faults.clear("reboot")
    rig.wait_attached()
    state = rig.vp.phone.state()
    assert state["locked"] is True and state["recents"] == []
    rig.vp.phone.keyguard.open()
    assert rig.u2.info["currentPackageName"] == "com.android.launcher3", "its client starts the server anew"


def test_a_phone_that_trusts_nobody_any_more(rig: Rig) -> None:
    rig.faults.set("unauthorized")
    rig.wait_attached(state="unauthorized")
    rig.faults.clear()
    rig.wait_attached()
    assert rig.adb.shell("echo hello") == "hello"


def test_the_server_cannot_run(rig: Rig) -> None:
    rig.faults.set("no-helper")
    with pytest.raises(Exception, match=r"(?i)uiautomator|launch|Killed"):
        rig.u2.info  # noqa: B018 # reading it asks the phone
    rig.faults.clear()
    assert rig.u2.info["screenOn"] is True


def test_late_replies_and_slow_phones_only_take_longer(rig: Rig) -> None:
    rig.faults.set("late-reply", 0.3)
    began = time.monotonic()
    rig.u2.jsonrpc.click(10, 10)
    assert time.monotonic() - began >= 0.3
    rig.faults.set("slow", "old")
    began = time.monotonic()
    rig.u2.jsonrpc.dumpWindowHierarchy(False, 50)
    assert time.monotonic() - began >= 0.3
    rig.faults.clear()


def test_inputs_that_may_not_be_injected(rig: Rig) -> None:
    before = rig.inputs
    rig.faults.set("inject-denied")
    with pytest.raises(Exception, match="SecurityException"):
        rig.u2.jsonrpc.click(10, 10)
    refused = rig.adb.shell2("input tap 10 10", v2=True)
    assert refused.returncode != 0 and "INJECT_EVENTS" in refused.output
    assert rig.inputs == before


def test_a_full_phone_takes_no_file(rig: Rig) -> None:
    rig.faults.set("storage-full")
    with pytest.raises(Exception, match="FAIL"):
        rig.adb.sync.push(b"x", "/data/local/tmp/x")
    assert "No space left" in rig.adb.shell2("screencap -p /sdcard/a.png", v2=True).output
    assert "100%" in rig.adb.shell("df -k /data")
    rig.faults.clear()
    assert rig.adb.sync.push(b"x", "/data/local/tmp/x") == 1


def test_keyboards_that_will_not_change(rig: Rig) -> None:
    keyboard = "com.github.uiautomator/.AdbKeyboard"
    rig.faults.set("ime-stuck")
    assert "selected" in rig.adb.shell(f"ime enable {keyboard}; ime set {keyboard}")
    assert "Latin" in rig.adb.shell("settings get secure default_input_method")
    rig.faults.clear()
    rig.adb.shell(f"ime set {keyboard}")
    rig.faults.set("ime-unknown")
    assert keyboard not in rig.adb.shell("ime list -s -a")
    assert "Latin" in rig.adb.shell("settings get secure default_input_method")
    assert "Unknown input method" in rig.adb.shell(f"ime set {keyboard}")
    rig.faults.clear()
    assert keyboard in rig.adb.shell("ime list -s -a")


def test_settings_that_may_not_be_written(rig: Rig) -> None:
    rig.faults.set("settings-denied")
    refused = rig.adb.shell2("settings put system screen_brightness 7", v2=True)
    assert refused.returncode == 255 and "SecurityException" in refused.output
    assert rig.adb.shell("settings get system screen_brightness") == "102"


def test_pictures_that_cannot_be_taken(rig: Rig) -> None:
    rig.faults.set("screencap-fails", "denied")
    refused = rig.adb.shell2("screencap -p /sdcard/a.png", v2=True)
    assert refused.returncode != 0 and "Permission denied" in refused.output
    assert rig.u2.jsonrpc.takeScreenshot(1, 80) is None
    rig.faults.set("screencap-fails", "no-file")
    assert rig.adb.shell2("screencap -p /sdcard/a.png", v2=True).returncode == 0
    assert not rig.adb.sync.exists("/sdcard/a.png")


def test_the_truth_tells_what_is_broken(rig: Rig) -> None:
    rig.faults.set("dump-error", "idle")
    rig.faults.schedule("drop", "input:+1000", "after")
    told: Any = rig.vp.phone.state()["faults"]
    assert told["active"] == [{"name": "dump-error", "word": "idle", "left": 1}]
    assert told["scheduled"][0]["name"] == "drop" and told["scheduled"][0]["kind"] == "input"


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("tap-lots", [], "tap-lost"),
        ("drop", ["sideways"], "now|before|after|cut"),
        ("dump-error", ["idle", "times=0"], "times=N"),
        ("hang", ["-1"], "SECONDS"),
        ("xyzzy", [], "droidpilot virtual faults"),
    ],
)
def test_a_bad_name_or_argument_says_what_there_is(tmp_path: Path, name: str, args: list[str], said: str) -> None:
    from droidpilot.virtual.faults.faults import Faults

    with pytest.raises(UsageError) as caught:
        Faults().set(name, *args)
    assert said in str(caught.value)


def test_a_call_that_is_over_cannot_be_named() -> None:
    from droidpilot.virtual.faults.faults import Faults

    faults = Faults()
    faults.meet("call", "rpc", "input")
    with pytest.raises(UsageError, match="call 1 is over"):
        faults.schedule("tap-lost", 1)
    for bad in ("0", "rpc:", "fish:3", "-2"):
        with pytest.raises(UsageError, match="no call"):
            faults.schedule("tap-lost", bad)
