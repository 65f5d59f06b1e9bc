"""Phones that adb's mDNS sees in this network, connected or not, and the search for one whose port changed.

adb does the listening (`host:mdns:services`); this file reads what it says. It must never connect to anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError
from droidpilot.core.text import one_line
from droidpilot.device.adb import AdbServer

Kind = Literal["connect", "pairing", "plain"]

#: What a phone announces: wireless debugging ready for a paired computer, waiting to be paired, `adb tcpip`.
#: Source: packages/modules/adb, adb_mdns.h.
_KINDS: dict[str, Kind] = {"_adb-tls-connect._tcp": "connect", "_adb-tls-pairing._tcp": "pairing", "_adb._tcp": "plain"}


@dataclass(frozen=True, slots=True)
class Service:
    """One announcement. `name` of a phone's own begins `adb-SERIALNO`; after a QR code it is the name in the code."""

    name: str
    kind: Kind
    host: str
    port: int

    @property
    def address(self) -> str:
        """Return HOST:PORT as adb takes it, an IPv6 address in brackets."""
        return joined(self.host, self.port)

    def is_of(self, phone: str) -> bool:
        """Tell whether the phone of this serial number (ro.serialno), or of this service name, announces it."""
        wanted = bare_name(phone)
        return bool(wanted) and (self.name in (wanted, f"adb-{wanted}") or self.name.startswith(f"adb-{wanted}-"))


def joined(host: str, port: int) -> str:
    """Return HOST:PORT, an IPv6 address in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bare_name(serial: str) -> str:
    """Return an mDNS serial without its type: `adb-R5AA (2)._adb-tls-connect._tcp` is `adb-R5AA (2)`."""
    for kind in _KINDS:
        for ending in (f".{kind}", f".{kind}."):
            if serial.endswith(ending):
                return serial.removesuffix(ending)
    return serial


def is_mdns_serial(serial: str) -> bool:
    """Tell whether adb gave the serial after an announcement, without anybody having typed an address."""
    return bare_name(serial) != serial


def is_mdns_there(server: AdbServer, deadline: Deadline) -> bool:
    """Tell whether the adb server listens for announcements. Source: `host:mdns:check` of adb 36."""
    try:
        return server.ask("host:mdns:check", deadline).startswith("mdns daemon version")
    except DeviceError:
        return False


def services(server: AdbServer, deadline: Deadline) -> list[Service]:
    """List what is announced now; empty where the server does not listen, or is too old to be asked.

    Source: one line `NAME<tab>TYPE<tab>HOST:PORT` each, `host:mdns:services` of adb 36. A name may hold spaces.
    """
    try:
        lines = server.ask("host:mdns:services", deadline).splitlines()
    except DeviceError:
        return []
    found = [_service(line) for line in lines]
    return list(dict.fromkeys(one for one in found if one is not None))


def find_phone(found: Iterable[Service], phone: str) -> Service | None:
    """Find where a phone can be connected to now, by its serial number or service name; IPv4 before IPv6."""
    ready = [one for one in found if one.kind != "pairing" and one.is_of(phone)]
    return min(ready, key=lambda one: (one.kind != "connect", ":" in one.host), default=None)


def find_moved(found: Iterable[Service], host: str) -> list[Service]:
    """Find what the phone at `host` announces; its port may be another than the one somebody typed."""
    return [one for one in found if one.host == host]


def _service(line: str) -> Service | None:
    name, tab, rest = line.partition("\t")
    kind_name, _, address = rest.partition("\t")
    kind = _KINDS.get(kind_name.strip().rstrip("."))
    host, _, port = address.strip().rpartition(":")
    if not tab or kind is None or not host or not (port.isascii() and port.isdecimal()) or not 0 < int(port) < 65_536:
        return None
    return Service(one_line(name), kind, host.removeprefix("[").removesuffix("]"), int(port))
