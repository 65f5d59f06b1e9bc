"""A recorded session as lines of text, and as JSON. Values in, text out; what a line means is not known here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from droidpilot.cli.output import Style
from droidpilot.core.text import one_line, plural
from droidpilot.transcript.artifacts import is_digest
from droidpilot.transcript.projections import CallState, CallView, Totals, calls
from droidpilot.transcript.reader import RawEvent, Transcript
from droidpilot.transcript.session_view import Entry, session_view
from droidpilot.transcript.verify import Verification

#: Looks are many, and each call tells its own result: they are left out of the text (not of the JSON).
_QUIET_WORDS = frozenset({"screen"})
_BAD = frozenset({"refused", "fatal", "unknown", "failed", "no", "expired", "nobody", "stopped", "not judged"})
_GOOD = frozenset({"ok", "done", "passed", "yes"})
#: How states read where their own word is no sentence.
_STATE_WORDS = {
    "not_sent": "not sent",
    "transient": "not done",
    "logic": "not done",
    "fatal": "not done",
    "not_done": "found not to have happened",
    "done": "found to have happened",
}


#: Says where an artifact lies, None where it is gone.
PathOf = Callable[[str], Path | None]


def as_lines(
    transcript: Transcript,
    verification: Verification,
    path_of: PathOf,
    *,
    is_running: bool | None,
    is_last: bool = False,
) -> Iterator[tuple[str, Style]]:
    """Return the lines of `session show`, each with its style; the last one says whether the chain holds.

    Where it does not, the first one does so too: nothing below it can be relied on. `is_last` says that nobody named
    the session, so that its id has to be pointed out.
    """
    if not verification.ok:
        yield verification_line(verification), "bad"
    view = session_view(transcript.lines, is_running=is_running)
    width = max((len(name) for name, _ in view.header), default=0)
    for number, (name, value) in enumerate(view.header):
        mark = " (the last one; droidpilot session list shows all)" if is_last and number == 0 else ""
        yield f"{name.ljust(width)}  {value}{mark}", "plain"
    yield "", "plain"
    for entry in view.entries:
        if entry.word not in _QUIET_WORDS:
            yield _entry_line(entry), _style(entry.state)
    yield "", "plain"
    yield from _picture_lines(transcript, path_of)
    yield f"outcome: {view.outcome}; {_totals(view.totals)}", "bold"
    if view.totals.unknown:
        yield (
            f"{plural(view.totals.unknown, 'write')} may or may not have happened: look at the phone before going on",
            "bad",
        )
    yield verification_line(verification), "good" if verification.ok else "bad"


def as_json(
    transcript: Transcript, verification: Verification, path_of: PathOf, *, is_running: bool | None
) -> dict[str, Any]:
    """Return everything that `session show --json` prints: the view, every call, and the verification."""
    view = session_view(transcript.lines, is_running=is_running)
    return {
        "header": dict(view.header),
        "outcome": view.outcome,
        "exit_code": view.exit_code,
        "totals": {**asdict(view.totals), "tokens": view.totals.tokens},
        "entries": [asdict(entry) for entry in view.entries],
        "calls": [_call_json(call) for call in map(asdict, calls(transcript.lines))],
        "pictures": [
            {"call_id": call.call_id, "path": None if path is None else str(path)}
            for call, path in _pictures(transcript, path_of)
        ],
        "unread_lines": sum(isinstance(line.event, RawEvent) for line in transcript.lines),
        "verification": verification_json(verification),
    }


def picture_paths(transcript: Transcript, path_of: PathOf) -> list[Path]:
    """Return where the pictures of a session lie, in order, each once; those that are gone are left out."""
    return list(dict.fromkeys(path for _, path in _pictures(transcript, path_of) if path is not None))


def verification_line(verification: Verification) -> str:
    """Say in one line whether the chain holds, and where it does not."""
    if not verification.ok:
        return f"NOT verified: line {verification.first_bad_line} is the first bad one: {verification.reason}"
    words = f"verified: {plural(verification.lines, 'line')}, the chain holds"
    if verification.torn:
        words += "; the last line was not finished (the session was killed)"
    elif verification.is_head_behind:
        words += "; the session was killed after its last line"
    if verification.is_seal_checked:
        words += "; sealed with the audit key"
    elif verification.is_sealed:
        words += "; it is sealed with an audit key, which was not checked: set DROIDPILOT_AUDIT_KEY"
    return words


def verification_json(verification: Verification) -> dict[str, Any]:
    """Return a verification as JSON values."""
    return {
        "ok": verification.ok,
        "first_bad_line": verification.first_bad_line,
        "reason": verification.reason,
        "lines": verification.lines,
        "head": verification.end.hash,
        "is_torn": verification.torn,
        "is_head_behind": verification.is_head_behind,
        "is_sealed": verification.is_sealed,
        "is_seal_checked": verification.is_seal_checked,
        "notes": list(verification.notes),
    }


def _pictures(transcript: Transcript, path_of: PathOf) -> list[tuple[CallView, Path | None]]:
    return [
        (call, path_of(digest))
        for call in calls(transcript.lines)
        for digest in (call.kept_picture, call.picture)
        if is_digest(digest)
    ]


def _picture_lines(transcript: Transcript, path_of: PathOf) -> Iterator[tuple[str, Style]]:
    for call, path in _pictures(transcript, path_of):
        yield f"picture of {one_line(call.call_id)}: {path if path is not None else 'it is gone'}", "plain"


def _call_json(call: dict[str, Any]) -> dict[str, Any]:
    call["verdicts"] = [verdict.model_dump(mode="json") for verdict in call["verdicts"]]
    return call


def _entry_line(entry: Entry) -> str:
    # A read that was cut off did not stop by itself: why it has no answer is all there is to say of it.
    is_told = entry.state and not (entry.is_cut and entry.state == CallState.STOPPED)
    state = f"  {_state(entry)}" if is_told else ""
    detail = f"  ({entry.detail})" if entry.detail else ""
    # Only the time of day: the header names the day.
    return f"{entry.seq:>4}  {entry.ts[11:19]}  {entry.word.ljust(8)}  {entry.text}{state}{detail}"


def _state(entry: Entry) -> str:
    if entry.word != "call":
        return f"[{entry.state}]"
    return f"[{_STATE_WORDS.get(CallState(entry.state), entry.state)}]"


def _style(state: str) -> Style:
    return "bad" if state in _BAD else "good" if state in _GOOD else "plain"


def _totals(totals: Totals) -> str:
    words = [plural(totals.turns, "turn"), plural(totals.actions, "action"), plural(totals.tokens, "token")]
    if totals.turns:  # without a model there is no price
        words.append("price unknown" if totals.usd is None else f"${totals.usd:.4f}")
    if totals.refused:
        words.append(f"{totals.refused} refused")
    return ", ".join(words)
