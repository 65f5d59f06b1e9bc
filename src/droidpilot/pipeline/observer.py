"""Observer: the looks of a session. Reads the phone, builds Screens, numbers them, records each look.

Only this file turns dumps into Screens. What may be told of a screen is decided in visibility, not here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, ScreenUnreadable
from droidpilot.core.events import Event, ScreenObserved
from droidpilot.device.driver import Display, Driver, Foreground
from droidpilot.device.pace import Pace
from droidpilot.device.settle import settle
from droidpilot.screens.hierarchy import Hierarchy, Node
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.restless import Restless
from droidpilot.screens.screen import (
    Power,
    Screen,
    fingerprint_of,
    is_foreign,
    is_helper_package,
    is_sparse,
    keyboard_windows,
    make_screen,
)

Why = Literal["start", "call", "after_write", "stale", "refused"]

#: A look this young is still a fresh one (DESIGN.md section 3, staleness).
FRESH_S = 0.05


#: How often a look whose tree is not that of the app in front is taken again, and the pause before each.
FOREIGN_TRIES = 2
FOREIGN_GAP_S = 0.15
#: How many screens that were told are remembered, for calls of one reply that came of an earlier one.
_TOLD = 8
#: How many of the looks at a screen that never rests are compared to find what moves.
COMPARED = 8


#: Whose windows lie over every app and change by themselves: the clock, the battery, a badge.
SYSTEM_BARS = "com.android.systemui"
NO_FRONT = "the phone does not say which app is in front"
#: Where the phone says which keyboard is the chosen one, as package/service.
_KEYBOARD_SETTING = ("secure", "default_input_method")
PLAIN = "by plain ADB: slower, types only ASCII"


@dataclass(frozen=True, slots=True)
class _Dump:
    data: bytes
    hierarchy: Hierarchy
    fingerprint: str
    still: str  # fingerprint of what is not known to move for ever


@dataclass(frozen=True, slots=True)
class _Rest:
    """What waiting for a screen showed."""

    is_settled: bool = True
    is_never_idle: bool = False


class Observer:
    """Takes looks at one phone. `shown` is the last screen whose refs were given to whoever asks."""

    def __init__(
        self,
        driver: Driver,
        clock: Clock,
        refs: RefBook,
        *,
        record: Callable[[Event], None],
        keep: Callable[[bytes], str],
        hide: Callable[[str], None],
    ) -> None:
        self._driver = driver
        self._clock = clock
        self._refs = refs
        self._record = record
        self._keep = keep
        self._hide = hide
        self._pace = Pace(driver.facts.round_trip_s)
        self._told: deque[Screen] = deque(maxlen=_TOLD)
        self._secret_fields: set[tuple[object, ...]] = set()
        self._number = 0
        self._parsed: _Dump | None = None
        self._restless = Restless()
        self._said_once: set[str] = set()
        self._strangers: frozenset[str] = frozenset()
        self._keyboard = ""
        self.last: Screen | None = None
        self._read_at = float("-inf")
        self.shown: Screen | None = None

    @property
    def is_fresh(self) -> bool:
        """Whether the last look is young enough to act on."""
        return self.last is not None and self._clock.monotonic() - self._read_at <= FRESH_S

    def find(self, ref: int, screen: Screen) -> Node:
        """Return the node that `ref` names on `screen`.

        Raises:
            TargetError: no_ref, never_printed, foreign_ref, stale_ref, ambiguous_ref.
        """
        self._refs.check_printed(ref)
        return self._refs.find(ref, screen.hierarchy, screen.display, front=screen.package)

    def note_printed(self, refs: Iterable[int]) -> None:
        """Remember which refs stand in the text that whoever asks is given; only these may be used."""
        self._refs.note_printed(refs)

    def unprinted(self, screen: Screen) -> frozenset[int]:
        """Return the refs of a screen that no text has shown to whoever asks."""
        return self._refs.unprinted(screen.refs)

    def glance(self, why: Why, deadline: Deadline, *, anew: bool = False) -> Screen:
        """Read the phone once, without waiting for it to be still; unless `anew`, a fresh look is used again.

        A keyboard that is not where it was on the last look is on its way: then it is waited for (B36).
        """
        if self.last is not None and self.is_fresh and not anew:
            return self.last
        started = self._clock.monotonic()
        dump = self._read(deadline)
        if self.last is not None and _keyboards(self.last.hierarchy) != _keyboards(dump.hierarchy):
            return self.settled(why, deadline)
        return self._finish(dump, why, started, _Rest(is_never_idle=dump.still != dump.fingerprint), deadline)

    def settled(self, why: Why, deadline: Deadline, *, before: Screen | None = None) -> Screen:
        """Read until the screen is still: after a write (`before`), until it changed and is still again."""
        started = self._clock.monotonic()
        looks: deque[Hierarchy] = deque(maxlen=COMPARED)
        pictures: set[str] = set()

        def read() -> _Dump:
            dump = self._read(deadline)
            looks.append(dump.hierarchy)
            pictures.add(dump.fingerprint)
            return dump

        outcome = settle(
            read,
            lambda dump: dump.still,
            before=self._still(before.hierarchy, before.fingerprint) if before is not None else None,
            is_slight=lambda dump: before is not None and is_slight(before.hierarchy, dump.hierarchy),
            clock=self._clock,
        )
        is_never_idle = outcome.value.still != outcome.value.fingerprint and (
            len(pictures) > 1 or self._was_never_idle(outcome.value)
        )
        if not outcome.is_settled:
            # Waited for once: from now on what moves here is left out of the question whether it is still.
            self._restless.learn(tuple(looks))
            self._parsed = None
            is_never_idle = True
        rest = _Rest(is_settled=outcome.is_settled, is_never_idle=is_never_idle)
        return self._finish(outcome.value, why, started, rest, deadline)

    def unread(self, why: Why, error: ScreenUnreadable, deadline: Deadline) -> Screen:
        """Return a look at a screen that cannot be read: who is in front, and no node (B01, B02).

        Enough to judge a picture by; it is no look to act on, so the last one stays the last.
        """
        hierarchy = Hierarchy((), repairs=(f"its text cannot be read ({error.code})",), is_complete=False)
        fingerprint = fingerprint_of(hierarchy)
        last, started = self.last, self._clock.monotonic()
        dump = _Dump(str(error).encode(), hierarchy, fingerprint, fingerprint)
        try:
            return self._finish(dump, why, started, _Rest(is_settled=False), deadline)
        finally:
            self.last = last

    @property
    def pace(self) -> Pace:
        """How fast the phone answers."""
        return self._pace

    def is_changed(self, before: Screen, after: Screen) -> bool:
        """Tell whether something happened between two looks: clocks, badges and what moves for ever aside."""
        if _state(before) != _state(after):
            return True
        if before.fingerprint == after.fingerprint:
            return not _is_same(before, after)
        return self._quiet(before) != self._quiet(after)

    def _quiet(self, screen: Screen) -> tuple[object, ...]:
        """Return what of a screen does not change by itself."""
        hierarchy = screen.hierarchy
        bars = {node.index for node in hierarchy.nodes if node.package == SYSTEM_BARS != screen.package}
        left_out = self._restless.moving_in(hierarchy) | bars
        return screen.package, screen.activity, fingerprint_of(hierarchy, leave_out=left_out)

    def told(self, number: int | None) -> Screen | None:
        """Return the screen of that number if it is one of the last few that were told."""
        return next((screen for screen in self._told if screen.number == number), None)

    def show(self, screen: Screen) -> Screen:
        """Give refs to the nodes of `screen`, which is about to be told to whoever asks.

        Where it is still the screen that was told last, that one is returned, and stays.
        """
        told = self.shown
        if told is not None and _looks_like(told, screen):
            return told
        shown = screen
        if not shown.refs:
            shown = replace(screen, refs=self._refs.assign(screen.hierarchy, screen.display, front=screen.package))
        if told is not None and told.rotation != shown.rotation:
            shown = replace(shown, health=replace(shown.health, turned_from=told.rotation))
        shown = self._once(shown, told)
        self.shown = shown
        self._told.append(shown)
        if self.last is not None and self.last.number == screen.number:
            self.last = shown
        return shown

    def _once(self, screen: Screen, told: Screen | None) -> Screen:
        """Leave out what was said before and is no news of this screen: that texts are lossy is said once."""
        if not screen.health.is_lossy:
            return screen
        if "lossy" in self._said_once and not (told is not None and told.health.is_lossy and _is_same(told, screen)):
            return replace(screen, health=replace(screen.health, is_lossy=False))
        self._said_once.add("lossy")
        return screen

    def _was_never_idle(self, dump: _Dump) -> bool:
        """Tell whether the screen that was looked at last, known again by what stands still, was never idle."""
        last = self.last
        return last is not None and last.health.is_never_idle and self._still_of(last) == dump.still

    def _still_of(self, screen: Screen) -> str:
        return self._still(screen.hierarchy, screen.fingerprint)

    def _read(self, deadline: Deadline) -> _Dump:
        data = self._driver.dump(deadline)
        self._read_at = self._clock.monotonic()
        # Most reads find the phone as the one before left it; parsing is the dearest part of a look.
        if self._parsed is None or self._parsed.data != data:
            hierarchy = self._with_keyboard(parse_hierarchy(data), deadline)
            fingerprint = fingerprint_of(hierarchy)
            self._parsed = _Dump(data, hierarchy, fingerprint, self._still(hierarchy, fingerprint))
        return self._parsed

    def _with_keyboard(self, hierarchy: Hierarchy, deadline: Deadline) -> Hierarchy:
        """Note which package is the phone's keyboard; asked when an app is there that was not when it was asked last.

        A screen of one app needs no answer: what is alone is no keyboard.
        """
        apps = {root.package for root in hierarchy.roots() if not is_helper_package(root.package)} - {""}
        if len(apps) < 2:
            return hierarchy
        if not apps <= self._strangers:
            try:
                found = self._driver.read_setting(*_KEYBOARD_SETTING, deadline.sooner(self._pace.patience_s))
            except DeviceError:
                pass  # asked again when the screen is another one; until then names and looks tell
            else:
                self._keyboard, self._strangers = (found or "").partition("/")[0], self._strangers | apps
        return replace(hierarchy, keyboard=self._keyboard)

    def _still(self, hierarchy: Hierarchy, fingerprint: str) -> str:
        moving = self._restless.moving_in(hierarchy)
        return fingerprint_of(hierarchy, leave_out=moving) if moving else fingerprint

    def _front(self, deadline: Deadline) -> Foreground | None:
        """Ask which app is in front; None where the phone does not say in the time that it usually needs.

        It is asked to help, and must not fail what it was to help (B17): an app that is not known makes rules ask.
        """
        started = self._clock.monotonic()
        try:
            found = self._driver.foreground(deadline.sooner(self._pace.patience_s))
        except DeviceError:
            return None
        self._pace.note(self._clock.monotonic() - started)
        return found

    def _state(self, front: Foreground, deadline: Deadline) -> Foreground:
        """Ask by another way whether the phone is locked or off, where the first answer did not say. Fails nothing."""
        if front.is_locked is not None and front.is_off is not None:
            return front
        try:
            said = self._driver.lock_state(deadline.sooner(self._pace.patience_s))
        except DeviceError:
            return front
        return replace(
            front,
            is_locked=said.is_locked if front.is_locked is None else front.is_locked,
            is_off=said.is_off if front.is_off is None else front.is_off,
        )

    def _look_around(self, dump: _Dump, deadline: Deadline) -> tuple[_Dump, Foreground | None, Display]:
        """Read what a dump does not say; where the tree is not that of the app in front, read both again."""
        front = self._front(deadline)
        for _ in range(FOREIGN_TRIES):
            if front is None or not is_foreign(dump.hierarchy, front.package) or deadline.is_over():
                break
            self._clock.sleep(FOREIGN_GAP_S)
            dump = self._read(deadline)
            front = self._front(deadline)
        display = self._driver.display(deadline)
        # The line may have been gone just then; the phone answers again now.
        return dump, front or self._front(deadline), display

    def _finish(self, dump: _Dump, why: Why, started: float, rest: _Rest, deadline: Deadline) -> Screen:
        read = dump
        dump, front, display = self._look_around(read, deadline)
        if dump is not read and dump.fingerprint != read.fingerprint:
            rest = replace(rest, is_settled=False)
        foreground = self._state(front or Foreground(None, None), deadline)
        self._number += 1
        self._keep_passwords_back(dump.hierarchy)
        screen = self._screen(dump, foreground, display, rest, notes=() if front is not None else (NO_FRONT,))
        self.last = screen
        self._record(
            ScreenObserved(
                screen=screen.number,
                why=why,
                package=screen.package,
                activity=screen.activity,
                fingerprint=screen.fingerprint,
                nodes=len(screen.nodes),
                is_settled=screen.health.is_settled,
                is_complete=screen.health.is_complete,
                ms=round((self._clock.monotonic() - started) * 1000),
                artifact=self._keep(dump.data),
                width=screen.width,
                height=screen.height,
            )
        )
        return screen

    def is_secret(self, node: Node) -> bool:
        """Tell whether a field is for a password, or was one before "show password" was tapped."""
        return node.password or _field_key(node) in self._secret_fields

    def _keep_passwords_back(self, hierarchy: Hierarchy) -> None:
        """Hide what stands readable in a password field, also one that shows it now (INV-40)."""
        for node in hierarchy.nodes:
            if node.password:
                self._secret_fields.add(_field_key(node))
            if node.is_editable and self.is_secret(node) and not _is_masked(node.text) and node.text != node.hint:
                self._hide(node.text)

    def _screen(
        self, dump: _Dump, foreground: Foreground, display: Display, rest: _Rest, *, notes: tuple[str, ...]
    ) -> Screen:
        screen = make_screen(
            number=self._number,
            hierarchy=dump.hierarchy,
            foreground_package=foreground.package,
            activity=foreground.activity,
            width=display.width,
            height=display.height,
            rotation=display.rotation,
            is_settled=rest.is_settled,
            is_never_idle=rest.is_never_idle,
            power=Power(is_locked=foreground.is_locked, is_off=foreground.is_off, is_secure=foreground.is_secure),
            fingerprint=dump.fingerprint,
        )
        if self._driver.facts.is_plain:
            notes = (*notes, PLAIN)
        health = replace(
            screen.health,
            is_sparse=is_sparse(screen.hierarchy, screen.package, screen.display),
            notes=(*screen.health.notes, *notes),
        )
        screen = replace(screen, health=health)
        if foreground.package is None:
            # What the nodes say is a guess; rules that name an app must know that it is not known (INV-5, B17).
            screen = replace(screen, package=None, activity=None)
        is_same = self.last is not None and _looks_like(self.last, screen)
        return replace(screen, refs=self.last.refs) if is_same and self.last is not None else screen


def is_slight(one: Hierarchy, other: Hierarchy) -> bool:
    """Tell whether two looks differ in no more than what a touch does by itself, whatever it sets off later.

    It moves the focus, it has a keyboard come or go, and it closes a dialog: what that dialog's button is for (a page
    that closes too, a list that is shorter then) comes a moment later.
    """
    if one.rotation != other.rotation:
        return False
    if _largest(one) < _largest(other):
        return True
    was, now = (_beside_keyboards(hierarchy) for hierarchy in (one, other))
    return len(was) == len(now) and all(_bare(before) == _bare(after) for before, after in zip(was, now, strict=True))


def _largest(hierarchy: Hierarchy) -> int:
    """Return the area of the largest window: where it grows, a dialog gave way to the page below it."""
    keyboards = keyboard_windows(hierarchy, None)
    roots = (root.bounds for root in hierarchy.roots() if root.window not in keyboards)
    return max((bounds.width * bounds.height for bounds in roots), default=0)


def _beside_keyboards(hierarchy: Hierarchy) -> tuple[Node, ...]:
    keyboards = keyboard_windows(hierarchy, None)
    return tuple(node for node in hierarchy.nodes if node.window not in keyboards) if keyboards else hierarchy.nodes


def _bare(node: Node) -> Node:
    """Return a node without focus and without its place in the dump, which another window in front of it shifts."""
    return node._replace(focused=False, index=0, parent=0, end=0, window=0)


def _field_key(node: Node) -> tuple[object, ...]:
    """Return what a field is known by; one without an id by its place and its hint."""
    place = () if node.resource_id else (node.bounds, node.hint, node.desc)
    return node.cls, node.resource_id, node.package, *place


def _keyboards(hierarchy: Hierarchy) -> list[object]:
    """Return where the keyboards of a dump lie: one that slides is elsewhere at the next look."""
    windows = keyboard_windows(hierarchy, None)
    return [root.bounds for root in hierarchy.roots() if root.window in windows]


def _is_same(one: Screen, other: Screen) -> bool:
    return (one.package, one.activity) == (other.package, other.activity)


def _is_masked(text: str) -> bool:
    return not text.strip("\u2022\u25cf\u2217*.\u00b7 ")


def _looks_like(one: Screen, other: Screen) -> bool:
    return (one.fingerprint, one.package, one.activity, one.rotation, _state(one)) == (
        other.fingerprint,
        other.package,
        other.activity,
        other.rotation,
        _state(other),
    )


def _state(screen: Screen) -> tuple[bool, ...]:
    """Return what a phone in the same picture may be: a dark one still has its tree."""
    health = screen.health
    return health.is_off, health.is_locked, health.is_state_unknown, health.is_foreign
