"""Random moments at which the line breaks around one write, and whether what was said of it was true.

The phone's own log of executed inputs is the truth. A cut is made at a byte of the line (before, inside and behind
each packet), or where only the phone can cut: before it executes, after it, in the middle of its answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Literal

from droidpilot.core.calls import Origin, Status, ToolResult
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.errors import DeviceError
from droidpilot.core.stop import Stop
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.attached import connect_tcp
from droidpilot.plan import PhoneAddress, Prepared, SessionPlan, prepare
from droidpilot.screens.screen import Screen
from droidpilot.session import Session, open_session
from droidpilot.virtual.server import VirtualPhone, running_phone
from tests.e2e.setting import SHIPPED
from tests.fakes.cut_proxy import CutProxy, Direction, cut_proxy

Write = Literal["tap", "swipe", "type_text", "open_app"]
WRITES: tuple[Write, ...] = ("tap", "swipe", "type_text", "open_app")

#: What goes to the phone with each write and with nothing else, and how the phone calls it in its log.
_MARKS: dict[Write, bytes] = {
    "tap": b'"method": "click"',
    "swipe": b'"method": "swipe"',
    "type_text": b'"method": "setText"',
    "open_app": b"am start",
}
_LOGGED = {"tap": "tap", "swipe": "swipe", "type_text": "set_text"}
_MESSAGES, _SETTINGS = "com.google.android.apps.messaging", "com.android.settings"
#: Bytes that one call of each kind moves, about; measured once, so that a cut can lie anywhere in it.
_TO_PHONE, _TO_HOST = 9_000, 60_000


@dataclass(frozen=True, slots=True)
class Moment:
    """When the line breaks: `place` is before, after, a byte of the line, or a fault of the phone."""

    write: Write
    place: str
    direction: Direction = "to_phone"
    after_bytes: int = 0
    is_behind_mark: bool = False
    fault: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = " ".join(self.fault) or f"{self.direction} {'mark+' if self.is_behind_mark else ''}{self.after_bytes}"
        return f"{self.write}: {self.place} ({where})"


@dataclass(frozen=True, slots=True)
class Row:
    """What was said of one write, and what was true."""

    moment: Moment
    status: Status
    sent: str
    code: str
    happened: int
    is_over: bool  # the session had to end

    @property
    def lie(self) -> str:
        """Say what was not true; empty where all was."""
        if self.happened > 1:
            return f"executed {self.happened} times"
        if self.status is Status.OK and self.happened != 1:
            return "said ok, and it did not happen"
        if self.status is not Status.OK and self.status is not Status.UNKNOWN and (self.sent != "no" or self.happened):
            return f"said {self.status.value}, sent {self.sent}, and it happened {self.happened} times"
        return ""


def moments(seed: int) -> Iterator[Moment]:
    """Draw moments for ever."""
    random = Random(seed)
    while True:
        write = random.choice(WRITES)
        draw = random.random()
        if draw < 0.12:
            yield Moment(write, "before")
        elif draw < 0.22:
            yield Moment(write, "after")
        elif draw < 0.40:
            yield Moment(write, "phone", fault=_fault(write, random))
        elif draw < 0.56:
            yield Moment(write, "line", "to_phone", random.randrange(_TO_PHONE))
        elif draw < 0.68:
            yield Moment(write, "line", "to_host", random.randrange(_TO_HOST))
        elif draw < 0.82:
            yield Moment(write, "write", "to_phone", random.randrange(120), is_behind_mark=True)
        else:
            yield Moment(write, "write", "to_host", random.randrange(400), is_behind_mark=True)


def _fault(write: Write, random: Random) -> tuple[str, ...]:
    kind = "start" if write == "open_app" else "input"
    faults: list[tuple[str, ...]] = [("drop", f"{kind}:+1", when) for when in ("before", "after", "cut")]
    if write != "open_app":
        faults += [("reply-lost", "input:+1"), ("server-killed", "input:+1", "before")]
        faults += [("server-killed", "input:+1", when) for when in ("after", "cut")]
    return random.choice(faults)


class Cables:
    """A phone on a line that can be cut, and sessions on it."""

    def __init__(self, phone: VirtualPhone, proxy: CutProxy, prepared: Prepared, address: PhoneAddress) -> None:
        self._phone = phone
        self._proxy = proxy
        self._prepared = prepared
        self._address = address
        self._calls = 0

    def rows(self, drawn: Iterator[Moment], count: int) -> Iterator[Row]:
        """Pull the cable at each moment. A session goes on until it had to end, or does not know what happened."""
        left = count
        while left:
            with open_session(self._prepared, self._address, clock=SystemClock(), stop=Stop()) as session:
                while left:
                    row = self._pull(session, next(drawn))
                    left -= 1
                    yield row
                    if row.is_over or row.status is Status.UNKNOWN:
                        break

    def _pull(self, session: Session, moment: Moment) -> Row:
        call = self._prepared_call(session, moment.write)
        since = self._marks()
        self._break(moment)
        result = session.call(*call)
        if moment.place == "after":
            self._proxy.cut("to_phone", 0)
        self._proxy.disarm()
        self._phone.phone.faults.clear()
        if not result.ends:
            # One in-phone server, one loop: what was sent has been worked off before this answer.
            assert session.call("ui_tree", {}).status is Status.OK, moment
        else:
            self._line_again(moment)
        happened = self._executed(moment.write, since)
        return Row(moment, result.status, result.sent, result.code, happened, bool(result.ends))

    def _break(self, moment: Moment) -> None:
        if moment.fault:
            name, call, *args = moment.fault
            self._phone.phone.faults.schedule(name, call, *args)
        elif moment.place == "before":
            self._proxy.cut("to_phone", 0)
        elif moment.place != "after":
            mark = _MARKS[moment.write] if moment.is_behind_mark else b""
            self._proxy.cut(moment.direction, moment.after_bytes, behind=mark)

    def _prepared_call(self, session: Session, write: Write) -> tuple[str, dict[str, Any]]:
        """Bring the phone where the write makes sense, by whole calls over a whole line."""
        self._calls += 1
        if write == "open_app":
            ready(session.call("open_app", {"app": _MESSAGES}))
            return "open_app", {"app": _SETTINGS}
        if write != "type_text":
            ready(session.call("press", {"key": "home"}))
            x, y = 100 + self._calls % 800, 1_000 + self._calls % 97
            if write == "tap":
                return "tap", {"x": x, "y": y}
            return "swipe", {"x1": x, "y1": y, "x2": x, "y2": y + 300, "duration_ms": 50}
        if self._phone.phone.state()["package"] != _MESSAGES:
            ready(session.call("open_app", {"app": _MESSAGES}))
        ref = _field_ref(session)
        if ref is None:
            ready(session.call("tap", {"x": 540, "y": 337}))  # the first conversation of the list
            ref = _field_ref(session)
        assert ref is not None
        return "type_text", {"ref": ref, "text": f"text {self._calls}"}

    def _marks(self) -> tuple[int, int]:
        """Return where the phone's log of inputs and its count of app starts are now."""
        return int(self._inputs()["count"]), self._phone.phone.faults.calls["start"]

    def _executed(self, write: Write, since: tuple[int, int]) -> int:
        """Count what the phone has really executed of this kind."""
        if write == "open_app":
            is_there = self._phone.phone.state()["package"] == _SETTINGS
            asked = self._phone.phone.faults.calls["start"] - since[1]
            return max(asked, 1) if is_there else max(0, asked - 1)
        return sum(event["n"] > since[0] and event["kind"] == _LOGGED[write] for event in self._inputs()["events"])

    def _inputs(self) -> dict[str, Any]:
        inputs = self._phone.phone.state()["inputs"]
        assert isinstance(inputs, dict)
        return inputs

    def _line_again(self, moment: Moment) -> None:
        """Wait until the line is whole after a session that had to end."""
        server, deadline = AdbServer(self._address.adb_port), Deadline.after(SystemClock(), 30)
        while True:
            try:
                connect_tcp(server, self._address.serial, deadline)
                PhoneLink(server, self._address.serial).shell(["true"], deadline)
                return
            except DeviceError as error:
                assert not deadline.is_over(), f"after {moment} the line does not come back: {error}"
                SystemClock().sleep(0.1)


@contextmanager
def cables(folder: Path) -> Iterator[Cables]:
    """Run a phone behind a line that can be cut, and all that a session needs, for the length of a `with`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "open.rules").write_text("allow *\n")
    flags = {"ask": "never", "max_actions": 10_000, "policy": str(folder / "open.rules")}
    plan = SessionPlan(
        home=folder / "home",
        origin=Origin.HUMAN,
        settings=load_settings(flags, cwd=folder, env={}).settings,
        user_policies=folder / "policies",
        shipped_policies=SHIPPED,
    )
    private = start_private_server(folder / "adb", SystemClock())
    try:
        with running_phone(transition_ms=0) as phone, cut_proxy(phone.port) as proxy:
            serial = f"127.0.0.1:{proxy.port}"
            connect_tcp(private.server, serial, Deadline.after(SystemClock(), 10))
            yield Cables(phone, proxy, prepare(plan), PhoneAddress(serial=serial, adb_port=private.port))
    finally:
        private.stop()


def _field_ref(session: Session) -> int | None:
    screen = ready(session.call("ui_tree", {})).value
    assert isinstance(screen, Screen)
    refs = (screen.ref_of(node) for node in screen.nodes if node.is_editable)
    return next((ref for ref in refs if ref is not None), None)


def ready(result: ToolResult) -> ToolResult:
    assert result.status is Status.OK, result.text
    return result
