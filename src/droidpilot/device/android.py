"""AndroidDriver: the Driver over uiautomator2's in-phone server, and `connect`, which brings one up.

Reads are tried again inside their deadline, with at most one restart of the server. A write is one POST, or one shell
command, and nothing in this file repeats it. It knows no ref, no rule and no transcript.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any, TypeVar

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused
from droidpilot.core.text import one_line, shorten
from droidpilot.device import pictures, readings, rpc
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.driver import KEYS, App, DeviceFacts, Display, Foreground, Picture
from droidpilot.device.inphone import PhoneServer
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import holds_hierarchy
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
#: How long a read waits for a lost phone to come back: adb reconnects in 0.3 s, a USB replug takes seconds.
LINK_PATIENCE_S = 5.0
_PAUSE_S = 0.1

_SERVER_GONE = frozenset({"no_listener", "not_connected"})
_LINK_TROUBLE = frozenset({"device_lost", "offline", "not_found_by_adb", "no_adb_server"})
_ODD_ANSWERS = frozenset(
    {"phone_error", "garbled", "dump_failed", "unreadable", "empty", "never_idle", "null_root", "illegal_character"}
)

#: Scale and JPEG quality that the in-phone server is asked for: the screen's own pixels, hardly any loss.
_WHOLE_PICTURE = (1.0, 90)
#: Answers of the in-phone server after which `screencap` is tried: it is too old for pictures, or took none.
_NO_PICTURE = frozenset({"bad_call", "phone_error", "garbled"})

_LAUNCHER_QUERY = ("-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER")
_LAUNCH = ("am", "start", "-a", "android.intent.action.MAIN", "-c", "android.intent.category.LAUNCHER")
#: FLAG_ACTIVITY_NEW_TASK and FLAG_ACTIVITY_RESET_TASK_IF_NEEDED, as a launcher sets them. Source: Android Intent.
_LAUNCH_FLAGS = ("-f", "0x10200000")


class AndroidDriver:
    """One phone. `connect` builds it; every method raises DeviceError and nothing else."""

    def __init__(self, link: PhoneLink, server: PhoneServer, clock: Clock, facts: DeviceFacts) -> None:
        self._link = link
        self._server = server
        self._clock = clock
        self._facts = facts
        self._is_closed = False

    @property
    def facts(self) -> DeviceFacts:
        return self._facts

    @property
    def restarts(self) -> int:
        """How often the in-phone server had to be started again."""
        return self._server.restarts

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
            if not answer.strip():
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
        return readings.foreground(self._shell("dumpsys", "window", deadline=deadline))

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

    # writes: one attempt each

    def tap(self, x: int, y: int, deadline: Deadline) -> None:
        self._write("click", (x, y), deadline)

    def long_press(self, x: int, y: int, deadline: Deadline) -> None:
        self._write("click", (x, y, LONG_PRESS_MS), deadline)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, deadline: Deadline) -> None:
        self._write("swipe", (x1, y1, x2, y2, max(2, duration_ms // SWIPE_STEP_MS)), deadline)

    def set_text(self, field: Selector, bounds: Bounds, text: str, deadline: Deadline) -> None:
        selector = readings.selector_json(field)

        def where() -> set[Bounds]:
            try:
                answer = self._post("objInfo", (selector,), deadline)
            except DeviceRefused as error:
                if error.code != "not_found":
                    raise
                return set()
            return readings.bounds_in(answer)

        if bounds not in self._read(where, deadline):
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
        answer = self._link.shell([*_LAUNCH, *_LAUNCH_FLAGS, "-n", entry], deadline, sent="unknown")
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
            answer = self._post(method, params, deadline)
        except DeviceRefused as error:
            if readings.is_injection_denied(error.message):
                error.hint = readings.injection_denied(self._facts.brand).hint
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

        return self._read(attempt, deadline)

    def _read(self, attempt: Callable[[], T], deadline: Deadline) -> T:
        """Try a read until it works, its deadline is over, or trying again is no use."""
        patience = deadline.sooner(LINK_PATIENCE_S)
        tries = 0
        has_restarted = False
        while True:
            try:
                return attempt()
            except DeviceError as error:
                error.sent = "no"  # a read changes nothing, whatever became of it
                tries += 1
                if deadline.is_over():
                    raise
                if error.code in _SERVER_GONE:
                    if has_restarted:
                        raise
                elif error.code in _LINK_TROUBLE:
                    if patience.is_over():
                        raise
                elif error.code not in _ODD_ANSWERS or tries >= MAX_TRIES:
                    raise
                is_restart_due = error.code in _SERVER_GONE
            if is_restart_due:
                has_restarted = True
                self._server.restart(deadline)
            else:
                self._clock.sleep(min(_PAUSE_S, deadline.left_s()))


def connect(
    server: AdbServer,
    serial: str,
    *,
    clock: Clock,
    deadline: Deadline,
    progress: Callable[[str], None] | None = None,
) -> AndroidDriver:
    """Reach the phone, bring up its server and return its driver.

    `progress` is told in words what takes long: copying the helper, starting it.

    Raises:
        DeviceError: with nothing left running on the phone.
    """
    link = PhoneLink(server, serial)
    phone_server = PhoneServer(link, clock)
    facts = facts_of(link, deadline)
    try:
        phone_server.start(deadline, progress=progress)
    except BaseException:
        phone_server.stop()
        raise
    return AndroidDriver(link, phone_server, clock, facts)


def facts_of(link: PhoneLink, deadline: Deadline) -> DeviceFacts:
    """Ask the phone what it is."""
    known = readings.properties(link.shell(["getprop"], deadline).text)
    sdk = known.get("ro.build.version.sdk", "")
    return DeviceFacts(
        serial=link.serial,
        model=shorten(one_line(known.get("ro.product.model", "")), 100),
        brand=shorten(one_line(known.get("ro.product.brand", "")), 100),
        sdk=int(sdk) if sdk.isdecimal() else 0,
        release=shorten(one_line(known.get("ro.build.version.release", "")), 40),
    )
