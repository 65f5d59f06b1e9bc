"""Observer: the looks of a session. Reads the phone, builds Screens, numbers them, records each look.

Only this file turns dumps into Screens. What may be told of a screen is decided in visibility, not here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Literal

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import ScreenUnreadable
from droidpilot.core.events import Event, ScreenObserved
from droidpilot.device.driver import Display, Driver, Foreground
from droidpilot.device.settle import settle
from droidpilot.screens.hierarchy import Hierarchy, Node
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.refs import RefBook
from droidpilot.screens.restless import Restless
from droidpilot.screens.screen import Power, Screen, fingerprint_of, make_screen

Why = Literal["start", "call", "after_write", "stale", "refused"]

#: A look this young is still a fresh one (DESIGN.md section 3, staleness).
FRESH_S = 0.05


#: How many screens that were told are remembered, for calls of one reply that came of an earlier one.
_TOLD = 8
#: How many of the looks at a screen that never rests are compared to find what moves.
COMPARED = 8


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
        self._told: deque[Screen] = deque(maxlen=_TOLD)
        self._secret_fields: set[tuple[object, ...]] = set()
        self._number = 0
        self._parsed: _Dump | None = None
        self._restless = Restless()
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
        """Read the phone once, without waiting for it to be still; unless `anew`, a fresh look is used again."""
        if self.last is not None and self.is_fresh and not anew:
            return self.last
        started = self._clock.monotonic()
        dump = self._read(deadline)
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
            is_slight=lambda dump: before is not None and _is_focus_alone(before.hierarchy, dump.hierarchy),
            clock=self._clock,
        )
        is_never_idle = outcome.value.still != outcome.value.fingerprint and len(pictures) > 1
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
        self.shown = shown
        self._told.append(shown)
        if self.last is not None and self.last.number == screen.number:
            self.last = shown
        return shown

    def _read(self, deadline: Deadline) -> _Dump:
        data = self._driver.dump(deadline)
        self._read_at = self._clock.monotonic()
        # Most reads find the phone as the one before left it; parsing is the dearest part of a look.
        if self._parsed is None or self._parsed.data != data:
            hierarchy = parse_hierarchy(data)
            fingerprint = fingerprint_of(hierarchy)
            self._parsed = _Dump(data, hierarchy, fingerprint, self._still(hierarchy, fingerprint))
        return self._parsed

    def _still(self, hierarchy: Hierarchy, fingerprint: str) -> str:
        moving = self._restless.moving_in(hierarchy)
        return fingerprint_of(hierarchy, leave_out=moving) if moving else fingerprint

    def _finish(self, dump: _Dump, why: Why, started: float, rest: _Rest, deadline: Deadline) -> Screen:
        foreground = self._driver.foreground(deadline)
        display = self._driver.display(deadline)
        self._number += 1
        self._keep_passwords_back(dump.hierarchy)
        screen = self._screen(dump, foreground, display, rest)
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

    def _screen(self, dump: _Dump, foreground: Foreground, display: Display, rest: _Rest) -> Screen:
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
        if foreground.package is None:
            # What the nodes say is a guess; rules that name an app must know that it is not known (INV-5, B17).
            screen = replace(screen, package=None, activity=None)
        is_same = self.last is not None and _looks_like(self.last, screen)
        return replace(screen, refs=self.last.refs) if is_same and self.last is not None else screen


def _is_focus_alone(one: Hierarchy, other: Hierarchy) -> bool:
    """Tell whether two looks differ in nothing but where the focus is: a touch moves it at once, whatever follows."""
    if one.rotation != other.rotation or len(one.nodes) != len(other.nodes):
        return False
    pairs = zip(one.nodes, other.nodes, strict=True)
    return all(was == now or was._replace(focused=now.focused) == now for was, now in pairs)


def _field_key(node: Node) -> tuple[object, ...]:
    """Return what a field is known by; one without an id by its place and its hint."""
    place = () if node.resource_id else (node.bounds, node.hint, node.desc)
    return node.cls, node.resource_id, node.package, *place


def _is_masked(text: str) -> bool:
    return not text.strip("\u2022\u25cf\u2217*.\u00b7 ")


def _looks_like(one: Screen, other: Screen) -> bool:
    return (one.fingerprint, one.package, one.activity, one.rotation) == (
        other.fingerprint,
        other.package,
        other.activity,
        other.rotation,
    )
