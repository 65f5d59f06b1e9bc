"""Connecting a phone over the network through adb's own services: an address, `host:connect`, `host:disconnect`.

What adb says in words becomes an error with the exact next step. It must never open a connection to a phone by itself.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError, DeviceUnavailable, UsageError
from droidpilot.core.text import quoted
from droidpilot.device.adb import AdbServer
from droidpilot.device.attached import AttachedDevice, connect_tcp, list_devices
from droidpilot.device.discovery import Service, find_moved, find_phone, joined, services

#: The port of `adb tcpip 5555` and of emulators; wireless debugging has a port of its own, which changes.
DEFAULT_PORT = 5555
#: Seconds that adb gets for one attempt: it gives a phone that hangs 10 s.
CONNECT_S = 15.0

_HOST_NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,252}[A-Za-z0-9_])?", re.ASCII)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a phone listens. `str()` is what adb takes: an IPv6 address in brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        return joined(self.host, self.port)

    def is_serial(self, serial: str) -> bool:
        """Tell whether adb calls the phone at this address so, with or without brackets."""
        return serial in (str(self), f"{self.host}:{self.port}")


@dataclass(frozen=True, slots=True)
class Connected:
    """A phone that is connected now. `moved_from` is the address that was asked for where the phone has another."""

    device: AttachedDevice
    was_connected: bool
    moved_from: str = ""


def parse_address(text: str, *, default_port: int | None = DEFAULT_PORT) -> Address:
    """Read HOST[:PORT], [IPV6]:PORT or a bare IPv6 address.

    Raises:
        UsageError: it is none, or has no port where there is no default.
    """
    host, port_text = _split(text.strip())
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        if not _HOST_NAME.fullmatch(host):
            raise _bad(text, "that is no host name and no address") from None
    if not port_text:
        if default_port is None:
            raise _bad(text, "the port is missing: the phone shows it behind the colon")
        return Address(host, default_port)
    if not (port_text.isascii() and port_text.isdecimal() and 0 < int(port_text[:6]) < 65_536):
        raise _bad(text, "the port is a number from 1 to 65535")
    return Address(host, int(port_text))


def connect_phone(server: AdbServer, target: str, deadline: Deadline) -> Connected:
    """Have the adb server connect to an address, a service name or a phone's own serial number.

    A phone that is announced under that name or number is taken where it is now; a port that nobody answers on is
    looked up too, for wireless debugging has a new one after each restart.

    Raises:
        UsageError: the target is no address and nothing is announced under that name.
        DeviceUnavailable: it is not connected; the hint is the next step.
    """
    seen = services(server, deadline)
    named = find_phone(seen, target)
    if named is not None:
        return _connected(server, Address(named.host, named.port), deadline)
    address = parse_address(target)
    try:
        return _connected(server, address, deadline)
    except DeviceUnavailable as error:
        if error.code == "unauthorized":
            raise
        moved = _moved(server, seen, address, deadline)
        if moved is None:
            raise _explained(error, find_moved(seen, address.host), address) from error
        return moved


def disconnect_phone(server: AdbServer, serial: str, deadline: Deadline) -> str:
    """Have the adb server let go of a phone on the network; return the serial it had.

    Raises:
        DeviceUnavailable: code `not_connected_before`, it holds no such phone.
    """
    known = [one.serial for one in list_devices(server, deadline)]
    if serial not in known:
        address = parse_address(serial)
        serial = next((one for one in known if address.is_serial(one)), str(address))
    try:
        server.ask(f"host:disconnect:{serial}", deadline)
    except DeviceError as error:
        if "no such device" not in error.message:
            raise
        raise DeviceUnavailable(
            f"no phone {quoted(serial)} is connected over the network",
            hint="see `droidpilot devices`; a phone on a cable is let go of by pulling the cable",
            code="not_connected_before",
        ) from error
    return serial


def _connected(server: AdbServer, address: Address, deadline: Deadline) -> Connected:
    was_connected = connect_tcp(server, str(address), deadline)
    device = next((one for one in list_devices(server, deadline) if address.is_serial(one.serial)), None)
    if device is None:
        raise DeviceUnavailable(
            f"adb connected to {address} and lost it again",
            hint="is the phone on, and in this network?",
            code="not_connected_by_adb",
        )
    if device.state in ("unauthorized", "authorizing"):
        raise DeviceUnavailable(f"{device.serial} is {device.state}", hint=device.next_step, code="unauthorized")
    return Connected(device, was_connected)


def _moved(server: AdbServer, seen: list[Service], address: Address, deadline: Deadline) -> Connected | None:
    """Try where the phone at this host says that it listens now; None where it says nothing else."""
    for one in find_moved(seen, address.host):
        if one.kind != "pairing" and one.port != address.port:
            found = _connected(server, Address(one.host, one.port), deadline)
            return Connected(found.device, found.was_connected, moved_from=str(address))
    return None


def _explained(error: DeviceUnavailable, announced: list[Service], address: Address) -> DeviceUnavailable:
    """Say what is wrong with a port that is one for pairing, or that a paired phone must have changed."""
    if any(one.kind == "pairing" and one.port == address.port for one in announced):
        return DeviceUnavailable(
            f"{address} is the port for pairing, not the one to connect to",
            hint=f"pair first: droidpilot pair {address}; then connect to the port on the page 'Wireless debugging'",
            code=error.code,
        )
    return error


def _split(text: str) -> tuple[str, str]:
    """Take host and port apart; a bare IPv6 address has no port."""
    if text.startswith("["):
        host, closing, rest = text[1:].partition("]")
        if not closing:
            return "", ""
        return host, rest.removeprefix(":") if rest.startswith(":") else rest and "?"
    if text.count(":") > 1:
        return text, ""
    host, colon, port = text.partition(":")
    return host, port or ("?" if colon else "")


def _bad(text: str, why: str) -> UsageError:
    return UsageError(f"{quoted(text)}: {why}", hint="give HOST:PORT, such as 192.168.1.7:37123 or [fe80::1]:5555")
