"""The line to one phone: what may be done to get it back after it dropped, and whether it is still the same phone.

Reads wait here for a lost phone, with backoff and for so long and no longer; a write is never repeated, here or
anywhere, it only learns before its first byte that the line dropped since the last look. It must never end or restart
an adb server; one is started where nobody answers, and only where that was allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused, DeviceUnavailable
from droidpilot.core.events import LinkLost, LinkRestored
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb import WHO, PhoneLink, other_phone
from droidpilot.device.attached import connect_tcp, transport_of
from droidpilot.device.discovery import bare_name, find_phone, is_mdns_serial, services

T = TypeVar("T")

#: How long a lost phone is waited for where nobody says: adb reconnects in 0.3 s, a USB replug takes seconds.
LINK_PATIENCE_S = 5.0
#: Errors of a line that may come back by itself, or with help.
LINK_TROUBLE = frozenset(
    {"device_lost", "offline", "not_found_by_adb", "no_adb_server", "not_connected_by_adb", "unauthorized", "starting"}
)
#: How often one read is tried over a line that answers, but breaks each time.
MAX_BREAKS = 3

_FIRST_PAUSE_S = 0.1
_MOST_PAUSE_S = 1.0
#: Seconds that one attempt to reach a phone gets, so that one that hangs does not eat all patience.
_ATTEMPT_S = 5.0
#: Seconds that adb gets to bring an offline phone back by itself.
_ADB_TRIES_S = 2.0
#: What adb forgot needs a new `host:connect`; it gives a phone that hangs 10 s.
_CONNECT_S = 10.0
#: Values of ro.serialno that makers never filled in.
_NO_IDS = frozenset({"", "unknown", "0", "0123456789ABCDEF", "123456789ABCDEF", "12345678", "0123456789"})


def phone_id(properties: Mapping[str, str]) -> str:
    """Return the phone's own id, the same over cable and network; empty where it has none of its own.

    Emulators of one version all say the same. Source: ro.serialno, and ro.kernel.qemu or ro.boot.qemu of an emulator.
    """
    if "1" in (properties.get("ro.kernel.qemu"), properties.get("ro.boot.qemu")):
        return ""
    found = one_line(properties.get("ro.serialno", ""))
    return "" if found in _NO_IDS or set(found) <= {"0"} else shorten(found, 100)


@dataclass(frozen=True, slots=True, kw_only=True)
class Keep:
    """How a session wants its line kept."""

    patience_s: float = LINK_PATIENCE_S  # seconds that a lost phone is waited for
    start_server: Callable[[], bool] | None = None  # starts an adb server where none answers; None: that is not ours
    tell: Callable[[LinkLost | LinkRestored], None] | None = None  # hears of each outage once, and of its end
    identified: Callable[[str], None] | None = None  # hears the phone's id before anything is started; may refuse it
    check_stop: Callable[[], None] | None = None  # raises where a person does not want to wait any longer


class Lifeline:
    """Keeps one line. `phone` is the id the phone said at the start; empty, and nobody can be told apart by it."""

    def __init__(
        self,
        link: PhoneLink,
        clock: Clock,
        *,
        phone: str = "",
        keep: Keep | None = None,
    ) -> None:
        self._link = link
        self._clock = clock
        self._phone = phone
        self._keep = keep or Keep()
        if phone:
            link.pin(phone)
        self._other: DeviceUnavailable | None = None

    def identify(self, properties: Mapping[str, str]) -> None:
        """Note which phone this is, by what it says of itself.

        Raises:
            DeviceError: whatever `keep.identified` raises.
        """
        self._phone = phone_id(properties)
        if self._phone:
            self._link.pin(self._phone)
        if self._keep.identified is not None and self._phone:
            self._keep.identified(self._phone)

    def read(self, attempt: Callable[[], T], deadline: Deadline) -> T:
        """Try something that changes nothing until it works or the phone did not come back in time.

        Raises:
            DeviceError: what `attempt` raises where the line is not to blame, or what `Outage.wait` raises.
        """
        outage: Outage | None = None
        while True:
            try:
                answer = attempt()
            except DeviceError as error:
                if error.code not in LINK_TROUBLE or deadline.is_over():
                    raise
                outage = outage or self.outage(deadline)
                outage.wait(error)
            else:
                if outage is not None:
                    outage.end()
                return answer

    def outage(self, deadline: Deadline) -> Outage:
        """Begin to wait for the phone, at the first error of a read."""
        return Outage(self, deadline.sooner(self._keep.patience_s), self._clock)

    def before_read(self, deadline: Deadline, *, by_command: bool = False) -> None:
        """See that what is read comes from the same phone: where no stream of ours proves it, it is asked who it is.

        `by_command`: what is read proves by itself where it comes from, as every command of a pinned link does.

        Raises:
            DeviceError: it is another one, or it cannot be asked.
        """
        if self._other is not None:
            raise self._other
        if not self._phone or self._link.is_unbroken:
            return
        if self._link.has_streams:
            self.verify(deadline.sooner(_ATTEMPT_S))
        elif not by_command:
            # Somebody else's helper: it answers at a port, as that of any other phone would.
            self._link.shell(("true",), deadline.sooner(_ATTEMPT_S))

    def before_write(self, deadline: Deadline) -> None:
        """See that the line has not dropped since the in-phone server was started, or leads to the same phone still.

        Costs nothing while the stream of our in-phone server is open: the line cannot have dropped then.

        Raises:
            DeviceError: sent "no"; code `link_dropped` where it dropped and is back, so that the screen must be looked
                at again.
        """
        if self._other is not None:
            raise self._other
        if not self._phone or self._link.is_unbroken:
            return
        try:
            self.verify(deadline.sooner(_ATTEMPT_S))
        except DeviceError as error:
            self.dropped(error, deadline)

    def dropped(self, error: DeviceError, deadline: Deadline) -> None:
        """Wait after a write that failed before its first byte went out; raises, for a write is not repeated here.

        Raises:
            DeviceError: `error` itself where it is no trouble of the line or something was sent; else code
                `link_dropped` when the phone is back, or what `Outage.wait` raises.
        """
        if error.sent != "no" or error.code not in LINK_TROUBLE or deadline.is_over():
            raise error
        outage = self.outage(deadline)
        outage.wait(error)
        outage.end()
        raise DeviceError(
            "the line to the phone dropped before anything was sent; it is back",
            hint="look again: the screen may be another",
            code="link_dropped",
        ) from error

    def verify(self, deadline: Deadline) -> None:
        """Ask the phone who it is.

        Raises:
            DeviceUnavailable: code `other_phone`, now and at every later call; `starting` while Android comes up.
        """
        if self._other is not None:
            raise self._other
        told = self._link.shell(WHO, deadline).text.strip()
        if told and one_line(told) != self._phone:
            self._other = other_phone(self._link.serial, told, self._phone)
            raise self._other
        if not told or self._link.shell(["getprop", "sys.boot_completed"], deadline).text.strip() != "1":
            raise DeviceUnavailable(
                f"{self._link.serial} is starting up", hint="wait until Android is up", code="starting"
            )

    # for Outage

    def help(self, error: DeviceError, waited_s: float, deadline: Deadline, did: list[str]) -> None:
        """Do what may be done about `error`, after `waited_s`; what was done is added to `did`.

        Raises:
            DeviceError: it did not help yet.
        """
        if error.code == "no_adb_server":
            # Once for one outage: whoever ends it again has a reason, and most likely starts its own.
            if self._keep.start_server is not None and "adb_server_started" not in did and self._keep.start_server():
                did.append("adb_server_started")
            return
        serial = self._link.serial
        if transport_of(serial) != "tcp":
            return
        is_forgotten = error.code == "not_found_by_adb"
        is_stuck = error.code == "offline" and waited_s > _ADB_TRIES_S
        if is_mdns_serial(serial) or not (is_forgotten or is_stuck):
            if error.code in ("offline", "not_found_by_adb", "not_connected_by_adb"):
                self._follow(deadline, did)
            return
        try:
            if is_stuck:
                # adb comes back at once or, if that was a moment too early, only every 10 s.
                self._link.server.ask(f"host:disconnect:{serial}", deadline)
            # adb forgets an offline phone after 60 s, and all of them with the end of its server.
            connect_tcp(self._link.server, serial, deadline.sooner(_CONNECT_S))
            did.append("connected")
        except DeviceError:
            if not self._follow(deadline, did):
                raise

    def check_stop(self) -> None:
        if self._keep.check_stop is not None:
            self._keep.check_stop()

    def announce(self, event: LinkLost | LinkRestored) -> None:
        if self._keep.tell is not None:
            self._keep.tell(event)

    @property
    def has_id(self) -> bool:
        return bool(self._phone)

    @property
    def serial(self) -> str:
        return self._link.serial

    def _follow(self, deadline: Deadline, did: list[str]) -> bool:
        """Connect to where the phone announces itself now, if that is another address; return whether it was done."""
        server, serial = self._link.server, self._link.serial
        wanted = bare_name(serial) if is_mdns_serial(serial) else self._phone
        if not wanted:
            return False
        found = find_phone(services(server, deadline.sooner(_ATTEMPT_S)), wanted)
        if found is None or found.address == serial:
            return False
        connect_tcp(server, found.address, deadline.sooner(_CONNECT_S))
        self._link.move_to(found.address)
        did.append("moved")
        return True


class Outage:
    """One time that the phone is away. `wait` after every failure, `end` when it was read."""

    def __init__(self, line: Lifeline, patience: Deadline, clock: Clock) -> None:
        self._line = line
        self._patience = patience
        self._clock = clock
        self._started = clock.monotonic()
        self._pause_s = _FIRST_PAUSE_S
        self._did: list[str] = []
        self.is_told = False  # that it is away: the phone did not answer when it was asked at once
        self._breaks = 0

    def wait(self, error: DeviceError) -> None:
        """Return when it is worth trying again: the same phone answers, or a pause is over where none can be told.

        Raises:
            DeviceError: patience is over; code and next step are those of what was found last. Code `other_phone`
                where a different one answers, `answer_broke` where the line works and only this answer never comes.
        """
        last = error
        self._breaks += 1
        is_first = True
        while True:
            if self._breaks > MAX_BREAKS and self._line.has_id:
                raise DeviceRefused(
                    f"the phone breaks its answer off, {self._breaks} times over a line that works: {error.message}",
                    code="answer_broke",
                    hint="look again; if it stays so, restart the phone",
                ) from error
            if self._patience.is_over():
                raise self._given_up(last) from last
            if self._line.has_id and (is_first or self.is_told):
                is_first = False
                try:
                    self._line.verify(self._patience.sooner(_ATTEMPT_S))
                    return
                except DeviceError as again:
                    if again.code not in LINK_TROUBLE and again.code != "device_timeout":
                        raise
                    last = again
            self._say_lost(last)
            try:
                self._line.help(last, self._clock.monotonic() - self._started, self._patience, self._did)
            except DeviceError as again:
                last = again
            self._line.check_stop()
            self._clock.sleep(min(self._pause_s, self._patience.left_s()))
            self._pause_s = min(self._pause_s * 2, _MOST_PAUSE_S)
            if not self._line.has_id:
                if self._patience.is_over():
                    raise self._given_up(last) from last
                return

    def end(self) -> None:
        """Note that the phone was read; said only if its loss was."""
        if self.is_told:
            self.is_told = False
            ms = round((self._clock.monotonic() - self._started) * 1000)
            self._line.announce(LinkRestored(serial=self._line.serial, did=list(dict.fromkeys(self._did)), ms=ms))

    def _say_lost(self, error: DeviceError) -> None:
        if not self.is_told:
            self.is_told = True
            # It is away, so that what broke until now was no break of a line that works.
            self._breaks = 0
            self._line.announce(
                LinkLost(
                    serial=self._line.serial,
                    code=error.code,
                    message=error.message,
                    hint=error.hint,
                    patience_s=round(self._patience.left_s(), 1),
                )
            )

    def _given_up(self, last: DeviceError) -> DeviceError:
        waited = self._clock.monotonic() - self._started
        text = f"{self._line.serial} did not come back in {waited:.0f} s: {last.message}"
        kind = type(last) if isinstance(last, DeviceUnavailable) else DeviceLost
        return kind(text, hint=last.hint, code=last.code)
