"""Keeper: what a session changes on a phone is written down first, and put back on every way out.

What a killed run left is put back by the next run on that phone, or by `doctor --repair`. Before anything is put back
the phone is asked: a value that is no longer ours was changed by a person since, and stays. It knows settings and
keyboards of the phone; it must never know a tool, a screen or why something was changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from droidpilot.core.clock import Clock, Deadline, SystemClock, timestamp
from droidpilot.core.errors import (
    DeviceBusy,
    DeviceError,
    DeviceLost,
    DeviceRefused,
    DeviceUnavailable,
    UsageError,
)
from droidpilot.core.events import Event, PhoneChanged
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb import WHO, AdbServer, PhoneLink
from droidpilot.device.kept import KINDS, Change, ChangeList, Kind, every_list
from droidpilot.device.lease import Lease

KEYBOARD = ("secure", "default_input_method")
ENABLED = ("secure", "enabled_input_methods")
#: What holds the picture still. Source: Android Settings.Global and Settings.System.
ANIMATIONS = (
    ("global", "window_animation_scale"),
    ("global", "transition_animation_scale"),
    ("global", "animator_duration_scale"),
)
AUTO_ROTATION = ("system", "accelerometer_rotation")
ROTATION = ("system", "user_rotation")
#: Lists that belong to others too, or have a way of their own: overwriting them would end other services.
NEVER_SET = frozenset({("secure", "enabled_accessibility_services"), KEYBOARD, ENABLED})
#: How long a phone may take until a keyboard that it says it switched is the default one.
SWITCH_PATIENCE_S = 3.0
#: How long a lost phone is waited for before what is left is left to the next run: adb reconnects in 0.3 s.
LINK_PATIENCE_S = 5.0
_POLL_S = 0.1
#: What many vendors ask for before ADB may set anything.
OEM_HINT = (
    'turn on "USB debugging (Security settings)" in the phone\'s Developer options, where it has that switch, '
    "and plug it in again"
)

#: restored: put back. already: it was as before. kept: a person changed it since, so it stays. failed: still listed.
Became = Literal["restored", "already", "kept", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """Something that a run which ended without cleaning up left changed on a phone."""

    phone_id: str  # the phone's own id, empty where the list cannot be read
    serial: str  # ADB's name of it at that time
    what: str  # namespace/key, or "the list"
    before: str | None
    since: str  # UTC, ISO 8601
    problem: str = ""  # where the list cannot be read, the reason in words


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired:
    """What became of one change. `words` is the whole of it as a sentence for people."""

    what: str
    before: str | None
    since: str
    became: Became
    words: str
    is_recorded: bool = True  # whether an event tells it; what concerns the list as a whole has none


class Keeper:
    """Changes and puts back settings of one phone. One per session; the lease of the serial must be held."""

    def __init__(
        self,
        home: Path,
        link: PhoneLink,
        clock: Clock,
        *,
        record: Callable[[Event], None] | None = None,
        phone_id: str = "",
    ) -> None:
        self._home = home
        self._link = link
        self._clock = clock
        self._record = record or _unrecorded
        self._list = ChangeList(home, phone_id) if phone_id else None
        self._made: set[tuple[str, ...]] = set()  # names of the changes that this keeper made
        self._patience: Deadline | None = None  # how long a lost phone is waited for, while something is put back

    # changing

    def put_setting(self, namespace: str, key: str, value: str, deadline: Deadline) -> bool:
        """Set one setting until `restore`; tell whether it had another value before.

        Raises:
            DeviceError: nothing was changed, or it is on the list. Code `setting_denied` where the phone forbids it,
                `not_written_down` where the list cannot be written.
        """
        if (namespace, key) in NEVER_SET:
            raise ValueError(f"{namespace}/{key} holds more than ours and is never overwritten")
        before = self._get(namespace, key, deadline)
        if before == value:
            return False
        change = self._note("setting", namespace, key, before, value, deadline)
        said = self._shell("settings", "put", namespace, key, value, deadline=deadline, is_write=True)
        if self._get(namespace, key, deadline) != value:
            self._forget_if_unchanged(change, deadline)
            raise DeviceRefused(
                f"the phone does not let {namespace}/{key} be set: {_words(said)}",
                code="setting_denied",
                hint=OEM_HINT,
            )
        self._tell(change, "switched")
        return True

    def switch_keyboard(self, keyboard: str, deadline: Deadline) -> None:
        """Enable an installed input method beside the others and make it the default, until `restore`.

        Raises:
            DeviceError: as `put_setting`; code `no_keyboard` where the phone does not know it.
        """
        if keyboard not in enabled_ids(self._get(*ENABLED, deadline)):
            enabled = self._get(*ENABLED, deadline)
            change = self._note("enabled", *ENABLED, enabled, keyboard, deadline)
            self._ime("enable", keyboard, change, deadline)
            self._tell(change, "switched")
        before = self._get(*KEYBOARD, deadline)
        if before != keyboard:
            change = self._note("keyboard", *KEYBOARD, before, keyboard, deadline)
            self._ime("set", keyboard, change, deadline)
            self._tell(change, "switched")

    def _ime(self, verb: str, keyboard: str, change: Change, deadline: Deadline) -> None:
        """Run `ime enable` or `ime set` until the phone's own setting shows it: what it prints is no proof (B27)."""
        patience = deadline.sooner(SWITCH_PATIENCE_S)
        while True:
            said = self._shell("ime", verb, keyboard, deadline=deadline, is_write=True)
            while not said.startswith("Unknown") and not self._is_ours(change, deadline) and not patience.is_over():
                self._clock.sleep(_POLL_S)
            if self._is_ours(change, deadline):
                return
            if patience.is_over():
                break
            # Right after an installation the phone does not know its keyboards yet.
            self._clock.sleep(_POLL_S)
        self._forget_if_unchanged(change, deadline)
        code = "no_keyboard" if said.startswith("Unknown") else "keyboard_not_switched"
        hint = OEM_HINT if "ecurity" in said else "choose it by hand in the phone's settings, Languages and input"
        raise DeviceRefused(f"the phone does not {verb} the keyboard {keyboard}: {_words(said)}", code=code, hint=hint)

    # putting back

    def restore(self, deadline: Deadline, *, kinds: Collection[Kind] = KINDS, is_asked: bool = False) -> list[Repaired]:
        """Put back what is on this phone's list, newest first; what fails stays on the list.

        Never raises for the phone or the disk: what went wrong is in the answer. A list that cannot be read is set
        aside, where a person finds it. `is_asked`: a person asked for it, so what was changed under another serial and
        does not hold our value here is settled too; otherwise it stays listed, since cheap phones share one id.
        """
        if not every_list(self._home):
            return []
        self._patience = deadline.sooner(LINK_PATIENCE_S)
        try:
            return self._restore(deadline, kinds, is_asked=is_asked)
        finally:
            self._patience = None

    def _restore(self, deadline: Deadline, kinds: Collection[Kind], *, is_asked: bool) -> list[Repaired]:
        try:
            changes_of = self._open(deadline)
            changes = changes_of.read()
        except DeviceError as error:
            return [_repaired(None, "failed", f"what was changed on {self._link.serial} is not known: {error}")]
        except UsageError as error:
            aside = changes_of.set_aside()
            where = f"; it was kept as {aside}" if aside else ""
            words = f"{error.message}{where}: look whether the phone's keyboard and animations are yours"
            return [_repaired(None, "failed", words)]
        done: list[Repaired] = []
        for change in reversed([one for one in changes if one.kind in kinds]):
            # What this keeper changed it puts back, also after the phone moved to another serial.
            is_own = change.serial == self._link.serial or change.name in self._made
            if not is_own and not self._is_ours_to_settle(change, deadline, is_asked=is_asked):
                continue
            done.append(self._put_back(change, changes_of, deadline, blocked=_is_blocked(change, done)))
        return done

    def _put_back(self, change: Change, listed: ChangeList, deadline: Deadline, *, blocked: bool) -> Repaired:
        try:
            if blocked:
                raise DeviceRefused("the keyboard before it could not be put back", code="keyboard_not_switched")
            became, words = self._undo(change, deadline)
            listed.remove(change)
        except (DeviceError, UsageError) as error:
            became = "failed"
            words = (
                f"{change.what} on {self._link.serial} could not be put back to {_shown(change.before)}: {error}; the "
                "next run on this phone tries again, and so does `droidpilot doctor --repair`"
            )
        if change.pid != os.getpid() and became != "failed":
            words += f" (a run that ended without putting it back set it at {change.since})"
        self._tell(change, became, words)
        return _repaired(change, became, words)

    def _undo(self, change: Change, deadline: Deadline) -> tuple[Became, str]:
        now = self._get(change.namespace, change.key, deadline)
        if change.kind == "enabled":
            (ours,) = change.ours
            if ours not in enabled_ids(now) or ours in enabled_ids(change.before):
                return "already", f"{ours} is not enabled any more"
            if self._get(*KEYBOARD, deadline) == ours:
                return "kept", f"{ours} is the keyboard that somebody chose since; it stays enabled"
            self._ime_back("disable", ours, change, deadline)
            return "restored", f"{ours} is disabled again"
        if now == change.before:
            return "already", f"{change.what} is {_shown(now)}, as it was"
        if now not in change.ours:
            return "kept", f"{change.what} is {_shown(now)}, which somebody set since; it stays"
        if change.kind == "keyboard" and change.before:
            self._ime_back("set", change.before, change, deadline)
        else:
            verb = ("delete",) if change.before is None else ("put",)
            value = () if change.before is None else (change.before,)
            words = ("settings", *verb, change.namespace, change.key, *value)
            said = self._shell(*words, deadline=deadline, is_write=True)
            if self._get(change.namespace, change.key, deadline) != change.before:
                raise DeviceRefused(f"the phone says: {_words(said)}", code="setting_denied", hint=OEM_HINT)
        return "restored", f"{change.what} is {_shown(change.before)} again"

    def _ime_back(self, verb: str, keyboard: str, change: Change, deadline: Deadline) -> None:
        patience = deadline.sooner(SWITCH_PATIENCE_S)
        said = self._shell("ime", verb, keyboard, deadline=deadline, is_write=True)
        while self._is_ours(change, deadline):
            if patience.is_over():
                raise DeviceRefused(f"the phone says: {_words(said)}", code="keyboard_not_switched", hint=OEM_HINT)
            self._clock.sleep(_POLL_S)

    # inside

    def _open(self, deadline: Deadline) -> ChangeList:
        if self._list is None:
            said = self._shell(*WHO, deadline=deadline).strip()
            if said:
                # What stands on this phone's list is never done to another one that comes to its place.
                self._link.pin(said)
            self._list = ChangeList(self._home, said or self._link.serial)
        return self._list

    def _note(
        self,
        kind: Kind,
        namespace: str,
        key: str,
        before: str | None,
        ours: str,
        deadline: Deadline,
    ) -> Change:
        """Write a change down, on disk, before it is made."""
        change = Change(
            kind=kind,
            namespace=namespace,
            key=key,
            before=before,
            ours=(ours,),
            since=timestamp(self._clock),
            pid=os.getpid(),
            serial=self._link.serial,
        )
        try:
            self._open(deadline).put(change)
            self._made.add(change.name)
        except UsageError as error:
            raise DeviceRefused(
                f"{error.message}; so nothing was changed", code="not_written_down", hint=error.hint
            ) from error
        return change

    def _forget_if_unchanged(self, change: Change, deadline: Deadline) -> None:
        """Take a change off the list that the phone refused; where that cannot be seen, it stays."""
        try:
            if not self._is_ours(change, deadline):
                self._open(deadline).remove(change)
        except (DeviceError, UsageError):
            return

    def _is_ours(self, change: Change, deadline: Deadline) -> bool:
        now = self._get(change.namespace, change.key, deadline)
        return change.ours[0] in enabled_ids(now) if change.kind == "enabled" else now in change.ours

    def _is_ours_to_settle(self, change: Change, deadline: Deadline, *, is_asked: bool) -> bool:
        """Tell whether a change made under another serial was left behind, and on this very phone."""
        if is_in_use(self._home, change.serial, self._clock):
            return False
        try:
            return is_asked or self._is_ours(change, deadline)
        except DeviceError:
            return False

    def _get(self, namespace: str, key: str, deadline: Deadline) -> str | None:
        said = self._shell("settings", "get", namespace, key, deadline=deadline)
        value = said.removesuffix("\n")
        if "xception" in value or "\n" in value:  # some phones end a refusal with 0
            raise DeviceRefused(
                f"the phone does not tell {namespace}/{key}: {_words(value)}", code="setting_denied", hint=OEM_HINT
            )
        return None if value == "null" else value

    def _shell(self, *argv: str, deadline: Deadline, is_write: bool = False) -> str:
        # All that is sent here may be sent again: it sets a value, and the value is read afterwards.
        while True:
            try:
                answer = self._link.shell(argv, deadline, sent="unknown" if is_write else "no")
                break
            except (DeviceLost, DeviceUnavailable) as error:
                is_gone = error.code == "other_phone"  # not lost, so that waiting would bring it back
                if is_gone or self._patience is None or self._patience.is_over():
                    raise
                self._clock.sleep(_POLL_S)
        if answer.code != 0 and not is_write:
            raise DeviceRefused(
                f"{' '.join(argv[:2])} failed on the phone: {_words(answer.text)}", code="command_failed"
            )
        return answer.text

    def _tell(self, change: Change, became: Literal["switched"] | Became, words: str = "") -> None:
        self._record(
            PhoneChanged(
                serial=self._link.serial,
                what=change.what,
                became=became,
                before=change.before,
                ours=change.ours[-1],
                since=change.since,
                words=words,
            )
        )


def enabled_ids(value: str | None) -> list[str]:
    """Read the ids out of `enabled_input_methods`: `id;subtype;subtype:id`. Source: Android InputMethodUtils."""
    return [part.partition(";")[0] for part in (value or "").split(":") if part]


def is_in_use(home: Path, serial: str, clock: Clock) -> bool:
    """Tell whether some session holds the serial right now."""
    try:
        Lease.take(home, serial, clock=clock).release()
    except DeviceBusy:
        return True
    except UsageError:
        return False
    return False


def left_behind(home: Path, clock: Clock | None = None) -> list[Left]:
    """Return what runs that ended without cleaning up left changed, on any phone; what a running one holds is not."""
    found: list[Left] = []
    for listed in every_list(home):
        if listed.problem:
            found.append(Left(phone_id="", serial="", what="the list", before=None, since="", problem=listed.problem))
        for change in listed.changes:
            if not is_in_use(home, change.serial, clock or SystemClock()):
                found.append(
                    Left(
                        phone_id=listed.phone_id,
                        serial=change.serial,
                        what=change.what,
                        before=change.before,
                        since=change.since,
                    )
                )
    return found


def repair(home: Path, server: AdbServer, serial: str, clock: Clock, deadline: Deadline) -> list[Repaired]:
    """Put back what was left changed on one attached phone. The phone is leased for that time.

    Raises:
        DeviceBusy: a session holds the phone.
    """
    with Lease.take(home, serial, clock=clock):
        return Keeper(home, PhoneLink(server, serial), clock).restore(deadline, is_asked=True)


def _is_blocked(change: Change, done: list[Repaired]) -> bool:
    """Tell whether a keyboard must stay enabled since it is still the default: the phone would choose one itself."""
    is_stuck = any(one.became == "failed" and one.what == "/".join(KEYBOARD) for one in done)
    return change.kind == "enabled" and is_stuck


def _repaired(change: Change | None, became: Became, words: str) -> Repaired:
    if change is None:
        return Repaired(what="the list", before=None, since="", became=became, words=words, is_recorded=False)
    return Repaired(what=change.what, before=change.before, since=change.since, became=became, words=words)


def _shown(value: str | None) -> str:
    return "not set" if value is None else shorten(one_line(value), 100) or "empty"


def _words(said: str) -> str:
    return shorten(one_line(said), 200) or "(it says nothing)"


def _unrecorded(_: Event) -> None:
    """Nobody keeps a transcript: doctor."""
