"""One call of a person: a session of its own, through the same road and gates as a model's calls."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from droidpilot.cli.opening import opened, plan_of
from droidpilot.cli.progress import TerminalProgress
from droidpilot.cli.starting import Start
from droidpilot.core.calls import Origin, Status, ToolResult
from droidpilot.core.clock import SystemClock
from droidpilot.core.errors import BadArguments, DeviceLost, Exit, UsageError
from droidpilot.core.stop import Stop
from droidpilot.core.text import quoted
from droidpilot.plan import prepare
from droidpilot.session import Session
from droidpilot.tools.registry import validate
from droidpilot.transcript.files import ARTIFACTS


@dataclass(frozen=True, slots=True)
class HandCall:
    """What came of it, and the exit code that says so."""

    result: ToolResult
    exit: Exit
    picture: Path | None = None  # where the picture lies that the answer came with


def one_call(begun: Start, tool: str, arguments: Mapping[str, str], *, title: str = "") -> HandCall:
    """Call one tool on the phone of the settings. Values are text; the tool's own types turn them into what it wants.

    A list of sessions calls it by `title`, which is made of the call where it is left out.

    Raises:
        UsageError: no such tool, or arguments it cannot take; nothing was started.
        DeviceError: the phone cannot be reached, or it is a virtual one that ended meanwhile.
    """
    clock, stop = SystemClock(), Stop()
    title = title or _title(tool, arguments)
    prepared = prepare(plan_of(begun, clock=clock, stop=stop, origin=Origin.HUMAN, title=title))
    known = prepared.registry.get(tool)
    if known is None:
        near = prepared.registry.nearest(tool)
        hint = f"did you mean {near}?" if near else f"there are: {', '.join(prepared.registry.tools)}"
        raise UsageError(f"there is no tool {quoted(tool)}", hint=hint)
    try:
        validate(known, arguments)
    except BadArguments as error:
        raise UsageError(error.message, hint=error.hint) from None
    with opened(prepared, clock=clock, stop=stop, progress=TerminalProgress(is_brief=True).listener()) as session:
        result = session.call(tool, arguments)
        outcome = session.end_call(result)
        picture = _kept(session, result)
        if result.status is Status.FATAL and result.ends == "device":
            # Whoever chose the phone knows why it is gone.
            raise DeviceLost(message_of(result.text)[0])
    return HandCall(result, outcome.exit, picture)


def message_of(text: str) -> tuple[str, str]:
    """Split a result that came to nothing into its sentence and the screen behind it, empty where there is none."""
    sentence, _, screen = text.partition("\n")
    return sentence, screen


def _title(tool: str, arguments: Mapping[str, str]) -> str:
    """Say which call it is, without a text to be typed: it may be a secret."""
    words = (f"{name}={'...' if name == 'text' else value}" for name, value in arguments.items())
    return " ".join(["call", tool, *words])


def _kept(session: Session, result: ToolResult) -> Path | None:
    """Return where the picture of a result lies; None where there is none, or it holds a secret and was changed."""
    if result.image is None:
        return None
    path = session.directory / ARTIFACTS / f"{hashlib.sha256(result.image.data).hexdigest()}.jpg"
    return path if path.exists() else None
