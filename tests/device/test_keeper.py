"""The keeper on a real virtual phone: written down first, put back always, and never over a person's own choice."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceBusy, DeviceRefused
from droidpilot.core.events import Event, PhoneChanged
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.attached import connect_tcp
from droidpilot.device.keeper import Keeper, enabled_ids, left_behind, repair
from droidpilot.device.kept import FOLDER, Change, ChangeList
from droidpilot.device.lease import Lease
from droidpilot.virtual.server import VirtualPhone
from droidpilot.virtual.store import ADB_KEYBOARD, LATIN_IME

SCALE = ("global", "window_animation_scale")


class Setting:
    """A keeper on the phone, what it recorded, and the truth."""

    def __init__(self, adb: AdbServer, phone: VirtualPhone, home: Path) -> None:
        self.adb, self.phone, self.home = adb, phone, home
        self.events: list[PhoneChanged] = []
        self.link = PhoneLink(adb, phone.serial)

    def keeper(self) -> Keeper:
        return Keeper(self.home, self.link, SystemClock(), record=self.record)

    def record(self, event: Event) -> None:
        assert isinstance(event, PhoneChanged)
        self.events.append(event)

    def value(self, namespace: str, key: str) -> str | None:
        return self.phone.phone.settings.get(namespace, key)

    def by_hand(self, namespace: str, key: str, value: str) -> None:
        self.phone.phone.settings.put(namespace, key, value, source="person")

    @property
    def list_path(self) -> Path:
        (path,) = (self.home / FOLDER).glob("*.json")
        return path

    def listed(self) -> list[str]:
        return [f"{one['namespace']}/{one['key']}" for one in json.loads(self.list_path.read_text())["changes"]]


@pytest.fixture
def setting(adb: AdbServer, phone: VirtualPhone, home: Path) -> Setting:
    return Setting(adb, phone, home)


def test_a_setting_is_put_back_as_it_was(setting: Setting, within: Callable[[float], Deadline]) -> None:
    keeper = setting.keeper()
    assert keeper.put_setting(*SCALE, "0", within(10))
    assert setting.value(*SCALE) == "0"
    assert setting.listed() == ["global/window_animation_scale"]
    (done,) = keeper.restore(within(10))
    assert (done.became, done.before) == ("restored", "1.0")
    assert setting.value(*SCALE) == "1.0"
    assert setting.listed() == [] and left_behind(setting.home, SystemClock()) == []
    assert [event.became for event in setting.events] == ["switched", "restored"]
    assert keeper.restore(within(10)) == [], "there is nothing left to do"


def test_a_value_that_was_not_set_is_deleted_again(setting: Setting, within: Callable[[float], Deadline]) -> None:
    keeper = setting.keeper()
    keeper.put_setting("system", "a_new_one", "x y $HOME", within(10))
    assert setting.value("system", "a_new_one") == "x y $HOME"
    keeper.restore(within(10))
    assert setting.value("system", "a_new_one") is None


def test_it_is_written_down_before_the_phone_is_touched(setting: Setting, within: Callable[[float], Deadline]) -> None:
    """Where the list cannot be written, the phone is not changed."""
    setting.home.mkdir()
    (setting.home / FOLDER).write_text("a file where the folder should be")
    before = len(setting.phone.phone.settings.changes)
    with pytest.raises(DeviceRefused, match="nothing was changed") as caught:
        setting.keeper().put_setting(*SCALE, "0", within(10))
    assert caught.value.code == "not_written_down" and caught.value.sent == "no"
    assert len(setting.phone.phone.settings.changes) == before


def test_what_a_person_set_since_stays(setting: Setting, within: Callable[[float], Deadline]) -> None:
    keeper = setting.keeper()
    keeper.put_setting(*SCALE, "0", within(10))
    setting.by_hand(*SCALE, "0.5")
    (done,) = keeper.restore(within(10))
    assert done.became == "kept" and "somebody set since" in done.words
    assert setting.value(*SCALE) == "0.5"
    assert setting.listed() == []


def test_the_keyboard_is_switched_beside_the_others_and_back(
    setting: Setting, within: Callable[[float], Deadline]
) -> None:
    keeper = setting.keeper()
    other = "com.example.keys/.Outer$Inner"
    setting.by_hand("secure", "enabled_input_methods", f"{LATIN_IME};12;-7:{other}")
    keeper.switch_keyboard(ADB_KEYBOARD, within(10))
    assert setting.value("secure", "default_input_method") == ADB_KEYBOARD
    assert enabled_ids(setting.value("secure", "enabled_input_methods")) == [LATIN_IME, other, ADB_KEYBOARD]
    assert [one.became for one in keeper.restore(within(10))] == ["restored", "restored"]
    assert setting.value("secure", "default_input_method") == LATIN_IME
    assert setting.value("secure", "enabled_input_methods") == f"{LATIN_IME};12;-7:{other}", "subtypes and all"


def test_a_keyboard_the_phone_does_not_know_changes_nothing(
    setting: Setting, within: Callable[[float], Deadline]
) -> None:
    keeper = setting.keeper()
    with pytest.raises(DeviceRefused) as caught:
        keeper.switch_keyboard("com.example/.Missing", within(10))
    assert caught.value.code == "no_keyboard"
    assert setting.listed() == []
    assert setting.value("secure", "default_input_method") == LATIN_IME


def test_the_next_run_finds_what_a_killed_one_left(setting: Setting, within: Callable[[float], Deadline]) -> None:
    setting.keeper().put_setting(*SCALE, "0", within(10))
    (left,) = left_behind(setting.home, SystemClock())
    assert (left.serial, left.what, left.before) == (setting.phone.serial, "global/window_animation_scale", "1.0")
    (done,) = repair(setting.home, setting.adb, setting.phone.serial, SystemClock(), within(10))
    assert done.became == "restored"
    assert setting.value(*SCALE) == "1.0"


def test_what_a_running_session_holds_is_not_left_behind(setting: Setting, within: Callable[[float], Deadline]) -> None:
    with Lease.take(setting.home, setting.phone.serial, clock=SystemClock()):
        setting.keeper().put_setting(*SCALE, "0", within(10))
        assert left_behind(setting.home, SystemClock()) == []
        with pytest.raises(DeviceBusy):
            repair(setting.home, setting.adb, setting.phone.serial, SystemClock(), within(10))
    assert len(left_behind(setting.home, SystemClock())) == 1


def test_a_half_written_list_is_set_aside_and_said(setting: Setting, within: Callable[[float], Deadline]) -> None:
    setting.keeper().put_setting(*SCALE, "0", within(10))
    path = setting.list_path
    path.write_bytes(path.read_bytes()[:40])
    (left,) = left_behind(setting.home, SystemClock())
    assert "cannot be read" in left.problem
    (done,) = setting.keeper().restore(within(10))
    assert done.became == "failed" and "kept as" in done.words
    (aside,) = path.parent.glob("*.unreadable-*")
    assert len(aside.read_bytes()) == 40, "nothing that was written is lost"
    setting.keeper().put_setting("system", "font_scale", "1.3", within(10))
    assert setting.listed() == ["system/font_scale"]


def test_the_list_of_another_version_is_neither_read_nor_moved(
    setting: Setting, within: Callable[[float], Deadline]
) -> None:
    setting.keeper().put_setting(*SCALE, "0", within(10))
    path = setting.list_path
    path.write_text(path.read_text().replace('"v": 1', '"v": 2'))
    before = len(setting.phone.phone.settings.changes)
    (done,) = setting.keeper().restore(within(10))
    assert done.became == "failed" and "another version" in done.words
    with pytest.raises(DeviceRefused, match="nothing was changed"):
        setting.keeper().put_setting("system", "font_scale", "1.3", within(10))
    assert path.exists() and len(setting.phone.phone.settings.changes) == before


def test_a_phone_that_is_lost_for_a_moment_is_waited_for(setting: Setting, within: Callable[[float], Deadline]) -> None:
    keeper = setting.keeper()
    keeper.put_setting(*SCALE, "0", within(10))
    setting.phone.phone.faults.set("drop", "now")
    (done,) = keeper.restore(within(15))
    assert done.became == "restored", done.words
    assert setting.value(*SCALE) == "1.0"


def test_what_a_person_set_before_we_set_it_again_is_what_comes_back(
    setting: Setting, within: Callable[[float], Deadline]
) -> None:
    """Putting back failed, a person set another value, and the next session switched again."""
    keeper = setting.keeper()
    keeper.put_setting(*SCALE, "0", within(10))
    keeper.put_setting(*SCALE, "0.1", within(10))
    setting.by_hand(*SCALE, "0.5")
    keeper.put_setting(*SCALE, "0", within(10))
    assert [one.became for one in keeper.restore(within(10))] == ["restored"]
    assert setting.value(*SCALE) == "0.5"


def test_a_keyboard_that_a_person_chose_since_stays_enabled(
    setting: Setting, within: Callable[[float], Deadline]
) -> None:
    keeper = setting.keeper()
    keeper.switch_keyboard(ADB_KEYBOARD, within(10))
    keeper.restore(within(10), kinds=["keyboard"])
    setting.by_hand("secure", "default_input_method", ADB_KEYBOARD)
    (done,) = keeper.restore(within(10))
    assert done.became == "kept"
    assert ADB_KEYBOARD in enabled_ids(setting.value("secure", "enabled_input_methods"))


def test_a_phone_that_is_away_loses_nothing(setting: Setting, within: Callable[[float], Deadline]) -> None:
    keeper = setting.keeper()
    keeper.put_setting(*SCALE, "0", within(10))
    setting.adb.ask(f"host:disconnect:{setting.phone.serial}", within(10))
    (done,) = keeper.restore(within(3))
    assert done.became == "failed" and "could not be put back to 1.0" in done.words
    assert setting.listed() == ["global/window_animation_scale"]
    connect_tcp(setting.adb, setting.phone.serial, within(10))
    assert [one.became for one in keeper.restore(within(10))] == ["restored"]


def test_another_phone_with_the_same_id_is_left_alone(setting: Setting, within: Callable[[float], Deadline]) -> None:
    """Cheap phones share one ro.serialno: what was changed under another serial is settled only where it shows."""
    elsewhere = Change(
        kind="setting",
        namespace="global",
        key="window_animation_scale",
        before="1.0",
        ours=("0",),
        since="2026-01-01T00:00:00.000Z",
        pid=1,
        serial="another-serial",
    )
    ChangeList(setting.home, "VIRTUAL00000000").put(elsewhere)
    assert setting.keeper().restore(within(10)) == []
    assert setting.listed() == ["global/window_animation_scale"]
    setting.by_hand(*SCALE, "0")
    (done,) = setting.keeper().restore(within(10))
    assert done.became == "restored" and setting.value(*SCALE) == "1.0"


@pytest.mark.parametrize("key", ["enabled_accessibility_services", "default_input_method", "enabled_input_methods"])
def test_lists_of_others_are_never_overwritten(setting: Setting, within: Callable[[float], Deadline], key: str) -> None:
    with pytest.raises(ValueError, match="never overwritten"):
        setting.keeper().put_setting("secure", key, "ours", within(10))
