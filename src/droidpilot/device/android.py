"""AndroidDriver: the Driver over uiautomator2's in-phone server, and `connect`, which brings one up.

Reads are tried again inside their deadline, with at most one restart of the server. A write is one POST, or one shell
command, and nothing in this file repeats it. It knows no ref, no rule and no transcript.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused
from droidpilot.core.text import one_line, shorten
from droidpilot.device import keystrokes, pictures, readings, rpc, windows
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.driver import KEYS, App, DeviceFacts, Display, Foreground, LockState, Picture
from droidpilot.device.inphone import PhoneServer
from droidpilot.device.lifeline import LINK_TROUBLE, Keep, Lifeline, Outage
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import holds_hierarchy, is_blank
from droidpilot.screens.selector import Selector

T = TypeVar("T")

#: Levels of the hierarchy that the phone is asked for, in every dump: the mode sticks on the phone otherwise.
MAX_DEPTH = 100
#: Android takes 400 ms for a long press by default, and more where a person set it so.
LONG_PRESS_MS = 1_000
#: One step of an injected swipe. Source: UiDevice.swipe.
SWIPE_STEP_MS = 5
#: How often a read is tried where the phone answers, but not with what was asked for.
MAX_TRIES = 3
_PAUSE_S = 0.1

_SERVER_GONE = frozenset({"no_listener", "not_connected"})
_ODD_ANSWERS = frozenset(
    {"phone_error", "garbled", "dump_failed", "unreadable", "empty", "never_idle", "null_root", "illegal_character"}
)

#: Scale and JPEG quality that the in-phone server is asked for: the screen's own pixels, hardly any loss.
_WHOLE_PICTURE = (1.0, 90)
#: Answers of the in-phone server after which `screencap` is tried: it is too old for pictures, or took none.
_NO_PICTURE = frozenset({"bad_call", "phone_error", "garbled"})

#: Calls of which the phone refuses the whole where it refuses the first event: with a finger that moves, or waits,
#: nobody can tell. By name and number of parameters.
_ONE_EVENT = frozenset({("click", 2), ("pressKeyCode", 1)})

_LAUNCHER_QUERY = ("-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER")
_LAUNCH = ("am", "start", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER")
#: FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_RESET_TASK_IF_NEEDED, as a launcher sets them. Source: Android Intent.
_LAUNCH_FLAGS = ("-f", "0x10200000")


class AndroidDriver:
    """One phone. `connect` builds it; every method raises DeviceError and nothing else."""

    _proves_itself = False  # every read of it is a command of the shell

    def __init__(
        self, link: PhoneLink, server: PhoneServer, clock: Clock, facts: DeviceFacts, line: Lifeline | None = None
    ) -> None:
        self._link = link
        self._line = line or Lifeline(link, clock)
        self._server = server
        self._clock = clock
        self._facts = facts
        self._is_closed = False
        self.deaths = 0  # how often the in-phone server ended under a read, over a line that held

    @property
    def facts(self) -> DeviceFacts:
        return self._facts

    # reads

    def dump(self, deadline: Deadline) -> bytes:
        empties = 0

        def attempt() -> bytes:
            nonlocal empties
            try:
                answer = self._post("dumpWindowHierarchy", (False, MAX_DEPTH), deadline)
            except DeviceRefused as error:
                if error.code not in ("phone_error", "garbled"):
                    raise
                raise readings.unreadable(
                    error.message, "dump_failed" if error.code == "phone_error" else "unreadable"
                ) from error
            if not isinstance(answer, str):
                raise readings.unreadable("the phone sent no hierarchy", "unreadable" if answer else "empty")
            if is_blank(answer):
                raise readings.unreadable("the phone sent an empty answer in place of a hierarchy", "empty")
            if not holds_hierarchy(answer):
                raise readings.unreadable(f"the phone sent no hierarchy: {answer[:200]}", "unreadable")
            if readings.is_empty_dump(answer) and empties < MAX_TRIES - 1:
                # No root for a moment, between two windows; a phone that goes on saying so shows nothing.
                empties += 1
                raise readings.unreadable("the phone shows no window", "null_root")
            return readings.dump_bytes(answer)

        return self._read(attempt, deadline)

    def foreground(self, deadline: Deadline) -> Foreground:
        try:
            return readings.foreground(self._shell("dumpsys", "window", deadline=deadline))
        except DeviceRefused as error:
            if error.code != "answer_broke":
                raise
            return Foreground(None, None)  # nobody knows; rules that name an app must fail closed

    def lock_state(self, deadline: Deadline) -> LockState:
        """Ask the services that know it too; one that fails or hangs leaves time for the next.

        The window manager comes last: it is the one that gave no answer before. Source: KeyguardController.dump.
        """
        is_off = windows.is_off(self._told(deadline, "power"))
        state = LockState()
        for service, part in (("activity", "activities"), ("window", "policy")):
            if state.is_locked is None or (is_off is None and state.is_off is None):
                said = windows.lock_state(self._told(deadline, service, part))
                state = LockState(
                    said.is_locked if state.is_locked is None else state.is_locked,
                    said.is_off if state.is_off is None else state.is_off,
                )
        return LockState(state.is_locked, state.is_off if is_off is None else is_off)

    def display(self, deadline: Deadline) -> Display:
        def attempt() -> Display:
            answer = self._post("deviceInfo", (), deadline)
            try:
                width, height, rotation = (
                    int(answer[name]) for name in ("displayWidth", "displayHeight", "displayRotation")
                )
            except (KeyError, TypeError, ValueError) as error:
                raise DeviceRefused("the phone does not say how large its screen is", code="garbled") from error
            return Display(width, height, rotation % 4)

        return self._read(attempt, deadline)

    def screenshot(self, deadline: Deadline) -> Picture:
        data = self._read(lambda: self._capture(deadline), deadline)
        image, is_black = pictures.read_picture(data)
        return Picture(image, is_black=is_black, is_secure=self.foreground(deadline).is_secure)

    def apps(self, deadline: Deadline) -> tuple[App, ...]:
        return readings.apps(self._shell("cmd", "package", "query-activities", *_LAUNCHER_QUERY, deadline=deadline))

    def read_setting(self, namespace: str, key: str, deadline: Deadline) -> str | None:
        if namespace not in ("system", "secure", "global") or not re.fullmatch(
            r"[A-Za-z0-9_][\w.:/-]{0,199}", key, re.ASCII
        ):
            raise DeviceRefused(
                f"no setting can be called {shorten(one_line(f'{namespace}/{key}'), 100)!r}",
                code="bad_setting",
                hint="system, secure or global, and a key such as wifi_on",
            )
        text = self._shell("settings", "get", namespace, key, deadline=deadline).removesuffix("\n")
        return None if text == "null" else text

    def has_focus(self, field: Selector, bounds: Bounds, deadline: Deadline) -> bool:
        info = self._read(lambda: self._info(field, deadline), deadline)
        return bounds in readings.bounds_in(info) and isinstance(info, dict) and info.get("focused") is True

    # writes: one attempt each

    def tap(self, x: int, y: int, deadline: Deadline) -> None:
        self._write("click", (x, y), deadline)

    def long_press(self, x: int, y: int, deadline: Deadline) -> None:
        self._write("click", (x, y, LONG_PRESS_MS), deadline)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, deadline: Deadline) -> None:
        self._write("swipe", (x1, y1, x2, y2, max(2, duration_ms // SWIPE_STEP_MS)), deadline)

    def set_text(self, field: Selector, bounds: Bounds, text: str, deadline: Deadline) -> None:
        selector = readings.selector_json(field)
        if bounds not in readings.bounds_in(self._read(lambda: self._info(field, deadline), deadline)):
            raise DeviceRefused("the field is not where it was on the last look", code="field_moved", hint="look again")
        try:
            self._write("setText", (selector, text), deadline)
        except DeviceRefused as error:
            if error.code == "said_no":
                # The result of the one accessibility action that setText is: false says that it was not performed.
                raise DeviceRefused("the phone does not let this field be filled", code="not_editable") from error
            if error.code == "not_found":
                raise DeviceRefused("the field is gone", code="field_moved", hint="look again") from error
            raise

    def type_keys(
        self, text: str, deadline: Deadline, *, erase: int, several_lines: bool = False, at_end: bool = False
    ) -> None:
        if keystrokes.untypable(text):
            raise DeviceRefused("no key of the phone makes some of these characters", code="untypable")
        self._alive()
        keys = list(keystrokes.erasing(erase, several_lines=several_lines))
        if at_end and not keys:
            keys = [[str(keystrokes.MOVE_END)]]  # the cursor is where the field was tapped
        commands = [["input", "keyevent", *some] for some in keys]
        commands += [["input", "text", argument] for argument in keystrokes.arguments(text)]
        if not commands:
            return
        answer = self._once(lambda: self._link.script(commands, deadline, sent="unknown"), deadline)
        if readings.is_injection_denied(answer.text):
            raise readings.injection_denied(self._facts.brand)
        if answer.code != 0 or "xception" in answer.text or "Error" in answer.text:
            # Its words may repeat what was typed, whole or in pieces, and that may be a secret.
            said = f"exit code {answer.code}"
            raise DeviceRefused(
                f"the phone did not take the keys of [text]: {said}", code="keys_failed", sent="unknown"
            )

    def press(self, key: str, deadline: Deadline) -> None:
        if key not in KEYS:
            raise DeviceRefused(f"no key is called {shorten(one_line(key), 50)!r}", code="no_key", hint=", ".join(KEYS))
        self._write("pressKeyCode", (KEYS[key],), deadline)

    def start_app(self, package: str, deadline: Deadline) -> None:
        gone = DeviceRefused(
            f"no app {shorten(one_line(package), 100)!r} with a launcher entry", code="no_app", hint="see list_apps"
        )
        if not readings.PACKAGE.fullmatch(package):
            raise gone
        found = self._shell("cmd", "package", "query-activities", "--brief", *_LAUNCHER_QUERY, deadline=deadline)
        entry = readings.launcher_entries(found).get(package)
        if entry is None:
            raise gone
        self._alive()
        # Not monkey: it is shorter, and turns auto-rotation on.
        start = [*_LAUNCH, *_LAUNCH_FLAGS, "-n", entry]
        answer = self._once(lambda: self._link.shell(start, deadline, sent="unknown"), deadline)
        if "Error type 3" in answer.text or "does not exist" in answer.text:
            raise gone
        if answer.code != 0 or "Error:" in answer.text or "Permission Denial" in answer.text:
            raise DeviceRefused(
                f"the phone did not start {package}: {shorten(one_line(answer.text), 200)}",
                code="not_started",
                sent="unknown",
            )

    def close(self) -> None:
        self._is_closed = True
        self._server.stop()

    # inside

    def _told(self, deadline: Deadline, *service: str) -> str:
        """Ask one service in a third of the time that is left, once; "" where it does not answer."""
        try:
            answer = self._link.shell(["dumpsys", *service], deadline.sooner(deadline.left_s() / 3))
        except DeviceError:
            return ""
        return answer.text if answer.code == 0 else ""

    def _info(self, field: Selector, deadline: Deadline) -> object:
        """Ask what the phone knows of the one node that `field` finds; None where there is none."""
        try:
            return self._post("objInfo", (readings.selector_json(field),), deadline)
        except DeviceRefused as error:
            if error.code != "not_found":
                raise
            return None

    def _capture(self, deadline: Deadline) -> bytes:
        """Return a picture from the in-phone server, else from `screencap`, which every phone has."""
        try:
            answer = self._post("takeScreenshot", _WHOLE_PICTURE, deadline)
            if isinstance(answer, str) and answer:
                return base64.b64decode(answer)
        except binascii.Error:
            pass
        except DeviceRefused as error:
            if error.code not in _NO_PICTURE:
                raise
        self._alive()
        printed = self._link.output(("screencap", "-p"), deadline, most_bytes=pictures.MAX_PICTURE_BYTES)
        return pictures.without_chatter(printed)

    def _alive(self) -> None:
        if self._is_closed:
            raise DeviceLost("the session has let go of the phone", code="closed")

    def _post(self, method: str, params: tuple[object, ...], deadline: Deadline) -> Any:
        self._alive()
        return rpc.post(self._link, method, params, deadline)

    def _write(self, method: str, params: tuple[object, ...], deadline: Deadline) -> None:
        """Send one write, once.

        Raises:
            DeviceRefused: code `said_no` (sent "unknown": half of a gesture may have been injected) for a false answer.
        """
        try:
            answer = self._once(lambda: self._post(method, params, deadline), deadline)
        except DeviceRefused as error:
            if not readings.is_injection_denied(error.message):
                raise
            denied = readings.injection_denied(self._facts.brand)
            if readings.is_proof_of_denial(error.message) and (method, len(params)) in _ONE_EVENT:
                raise denied from error
            error.hint = denied.hint
            raise
        if answer is False:
            raise DeviceRefused(f"the phone says that {method} did not work", code="said_no", sent="unknown")
        if answer is not True:
            raise DeviceRefused(f"the phone's answer to {method} makes no sense", code="garbled", sent="unknown")

    def _shell(self, *argv: str, deadline: Deadline) -> str:
        """Run one reading command; an exit code other than 0 is an error."""

        def attempt() -> str:
            self._alive()
            answer = self._link.shell(argv, deadline)
            if answer.code != 0:
                raise DeviceRefused(
                    f"{' '.join(argv[:2])} failed on the phone: {shorten(one_line(answer.text), 200)}",
                    code="command_failed",
                )
            return answer.text

        return self._read(attempt, deadline, by_command=True)

    def _read(self, attempt: Callable[[], T], deadline: Deadline, *, by_command: bool = False) -> T:
        """Try a read until it works, its deadline is over, or trying again is no use."""
        outage: Outage | None = None
        tries = 0
        has_restarted = is_restart_due = is_reading = has_broken = False
        while True:
            try:
                is_reading = False
                self._line.before_read(deadline, by_command=by_command or self._proves_itself)
                if is_restart_due:
                    # What was gone before it was asked may have gone with the line; a look that ended it is its death.
                    self.deaths += has_broken
                    self._server.restart(deadline)
                    is_restart_due = False
                is_reading = True
                answer = attempt()
            except DeviceError as error:
                error.sent = "no"  # a read changes nothing, whatever became of it
                tries += 1
                if deadline.is_over():
                    raise
                if error.code in LINK_TROUBLE:
                    outage = outage or self._line.outage(deadline)
                    outage.wait(error)
                    has_broken = is_reading and not outage.is_told
                elif error.code in _SERVER_GONE and not has_restarted:
                    has_restarted = is_restart_due = True
                    has_broken = has_broken or error.code == "not_connected"
                elif is_restart_due or error.code not in _ODD_ANSWERS or tries >= MAX_TRIES:
                    raise
                else:
                    self._clock.sleep(min(_PAUSE_S, deadline.left_s()))
            else:
                if outage is not None:
                    outage.end()
                return answer

    def _once(self, send: Callable[[], T], deadline: Deadline) -> T:
        """Send one write, once; where the line dropped before its first byte, wait for the phone and say so."""
        self._line.before_write(deadline)
        try:
            return send()
        except DeviceError as error:
            self._line.dropped(error, deadline)
            raise


def connect(
    server: AdbServer,
    serial: str,
    *,
    clock: Clock,
    deadline: Deadline,
    progress: Callable[[str], None] | None = None,
    keep: Keep | None = None,
) -> AndroidDriver:
    """Reach the phone, bring up its server and return its driver.

    `progress` is told in words what takes long: copying the helper, starting it. `keep` says how the line is kept.

    Raises:
        DeviceError: with nothing left running on the phone.
    """
    reached = reach(server, serial, clock=clock, deadline=deadline, keep=keep)
    return with_helper(reached, clock=clock, deadline=deadline, progress=progress)


@dataclass(frozen=True, slots=True)
class Reached:
    """A phone that answers, before anything was started on it."""

    link: PhoneLink
    line: Lifeline
    facts: DeviceFacts


def reach(server: AdbServer, serial: str, *, clock: Clock, deadline: Deadline, keep: Keep | None = None) -> Reached:
    """Ask the phone what it is, and measure how long it takes to answer; `keep` says how the line is kept."""
    link = PhoneLink(server, serial)
    line = Lifeline(link, clock, keep=keep)
    started = clock.monotonic()
    known = line.read(lambda: readings.properties(link.shell(["getprop"], deadline).text), deadline)
    round_trip_s = clock.monotonic() - started
    line.identify(known)
    sdk = known.get("ro.build.version.sdk", "")
    facts = DeviceFacts(
        serial=serial,
        model=shorten(one_line(known.get("ro.product.model", "")), 100),
        brand=shorten(one_line(known.get("ro.product.brand", "")), 100),
        sdk=int(sdk) if sdk.isdecimal() else 0,
        release=shorten(one_line(known.get("ro.build.version.release", "")), 40),
        round_trip_s=round_trip_s,
    )
    return Reached(link, line, facts)


def with_helper(
    reached: Reached, *, clock: Clock, deadline: Deadline, progress: Callable[[str], None] | None = None
) -> AndroidDriver:
    """Bring up the in-phone server of a phone that was reached, and return its driver.

    Raises:
        DeviceError: with nothing left running on the phone.
    """
    phone_server = PhoneServer(reached.link, clock)
    try:
        reached.line.read(lambda: phone_server.start(deadline, progress=progress), deadline)
    except BaseException:
        phone_server.stop()
        raise
    return AndroidDriver(reached.link, phone_server, clock, reached.facts, reached.line)
