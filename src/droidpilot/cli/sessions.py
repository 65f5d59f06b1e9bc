"""`droidpilot session`: what was recorded, and whether it is still what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from droidpilot.transcript.sessions import SessionEntry

app = typer.Typer(
    help="List, show and verify recorded sessions.", rich_markup_mode=None, no_args_is_help=True, add_completion=False
)

SessionId = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="The session, or the beginning of its id; the last one if left out."),
]


@app.command("list", short_help="List sessions, newest first.")
def list_sessions(json: options.Json = False) -> Exit:
    """List sessions, newest first.

    Example: droidpilot session list
    """
    from droidpilot.core.config import environment, state_home
    from droidpilot.transcript.sessions import sessions

    entries = sessions(state_home(environment()))[::-1]
    if json:
        output.result_json({"sessions": [_entry_json(entry) for entry in entries]})
    elif entries:
        output.table([("SESSION", "OUTCOME", "PHONE", "TURNS", "ACTIONS", "GOAL"), *map(_entry_row, entries)])
    else:
        output.note("there is no session yet; try: droidpilot demo")
    return Exit.DONE


@app.command(short_help="Show what was asked, decided, sent and answered.")
def show(session: SessionId = None, json: options.Json = False) -> Exit:
    """Show what was asked for, what was decided, what was sent and what came of it.

    Example: droidpilot session show 20261130
    """
    from droidpilot.cli.session_lines import as_json, as_lines
    from droidpilot.core.config import environment, state_home
    from droidpilot.transcript.reader import read_events
    from droidpilot.transcript.sessions import find_session, session_directory
    from droidpilot.transcript.verify import verify

    home = state_home(environment())
    directory = session_directory(home, find_session(home, session))
    transcript, verification = read_events(directory), verify(directory)
    if json:
        output.result_json(as_json(transcript, verification))
    else:
        for text, style in as_lines(transcript, verification):
            output.result(text, style=style)
    return Exit.DONE


@app.command("verify", short_help="Check that a transcript is as it was written.")
def verify_session(session: SessionId = None, json: options.Json = False) -> Exit:
    """Check the hash chain of a transcript; exit 1 and name the first bad line where it is broken.

    Example: droidpilot session verify
    """
    from droidpilot.cli.session_lines import verification_json, verification_line
    from droidpilot.core.config import environment, state_home
    from droidpilot.transcript.sessions import find_session, session_directory
    from droidpilot.transcript.verify import verify

    home = state_home(environment())
    session_id = find_session(home, session)
    verification = verify(session_directory(home, session_id))
    if json:
        output.result_json({"session": session_id, **verification_json(verification)})
    else:
        output.result(f"{session_id}: {verification_line(verification)}", style="good" if verification.ok else "bad")
        for text in verification.notes:
            output.result(f"  {text}")
    return Exit.DONE if verification.ok else Exit.FAILED


def _state(entry: SessionEntry) -> str:
    """Say how a session stands: its outcome, or that it runs, or that it was killed."""
    if entry.meta is None:
        return "unreadable"
    if entry.meta.outcome:
        return entry.meta.outcome
    return "running" if entry.meta.is_alive else "killed"


def _entry_row(entry: SessionEntry) -> tuple[str, ...]:
    meta = entry.meta
    if meta is None:
        return (entry.id, _state(entry), "", "", "", entry.problem)
    return (entry.id, _state(entry), meta.serial, str(meta.turns), str(meta.actions), meta.title)


def _entry_json(entry: SessionEntry) -> dict[str, Any]:
    meta = entry.meta.model_dump(mode="json") if entry.meta else None
    return {
        "id": entry.id,
        "state": _state(entry),
        "where": str(entry.directory),
        "meta": meta,
        "problem": entry.problem,
    }
