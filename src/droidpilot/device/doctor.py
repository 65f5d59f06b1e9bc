"""What a doctor needs to know of one phone: read by plumbing, without a session and without a gate.

Nothing is changed on the phone but that the in-phone server may be started (and copied there the first time), which is
stopped again; one that runs already is somebody else's and is only asked. It must never judge what it found.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused
from droidpilot.core.text import one_line, shorten
from droidpilot.device import probes, rpc
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.facts import PhoneFacts, facts_of
from droidpilot.device.inphone import PhoneServer

_PINGS = 3
#: How often a server that dies is started. Source: reports of servers that die at the second look (OPPO, Android 16).
_STARTS = 2
#: How often a fresh server is asked for the tree, cut to its root, before it counts as one that stays.
_LOOKS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer:
    """How the in-phone server did. `start_ms` is None where it ran already and was left running."""

    start_ms: int | None
    ping_ms: float
    deaths: int = 0


def read_phone(
    server: AdbServer, serial: str, clock: Clock, *, each_s: float = probes.EACH_S, all_s: float = probes.ALL_S
) -> PhoneFacts:
    """Read what a phone says of itself, in at most `all_s` seconds.

    Raises:
        DeviceError: it cannot be reached.
    """
    return facts_of(probes.read(PhoneLink(server, serial), clock, each_s=each_s, all_s=all_s))


def try_server(
    server: AdbServer, serial: str, clock: Clock, deadline: Deadline, *, progress: Callable[[str], None] | None = None
) -> ServerAnswer:
    """Ask the in-phone server, started for that and stopped again where none ran; one that dies is started once more.

    Raises:
        DeviceRefused: code `helper_died`, it died twice; or it cannot be started.
        DeviceError: it does not answer; nothing of ours is left running.
    """
    link = PhoneLink(server, serial)
    if _pong(link, deadline):
        return ServerAnswer(start_ms=None, ping_ms=_ping_ms(link, clock, deadline))
    phone_server = PhoneServer(link, clock)
    for deaths in range(_STARTS):
        started = clock.monotonic()
        try:
            phone_server.start(deadline, progress=progress)
            start_ms = round((clock.monotonic() - started) * 1000)
            try:
                ping_ms = _ping_ms(link, clock, deadline)
                _look(link, deadline)
            except DeviceError as error:
                if deadline.is_over() or not _is_gone(link, deadline):
                    raise
                trouble = error
            else:
                return ServerAnswer(start_ms=start_ms, ping_ms=ping_ms, deaths=deaths)
        finally:
            phone_server.stop()
    raise DeviceRefused(
        f"the in-phone server was started twice and died twice: {shorten(one_line(trouble.message), 200)}",
        code="helper_died",
        hint="restart the phone; if it stays so, free memory there and allow it to run in the background",
    )


def _look(link: PhoneLink, deadline: Deadline) -> None:
    """Have the root of the tree read, more than once: some phones kill the server for it. What it holds is dropped."""
    for _ in range(_LOOKS):
        try:
            rpc.post(link, "dumpWindowHierarchy", (False, 1), deadline)
        except DeviceRefused as error:
            if error.code in ("no_listener", "not_connected"):
                raise
            return  # it answered: it lives, whatever it thinks of this screen


def _is_gone(link: PhoneLink, deadline: Deadline) -> bool:
    try:
        return not _pong(link, deadline)
    except DeviceError:
        return True


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
