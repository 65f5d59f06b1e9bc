"""`droidpilot policy replay`: what other rules would have said of what was done. No phone, no model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit, UsageError, strictest_exit

if TYPE_CHECKING:
    from pathlib import Path

    from droidpilot.pipeline.replay import Replayed

_WORDS = {"deny": "refused", "ask": "asked about", "none": "left to --ask", "allow": "allowed"}


def replay(
    policy: Annotated[str, typer.Argument(metavar="NAME|PATH", help="The rules to try; a path has a slash.")],
    sessions: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SESSION]...",
            help="A session, the beginning of its id, or a transcript's path; all recorded ones if left out.",
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="List the calls that stay as they were, too.")] = False,
    code: Annotated[
        bool,
        typer.Option(
            "--exit-code",
            help="Exit 9 where a call would be decided otherwise, else 1 where a transcript does not verify.",
        ),
    ] = False,
    json: options.Json = False,
) -> Exit:
    """Say what these rules would have decided over past sessions, and where that differs from what was decided.

    Only the rules are asked again, with what was under the finger then; risk, budget and a person's answers are not.

    Examples: droidpilot policy replay ./my.rules; droidpilot policy replay ci 20261130 --all
    """
    from droidpilot.cli.policy import loaded_policy
    from droidpilot.cli.starting import sources
    from droidpilot.core.config import environment, state_home
    from droidpilot.core.events import ToolCalled
    from droidpilot.core.text import plural
    from droidpilot.pipeline.replay import replay as replayed_by
    from droidpilot.transcript.reader import read_events
    from droidpilot.transcript.verify import stands

    found = sources({"policy": policy})
    rules = loaded_policy(found, found.settings.policy)
    rows: list[dict[str, Any]] = []
    differing: Counter[str] = Counter()
    unverified: dict[str, str] = {}
    judged = without = 0
    paths = _paths(state_home(environment()), sessions or [])
    for name, path in paths:
        verification = stands(path if path.is_dir() else path.parent, key=found.audit_key)
        if not verification.ok:
            unverified[name] = verification.reason
        called = [line.event for line in read_events(path).lines if isinstance(line.event, ToolCalled)]
        replayed, missing = replayed_by(called, rules.rules)
        judged, without = judged + len(replayed), without + missing
        differing.update(one.now for one in replayed if one.is_other)
        shown = [one for one in replayed if everything or one.is_other]
        rows += [_row(name, one) for one in shown]
        if not json:
            for one in shown:
                output.result(f"{name}  {_line(one)}", style="warn" if one.is_other and one.now != "allow" else "plain")
    if json:
        output.result_json(
            {
                "policy": rules.name,
                "sessions": len(paths),
                "judged": judged,
                "not_judged": without,
                "verified": not unverified,
                "unverified": unverified,
                "calls": rows,
            }
        )
    else:
        parts = ", ".join(f"{count} {_WORDS[said]}" for said, count in sorted(differing.items()))
        output.result(
            f"{rules.name}: {plural(judged, 'call')} of {plural(len(paths), 'session')}, "
            + (f"{sum(differing.values())} decided otherwise: {parts}" if parts else "all decided as they were")
            + (f"; {plural(without, 'call')} without a record of what rules saw" if without else "")
        )
    for name, reason in unverified.items():
        output.note(f"{name}: its transcript does not verify, so this may not be what was done: {reason}", style="warn")
    codes = {Exit.DONE} | ({Exit.DRIFT} if differing else set()) | ({Exit.FAILED} if unverified else set())
    return strictest_exit(codes) if code else Exit.DONE


def _paths(home: Path, wanted: list[str]) -> list[tuple[str, Path]]:
    """Return a name and the transcript of each session; Raises UsageError where one is not there."""
    from pathlib import Path

    from droidpilot.transcript.sessions import find_session, session_directory, session_ids

    if not wanted:
        return [(one, session_directory(home, one)) for one in session_ids(home)]
    paths = []
    for name in wanted:
        path = Path(name)
        if "/" in name or name.endswith(".jsonl"):
            if not path.exists():
                raise UsageError(f"there is no transcript {name}", hint="`droidpilot session list` shows the sessions")
            paths.append((path.name if path.is_dir() else path.parent.name or path.name, path))
        else:
            found = find_session(home, name)
            paths.append((found, session_directory(home, found)))
    return paths


def _line(one: Replayed) -> str:
    by = f" by {one.now_by}" if one.now_by else ""
    if not one.is_other:
        return f"{one.call_id}  {one.sentence}: {_WORDS[one.now]}{by}, as it was"
    was = f" by {one.was_by}" if one.was_by else ""
    return f"{one.call_id}  {one.sentence}: {_WORDS[one.now]}{by}; was {_WORDS[one.was]}{was}"


def _row(session: str, one: Replayed) -> dict[str, Any]:
    return {
        "session": session,
        "call_id": one.call_id,
        "tool": one.tool,
        "sentence": one.sentence,
        "was": one.was,
        "was_by": one.was_by or None,
        "now": one.now,
        "now_by": one.now_by or None,
        "is_other": one.is_other,
    }
