"""`droidpilot run`: a goal, a phone, a model, one session."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import DroidpilotError, Exit, UsageError

#: Characters of a goal or a check.
MAX_GOAL = 20_000


def run(
    goal: Annotated[str, typer.Argument(metavar="GOAL", help="What the phone should be like in the end, in words.")],
    device: options.Device = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model, as its endpoint calls it.")] = None,
    base_url: Annotated[str | None, typer.Option(metavar="URL", help="OpenAI-compatible endpoint.")] = None,
    policy: options.Policy = None,
    ask: options.Ask = None,
    approver: options.Approver = None,
    check: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EXPR",
            help="Look at this on the phone after done: text=WORDS, text!=WORDS, package=NAME or "
            "setting:NAMESPACE/KEY=VALUE. May be given several times; all must hold.",
        ),
    ] = None,
    no_check: Annotated[
        bool, typer.Option("--no-check", help="Take the model's word: done without a check ends 0.")
    ] = False,
    max_turns: Annotated[int | None, typer.Option(metavar="N", help="Model requests (50).")] = None,
    max_actions: Annotated[int | None, typer.Option(metavar="N", help="Writes sent to the phone (100).")] = None,
    max_tokens: Annotated[int | None, typer.Option(metavar="N", help="Tokens sent and received (500000).")] = None,
    max_usd: Annotated[float | None, typer.Option(metavar="USD", help="Money; needs known prices (no limit).")] = None,
    max_seconds: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds, waiting for you excluded (900).")
    ] = None,
    pictures: Annotated[
        bool, typer.Option("--pictures", help="Keep a picture before each write, for session show --html.")
    ] = False,
    json: options.Json = False,
) -> Exit:
    """Let a model work towards a goal on one phone, every call gated and recorded.

    Example: droidpilot run "Turn Wi-Fi on" --model gpt-5-mini --check setting:global/wifi_on=1

    The exit code tells what was checked, not what the model said: done without --check is 8.
    """
    from droidpilot.cli.ending import Watched, outcome_json, outcome_line
    from droidpilot.cli.opening import opened, plan_of
    from droidpilot.cli.progress import TerminalProgress
    from droidpilot.cli.starting import start
    from droidpilot.core.calls import Origin
    from droidpilot.core.clock import SystemClock
    from droidpilot.core.stop import Stop
    from droidpilot.plan import prepare
    from droidpilot.session import make_model

    for text in (goal, *(check or ())):
        _require_text(text)
    if check and no_check:
        raise UsageError("--check and --no-check contradict each other", hint="give one of them")
    begun = start(
        {
            "device": device,
            "model": model,
            "base_url": base_url,
            "policy": policy,
            "ask": ask,
            "approver": approver,
            "max_turns": max_turns,
            "max_actions": max_actions,
            "max_tokens": max_tokens,
            "max_usd": max_usd,
            "max_seconds": max_seconds,
            "pictures": pictures or None,
        }
    )
    clock, stop = SystemClock(), Stop()
    plan = plan_of(
        begun,
        clock=clock,
        stop=stop,
        origin=Origin.MODEL,
        goal=goal,
        checks=tuple(check or ()),
        is_check_waived=no_check,
    )
    prepared = prepare(plan)
    watched = Watched(TerminalProgress())
    session = None
    try:
        with (
            closing(make_model(prepared, clock, progress=watched.listener())) as client,
            opened(prepared, clock=clock, stop=stop, progress=watched.listener()) as session,
        ):
            output.note(f"session {session.id}", style="dim")
            session.run_goal(client)
    except DroidpilotError as error:
        if session is None or session.outcome is None:
            raise
        output.note(f"droidpilot: {' '.join(str(error).split())}", style="bad")
    outcome = session.outcome
    assert outcome is not None, "a session that was opened and closed has an outcome"
    if json:
        output.result_json(outcome_json(outcome, session.id, session.directory, watched.checks))
    else:
        output.result(outcome_line(outcome, session.directory), style="good" if outcome.exit is Exit.DONE else "bad")
    return outcome.exit


def _require_text(text: str) -> None:
    """Raise UsageError for what is no text: nothing at all, too much, or bytes that the terminal did not encode."""
    if not text.strip() or len(text) > MAX_GOAL:
        raise UsageError(
            f"the goal and each check need 1 to {MAX_GOAL} characters",
            hint='for example: droidpilot run "Turn Wi-Fi on"',
        )
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError("the goal or a check is no valid text", hint="is the terminal's encoding UTF-8?")
