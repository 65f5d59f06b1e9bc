"""What is broken on a virtual phone, now or at a call that is still to come. Safe to use from any thread.

A *call* is one thing that a client asks for. Each one counts once as `call`, and once for each of its kinds:

    rpc      one JSON-RPC request to the in-phone server, or one request for its picture
    shell    one command line of a shell or exec service
    sync     one request of the sync service (stat, list, send, receive)
    input    one request to touch, press or type: an RPC, one `input` command, one broadcast to the keyboard
    start    one request to start or stop an app: `am start`, `am force-stop`, `monkey`, launchApp
    dump     one reading of the UI hierarchy: an RPC, or one `uiautomator dump`
    picture  one picture: an RPC, GET /screenshot/0, or one `screencap`
    dumpsys  one `dumpsys`

An `input` command in a shell line is a `call` and a `shell` for its line, and an `input` for itself; /ping and raw
streams count as nothing. Counts begin with 1 at the phone's start and never go back. This file must never know a
socket, a shell or the phone.
"""

from __future__ import annotations

import difflib
import math
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol, get_args

from droidpilot.core.errors import UsageError
from droidpilot.core.text import quoted

Kind = Literal["call", "rpc", "shell", "sync", "input", "start", "dump", "picture", "dumpsys"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Life = Literal["event", "calls", "lasting"]
"""An event happens once; a fault of calls waits for calls of its kind and is used up; a lasting one stays."""
MOST_KEPT: Final = 1_000
"""Faults that may be set or scheduled at a time."""
MAX_SECONDS: Final = 3_600.0
MAX_TIMES: Final = 1_000_000
_AT: Final = re.compile(r"(?:([a-z]+):)?(\+?)([1-9][0-9]{0,8})")


@dataclass(frozen=True, slots=True)
class Form:
    """One sort of fault: what it does, which arguments it takes, and what its calls are."""

    name: str
    line: str
    life: Life
    kind: Kind = "call"
    """The calls that use it up, and those that NAME@CALL counts."""
    words: tuple[str, ...] = ()
    """Words it takes; the first one is taken where none is given."""
    seconds: float | None = None
    """Seconds where none are given; None takes none."""

    @property
    def usage(self) -> str:
        """Return name and arguments as a person would write them."""
        parts = [f"[{'|'.join(self.words)}]"] if self.words else []
        parts += ["[SECONDS]"] if self.seconds is not None else []
        parts += ["[times=N|always]"] if self.life == "calls" else []
        return " ".join([self.name, *parts])


NOW, BEFORE, AFTER, CUT = "now", "before", "after", "cut"
_PHASES: Final = (NOW, BEFORE, AFTER, CUT)
"""When an event happens: at once, before its call is executed, after it but before the reply, in mid-reply."""
DUMP_ERRORS: Final = (
    *("illegal-character", "idle", "null-root", "no-window", "empty", "no-hierarchy"),
    *("garbled", "cut", "trailing", "stale-file", "sticky-compressed"),
)
FORMS: Final[dict[str, Form]] = {
    form.name: form
    for form in (
        Form("drop", "the cable: every connection breaks; adb comes back by itself", "event", "call", _PHASES),
        Form("kill-adb-connection", "adbd starts anew: connections end, new ones wait a moment", "event"),
        Form(
            "hang",
            "nothing answers and nothing breaks; without SECONDS until cleared",
            "lasting",
            "call",
            (NOW, BEFORE, AFTER),
            0.0,
        ),
        Form("offline", "connections break, and new ones are refused for SECONDS", "event", "call", _PHASES, 10.0),
        Form("unauthorized", "the phone trusts no computer until cleared", "lasting"),
        Form("reboot", "connections break; after SECONDS the phone is back, locked", "event", "call", _PHASES, 5.0),
        Form("server-killed", "the in-phone server dies", "event", "rpc", _PHASES),
        Form("no-helper", "the in-phone server cannot run until cleared", "lasting"),
        Form(
            "not-connected",
            "the in-phone server says: UiAutomation not connected",
            "calls",
            "rpc",
            ("until-restart", "even-after-restart"),
        ),
        Form(
            "dump-error",
            "a reading of the screen fails in one of the ways of real phones",
            "calls",
            "dump",
            DUMP_ERRORS,
        ),
        Form("tap-lost", "an input is answered as done and not executed", "calls", "input"),
        Form("reply-lost", "an input is executed and never answered", "calls", "input", ("close", "silence")),
        Form("late-reply", "an input is executed and answered SECONDS later", "calls", "input", (), 5.0),
        Form("inject-denied", "inputs are refused, as where USB debugging may not inject", "lasting", "input"),
        Form(
            "slow", "every call takes as long as on a phone of that age", "lasting", "call", ("fast", "middling", "old")
        ),
        Form("storage-full", "no file can be written and no app installed", "lasting"),
        Form("ime-stuck", "another keyboard can be chosen, and the old one stays", "lasting"),
        Form("ime-unknown", "no keyboard for adb is installed", "lasting"),
        Form("settings-denied", "settings cannot be written", "lasting"),
        Form("screencap-fails", "no picture can be taken", "lasting", "picture", ("denied", "no-file", "empty")),
        Form("dumpsys-cut", "dumpsys breaks off in the middle", "calls", "dumpsys"),
    )
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault with its arguments. `left` is how many more calls it is good for; None has no end."""

    name: str
    word: str = ""
    seconds: float = 0.0
    left: int | None = None

    @property
    def form(self) -> Form:
        return FORMS[self.name]

    @property
    def is_event(self) -> bool:
        """Tell whether it happens at a moment of its call, and is not looked up by it."""
        return self.form.life == "event" or self.form.words[:1] == (NOW,)

    def state(self) -> dict[str, object]:
        """Return it ready for JSON."""
        told: dict[str, object] = {"name": self.name}
        if self.word:
            told["word"] = self.word
        if self.form.seconds is not None:
            told["seconds"] = self.seconds
        if self.left is not None:
            told["left"] = self.left
        return told


@dataclass(frozen=True, slots=True)
class Scheduled:
    """A fault that begins with the `at`-th call of a kind."""

    fault: Fault
    kind: Kind
    at: int


@dataclass(frozen=True, slots=True)
class Met:
    """What one call meets: faults by name, and the events that come with it."""

    faults: dict[str, Fault]
    events: tuple[Fault, ...] = ()

    def __contains__(self, name: str) -> bool:
        return name in self.faults

    def word(self, name: str) -> str:
        """Return the word of a fault that is met, else an empty text."""
        fault = self.faults.get(name)
        return "" if fault is None else fault.word


class Body(Protocol):
    """What the phone does when a fault begins or ends; called from any thread, and done when it returns."""

    def begin(self, fault: Fault) -> None: ...

    def end(self, name: str) -> None: ...


class Faults:
    """The faults of one phone."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        self._active: list[Fault] = []
        self._scheduled: list[Scheduled] = []
        self.body: Body | None = None
        """The running phone; None where nothing listens, and events then do nothing."""

    @property
    def calls(self) -> dict[str, int]:
        """How many calls of each kind there were; `call` is all of them."""
        with self._lock:
            return dict(self._counts)

    def set(self, name: str, *args: object) -> None:
        """Break something: an event at once, anything else from the next call on; with `before`, `after` or `cut` an
        event comes with the next input.

        Raises:
            UsageError: no such fault, or an argument it does not take; the message names what there is.
        """
        fault = read_fault(name, args)
        if fault.is_event and fault.word in (BEFORE, AFTER, CUT):
            self.schedule(name, "input:+1", *args)
            return
        self._begin(fault)

    def schedule(self, name: str, at_call: int | str, *args: object) -> None:
        """Break something with a call to come: the N-th since the phone's start, `KIND:N`, or `+N` for the N-th from
        now on. The kind is the fault's own where none is given.

        Raises:
            UsageError: no such fault, argument or kind, or that call is over.
        """
        fault = read_fault(name, args)
        if fault.word == NOW:
            fault = replace(fault, word=BEFORE)
        found = _AT.fullmatch(str(at_call))
        if found is None or (found[1] or "call") not in KINDS:
            raise UsageError(
                f"no call {quoted(str(at_call))}: a fault comes with the N-th call",
                hint=f"write N, +N or KIND:N; kinds: {', '.join(KINDS)}",
            )
        kind: Kind = next((known for known in KINDS if known == found[1]), fault.form.kind)
        with self._lock:
            at = int(found[3]) + (self._counts[kind] if found[2] else 0)
            if at <= self._counts[kind]:
                raise UsageError(
                    f"call {at} is over: {self._counts[kind]} of kind {kind} were made", hint=f"write +{found[3]}"
                )
            self._make_room()
            self._scheduled.append(Scheduled(fault, kind, at))

    def clear(self, name: str | None = None) -> None:
        """End a fault and forget what is scheduled of it; without a name all of them.

        Raises:
            UsageError: no such fault.
        """
        if name is not None:
            form_of(name)
        with self._lock:
            ended = {fault.name for fault in self._active if name in (None, fault.name)}
            self._active = [fault for fault in self._active if fault.name not in ended]
            self._scheduled = [one for one in self._scheduled if name is not None and one.fault.name != name]
        for one in sorted(ended):
            self._end(one)

    def active(self) -> list[dict[str, object]]:
        """Return the faults that are set, ready for JSON, oldest first."""
        with self._lock:
            return [fault.state() for fault in self._active]

    def state(self) -> dict[str, object]:
        """Return the truth about faults, ready for JSON."""
        with self._lock:
            coming = [{**one.fault.state(), "kind": one.kind, "at": one.at} for one in self._scheduled]
            return {"active": self.active(), "scheduled": coming, "calls": self.calls}

    # called by the phone

    def get(self, name: str) -> Fault | None:
        """Return a fault that is set, else None."""
        with self._lock:
            return next((fault for fault in self._active if fault.name == name), None)

    def is_set(self, name: str) -> bool:
        return self.get(name) is not None

    def meet(self, *kinds: Kind) -> Met:
        """Count one call of these kinds and return what it meets; faults of calls are used up by it."""
        with self._lock:
            for kind in kinds:
                self._counts[kind] += 1
            due = [one for one in self._scheduled if one.kind in kinds and one.at <= self._counts[one.kind]]
            self._scheduled = [one for one in self._scheduled if one not in due]
        events = tuple(one.fault for one in due if one.fault.is_event)
        for fault in (one.fault for one in due if not one.fault.is_event):
            self._begin(fault)
        with self._lock:
            return Met(self._used(kinds), events)

    def _used(self, kinds: Sequence[Kind]) -> dict[str, Fault]:
        met: dict[str, Fault] = {}
        kept: list[Fault] = []
        for fault in self._active:
            is_met = fault.form.kind in kinds and fault.name not in met
            if is_met or fault.form.life == "lasting":
                met.setdefault(fault.name, fault)
            if is_met and fault.left is not None:
                fault = replace(fault, left=fault.left - 1)
            if fault.left != 0:
                kept.append(fault)
        self._active = kept
        return met

    def begin_event(self, fault: Fault) -> None:
        """Let an event happen that a call met."""
        self._begin(replace(fault, word=NOW) if fault.word in _PHASES else fault)

    def server_started(self) -> None:
        """End what only lasts until the in-phone server is started anew."""
        with self._lock:
            self._active = [
                fault
                for fault in self._active
                if fault.word not in ("until-restart", "sticky-compressed") or fault.left is not None
            ]

    def is_over(self, name: str) -> None:
        """Forget a fault that ended by itself."""
        with self._lock:
            self._active = [fault for fault in self._active if fault.name != name]

    def _begin(self, fault: Fault) -> None:
        # Who goes away for some seconds is away until the phone says that it is back.
        is_kept = fault.form.life != "event" or (fault.form.seconds is not None and self.body is not None)
        with self._lock:
            if is_kept:
                self._make_room()
                if fault.form.life != "calls":
                    self._active = [one for one in self._active if one.name != fault.name]
                self._active.append(fault)
        if self.body is not None:
            self.body.begin(fault)

    def _end(self, name: str) -> None:
        if self.body is not None:
            self.body.end(name)

    def _make_room(self) -> None:
        if len(self._active) + len(self._scheduled) >= MOST_KEPT:
            raise UsageError(f"{MOST_KEPT} faults are set or scheduled already", hint="clear some")


def form_of(name: str) -> Form:
    """Return the form of a fault.

    Raises:
        UsageError: there is none of that name; the hint names the nearest.
    """
    form = FORMS.get(name)
    if form is None:
        near = difflib.get_close_matches(name, FORMS, n=3, cutoff=0.4)
        raise UsageError(
            f"no fault {quoted(name)}",
            hint=f"did you mean {' or '.join(near)}?" if near else "list them with: droidpilot virtual faults",
        )
    return form


def read_fault(name: str, args: Sequence[object]) -> Fault:
    """Read a fault with its arguments, in any order.

    Raises:
        UsageError: no such fault, or an argument that it does not take.
    """
    form = form_of(name)
    word, seconds, left = "", form.seconds or 0.0, _default_times(form)
    for arg in args:
        text = str(arg)
        if text in form.words:
            word = text
        elif form.life == "calls" and (text == "always" or text.startswith("times=")):
            left = None if text in ("always", "times=always") else _times(form, text.removeprefix("times="))
        elif form.seconds is not None and _is_number(text):
            seconds = float(text)
        else:
            raise UsageError(f"{name} does not take {quoted(text)}", hint=f"use: {form.usage}")
    word = word or next(iter(form.words), "")
    if name == "dump-error" and word == "sticky-compressed":
        left = None
    return Fault(name, word, seconds, left)


def read_option(text: str) -> tuple[str, str | None, list[str]]:
    """Split `NAME[@CALL][,ARG...]` as `--fault` takes it into name, call and arguments.

    Raises:
        UsageError: no such fault, call or argument.
    """
    head, *args = text.split(",")
    name, at, call = head.partition("@")
    read_fault(name, args)
    return name, call if at else None, args


def _default_times(form: Form) -> int | None:
    return 1 if form.life == "calls" and form.name != "not-connected" else None


def _times(form: Form, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) <= MAX_TIMES:
        raise UsageError(f"{form.name} cannot come {quoted(text)} times", hint=f"use: {form.usage}")
    return int(text)


def _is_number(text: str) -> bool:
    try:
        value = float(text)
    except ValueError:
        return False
    return math.isfinite(value) and 0 <= value <= MAX_SECONDS
