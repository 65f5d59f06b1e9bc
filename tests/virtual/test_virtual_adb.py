"""The real adb server, the real adbutils and the unmodified uiautomator2 drive the virtual phone."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from droidpilot.virtual.server import VirtualPhone, running_phone

MESSAGES = "com.google.android.apps.messaging"
NAME_ID = f"{MESSAGES}:id/conversation_name"


@dataclass
class Rig:
    """A phone, and the private adb server that knows it."""

    vp: VirtualPhone
    adb_port: int
    adb: str
    env: dict[str, str]
    device: Any

    def cli(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        command = [self.adb, "-s", self.vp.serial, *words]
        return subprocess.run(command, env=self.env, capture_output=True, timeout=20, check=False)

    def inputs(self) -> int:
        return self.vp.phone.inputs.count


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def adb_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, dict[str, str]]]:
    import adbutils

    adb, port = adbutils.adb_path(), free_port()
    home = tmp_path_factory.mktemp("adb-home")
    env = dict(os.environ) | {
        "ANDROID_ADB_SERVER_PORT": str(port),
        "ADB_USB": "0",
        "ADB_MDNS": "0",
        "ADB_EMU": "0",
        "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
        "ANDROID_ADB_LOG_PATH": str(home / "adb.log"),
        "HOME": str(home),
    }
    subprocess.run([adb, "start-server"], env=env, check=True, capture_output=True, timeout=30)
    try:
        yield adb, port, env
    finally:
        subprocess.run([adb, "kill-server"], env=env, check=False, capture_output=True, timeout=30)


@contextlib.contextmanager
def connected(server: tuple[str, int, dict[str, str]], *, transition_ms: int) -> Iterator[Rig]:
    import adbutils
    import uiautomator2

    adb, port, env = server
    client = adbutils.AdbClient(host="127.0.0.1", port=port)
    with running_phone(transition_ms=transition_ms) as vp:
        client.connect(vp.serial, timeout=10)
        device = uiautomator2.connect(client.device(vp.serial))
        device.settings["wait_timeout"] = 5.0
        try:
            yield Rig(vp, port, adb, env, device)
        finally:
            device.stop_uiautomator(wait=False)
            client.disconnect(vp.serial)


@pytest.fixture(scope="module")
def rig(adb_server: tuple[str, int, dict[str, str]]) -> Iterator[Rig]:
    with connected(adb_server, transition_ms=0) as made:
        yield made


@pytest.fixture(autouse=True)
def at_home(request: pytest.FixtureRequest) -> None:
    """Begin every test on the home screen, with all apps closed."""
    if "rig" in request.fixturenames:
        made: Rig = request.getfixturevalue("rig")
        for package in list(made.vp.phone.tasks):
            made.vp.phone.stop(package)
        made.vp.phone.home()


def test_connecting_touches_neither_keyboard_nor_settings(rig: Rig) -> None:
    state = rig.vp.phone.state()
    assert state["ime_default"] == "com.android.inputmethod.latin/.LatinIME"
    assert state["settings_changed"] == []


def test_facts_of_the_phone(rig: Rig) -> None:
    info = rig.device.info
    assert (info["displayWidth"], info["displayHeight"], info["sdkInt"], info["screenOn"]) == (1080, 2340, 34, True)
    assert rig.device.window_size() == (1080, 2340)
    assert rig.device.device_info["model"] == "Virtual Phone"
    assert rig.device.app_current()["package"] == "com.android.launcher3"
    assert MESSAGES in rig.device.app_list()
    assert rig.device.app_info(MESSAGES)["versionName"] == "14"
    assert rig.device.app_list("-3")[0] not in rig.vp.phone.apps


def test_pictures_by_every_way_that_clients_take(rig: Rig) -> None:
    rig.device(text="Settings").click()
    picture = rig.device.screenshot()
    assert picture.size == (1080, 2340)
    assert len(picture.getcolors(1 << 22)) > 50, "something is on it"
    assert rig.device.adb_device.screenshot().size == (1080, 2340)
    for words in (
        ("exec-out", "screencap", "-p"),
        ("shell", "screencap", "-p"),
        ("exec-out", "screencap", "-p", "-d", "0"),
    ):
        done = rig.cli(*words)
        assert done.returncode == 0 and done.stdout.startswith(b"\x89PNG"), words
        with Image.open(io.BytesIO(done.stdout)) as png:
            png.load()
            assert png.size == (1080, 2340)
    assert b"not valid" in rig.cli("exec-out", "screencap", "-p", "-d", "77").stdout


def test_find_click_and_wait(rig: Rig) -> None:
    d = rig.device
    before = rig.inputs()
    d(text="Settings").click()
    assert d(text="Network & internet").wait(timeout=3)
    assert d(text="Network & internet").info["className"] == "android.widget.TextView"
    assert d(resourceId="android:id/title").count > 5
    assert d(text="Settings").exists
    assert not d(text="nope").exists
    assert d(text="nope").wait_gone(timeout=1)
    d.press("back")
    assert d(text="Contacts").wait(timeout=3)
    assert rig.inputs() == before + 2


def test_a_missing_element_raises_what_uiautomator2_raises(rig: Rig) -> None:
    import uiautomator2

    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        rig.device(text="nope").click(timeout=0.3)
    with pytest.raises(uiautomator2.UiObjectNotFoundError):
        rig.device.jsonrpc.objInfo(uiautomator2.Selector(text="nope"))
    with pytest.raises(uiautomator2.RPCUnknownError, match="-32601"):
        rig.device.jsonrpc.makeToast("hi", 1)
    with pytest.raises(uiautomator2.RPCUnknownError, match="-32602"):
        rig.device.jsonrpc.click("left", "right")


def test_wifi_goes_on_and_a_password_connects(rig: Rig) -> None:
    d = rig.device
    for label in ("Settings", "Network & internet", "Wi-Fi"):
        d(text=label).click()
    if d(className="android.widget.Switch").info["checked"] is False:
        d(text="Use Wi-Fi").click()
    assert d.shell("settings get global wifi_on").output.strip() == "1"
    ssid = rig.vp.phone.wifi.networks[0].ssid
    d(text=ssid).click()
    field = d(className="android.widget.EditText")
    field.set_text("hunter2hunter2")
    assert field.get_text() == "•" * 14
    assert "hunter2" not in d.dump_hierarchy()
    d(text="CONNECT").click()
    assert d(text="Connected").wait(timeout=3)
    assert rig.vp.phone.wifi.connected == ssid


def test_text_is_set_cleared_and_sent(rig: Rig) -> None:
    d = rig.device
    d.app_start(MESSAGES)
    d(resourceId=NAME_ID).click()
    field = d(className="android.widget.EditText")
    assert field.get_text() == "Text message"
    field.set_text("héllo 王 🎉 \"q\" & <b>'s'")
    assert field.get_text() == "héllo 王 🎉 \"q\" & <b>'s'"
    field.clear_text()
    assert field.get_text() == "Text message"
    field.set_text("sent once")
    d(description="Send").click()
    assert d(text="sent once").wait(timeout=3)
    outbox = rig.vp.phone.state()["outbox"]
    assert isinstance(outbox, list)
    assert [sent["text"] for sent in outbox].count("sent once") == 1


def test_send_keys_goes_through_the_installed_keyboard(rig: Rig) -> None:
    d = rig.device
    d.app_start(MESSAGES)
    d(resourceId=NAME_ID).click()
    d(className="android.widget.EditText").click()
    assert d.is_input_ime_installed()
    d.send_keys("typed 王 & more")
    assert d(className="android.widget.EditText").get_text() == "typed 王 & more"
    assert rig.vp.phone.state()["ime_default"] == "com.github.uiautomator/.AdbKeyboard"
    d.set_input_ime(False)
    assert rig.vp.phone.state()["ime_default"] == "com.android.inputmethod.latin/.LatinIME"


def test_the_dump_is_read_by_xpath_and_by_lxml(rig: Rig) -> None:
    from lxml import etree

    d = rig.device
    d.app_start("com.android.settings")
    d.xpath('//*[@text="Display"]').click()
    assert d.xpath("//android.widget.Switch").wait(timeout=3)
    assert len(d.xpath("//android.widget.Switch").all()) == 3
    root = etree.fromstring(d.dump_hierarchy().encode())
    assert root.xpath("count(//node[@visible-to-user='true'])") > 20
    assert d.dump_hierarchy(pretty=True).startswith("<?xml")
    assert rig.device.adb_device.dump_hierarchy().startswith("<?xml")


def test_the_three_hundredth_row_is_scrolled_to_and_opened(rig: Rig) -> None:
    d = rig.device
    d.app_start("com.android.settings")
    d(text="Apps").click()
    d(text="All apps").click()
    target = sorted(package.label for package in rig.vp.phone.packages.values())[299]
    assert not d(text=target).exists
    assert d(scrollable=True).scroll.to(text=target)
    d(text=target).click()
    assert d(text="App info").wait(timeout=3)
    assert d(text=target).exists
    d.press("back")
    assert d(scrollable=True).scroll.toEnd()
    assert d(scrollable=True).scroll.toBeginning()


def test_swipes_and_drags_scroll(rig: Rig) -> None:
    d = rig.device
    d.app_start("com.android.settings")

    def offset() -> int:
        return rig.vp.phone.top.scroll("list").offset

    d.swipe(540, 1500, 540, 1100, steps=20)
    assert offset() == 400
    d.swipe_points([(540, 1100), (540, 1200), (540, 1300)], 0.1)
    assert offset() == 200
    d.drag(540, 1100, 540, 1200, 0.1)
    assert offset() == 100
    d.swipe_ext("up", scale=0.5)
    assert offset() > 100
    d.adb_device.swipe(540, 600, 540, 2000, 0.1)
    assert offset() == 0


def test_keys_screen_and_clipboard(rig: Rig) -> None:
    d = rig.device
    d.app_start("com.android.settings")
    d.press("home")
    assert d(text="Contacts").wait(timeout=3)
    d.press("recent")
    assert d(description="Settings").wait(timeout=3)
    d.press(4)
    d.keyevent("home")
    d.screen_off()
    assert d.info["screenOn"] is False
    d.screen_on()
    assert d.info["screenOn"] is True
    d.set_clipboard("clip")
    assert d.clipboard == "clip"
    d.unlock()


def test_files_go_both_ways(rig: Rig, tmp_path: Path) -> None:
    data = os.urandom(300_000)
    source = tmp_path / "data.bin"
    source.write_bytes(data)
    rig.device.push(str(source), "/sdcard/data.bin")
    rig.device.pull("/sdcard/data.bin", str(tmp_path / "back.bin"))
    assert (tmp_path / "back.bin").read_bytes() == data
    assert rig.cli("push", str(source), "/sdcard/again.bin").returncode == 0
    assert rig.cli("pull", "/sdcard/again.bin", str(tmp_path / "cli.bin")).returncode == 0
    assert (tmp_path / "cli.bin").read_bytes() == data
    sync = rig.device.adb_device.sync
    assert sync.exists("/sdcard/again.bin")
    assert not sync.exists("/sdcard/none")
    assert "again.bin" in [entry.path for entry in sync.list("/sdcard")]
    assert b"again.bin" in rig.cli("ls", "/sdcard").stdout
    assert rig.cli("pull", "/sdcard/none", str(tmp_path / "x")).returncode != 0


def test_the_command_line_of_adb_gets_codes_and_both_outputs(rig: Rig) -> None:
    done = rig.cli("shell", "echo out; cat /none; exit 7")
    assert (done.returncode, done.stdout) == (7, b"out\n")
    assert b"No such file" in done.stderr
    assert rig.cli("exec-out", "echo raw").stdout == b"raw\n"
    assert rig.cli("get-state").stdout == b"device\n"
    assert rig.cli("shell", "getprop", "ro.product.model").stdout == b"Virtual Phone\n"


def test_the_server_is_restarted_after_it_was_stopped(rig: Rig) -> None:
    rig.device.stop_uiautomator()
    assert rig.device.info["sdkInt"] == 34


def test_a_whole_session_with_transitions_finds_everything(adb_server: tuple[str, int, dict[str, str]]) -> None:
    with connected(adb_server, transition_ms=280) as rig:
        d = rig.device
        for label in ("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi"):
            assert d(text=label).wait(timeout=3)
            # An element may still slide when it is first seen; a session waits until the phone rests.
            d.jsonrpc.waitForIdle(2000)
            d(text=label).click()
        assert d(text="Saved networks").wait(timeout=3)
        assert rig.vp.phone.settings.get("global", "wifi_on") == "1"
        assert rig.inputs() == 4
        d.swipe(540, 1500, 540, 1300, steps=20)
        assert rig.inputs() == 5
