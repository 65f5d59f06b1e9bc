"""What a doctor needs to know of adb and one phone: read by plumbing, without a session and without a gate.

Nothing is changed on the phone but that the in-phone server may be started (and copied there the first time), which is
stopped again; one that runs already is somebody else's and is only asked. It must never judge what it found.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost
from droidpilot.core.text import one_line, shorten
from droidpilot.device import readings, rpc
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.adb_trouble import adb_binary
from droidpilot.device.inphone import PhoneServer

#: Where uiautomator2 puts its server. Source: uiautomator2 3.7.1, core.py.
JAR = "/data/local/tmp/u2.jar"
#: Seconds for `adb version`, which talks to nobody.
_VERSION_S = 10.0
#: Seconds for one reading.
_READ_S = 10.0
_PINGS = 3
_MAX_VALUE = 300


@dataclass(frozen=True, slots=True)
class AdbProgram:
    """The adb program that is used. `internal` is the number by which it judges a server, None where it says none."""

    path: str
    release: str
    internal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneFacts:
    """What a phone says of itself; empty where it says nothing."""

    model: str
    release: str
    sdk: int
    security_patch: str  # YYYY-MM-DD
    keyboard: str  # package/class of the default input method
    accessibility: tuple[str, ...]  # services that a person switched on
    is_jar_there: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer:
    """How the in-phone server did. `start_ms` is None where it ran already and was left running."""

    start_ms: int | None
    ping_ms: float


def adb_program() -> AdbProgram:
    """Find the adb program and ask it for its version; no server is started.

    Raises:
        DeviceLost: code `no_adb`, there is none, or it does not run.
    """
    path = adb_binary()
    try:
        done = subprocess.run(
            [path, "version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DeviceLost(
            f"{path} does not run: {one_line(str(error))}",
            hint="install Android's platform tools, or let ADBUTILS_ADB_PATH name an adb that runs",
            code="no_adb",
        ) from error
    text = done.stdout.decode("utf-8", "replace")
    release = re.search(r"^Version (\S+)", text, re.MULTILINE)
    internal = re.search(r"version 1\.0\.(\d{1,6})", text)
    return AdbProgram(path, release[1] if release else "", int(internal[1]) if internal else None)


def read_phone(server: AdbServer, serial: str, clock: Clock) -> PhoneFacts:
    """Read what a phone says of itself.

    Raises:
        DeviceError: it cannot be reached.
    """
    link = PhoneLink(server, serial)

    def ask(*argv: str) -> str:
        answer = link.shell(argv, Deadline.after(clock, _READ_S))
        return answer.text.strip() if answer.code == 0 else ""

    known = readings.properties(ask("getprop"))
    sdk = known.get("ro.build.version.sdk", "")
    services = ask("settings", "get", "secure", "enabled_accessibility_services")
    keyboard = ask("settings", "get", "secure", "default_input_method")
    return PhoneFacts(
        model=_short(known.get("ro.product.model", "")),
        release=_short(known.get("ro.build.version.release", "")),
        sdk=int(sdk) if sdk.isdecimal() and sdk.isascii() and len(sdk) < 4 else 0,
        security_patch=_short(known.get("ro.build.version.security_patch", "")),
        keyboard="" if keyboard == "null" else _short(keyboard),
        accessibility=tuple(_short(one) for one in services.split(":") if one and one != "null")[:10],
        is_jar_there=link.shell(["ls", JAR], Deadline.after(clock, _READ_S)).code == 0,
    )


def try_server(
    server: AdbServer, serial: str, clock: Clock, deadline: Deadline, *, progress: Callable[[str], None] | None = None
) -> ServerAnswer:
    """Ask the in-phone server, started for that and stopped again where none ran.

    Raises:
        DeviceError: it cannot be started or does not answer; nothing of ours is left running.
    """
    link = PhoneLink(server, serial)
    if _pong(link, deadline):
        return ServerAnswer(start_ms=None, ping_ms=_ping_ms(link, clock, deadline))
    phone_server = PhoneServer(link, clock)
    started = clock.monotonic()
    try:
        phone_server.start(deadline, progress=progress)
        start_ms = round((clock.monotonic() - started) * 1000)
        return ServerAnswer(start_ms=start_ms, ping_ms=_ping_ms(link, clock, deadline))
    finally:
        phone_server.stop()


def _pong(link: PhoneLink, deadline: Deadline) -> bool:
    try:
        return rpc.get(link, "/ping", deadline) == b"pong"
    except DeviceError as error:
        if error.code == "no_listener":
            return False
        raise


def _ping_ms(link: PhoneLink, clock: Clock, deadline: Deadline) -> float:
    """Return the median of a few round trips."""
    times = []
    for _ in range(_PINGS):
        started = clock.monotonic()
        if not _pong(link, deadline):
            raise DeviceLost("the in-phone server does not answer", hint="restart the phone")
        times.append((clock.monotonic() - started) * 1000)
    return round(sorted(times)[_PINGS // 2], 1)


def _short(text: str) -> str:
    return shorten(one_line(text), _MAX_VALUE)
