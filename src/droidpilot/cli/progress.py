"""A session as it is seen at the terminal: streaming prose, and each call as one line with its verdict.

It draws lines of the transcript (redacted by then), nothing of its own, and it goes to stderr. In a pipe it is plain,
one whole line at a time.
"""

from __future__ import annotations

import sys

from droidpilot.cli import output
from droidpilot.cli.output import Style
from droidpilot.core.events import (
    ApprovalAnswered,
    CheckFinished,
    DeviceConnected,
    Event,
    ModelFailed,
    ModelReplied,
    Noted,
    Nudged,
    OutcomeResolved,
    SessionStarted,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.core.progress import Progress
from droidpilot.core.text import one_line, plural, shorten

#: How a status is shown, and in which style.
STATUS_STYLES: dict[str, Style] = {
    "ok": "good",
    "transient": "warn",
    "logic": "warn",
    "refused": "bad",
    "fatal": "bad",
    "unknown": "bad",
    "stopped": "warn",
}
_MAX_LINE = 240
_LAST_GATE = "staleness"
#: A rule's line can be long; where it stands is at its beginning.
_MAX_WHY = 90
#: What a command of one call leaves out: its result follows at once on stdout.
_LONG = (SessionStarted, DeviceConnected, ToolCalled, ToolReturned)


class TerminalProgress:
    """Draws lines as they come. It keeps only what the present line of the terminal needs."""

    def __init__(self, *, is_live: bool | None = None, is_brief: bool = False) -> None:
        self._is_live = sys.stderr.isatty() if is_live is None else is_live
        self._is_brief = is_brief  # only what a person must see: questions, answers, checks, notes
        self._is_mid_line = False
        self._was_streamed = False
        self._sentences: dict[str, str] = {}

    def listener(self) -> Progress:
        """Return the two ears that a session wants."""
        return Progress(on_event=self.on_event, on_text=self.on_text, on_step=self.on_step)

    def on_text(self, piece: str) -> None:
        """Draw a piece of the model's prose; "" says that it starts over."""
        if not self._is_live:
            return
        if not piece:
            if self._is_mid_line:
                self._end_line()
                output.note("  (the reply was cut; it starts over)", style="dim")
            self._was_streamed = False
            return
        output.piece(piece)
        self._was_streamed = True
        self._is_mid_line = not piece.endswith("\n")

    def on_step(self, words: str) -> None:
        """Draw what long work is doing."""
        if self._is_brief and not self._is_live:
            return
        self._line(f"  {_short(words)} ...", "dim")

    def on_event(self, event: Event) -> None:
        """Draw one line of the transcript, where there is something to see in it."""
        if self._is_brief and isinstance(event, _LONG):
            return
        match event:
            case ToolCalled():
                self._called(event)
            case ToolReturned():
                self._returned(event)
            case ModelReplied():
                self._replied(event)
            case _:
                if drawn := _drawn(event):
                    self._line(*drawn)

    def _replied(self, event: ModelReplied) -> None:
        if not self._was_streamed and event.text.strip():
            self._line(event.text.strip(), "plain")
        self._end_line()
        self._was_streamed = False

    def _called(self, event: ToolCalled) -> None:
        sentence = _short(event.sentence or event.tool)
        package = event.target.package if event.target and event.target.package else ""
        place = f" in {_short(package)}" if package and package not in sentence else ""
        words = f"  {sentence}{place}  [{verdict_words(event.verdicts)}]"
        if self._is_live:
            self._end_line()
            output.piece(words)
            self._is_mid_line = True
        else:
            self._sentences[event.call_id] = words

    def _returned(self, event: ToolReturned) -> None:
        words = self._sentences.pop(event.call_id, "")
        output.piece(words)
        output.piece(f" {event.status}", style=STATUS_STYLES[event.status])
        output.piece(f" {event.ms / 1000:.1f} s", style="dim")
        if event.status not in ("ok", "refused"):  # who refused stands in the verdict
            output.piece(f": {_short(event.text)}")
        output.note()
        self._is_mid_line = False

    def _line(self, text: str, style: Style) -> None:
        self._end_line()
        output.note(text, style=style)

    def _end_line(self) -> None:
        if self._is_mid_line:
            output.note()
            self._is_mid_line = False


def verdict_words(verdicts: list[VerdictLine]) -> str:
    """Say in a few words what the gates decided: who said no, or which rule or person let it pass."""
    refusal = next((line for line in verdicts if line.answer in ("deny", "halt")), None)
    if refusal is not None:
        return shorten(
            f"refused by {refusal.gate}: {one_line(refusal.rule or refusal.reason or refusal.code)}", _MAX_WHY
        )
    if not verdicts or verdicts[-1].gate != _LAST_GATE:
        # It ended before all gates were asked: the answer says why.
        return "not judged"
    approval = next((line for line in verdicts if line.gate == "approval" and line.code == "approved"), None)
    if approval is not None:
        return shorten(one_line(approval.reason), _MAX_WHY)
    rule = next((line.rule for line in verdicts if line.rule), None)
    return shorten(f"allowed by {one_line(rule)}", _MAX_WHY) if rule else "allowed"


def _drawn(event: Event) -> tuple[str, Style] | None:
    """Return how an event that is a line of its own is drawn; None where there is nothing to see."""
    match event:
        case SessionStarted():
            return _started(event), "dim"
        case DeviceConnected():
            return f"  connected to {_short(event.model)} (Android API {event.sdk}) in {event.ms / 1000:.1f} s", "dim"
        case ApprovalAnswered():
            return f"  asked {event.approver}: {event.answer}", "good" if event.answer == "yes" else "bad"
        case CheckFinished():
            verdict = {True: "passed", False: "FAILED", None: "not judged, so not passed"}[event.passed]
            words = f"  check {_short(event.expression)}: {verdict}" + (
                f" ({_short(event.reason)})" if event.reason else ""
            )
            return words, "good" if event.passed else "bad"
        case ModelFailed():
            return f"  model: {_short(event.message)}", "bad"
        case OutcomeResolved():
            return f"  an unknown outcome was found out: {event.outcome} (by {event.by})", "plain"
        case Nudged() | Noted():
            return f"  note: {_short(event.text)}", "dim"
        case _:
            return None


def _started(event: SessionStarted) -> str:
    limits = ", ".join(_limit(name, value) for name, value in event.limits.items() if value is not None)
    model = f", model {event.model}" if event.model else ""
    return f"  policy {_short(event.policy)}, ask {event.ask} ({event.approver}){_short(model)}; limits: {limits}"


def _limit(name: str, value: float) -> str:
    return (
        f"${value:g}"
        if name == "usd"
        else plural(int(value), name.removesuffix("s"))
        if value >= 1
        else f"{value} {name}"
    )


def _short(text: str) -> str:
    return shorten(one_line(output.safe(text)), _MAX_LINE)
