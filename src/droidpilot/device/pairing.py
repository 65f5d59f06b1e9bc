"""Pairing with a phone's wireless debugging, by its six digits or by a QR code, through adb's own `host:pair`.

The code goes over the socket of the adb server, never into the arguments of a process, and stands in no message. It
must never be written anywhere.
"""

from __future__ import annotations

import re
import secrets
import string
from collections.abc import Callable
from dataclasses import dataclass

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceTimeout, DeviceUnavailable, UsageError
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb import AdbServer
from droidpilot.device.connecting import Address
from droidpilot.device.discovery import Service, find_phone, services

#: Seconds that a person gets to hold the phone before the screen.
SCAN_S = 120.0
#: Seconds that a paired phone gets to announce where it listens.
ANNOUNCE_S = 15.0
_POLL_S = 0.5
_QR_SIGNS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Paired:
    """A phone that trusts this computer from now on. `name` is its service name, empty where adb did not say."""

    address: str
    name: str


@dataclass(frozen=True, slots=True, repr=False)
class QrOffer:
    """What a QR code offers: under this name and password a phone may pair. It is good for one pairing."""

    name: str
    password: str

    @property
    def text(self) -> str:
        """Return what the code says. Source: Android Studio's and Android's AdbQrCode."""
        return f"WIFI:T:ADB;S:{self.name};P:{self.password};;"


def new_offer() -> QrOffer:
    """Make a name and a password that nobody can guess."""

    def signs(count: int) -> str:
        return "".join(secrets.choice(_QR_SIGNS) for _ in range(count))

    return QrOffer(f"droidpilot-{signs(10)}", signs(12))


def pair(server: AdbServer, address: Address, code: str, deadline: Deadline) -> Paired:
    """Pair with the phone that shows `address` and `code`.

    Raises:
        UsageError: the code cannot be one.
        DeviceUnavailable: code `not_paired`, it did not work; the code is spent, the phone shows another.
    """
    if not re.fullmatch(r"[A-Za-z0-9]{6,64}", code, re.ASCII):
        raise UsageError("the pairing code is the six digits that the phone shows", hint="give it as it is shown")
    said = server.ask(f"host:pair:{code}:{address}", deadline)
    if not said.startswith("Successfully paired"):
        raise DeviceUnavailable(
            f"{address} was not paired: {_without(code, said)}", hint=_next_step(said), code="not_paired"
        )
    guid = re.search(r"\[guid=([^\]]+)\]", said)
    return Paired(str(address), one_line(guid[1]) if guid else "")


def wait_for_scan(
    server: AdbServer, offer: QrOffer, clock: Clock, deadline: Deadline, *, tick: Callable[[], None] | None = None
) -> Service:
    """Wait until a phone that scanned the code announces that it wants to be paired.

    Raises:
        DeviceTimeout: code `not_scanned`, nobody did in time.
    """
    while True:
        for one in services(server, deadline):
            if one.kind == "pairing" and one.name == offer.name:
                return one
        if deadline.is_over():
            raise DeviceTimeout(
                "no phone scanned the code",
                hint="are both in one network that lets them see each other? Else pair with digits: "
                "droidpilot pair HOST:PORT",
                code="not_scanned",
            )
        if tick is not None:
            tick()
        clock.sleep(min(_POLL_S, deadline.left_s()))


def wait_for_phone(server: AdbServer, name: str, clock: Clock, deadline: Deadline) -> Service | None:
    """Wait until a paired phone announces where to connect; None where it does not, or its name is not known."""
    while name:
        found = find_phone(services(server, deadline), name)
        if found is not None or deadline.is_over():
            return found
        clock.sleep(min(_POLL_S, deadline.left_s()))
    return None


def _without(code: str, said: str) -> str:
    return shorten(one_line(said).replace(code, "(code)"), 200)


def _next_step(said: str) -> str:
    if "Wrong password" in said:
        return "the code is good for one try: take the new one that the phone shows"
    return (
        "give the address under 'Pair device with pairing code', which is another than the one to connect to, "
        "while the phone shows it"
    )
