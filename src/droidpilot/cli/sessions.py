"""`droidpilot session`: what was recorded, and whether it is still what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output, session_actions
from droidpilot.core.errors import Exit, UsageError

if TYPE_CHECKING:
    from droidpilot.transcript.artifacts import ArtifactStore
    from droidpilot.transcript.reader import Transcript
    from droidpilot.transcript.sessions import SessionEntry
    from droidpilot.transcript.verify import Verification

app = typer.Typer(
    help="List, show and verify recorded sessions.", rich_markup_mode=None, no_args_is_help=True, add_completion=False
)

app.add_typer(session_actions.app, name="actions")

#: A person's screen holds no more; a program gets all.
_LISTED = 30

SessionId = Annotated[
    str | None,
    typer.Argument(metavar="[ID]", help="The session, or the beginning of its id; the last one if left out."),
]


@dataclass(frozen=True, slots=True)
class _Found:
    """What a session's directory holds."""

    transcript: Transcript
    verification: Verification
    artifacts: ArtifactStore


@app.command("list", short_help="List sessions, newest first.")
def list_sessions(
    last: Annotated[
        int | None,
        typer.Option("--last", metavar="N", min=0, help="Only the newest N, 0 for all (30; with --json all)."),
    ] = None,
    json: options.Json = False,
) -> Exit:
    """List sessions, newest first.

    Example: droidpilot session list --last 0
    """
    from droidpilot.core.config import environment, state_home
    from droidpilot.core.text import plural
    from droidpilot.transcript.sessions import sessions

    found = sessions(state_home(environment()))[::-1]
    entries = found[: (0 if json else _LISTED) or None] if last is None else found[: last or None]
    if json:
        output.result_json({"sessions": [_entry_json(entry) for entry in entries]})
    elif entries:
        output.table([("SESSION", "OUTCOME", "PHONE", "TURNS", "ACTIONS", "GOAL OR CALL"), *map(_entry_row, entries)])
        if len(entries) < len(found):
            older = plural(len(found) - len(entries), "older session")
            output.note(f"{older} not shown: {output.program()} session list --last 0", style="dim")
    else:
        output.note("there is no session yet; try: droidpilot demo")
    return Exit.DONE


@app.command(short_help="Show what was asked, decided, sent and answered.")
def show(
    session: SessionId = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Write all of it to FILE as one page that needs no network."),
    ] = None,
    is_opening: Annotated[
        bool,
        typer.Option("--open", help="Open the pictures, or the page with --html or where there are no pictures."),
    ] = False,
    json: options.Json = False,
) -> Exit:
    """Show what was asked for, what was decided, what was sent and what came of it.

    It exits 1 where the transcript is not as it was written.

    Example: droidpilot session show 20261130 --html page.html --open
    """
    from droidpilot.cli.session_lines import as_json, as_lines, picture_paths, verification_line
    from droidpilot.cli.session_page import open_files, own_page_path
    from droidpilot.core.config import audit_key, environment, state_home
    from droidpilot.transcript.artifacts import ArtifactStore
    from droidpilot.transcript.reader import read_events
    from droidpilot.transcript.redaction import Redactor
    from droidpilot.transcript.sessions import find_session, session_directory
    from droidpilot.transcript.verify import verify

    if json and (html is not None or is_opening):
        raise UsageError("--json goes with neither --html nor --open", hint="run the command twice")
    home = state_home(environment())
    session_id = find_session(home, session)
    directory = session_directory(home, session_id)
    key = audit_key(environment())
    found = _Found(read_events(directory), verify(directory, key=key), ArtifactStore(directory, redactor=Redactor()))
    is_running = _is_running(directory)
    code = Exit.DONE if found.verification.ok else Exit.FAILED
    path_of = found.artifacts.path_of
    if json:
        output.result_json(as_json(found.transcript, found.verification, path_of, is_running=is_running))
        return code
    if html is None:
        is_last = session is None
        for text, style in as_lines(
            found.transcript, found.verification, path_of, is_running=is_running, is_last=is_last
        ):
            output.result(text, style=style)
        pictures = picture_paths(found.transcript, path_of)
        if is_opening and pictures:
            _open_pictures(pictures)
            return code
    if html is not None or is_opening:
        page_path = html if html is not None else own_page_path(home, session_id)
        _write_page(page_path, found)
        if is_opening:
            open_files([page_path], environment())
        if not found.verification.ok:
            output.note(verification_line(found.verification), style="bad")
    return code


@app.command("verify", short_help="Check that a transcript is as it was written.")
def verify_session(session: SessionId = None, json: options.Json = False) -> Exit:
    """Check the hash chain of a transcript; exit 1 and name the first bad line where it is broken.

    Example: droidpilot session verify
    """
    from droidpilot.cli.session_lines import verification_json, verification_line
    from droidpilot.core.config import audit_key, environment, state_home
    from droidpilot.transcript.sessions import find_session, session_directory
    from droidpilot.transcript.verify import verify

    home = state_home(environment())
    session_id = find_session(home, session)
    verification = verify(session_directory(home, session_id), key=audit_key(environment()))
    if json:
        output.result_json({"session": session_id, **verification_json(verification)})
    else:
        output.result(f"{session_id}: {verification_line(verification)}", style="good" if verification.ok else "bad")
        for text in verification.notes:
            output.result(f"  {text}")
        if verification.ok:
            output.result(f"  head {verification.end.hash} (kept elsewhere, it shows a rewrite of the whole, too)")
    return Exit.DONE if verification.ok else Exit.FAILED


def _write_page(path: Path, found: _Found) -> None:
    from droidpilot.cli.session_page import write_page
    from droidpilot.transcript.page import page

    size = write_page(path, page(found.transcript, found.verification, artifact=found.artifacts.get))
    output.result(f"wrote {path} ({size / 1000:,.0f} kB)")


def _open_pictures(pictures: list[Path]) -> None:
    from droidpilot.cli.session_page import MOST_OPENED, open_files
    from droidpilot.core.config import environment

    if len(pictures) > MOST_OPENED:
        output.note(f"only the last {MOST_OPENED} of {len(pictures)} pictures are opened; --html FILE shows all")
    open_files(pictures[-MOST_OPENED:], environment())


def _state(entry: SessionEntry) -> str:
    """Say how a session stands: its outcome, or that it runs, or that it was killed."""
    if entry.meta is None:
        return "unreadable"
    if entry.meta.outcome:
        return entry.meta.outcome
    return "running" if entry.meta.is_alive else "killed"


def _is_running(directory: Path) -> bool | None:
    """Tell whether the process that writes a session is there, None where its meta file does not say."""
    from droidpilot.transcript.meta import MetaFile

    try:
        return MetaFile(directory).read().is_alive
    except UsageError:
        return None


def _used(entry: SessionEntry) -> tuple[int, int] | None:
    """Return turns and actions; of a session without an ending its transcript tells them, None where it cannot."""
    from droidpilot.transcript.projections import totals
    from droidpilot.transcript.reader import read_events

    if entry.meta is not None and entry.meta.outcome:
        return entry.meta.turns, entry.meta.actions
    try:
        used = totals(read_events(entry.directory).lines)
    except UsageError:
        return None
    return used.turns, used.actions


def _entry_row(entry: SessionEntry) -> tuple[str, ...]:
    meta = entry.meta
    turns, actions = map(str, _used(entry) or ("?", "?"))
    if meta is None:
        return (entry.id, _state(entry), "", turns, actions, entry.problem)
    return (entry.id, _state(entry), meta.serial, turns, actions, meta.title)


def _entry_json(entry: SessionEntry) -> dict[str, Any]:
    meta = entry.meta.model_dump(mode="json") if entry.meta else None
    used = _used(entry)
    return {
        "id": entry.id,
        "state": _state(entry),
        "where": str(entry.directory),
        "turns": used[0] if used else None,
        "actions": used[1] if used else None,
        "meta": meta,
        "problem": entry.problem,
    }
