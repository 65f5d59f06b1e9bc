"""Sessions as somebody would write them who read the front pages of uiautomator2 and adbutils, and nothing of ours.

Each test is a piece of such a session. What the real in-phone server refuses is refused here too; those calls stand in
the last test.
"""

from __future__ import annotations

import io
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from tests.virtual.virtual_rig import Rig, adb_server, attached_rig

SETTINGS = "com.android.settings"
MESSAGES = "com.google.android.apps.messaging"
CONTACTS = "com.google.android.contacts"


@pytest.fixture(scope="module")
def adb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port:
        yield port


@pytest.fixture(scope="module")
def rig(adb_port: int) -> Iterator[Rig]:
    with attached_rig(adb_port) as made:
        made.u2.settings["wait_timeout"] = 3.0
        yield made


@pytest.fixture
def d(rig: Rig) -> Any:
    """The device as uiautomator2 gives it, on the launcher, in portrait, with nothing open."""
    rig.vp.phone.person.unlock()
    rig.u2.set_orientation("n")
    for package in list(rig.vp.phone.tasks):
        rig.vp.phone.stop(package)
    rig.u2.press("home")
    return rig.u2


@pytest.fixture
def device(rig: Rig) -> Any:
    """The device as adbutils gives it."""
    return rig.adb


# uiautomator2


def test_who_is_there(d: Any) -> None:
    assert (d.info["displayWidth"], d.info["displayHeight"]) == (1080, 2340)
    assert d.info["productName"] and d.info["sdkInt"] >= 33
    assert {"serial", "sdk", "brand", "model", "arch", "version"} <= set(d.device_info)
    assert d.window_size() == (1080, 2340)
    assert re.fullmatch(r"[A-Z0-9]+", d.device_info["serial"])
    assert d.serial.startswith("127.0.0.1:")
    assert d.wlan_ip is None or re.fullmatch(r"[0-9.]+", d.wlan_ip)
    assert d.jsonrpc.ping() == "pong"


def test_apps_are_started_listed_and_stopped(d: Any) -> None:
    d.app_start(SETTINGS, stop=True)
    assert d.app_wait(SETTINGS, front=True, timeout=5)
    current = d.app_current()
    assert current["package"] == SETTINGS and current["activity"]
    assert SETTINGS in d.app_list_running()
    info = d.app_info(SETTINGS)
    assert info["versionName"] and info["versionCode"]
    d.app_stop(SETTINGS)
    assert SETTINGS not in d.app_list_running()
    d.app_start(MESSAGES, use_monkey=True)
    d.app_start(SETTINGS, ".Settings")
    d.app_stop_all(excludes=[MESSAGES])
    assert MESSAGES in d.app_list_running() and SETTINGS not in d.app_list_running()
    assert d.app_clear(MESSAGES) is not False


def test_a_session_is_over_when_its_app_is(d: Any) -> None:
    import uiautomator2

    with d.session(SETTINGS) as session:
        assert session.running()
        assert session(text="Settings").exists
        d.app_stop(SETTINGS)
        with pytest.raises(uiautomator2.exceptions.SessionBrokenError):
            session(text="Settings").click()


def test_pictures_and_trees(d: Any, tmp_path: Path) -> None:
    assert d.screenshot().size == (1080, 2340)
    d.screenshot(str(tmp_path / "home.jpg"))
    with Image.open(tmp_path / "home.jpg") as picture:
        assert picture.size == (1080, 2340)
    assert d.screenshot(format="pillow").size == (1080, 2340)
    xml = d.dump_hierarchy(compressed=False, pretty=True, max_depth=30)
    assert xml.startswith("<?xml") and "<node" in xml


def test_elements_by_every_kind_of_description(d: Any) -> None:
    d.app_start(SETTINGS)
    assert d(text="Settings").exists
    assert d(textContains="ettin").exists(timeout=1)
    assert d(textMatches="Sett.*").count >= 1
    assert d(textStartsWith="Sett", packageName=SETTINGS).info["packageName"] == SETTINGS
    assert d(className="android.widget.TextView", instance=0).exists
    assert d(resourceIdMatches=".*:id/.*").count > 3
    everything = [element.get_text() for element in d(className="android.widget.TextView")]
    assert len(everything) == d(className="android.widget.TextView").count
    assert d(scrollable=True).child(textMatches=".+").exists
    assert d(text="no such thing").wait(timeout=0.2) is False
    assert d(text="no such thing").wait_gone(timeout=0.2) is True
    bounds = d(text="Settings").bounds()
    assert len(bounds) == 4 and d(text="Settings").center()[0] > 0
    assert d(text="no such thing").click_exists(timeout=0.1) is False


def test_an_element_that_is_missing_is_an_error_of_its_own(d: Any) -> None:
    import uiautomator2

    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        d(text="no such thing").get_text(timeout=0.2)
    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        d(text="no such thing").click(timeout=0.2)


def test_lists_are_scrolled_and_flung(d: Any) -> None:
    d.app_start(SETTINGS)
    lists = d(scrollable=True)
    assert lists.exists
    lists.scroll.toEnd(max_swipes=10)
    lists.scroll.toBeginning(max_swipes=10)
    lists.fling.forward()
    lists.fling.backward()
    labels = [e.get_text() for e in lists.child(className="android.widget.TextView")]
    assert lists.scroll.to(text=labels[-1])
    d(scrollable=True).swipe("up", steps=10)


def test_children_of_lists_and_two_fingers(rig: Rig, d: Any) -> None:
    import uiautomator2

    d.app_start(SETTINGS)
    lists = d(scrollable=True)
    row = lists.child_by_text("Display", allow_scroll_search=True, className="android.widget.LinearLayout")
    assert row.exists and row.info["className"] == "android.widget.LinearLayout"
    assert lists.child_by_instance(0, className="android.widget.LinearLayout").exists
    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        lists.child_by_text("no such row", className="android.widget.LinearLayout")
    before = rig.inputs
    assert d().pinch_in(percent=50, steps=10) and d().pinch_out()
    assert d().gesture((0.4, 0.4), (0.6, 0.6), (0.1, 0.1), (0.9, 0.9), 10)
    assert rig.inputs == before + 3


def test_gestures_by_coordinates_and_by_share_of_the_screen(rig: Rig, d: Any) -> None:
    before = rig.inputs
    d.click(0.5, 0.5)
    d.double_click(300, 900, duration=0.05)
    d.long_click(300, 900, 0.6)
    d.swipe(500, 1800, 500, 600, duration=0.1)
    d.swipe_ext("left")
    d.swipe_ext("up", scale=0.8)
    d.swipe_points([(200, 1800), (400, 1500), (600, 900)], 0.1)
    d.drag(300, 900, 600, 1200, 0.1)
    d.touch.down(300, 900).move(320, 920).up(320, 920)
    assert rig.inputs >= before + 9


def test_keys_by_name_and_number(d: Any) -> None:
    d.app_start(SETTINGS)
    for key in ("home", "back", "recent", "home", "volume_up", "volume_down", "enter", "delete"):
        d.press(key)
    d.press(0x07, 0x02)
    d.keyevent("HOME")
    assert d.app_current()["package"] == "com.android.launcher3"


def test_the_screen_goes_off_and_on(rig: Rig, d: Any) -> None:
    d.screen_off()
    assert d.info["screenOn"] is False
    d.screen_on()
    assert d.info["screenOn"] is True
    rig.vp.phone.person.unlock()
    d.unlock()


def test_the_display_turns(d: Any) -> None:
    d.set_orientation("left")
    assert d.orientation == "left"
    assert d.window_size() == (2340, 1080)
    assert d.info["displayRotation"] == 1
    d.set_orientation("natural")
    assert d.orientation == "natural" and d.window_size() == (1080, 2340)
    d.freeze_rotation(True)
    d.freeze_rotation(False)


def test_text_is_typed_cleared_and_read(d: Any) -> None:
    d.app_start(MESSAGES)
    chat = d(resourceIdMatches=".*:id/conversation_name")
    chat.click()
    field = d(className="android.widget.EditText")
    field.click()
    for text in ("hello", "Grüße, 你好 & <b>", 'it\'s "quoted" $HOME; `x`'):
        d.send_keys(text, clear=True)
        assert field.get_text() == text
    d.clear_text()
    field.set_text("set at once")
    assert field.get_text() == "set at once"
    field.clear_text()
    assert (field.get_text() or "") in ("", field.info["text"] or "")


def test_the_clipboard(d: Any) -> None:
    d.set_clipboard("taken along", label="a label")
    assert d.clipboard == "taken along"


def test_toasts_are_read(rig: Rig, d: Any) -> None:
    d.clear_toast()
    assert d.last_toast is None
    rig.vp.phone.toast("Message sent")
    assert d.last_toast == "Message sent"


def test_notifications_and_quick_settings_come_down(rig: Rig, d: Any) -> None:
    d.open_notification()
    assert rig.vp.phone.shade.is_open
    d.press("back")
    assert not rig.vp.phone.shade.is_open
    d.open_quick_settings()
    assert rig.vp.phone.shade.is_quick
    d.press("back")


def test_a_watch_clicks_what_stands_in_the_way(rig: Rig, d: Any) -> None:
    d.app_start(MESSAGES)
    with d.watch_context() as watch:
        watch.when("Don’t allow").click()
        watch.start()
        rig.vp.phone.ask_permission(MESSAGES, "CAMERA", lambda _: None)
        end = time.monotonic() + 10
        while time.monotonic() < end and rig.vp.phone.permissions.may_ask(MESSAGES, "CAMERA"):
            if rig.vp.phone.permissions.refused:
                break
            time.sleep(0.05)
    assert rig.vp.phone.permissions.refused, "it was asked, and the watch said no"


def test_xpath(d: Any) -> None:
    d.app_start(SETTINGS)
    assert d.xpath("Settings").exists
    assert d.xpath('//*[@text="Settings"]').wait(timeout=2)
    element = d.xpath('//android.widget.TextView[contains(@text, "Net")]').get(timeout=3)
    assert "Net" in element.text and len(element.bounds) == 4
    element.click()
    d.xpath("//android.widget.TextView").wait()
    assert d.xpath("@no:id/such_thing").exists is False
    d.press("back")
    assert d.xpath("//*[@clickable='true']").all()


def test_the_shell_of_the_device(d: Any) -> None:
    output, code = d.shell("echo one; echo two")
    assert output == "one\ntwo\n" and code == 0
    assert d.shell(["echo", "a b", "c'd"]).output == "a b c'd\n"
    assert d.shell("ls /nowhere").exit_code == 1
    assert "uid=2000" in d.shell("id").output


def test_files_go_there_and_back(d: Any, tmp_path: Path) -> None:
    there, back = tmp_path / "there.txt", tmp_path / "back.txt"
    there.write_text("kept", encoding="utf-8")
    d.push(str(there), "/sdcard/kept.txt")
    d.push(io.BytesIO(b"from memory"), "/sdcard/memory.txt", 0o644)
    d.pull("/sdcard/kept.txt", str(back))
    assert back.read_text(encoding="utf-8") == "kept"
    d.pull("/sdcard/missing.txt", str(tmp_path / "missing"))
    assert list((tmp_path / "missing").iterdir()) == [], "the library takes what is absent for a folder"


def test_a_page_is_opened_in_the_browser(rig: Rig, d: Any) -> None:
    d.open_url("https://example.org")
    assert rig.vp.phone.state()["package"] == d.app_current()["package"] != "com.android.launcher3"


def test_the_server_is_stopped_and_comes_back(d: Any) -> None:
    d.stop_uiautomator()
    d.start_uiautomator()
    assert d.info["screenOn"] is True
    d.reset_uiautomator()
    assert not d(text="no such thing").exists


# adbutils


def test_adbutils_lists_and_tells_properties(rig: Rig, device: Any) -> None:
    assert rig.vp.serial in [one.serial for one in rig.client.device_list()]
    assert [(one.serial, one.state) for one in rig.client.list()] == [(rig.vp.serial, "device")]
    assert rig.client.server_version() > 30
    assert device.prop.name == "virtual_phone" and device.prop.model and device.prop.device
    assert device.prop.get("ro.build.version.sdk").isdigit()
    assert device.get_state() == "device" and device.get_serialno() == rig.vp.serial
    assert "shell_v2" in device.get_features()
    assert device.is_screen_on() is True
    assert device.window_size() == (1080, 2340)
    assert device.rotation() == 0
    assert device.battery().level > 0


def test_adbutils_shells(device: Any) -> None:
    assert device.shell("echo hello") == "hello"
    assert device.shell(["echo", "two words"]) == "two words"
    told = device.shell2("ls /nowhere", v2=True)
    assert told.returncode == 1 and "No such file" in told.stderr
    assert device.shell2("echo hello", rstrip=True).output == "hello"
    stream = device.shell("logcat", stream=True)
    assert stream.read(9) == b"---------"
    stream.close()
    assert device.shell("echo raw", encoding=None) == b"raw\n"


def test_adbutils_syncs_files(device: Any, tmp_path: Path) -> None:
    file = tmp_path / "f.bin"
    file.write_bytes(bytes(range(256)) * 500)
    device.sync.push(file, "/sdcard/f.bin")
    device.sync.push(b"inline", "/sdcard/inline.txt")
    assert device.sync.read_bytes("/sdcard/inline.txt") == b"inline"
    assert device.sync.read_text("/sdcard/inline.txt") == "inline"
    assert b"".join(device.sync.iter_content("/sdcard/f.bin")) == file.read_bytes()
    assert device.sync.stat("/sdcard/f.bin").size == 128_000
    assert device.sync.exists("/sdcard/f.bin") and not device.sync.exists("/sdcard/no")
    assert {"f.bin", "inline.txt"} <= {one.path for one in device.sync.list("/sdcard")}
    device.sync.pull("/sdcard/f.bin", tmp_path / "back.bin")
    assert (tmp_path / "back.bin").read_bytes() == file.read_bytes()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inner.txt").write_text("x")
    device.sync.push(tmp_path / "folder" / "inner.txt", "/sdcard/folder/inner.txt")
    device.sync.pull_dir("/sdcard/folder", tmp_path / "copied")
    assert (tmp_path / "copied" / "inner.txt").read_text() == "x"
    device.remove("/sdcard/inline.txt")
    assert not device.sync.exists("/sdcard/inline.txt")


def test_adbutils_inputs(rig: Rig, device: Any) -> None:
    before = rig.inputs
    device.click(300, 900)
    device.click(0.5, 0.5)
    device.swipe(500, 1500, 500, 700, 0.1)
    device.drag(300, 900, 500, 1200, 0.1)
    device.send_keys("typed")
    device.keyevent("HOME")
    assert rig.inputs == before + 6


def test_adbutils_apps_and_screens(rig: Rig, device: Any, tmp_path: Path) -> None:
    assert SETTINGS in device.list_packages()
    device.app_start(SETTINGS)
    assert device.app_current().package == SETTINGS
    device.app_stop(SETTINGS)
    device.app_clear(MESSAGES)
    assert device.app_info(SETTINGS).version_name
    assert device.screenshot().size == (1080, 2340)
    assert device.dump_hierarchy().startswith("<?xml")
    device.open_browser("https://example.org")
    device.switch_screen(False)
    assert device.is_screen_on() is False
    device.switch_screen(True)
    rig.vp.phone.person.unlock()
    device.switch_wifi(True)
    assert rig.vp.phone.settings.get("global", "wifi_on") == "1"
    device.switch_airplane(False)
    assert device.brightness_value >= 0
    device.brightness_value = 50
    assert rig.vp.phone.settings.get("system", "screen_brightness") == "50"


def test_adbutils_forwards_reverses_and_logs(rig: Rig, device: Any, tmp_path: Path) -> None:
    port = device.forward_port(7912)
    assert [one.remote for one in device.forward_list() if one.local == f"tcp:{port}"] == ["tcp:7912"]
    device.reverse("tcp:6500", "tcp:6501")
    assert [one.remote for one in device.reverse_list()] == ["tcp:6500"]
    log = device.logcat(tmp_path / "log.txt", clear=True)
    rig.vp.phone.log("Stranger", "was here")
    end = time.monotonic() + 5
    while time.monotonic() < end and "was here" not in (tmp_path / "log.txt").read_text():
        time.sleep(0.02)  # the library reads in a thread of its own, and says nothing of what it has
    log.stop_nowait()  # it looks whether to stop with the next line only
    rig.vp.phone.log("Stranger", "the end")
    assert "was here" in (tmp_path / "log.txt").read_text()


def test_what_the_real_server_refuses_too(d: Any) -> None:
    # makeToast is not in the interface of u2.jar 0.4.1.
    with pytest.raises(Exception, match="method not found"):
        d.jsonrpc.makeToast("text", 1)
    with pytest.raises(Exception, match="method not found"):
        d.jsonrpc.noSuchMethod()
