"""`droidpilot look --image`: the screen as text, and its picture with the refs drawn on, for people."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from droidpilot.cli.draw import FORMATS, boxes_of, draw
from droidpilot.cli.given_file import check_given, write_given
from droidpilot.cli.opening import opened, plan_of
from droidpilot.cli.progress import TerminalProgress
from droidpilot.cli.starting import Start
from droidpilot.core.calls import Origin, Status, ToolResult
from droidpilot.core.clock import SystemClock
from droidpilot.core.errors import Exit, UsageError
from droidpilot.core.stop import Stop
from droidpilot.plan import prepare
from droidpilot.screens.screen import Screen
from droidpilot.session import Session
from droidpilot.tools.picture_frame import Taken

#: How often screen and picture are taken anew where the screen changed between them.
MOST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Drawn:
    """What came of it. `text` is the last call's, `screen` None where one of them did not succeed."""

    text: str
    exit: Exit
    screen: Screen | None
    code: str  # why a call did not succeed
    is_matching: bool  # the picture shows the very screen whose refs are drawn


def check_image(path: Path) -> None:
    """Find out before a phone is reached whether the picture can be written.

    Raises:
        UsageError: a suffix that is none of ours, or a name that cannot be a file.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"{path} is neither .png nor .jpg", hint="for example: droidpilot look --image screen.png")
    check_given(path, "picture")


def look_and_draw(begun: Start, path: Path) -> Drawn:
    """Look at the phone and take its picture, both through the road, and write it with the refs on.

    Raises:
        UsageError: the picture cannot be written.
        DeviceError: the phone cannot be reached.
    """
    check_image(path)
    clock, stop = SystemClock(), Stop()
    prepared = prepare(plan_of(begun, clock=clock, stop=stop, origin=Origin.HUMAN, title="look --image"))
    with opened(prepared, clock=clock, stop=stop, progress=TerminalProgress(is_brief=True).listener()) as session:
        text, result, screen, taken = _both(session)
        if screen is not None and taken is not None:
            if taken.frame.is_fitting:
                data = draw(taken.whole, boxes_of(screen), screen.display, FORMATS[path.suffix.lower()])
            else:
                data = draw(taken.whole, (), screen.display, FORMATS[path.suffix.lower()])
            write_given(path, data, "picture")
        outcome = session.end_call(result)
    is_matching = screen is not None and taken is not None and taken.frame.is_fitting and _is_same(screen, taken)
    return Drawn(text, outcome.exit, screen if taken is not None else None, result.code, is_matching)


def _both(session: Session) -> tuple[str, ToolResult, Screen | None, Taken | None]:
    """Look and take a picture until both show the same; a call that did not succeed ends it."""
    for number in range(MOST_TRIES):
        tree = session.call("ui_tree", {})
        screen = tree.value
        if tree.status is not Status.OK or not isinstance(screen, Screen):
            return tree.text, tree, None, None
        shot = session.call("screenshot", {})
        if shot.status is not Status.OK or not isinstance(shot.value, Taken):
            return shot.text, shot, screen, None
        if _is_same(screen, shot.value) or number == MOST_TRIES - 1:
            return tree.text, shot, screen, shot.value
    raise AssertionError("the last try returns")


def _is_same(screen: Screen, taken: Taken) -> bool:
    return all(look.fingerprint == screen.fingerprint for look in taken.looks)
