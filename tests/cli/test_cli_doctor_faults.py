"""`doctor` through the real stack on a virtual phone that is broken in one way: what it says, and it only looks."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.device.adb import PhoneLink
from droidpilot.device.attached import list_devices
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.server import VirtualPhone
from droidpilot.virtual.store import ADB_KEYBOARD
from tests.cli.cli_shell import Shell
from tests.cli.known_phone import virtual_phone
from tests.fakes.told_phone import told_phones


class Rig:
    """A virtual phone, and a doctor who looks at it."""

    def __init__(self, shell: Shell, running: VirtualPhone, link: PhoneLink) -> None:
        self.shell, self.running, self.link = shell, running, link

    @property
    def phone(self) -> Phone:
        return self.running.phone

    def wait_for(self, state: str) -> None:
        """Wait until the adb server has noticed a fault of the link."""
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if any(one.state == state for one in list_devices(self.link.server, Deadline.after(SystemClock(), 5))):
                return
            time.sleep(0.05)
        raise AssertionError(f"the phone is not {state}")

    def examined(self, *, code: int) -> dict[str, dict[str, str]]:
        """Run it and return findings by code."""
        with told_phones({}) as none:
            done = self.shell.quick(
                "doctor", "--device", self.running.serial, "--json", ANDROID_ADB_SERVER_PORT=str(none.port)
            )
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        document: Any = json.loads(done.stdout)
        return {one["code"]: one for one in document["checks"]}


@pytest.fixture
def rig(tmp_path: Path) -> Iterator[Rig]:
    shell = Shell(tmp_path)
    with virtual_phone(shell) as (running, link):
        yield Rig(shell, running, link)


def failures(found: dict[str, dict[str, str]]) -> set[str]:
    return {code for code, one in found.items() if one["level"] == "fail"}


def test_looking_changes_nothing_on_the_phone_and_sends_no_input(rig: Rig) -> None:
    before = {name: dict(values) for name, values in rig.phone.settings.values.items()}
    found = rig.examined(code=0)
    assert found["in_phone_server.ok"]["text"].endswith("stopped again")
    assert {"phone.ok", "connection.ok", "screen.ok", "storage.ok", "clock.ok", "shell_rights.ok"} <= set(found)
    assert rig.phone.settings.values == before and rig.phone.settings.changes == []
    assert rig.phone.inputs.count == 0
    assert list(rig.phone.files.files) == ["/data/local/tmp/u2.jar"]


def test_the_card_is_part_of_the_document_and_of_the_listing(rig: Rig) -> None:
    rig.phone.settings.put("secure", "enabled_accessibility_services", "com.a/.Reader", source="person")
    with told_phones({}) as none:
        env = str(none.port)
        told = rig.shell.json("doctor", "--device", rig.running.serial, ANDROID_ADB_SERVER_PORT=env)
        [listed] = rig.shell.json("devices", ANDROID_ADB_SERVER_PORT=env)["devices"]
        in_words = rig.shell.quick("devices", "--card", ANDROID_ADB_SERVER_PORT=env)
        plain = rig.shell.quick("devices", ANDROID_ADB_SERVER_PORT=env)
    card = told["cards"][rig.running.serial]
    assert card == listed["card"] and listed["card_problem"] == ""
    assert (card["api"], card["transport"], card["security_patch"]) == (34, "virtual", "2026-06-05")
    assert card["accessibility_suspended"] == ["com.a/.Reader"]
    assert [one["code"] for one in card["warnings"]] == ["accessibility-suspended"]
    assert card["keyboards"]["typing"] == ADB_KEYBOARD and ADB_KEYBOARD not in card["keyboards"]["enabled"]
    assert card["verifier"] == {"verifier_verify_adb_installs": None, "package_verifier_enable": None}
    assert f"{rig.running.serial}: .Reader is on" in in_words.stderr
    assert ".Reader" not in plain.stderr + plain.stdout
    assert rig.phone.inputs.count == 0


def test_a_phone_that_does_not_trust_this_computer(rig: Rig) -> None:
    rig.phone.faults.set("unauthorized")
    rig.wait_for("unauthorized")
    found = rig.examined(code=3)
    assert failures(found) == {"phone.unauthorized"}
    assert "Allow USB debugging" in found["phone.unauthorized"]["next_step"]


def test_a_phone_that_is_offline(rig: Rig) -> None:
    rig.phone.faults.set("offline", 30)
    found = rig.examined(code=3)
    [code] = failures(found)
    assert code in ("phone.offline", "phone.not_found_by_adb") and found[code]["next_step"]


def test_a_phone_that_hangs_does_not_hang_the_doctor(rig: Rig) -> None:
    rig.phone.faults.set("hang")
    began = time.monotonic()
    found = rig.examined(code=3)
    assert time.monotonic() - began < 15
    assert failures(found) == {"phone.device_timeout"}
    rig.phone.faults.clear()


def test_full_storage_is_told_with_what_it_breaks(rig: Rig) -> None:
    rig.phone.faults.set("storage-full")
    found = rig.examined(code=3)
    assert found["storage.low"]["level"] == "warn" and found["storage.low"]["text"].startswith("0 of ")
    [code] = failures(found)
    assert code.startswith("in_phone_server.")


def test_an_in_phone_server_that_cannot_run_is_told_and_plain_adb_named(rig: Rig) -> None:
    rig.phone.faults.set("no-helper")
    found = rig.examined(code=0)
    trouble = found["in_phone_server.helper_failed"]
    assert trouble["level"] == "warn" and trouble["next_step"] and "a session goes by plain adb" in trouble["text"]
    assert "uiautomator, input and screencap are there" in found["plain_adb.ok"]["text"]


def test_a_server_that_dies_once_is_a_warning(rig: Rig) -> None:
    rig.phone.faults.schedule("server-killed", "rpc:+3", "before")
    found = rig.examined(code=0)
    assert found["in_phone_server.died_once"]["text"].startswith("died once, then")


def test_a_server_that_dies_twice_is_given_up(rig: Rig) -> None:
    for at in ("dump:+1", "dump:+2"):
        rig.phone.faults.schedule("server-killed", at, "before")
    found = rig.examined(code=0)
    assert found["in_phone_server.helper_died"]["level"] == "warn"
    assert "died twice" in found["in_phone_server.helper_died"]["text"]


def test_another_tool_that_holds_accessibility_is_named_in_the_first_line(rig: Rig) -> None:
    rig.examined(code=0)  # which leaves the helper's file there
    device = rig.link.device(Deadline.after(SystemClock(), 10))
    command = "CLASSPATH=/data/local/tmp/u2.jar app_process / com.wetest.uia2.Main -p 9009"
    device.shell(command, stream=True)
    try:
        found = rig.examined(code=3)
    finally:
        rig.link.close_streams()
    assert failures(found) == {"in_phone_server.helper_blocked"}
    assert "another UI automation tool" in found["in_phone_server.helper_blocked"]["next_step"]


def test_a_phone_that_refuses_inputs_as_xiaomi_does(rig: Rig) -> None:
    rig.phone.faults.set("inject-denied")
    found = rig.examined(code=3)
    assert failures(found) == {"shell_rights.input_denied"}
    assert "'USB debugging (Security settings)' is off" in found["shell_rights.input_denied"]["text"]
    assert rig.phone.inputs.count == 0


def test_a_phone_that_refuses_to_have_settings_written(rig: Rig) -> None:
    rig.phone.faults.set("settings-denied")
    found = rig.examined(code=0)
    assert found["shell_rights.settings_denied"]["level"] == "warn"
    assert rig.phone.settings.changes == []


def test_no_keyboard_for_adb(rig: Rig) -> None:
    rig.phone.faults.set("ime-unknown")
    found = rig.examined(code=0)
    assert found["typing_keyboard.absent"]["level"] == "ok"


def test_a_keyboard_of_a_tool_that_stayed(rig: Rig) -> None:
    rig.phone.settings.put("secure", "default_input_method", ADB_KEYBOARD, source="tool")
    found = rig.examined(code=0)
    assert found["keyboard.of_a_tool"]["level"] == "warn"
    assert found["keyboards_enabled.default_not_enabled"]["level"] == "warn"


def test_a_screen_that_is_off(rig: Rig) -> None:
    rig.phone.screen_on = False
    found = rig.examined(code=0)
    assert found["screen.off"]["level"] == "warn" and "wake it" in found["screen.off"]["next_step"]


def test_dumpsys_that_breaks_off_is_no_error(rig: Rig) -> None:
    rig.phone.faults.set("dumpsys-cut", "always")
    found = rig.examined(code=0)
    assert "in_phone_server.ok" in found


def test_a_slow_phone_is_looked_at_all_the_same(rig: Rig) -> None:
    rig.phone.faults.set("slow", "middling")
    found = rig.examined(code=0)
    assert "in_phone_server.ok" in found and not failures(found)


def test_a_phone_locked_by_a_pin(rig: Rig) -> None:
    rig.phone.keyguard.choose("pin", "4711")
    assert "a PIN, pattern or password is set" in rig.examined(code=0)["screen.ok"]["text"]
    rig.phone.keyguard.lock()
    found = rig.examined(code=0)
    assert found["screen.locked"]["text"] == "it is locked by a PIN, pattern or password"
    assert "unlock it by hand" in found["screen.locked"]["next_step"]
    assert rig.phone.keyguard.is_showing and rig.phone.inputs.count == 0


def test_a_phone_locked_by_a_swipe(rig: Rig) -> None:
    rig.phone.keyguard.choose("swipe")
    rig.phone.keyguard.lock()
    assert rig.examined(code=0)["screen.locked"]["text"] == "it is locked by a swipe"
