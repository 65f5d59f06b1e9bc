"""Which phones an adb server knows, in what state, and the choice of one. It never talks to a phone itself."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceNotChosen, DeviceUnavailable
from droidpilot.core.text import one_line, quoted, shorten
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_trouble import OFFLINE_TCP, reason_of, typeable

Transport = Literal["usb", "tcp", "emulator"]

_RECOVERY = "restart the phone into Android: choose 'Reboot system now' with its volume and power keys"
#: What to do about a state that needs a step of its own. Source: the menus of Android's recovery and bootloader.
_STEPS = {
    "authorizing": "wait a moment, unlock the phone and accept 'Allow USB debugging'",
    "bootloader": "restart the phone into Android: run `fastboot reboot`, or hold its power key for 10 s",
    "recovery": _RECOVERY,
    "sideload": _RECOVERY,
    "rescue": _RECOVERY,
}
_NETWORK_SERIAL = re.compile(r".+:\d{1,5}|.+\._adb(-tls-connect)?\._tcp\.?")


@dataclass(frozen=True, slots=True)
class AttachedDevice:
    """One line of `adb devices`. `state` is adb's word; `device` means ready."""

    serial: str
    state: str
    transport: Transport
    model: str  # empty where adb does not know it

    @property
    def is_ready(self) -> bool:
        return self.state == "device"

    @property
    def next_step(self) -> str:
        """Say what a person can do about the state; empty where the phone is ready."""
        if self.is_ready:
            return ""
        if self.state in _STEPS:
            return _STEPS[self.state]
        if self.transport == "tcp" and self.state in ("offline", "connecting"):
            return typeable(OFFLINE_TCP)
        reason = reason_of(self.state)
        if reason is not None:
            return reason[2]
        again = "connect it again" if self.transport == "tcp" else "unplug the phone and plug it in again"
        return f"wait a moment and look again; if it stays so, {again}"


def list_devices(server: AdbServer, deadline: Deadline) -> list[AttachedDevice]:
    """Return every phone the server knows, ready or not, in its order.

    A serial may hold spaces and parentheses; the short list has a tab behind it and is unambiguous, the long one adds
    the model. Source: `host:devices` and `host:devices-l` of adb 36.
    """
    long_lines = server.ask("host:devices-l", deadline).splitlines()
    found = []
    for line in server.ask("host:devices", deadline).splitlines():
        serial, tab, state = line.rpartition("\t")
        if not tab or not serial:
            continue
        rest = next((one[len(serial) :] for one in long_lines if one.startswith(serial + " ")), "")
        found.append(AttachedDevice(serial, one_line(state), _transport(serial, rest), _model(rest)))
    return found


def choose_device(devices: Sequence[AttachedDevice], serial: str | None) -> AttachedDevice:
    """Return the phone named, or the only one that is ready.

    Raises:
        DeviceNotChosen: several are ready and none was named, or there is none at all.
        DeviceUnavailable: the one named, or the only one there is, is unknown or not ready; the hint is the next step.
    """
    listed = ", ".join(f"{one.serial} ({one.state})" for one in devices) or "none"
    if serial is None:
        ready = [one for one in devices if one.is_ready]
        if len(ready) == 1:
            return ready[0]
        if len(ready) > 1:
            raise DeviceNotChosen(f"several phones are attached: {listed}", hint="name one with --device SERIAL")
        if len(devices) != 1:
            raise DeviceNotChosen(
                f"no phone is ready; attached: {listed}",
                hint="plug one in with USB debugging on, or try --device virtual",
            )
        return _ready(devices[0])
    chosen = next((one for one in devices if one.serial == serial), None)
    if chosen is None:
        raise DeviceUnavailable(
            f"no phone {quoted(serial)} is attached; attached: {listed}",
            hint="see `droidpilot devices`; for a phone on the network run `droidpilot connect HOST:PORT` first",
            code="not_found_by_adb",
        )
    return _ready(chosen)


def connect_tcp(server: AdbServer, address: str, deadline: Deadline) -> bool:
    """Have the server connect to HOST:PORT; return whether it was connected already.

    Raises:
        DeviceUnavailable: it did not; adb reports that in words only. Codes `unauthorized`, `not_connected_by_adb`.
            Source: `host:connect` of adb 36.
    """
    said = server.ask(f"host:connect:{address}", deadline)
    if said.startswith("already connected to"):
        return True
    if said.startswith("connected to"):
        return False
    if "authenticate" in said:
        raise DeviceUnavailable(
            f"adb cannot connect to {address}: the phone does not trust this computer yet",
            hint="unlock the phone and accept 'Allow USB debugging'; with wireless debugging pair once first: "
            "droidpilot pair HOST:PORT, as shown under 'Pair device with pairing code'",
            code="unauthorized",
        )
    raise DeviceUnavailable(
        f"adb cannot connect to {address}: {shorten(one_line(said), 200)}",
        hint="is the phone on, in this network, and is the port still the one it shows?",
        code="not_connected_by_adb",
    )


def _ready(device: AttachedDevice) -> AttachedDevice:
    if device.is_ready:
        return device
    reason = reason_of(device.state)
    raise DeviceUnavailable(
        f"{device.serial} is not ready: {device.state}",
        hint=device.next_step,
        code=reason[0] if reason else DeviceUnavailable.code,
    )


def transport_of(serial: str) -> Transport:
    """Return how adb reaches the phone of a serial, as far as the serial tells."""
    if serial.startswith("emulator-"):
        return "emulator"
    return "tcp" if _NETWORK_SERIAL.fullmatch(serial) else "usb"


def _transport(serial: str, rest: str) -> Transport:
    return "usb" if re.search(r"\susb:\S", rest) else transport_of(serial)


def _model(rest: str) -> str:
    found = re.search(r"\smodel:(\S+)", rest)
    return found[1].replace("_", " ") if found else ""
