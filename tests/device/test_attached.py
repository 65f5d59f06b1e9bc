"""Which phones are attached, what to do about those that are not ready, and the choice of one."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError, DeviceNotChosen, DeviceUnavailable
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_trouble import adb_command
from droidpilot.device.attached import AttachedDevice, choose_device, connect_tcp, list_devices
from droidpilot.virtual.server import VirtualPhone, running_phone

Within = Callable[[float], Deadline]

ODD_SERIAL = "adb-R5AA (2)._adb-tls-connect._tcp"


class Listing(AdbServer):
    """A server whose lists are given."""

    def __init__(self, short: str, long: str) -> None:
        super().__init__(1)
        self._answers = {"host:devices": short, "host:devices-l": long}

    def ask(self, command: str, deadline: Deadline) -> str:
        return self._answers[command]


def attached(serial: str, state: str = "device") -> AttachedDevice:
    return AttachedDevice(serial, state, "usb", "")


def test_the_real_server_lists_a_phone_with_its_model(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    assert AttachedDevice(phone.serial, "device", "tcp", "Virtual Phone") in list_devices(adb, within(5))


def test_report_b20_serials_and_states_with_spaces_are_kept_whole(within: Within) -> None:
    no_permission = "no permissions (user in plugdev group; are your udev rules wrong?); see [http://x]"
    server = Listing(
        f"{ODD_SERIAL}\tdevice\nR5AA\t{no_permission}\nemulator-5554\toffline\n10.0.0.7:37123\tunauthorized\n"
        "broken line\n",
        f"{ODD_SERIAL} device product:a model:Pixel_8 device:b transport_id:1\n"
        f"R5AA                   {no_permission} usb:1-4 transport_id:2\n"
        "emulator-5554          offline transport_id:3\n"
        "10.0.0.7:37123         unauthorized transport_id:4\n",
    )
    assert list_devices(server, within(5)) == [
        AttachedDevice(ODD_SERIAL, "device", "tcp", "Pixel 8"),
        AttachedDevice("R5AA", no_permission, "usb", ""),
        AttachedDevice("emulator-5554", "offline", "emulator", ""),
        AttachedDevice("10.0.0.7:37123", "unauthorized", "tcp", ""),
    ]


def test_a_serial_that_begins_like_another_does_not_get_its_model(within: Within) -> None:
    server = Listing("R5\tdevice\nR5A\tdevice\n", "R5A  device usb:1-1 model:Long\nR5   device usb:1-2 model:Short\n")
    assert [one.model for one in list_devices(server, within(5))] == ["Short", "Long"]


@pytest.mark.parametrize(
    ("state", "part"),
    [
        ("unauthorized", "unlock the phone and accept"),
        ("authorizing", "wait a moment"),
        ("offline", "adb reconnect"),
        ("no permissions (user not in plugdev)", "udev"),
        ("recovery", "restart the phone into Android"),
        ("bootloader", "restart the phone into Android"),
        ("connecting", "wait a moment"),
        ("something new", "unplug"),
    ],
)
def test_every_state_but_ready_has_a_next_step(state: str, part: str) -> None:
    assert part in attached("R5AA", state).next_step
    assert attached("R5AA").next_step == ""


def test_the_only_ready_phone_is_chosen() -> None:
    ready = attached("b")
    assert choose_device([attached("a", "offline"), ready], None) is ready


def test_a_named_phone_is_chosen_unchanged() -> None:
    odd = attached(ODD_SERIAL)
    assert choose_device([attached("a"), odd], ODD_SERIAL) is odd


@pytest.mark.parametrize(
    ("devices", "serial", "kind", "part"),
    [
        ([attached("a"), attached("b")], None, DeviceNotChosen, "a (device), b (device)"),
        ([], None, DeviceNotChosen, "none"),
        ([attached("a", "offline"), attached("b", "unauthorized")], None, DeviceNotChosen, "b (unauthorized)"),
        ([attached("a", "unauthorized")], None, DeviceUnavailable, "accept 'Allow USB debugging'"),
        ([attached("a"), attached("b", "offline")], "b", DeviceUnavailable, "adb reconnect"),
        ([attached("a")], "A", DeviceUnavailable, "no phone 'A' is attached; attached: a (device)"),
        ([attached("a")], "", DeviceUnavailable, "no phone ''"),
    ],
)
def test_a_phone_must_be_named_or_be_the_only_one(
    devices: list[AttachedDevice], serial: str | None, kind: type[DeviceError], part: str
) -> None:
    with pytest.raises(kind) as caught:
        choose_device(devices, serial)
    assert part in str(caught.value) and caught.value.hint


def test_connecting_twice_is_fine_and_a_closed_port_is_an_error(adb: AdbServer, within: Within) -> None:
    with running_phone(transition_ms=0) as phone:
        connect_tcp(adb, phone.serial, within(10))
        connect_tcp(adb, phone.serial, within(10))
        adb.ask(f"host:disconnect:{phone.serial}", within(10))
    with pytest.raises(DeviceUnavailable) as caught:
        connect_tcp(adb, phone.serial, within(20))
    assert phone.serial in str(caught.value)


def test_adb_is_named_as_it_can_be_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    program = shlex.split(adb_command())[0]
    assert Path(program).is_absolute() and Path(program).is_file()
    assert f"`{adb_command()} reconnect offline`" in attached("a", "offline").next_step
    (tmp_path / "adb").write_text("")
    (tmp_path / "adb").chmod(0o755)
    assert adb_command() == "adb"
    assert "`adb reconnect offline`" in attached("a", "offline").next_step
