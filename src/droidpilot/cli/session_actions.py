"""`droidpilot session actions`: writes of which nobody knows whether they happened, and saying what became of them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from droidpilot.transcript.ledger import OpenAction

app = typer.Typer(
    help="Writes of which nobody knows whether they happened: list them, and say what became of one.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)


class _As(StrEnum):
    DONE = "done"
    NOT_DONE = "not-done"


@app.command("list", short_help="List the writes that may or may not have happened.")
def list_actions(json: options.Json = False) -> Exit:
    """List the writes of all ended sessions that may or may not have happened. Nothing does one of them again.

    Example: droidpilot session actions list
    """
    from droidpilot.core.config import audit_key, environment, state_home
    from droidpilot.transcript.ledger import open_actions

    env = environment()
    found = open_actions(state_home(env), key=audit_key(env))
    if json:
        output.result_json({"actions": [_as_json(one) for one in found]})
    elif found:
        rows = [(one.session, one.call.call_id, one.serial, one.call.sentence or one.call.tool) for one in found]
        output.table([("SESSION", "CALL", "PHONE", "WHAT MAY HAVE HAPPENED"), *rows])
        for session, doubt in {one.session: one.doubt for one in found if one.doubt}.items():
            output.note(f"{session}: its transcript was changed, and is not believed: {doubt}", style="warn")
        output.note(
            f"look at the phone, then: {output.program()} session actions resolve {found[0].name} --as done|not-done",
            style="dim",
        )
    else:
        output.note("nothing is unresolved")
    return Exit.DONE


@app.command(short_help="Say what became of a write.")
def resolve(
    session: Annotated[str, typer.Argument(metavar="SESSION", help="The session, or the beginning of its id.")],
    call: Annotated[str, typer.Argument(metavar="CALL", help="The call, as `session actions list` names it.")],
    outcome: Annotated[_As, typer.Option("--as", help="What you found on the phone.")],
    json: options.Json = False,
) -> Exit:
    """Say what became of a write, after a look at the phone: from then on the same call may be made again.

    Example: droidpilot session actions resolve 20261130 c3 --as not-done
    """
    from droidpilot.core.clock import SystemClock
    from droidpilot.core.config import audit_key, environment, state_home
    from droidpilot.transcript import ledger
    from droidpilot.transcript.projections import CallState
    from droidpilot.transcript.sessions import find_session

    env = environment()
    home = state_home(env)
    session_id = find_session(home, session)
    found: ledger.Found = "done" if outcome is _As.DONE else "not_done"
    before = ledger.resolve(home, session_id, call, found, clock=SystemClock(), key=audit_key(env))
    is_new = before.state is CallState.UNKNOWN
    stands = found if is_new else ("done" if before.state is CallState.DONE else "not_done")
    if json:
        output.result_json({"session": session_id, "call_id": call, "outcome": stands, "is_new": is_new})
    else:
        words = "happened" if stands == "done" else "did not happen"
        what = before.sentence or before.tool
        output.result(f"{session_id} {call}: {what}: it {words}" + ("" if is_new else " (that was known already)"))
    return Exit.DONE


def _as_json(one: OpenAction) -> dict[str, Any]:
    return {
        "session": one.session,
        "call_id": one.call.call_id,
        "serial": one.serial,
        "tool": one.call.tool,
        "sentence": one.call.sentence,
        "send_key": one.call.send_key,
        "code": one.call.code,
        "doubt": one.doubt,
    }
