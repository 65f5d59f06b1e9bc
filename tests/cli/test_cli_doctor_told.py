"""`doctor` on phones that nobody here has: the words that brands really print, each with its code and next step."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from droidpilot.core.clock import SystemClock
from droidpilot.device.lease import Lease
from tests.cli.cli_shell import Shell
from tests.fakes.told_phone import HEALTHY, Told, ToldPhones, told_phones

SERIAL = "R5CT1"
ADB_KEYBOARD = "com.android.adbkeyboard/.AdbIME"
GBOARD = "com.google.android.inputmethod.latin/.LatinIME"
#: What Xiaomi, realme and others print where the shell may not. Source: scrcpy issue 1865, appium issue 13802,
#: Open-AutoGLM issue 228.
DENIED_SETTINGS = (
    "\nException occurred while executing 'delete':\njava.lang.SecurityException: Permission denial: writing to "
    "settings requires:android.permission.WRITE_SECURE_SETTINGS\n\tat com.android.providers.settings\n",
    255,
)
DENIED_IME = (
    "java.lang.SecurityException: Requires permission android.permission.WRITE_SECURE_SETTINGS: "
    "uid=2000\n\tat android.os.Parcel.createException(Parcel.java:2071)\n",
    255,
)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def properties(**named: str) -> str:
    """Write a `getprop` of a healthy phone with some properties changed; `_` stands for `.`, `__` for `_`."""
    base = dict(line.strip("[]\n").split("]: [") for line in str(HEALTHY["getprop"]).splitlines())
    changed = {name.replace("__", "\0").replace("_", ".").replace("\0", "_"): value for name, value in named.items()}
    return "".join(f"[{name}]: [{value}]\n" for name, value in {**base, **changed}.items())


def examined(shell: Shell, told: ToldPhones, *, code: int = 0, serial: str = SERIAL) -> dict[str, dict[str, str]]:
    """Run it while somebody else uses the phone, so that no in-phone server is tried; return findings by code."""
    with Lease.take(shell.home, serial, clock=SystemClock()):
        done = shell.quick("doctor", "--device", serial, "--json", ANDROID_ADB_SERVER_PORT=str(told.port))
    assert done.returncode == code, done.stdout + done.stderr
    document: Any = json.loads(done.stdout)
    return {one["code"]: one for one in document["checks"] if one["group"] == "phone"}


def test_a_healthy_phone_gives_no_warning_but_that_it_is_in_use(shell: Shell) -> None:
    with told_phones({SERIAL: "device"}, {"date +%s": f"{int(time.time())}\n"}) as told:
        found = examined(shell, told)
    assert [one for one in found if found[one]["level"] != "ok"] == ["in_phone_server.busy"]
    assert {"screen.ok", "storage.ok", "clock.ok", "battery.ok", "shell_rights.ok", "keyboard_served.ok"} <= set(found)
    assert {one["serial"] for one in found.values()} == {SERIAL}
    assert "Android 14 (API 34), security patch 2026-06-05" in found["phone.ok"]["text"]
    assert "; a PIN, pattern or password is set" in found["screen.ok"]["text"]


XIAOMI = properties(ro_product_brand="Redmi", persist_security_adbinput="0", persist_security_adbinstall="0")


@pytest.mark.parametrize(
    ("answers", "code", "level", "said", "step", "exit_code"),
    [
        # field rows 2, 3 and section 5: the OEM switches, by their exact names
        (
            {"getprop": XIAOMI},
            "shell_rights.input_denied",
            "fail",
            "'USB debugging (Security settings)' is off: taps and keys are refused",
            "turn it on in Settings > Additional settings > Developer options",
            3,
        ),
        ({"getprop": XIAOMI}, "app_installs.switched_off", "warn", "'Install via USB' is off", "Developer options", 3),
        (
            {
                "getprop": properties(ro_product_brand="POCO", ro_mi_os_version_name="OS3.0"),
                "settings delete secure droidpilot_never_set": DENIED_SETTINGS,
            },
            "shell_rights.input_denied",
            "fail",
            "taps and keys are refused",
            "Mi account",
            3,
        ),
        # another system on such a phone has no such switch, and one that may be off is named where it may matter
        (
            {"getprop": properties(ro_product_brand="POCO")},
            "shell_rights.ok",
            "ok",
            "the shell may write settings; if taps do nothing: 'USB debugging (Security settings)'",
            "",
            0,
        ),
        (
            {"getprop": properties(ro_product_brand="Redmi", ro_mi_os_version_name="OS3.0")},
            "shell_rights.ok",
            "ok",
            "the shell may write settings",
            "",
            0,
        ),
        (
            {"getprop": properties(ro_product_brand="OnePlus", persist_sys_permission_enable="true")},
            "shell_rights.settings_denied",
            "warn",
            "'Disable permission monitoring' is off: keyboard and settings cannot be switched",
            "'Disable system optimization'",
            0,
        ),
        (
            {
                "getprop": properties(ro_product_brand="realme"),
                "settings delete secure droidpilot_never_set": DENIED_SETTINGS,
            },
            "shell_rights.settings_denied",
            "warn",
            "may not write settings",
            "turn on 'Disable permission monitoring'",
            0,
        ),
        (
            {
                "getprop": properties(ro_product_brand="vivo"),
                "settings list secure": f"default_input_method={GBOARD}\nvivo_adb_simulate_input=0\n",
            },
            "shell_rights.input_denied",
            "fail",
            "'USB simulated click' is off",
            "USB security permissions",
            3,
        ),
        (
            {"settings delete secure droidpilot_never_set": DENIED_SETTINGS},
            "shell_rights.settings_denied",
            "warn",
            "may not write settings",
            "'USB debugging (Security settings)' (Xiaomi, Redmi, POCO)",
            0,
        ),
        # a refusal to list keyboards is no missing keyboard (field row 2)
        (
            {"ime list -s": DENIED_IME, "ime list -s -a": DENIED_IME},
            "keyboards_enabled.denied",
            "warn",
            "not a missing keyboard",
            "shell rights",
            0,
        ),
        # enabled, default and served are asked one by one (field row 3)
        (
            {"settings list secure": "default_input_method=com.a.b/.Ime\n"},
            "keyboards_enabled.default_not_enabled",
            "warn",
            "com.a.b/.Ime is the default and not enabled",
            "On-screen keyboard",
            0,
        ),
        (
            {"dumpsys input_method": "  mCurId=com.a.b/.Ime mHaveConnection=true\n"},
            "keyboard_served.another",
            "warn",
            "fields get com.a.b/.Ime",
            "restart the phone",
            0,
        ),
        (
            {"dumpsys input_method": "  mCurId=com.a.b/.Ime mHaveConnection=false\n"},
            "keyboard_served.none_yet",
            "ok",
            "no field",
            "",
            0,
        ),
        (
            {"settings list secure": f"default_input_method={ADB_KEYBOARD}\n", "ime list -s": f"{ADB_KEYBOARD}\n"},
            "keyboard.of_a_tool",
            "warn",
            "automation tool",
            "did not switch it back",
            0,
        ),
        (
            {"settings list secure": "default_input_method=null\n"},
            "keyboard.none",
            "warn",
            "none is the default",
            "choose",
            0,
        ),
        ({"ime list -s -a": f"{GBOARD}\n{ADB_KEYBOARD}\n"}, "typing_keyboard.ok", "ok", "is installed", "", 0),
        ({}, "typing_keyboard.absent", "ok", "not installed", "", 0),
        # services that will be suspended, by name
        (
            {
                "settings list secure": f"default_input_method={GBOARD}\nenabled_accessibility_services="
                "com.google.android.marvin.talkback/.TalkBackService:com.bitwarden/.Fill\n"
            },
            "accessibility.suspended",
            "warn",
            ".TalkBackService, .Fill is on",
            "come back",
            0,
        ),
        # the state of the phone
        ({"dumpsys power": "  mWakefulness=Asleep\n"}, "screen.off", "warn", "it is off", "wake it", 0),
        (
            {"dumpsys window": "  KeyguardServiceDelegate\n    showing=true\n    secure=true\n"},
            "screen.locked",
            "warn",
            "locked by a PIN, pattern or password",
            "unlock it by hand",
            0,
        ),
        (
            {"df -k /data": "Filesystem 1K-blocks Used Available Use% Mounted on\n/d 1000000 1 20000 98% /data\n"},
            "storage.low",
            "warn",
            "19 of 976 MiB free",
            "free some",
            0,
        ),
        ({"date +%s": "1767225600\n"}, "clock.skewed", "warn", "behind this computer's", "Set time automatically", 0),
        (
            {"dumpsys battery": "  AC powered: false\n  USB powered: false\n  level: 9\n  scale: 100\n"},
            "battery.low",
            "warn",
            "9 %, not charging",
            "charge it",
            0,
        ),
        (
            {"settings list global": "animator_duration_scale=10.0\n"},
            "animations.slow",
            "warn",
            "1, 1, 10.0",
            "Developer options",
            0,
        ),
        ({"settings list global": "stay_on_while_plugged_in=3\n"}, "stay_awake.on", "ok", "while it charges", "", 0),
        (
            {"which uiautomator input screencap": ("/system/bin/input\n", 1)},
            "plain_adb.missing",
            "warn",
            "lacks uiautomator, screencap",
            "in-phone server",
            0,
        ),
        (
            {"settings list global": "verifier_verify_adb_installs=0\n"},
            "app_installs.not_verified",
            "ok",
            "'Verify apps over USB' is off",
            "",
            0,
        ),
        # notes by API level
        ({"getprop": properties(ro_build_version_sdk="22")}, "note.too_old", "warn", "not supported", "", 0),
        (
            {"getprop": properties(ro_build_version_sdk="36")},
            "note.back_key",
            "ok",
            "API 36: apps made for Android 16",
            "",
            0,
        ),
        (
            {
                "getprop": properties(ro_build_version_sdk="37"),
                "settings list secure": f"default_input_method={GBOARD}\nadvanced_protection_mode=1\n",
            },
            "note.advanced_protection",
            "warn",
            "Advanced Protection is on",
            "",
            0,
        ),
    ],
)
def test_what_a_phone_says_has_its_code_and_next_step(
    shell: Shell, answers: Mapping[str, Told], code: str, level: str, said: str, step: str, exit_code: int
) -> None:
    with told_phones({SERIAL: "device"}, answers) as told:
        found = examined(shell, told, code=exit_code)
    assert code in found, sorted(found)
    assert found[code]["level"] == level
    assert said in found[code]["text"] and step in found[code]["next_step"]


@pytest.mark.parametrize(
    ("serial", "sdk", "patch", "is_told"),
    [
        ("192.168.1.7:41234", "34", "2026-04-05", True),
        ("adb-R5 (2)._adb-tls-connect._tcp", "36", "2026-04-05", True),
        ("192.168.1.7:41234", "34", "2026-05-01", False),
        ("192.168.1.7:41234", "33", "2020-01-01", False),
        ("192.168.1.7:41234", "37", "2026-01-01", False),
        ("192.168.1.7:41234", "35", "unknown", True),
        (SERIAL, "34", "2026-04-05", False),
        ("emulator-5554", "34", "2026-04-05", False),
    ],
)
def test_a_known_hole_of_wireless_adb_is_told_on_wireless_transports_only(
    shell: Shell, serial: str, sdk: str, patch: str, is_told: bool
) -> None:
    answers = {"getprop": properties(ro_build_version_sdk=sdk, ro_build_version_security__patch=patch)}
    with told_phones({serial: "device"}, answers) as told:
        found = examined(shell, told, serial=serial)
    assert ("wireless_adb.cve_2026_0073" in found) == is_told
    if is_told:
        assert "CVE-2026-0073" in found["wireless_adb.cve_2026_0073"]["text"]
        assert "cable" in found["wireless_adb.cve_2026_0073"]["next_step"]


STATES = {
    "unauthorized": ("phone.unauthorized", "Allow USB debugging"),
    "authorizing": ("phone.authorizing", "Allow USB debugging"),
    "offline": ("phone.offline", "unplug it and plug it in again"),
    "no permissions (missing udev rules? user is in the plugdev group)": ("phone.no_permissions", "udev rule"),
    "bootloader": ("phone.bootloader", "fastboot reboot"),
    "recovery": ("phone.recovery", "Reboot system now"),
    "sideload": ("phone.sideload", "Reboot system now"),
    "detached": ("phone.not_ready", "wait a moment"),
}


@pytest.mark.parametrize("state", STATES)
def test_the_only_phone_that_is_not_ready_is_exit_3_with_the_next_step(shell: Shell, state: str) -> None:
    code, step = STATES[state]
    with told_phones({SERIAL: state}) as told:
        done = shell.quick("doctor", "--json", ANDROID_ADB_SERVER_PORT=str(told.port))
    assert done.returncode == 3
    [found] = [one for one in json.loads(done.stdout)["checks"] if one["level"] == "fail"]
    assert (found["code"], found["group"], found["serial"]) == (code, "adb", SERIAL)
    assert step in found["next_step"]
    assert told.commands == []


def test_text_of_a_phone_is_data_on_one_short_line(shell: Shell) -> None:
    evil = "\x1b[2Jrm -rf\x07 \u202e" + "A" * 5_000
    answers = {
        "getprop": properties(ro_product_model=evil, ro_product_brand=evil),
        "settings list secure": f"default_input_method={evil}\nenabled_accessibility_services={evil}/{evil}:x\n",
        "ime list -s": f"{evil}/{evil}\n" * 500,
        "dumpsys battery": "  level: 99999999999999999999\n  scale: 0\n",
        "df -k /data": "9" * 400 + "%\n",
        "date +%s": "9" * 400,
    }
    with told_phones({SERIAL: "device"}, answers) as told, Lease.take(shell.home, SERIAL, clock=SystemClock()):
        done = shell.quick("doctor", "--device", SERIAL, ANDROID_ADB_SERVER_PORT=str(told.port))
    assert done.returncode == 0, done.stderr
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout and "\x07" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 700
    assert "Traceback" not in done.stderr


def test_no_input_and_no_change_is_ever_among_the_questions(shell: Shell) -> None:
    with told_phones({SERIAL: "device"}) as told:
        examined(shell, told)
    asked = {command for _, command in told.commands}
    assert "settings delete secure droidpilot_never_set" in asked
    allowed = (
        "getprop",
        "settings list ",
        "ime list ",
        "dumpsys ",
        "df ",
        "date ",
        "ls ",
        "which ",
        "pm list ",
        "true",
    )
    assert [one for one in asked if not one.startswith(allowed)] == ["settings delete secure droidpilot_never_set"]
