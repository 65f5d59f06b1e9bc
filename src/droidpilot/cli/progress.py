"""A session as it is seen at the terminal: streaming prose, and each call as one line with its verdict.

It draws lines of the transcript (redacted by then), nothing of its own, and it goes to stderr. In a pipe it is plain,
one whole line at a time.
"""

from __future__ import annotations

import sys

from droidpilot.cli import output
from droidpilot.cli.output import Style
from droidpilot.core.calls import Answer, ToolResult, Verdict
from droidpilot.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CheckFinished,
    DeviceConnected,
    Event,
    LinkLost,
    LinkRestored,
    ModelFailed,
    ModelReplied,
    Noted,
    Nudged,
    OutcomeResolved,
    PhoneChanged,
    ScreenTaken,
    SessionStarted,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.core.progress import Progress
from droidpilot.core.text import one_line, plural, shorten

#: How a status is told to a person, and in which style.
STATUSES: dict[str, tuple[str, Style]] = {
    "ok": ("ok", "good"),
    "transient": ("not done", "warn"),
    "logic": ("not done", "warn"),
    "refused": ("refused", "bad"),
    "fatal": ("not done", "bad"),
    "unknown": ("nobody knows whether it was done", "bad"),
    "stopped": ("stopped", "warn"),
}
_MAX_LINE = 240
_LAST_GATE = "staleness"
#: The approval gate's code where a yes is needed and nobody can be asked.
NOBODY = "nobody_to_ask"
#: The code of a result that came to nothing behind the gates, because what it holds must not be read.
HIDDEN = "hidden"
#: What the approval gate's codes mean to a person; its reasons are written for a model.
_REFUSALS = {
    NOBODY: "it needs a yes, and nobody can be asked here",
    "person_said_no": "a person said no",
    "refused_twice": "a person said no to this before",
    "expired": "nobody answered in time",
}
#: A rule's line can be long; where it stands is at its beginning.
_MAX_WHY = 90
#: What a command of one call leaves out: its result follows at once on stdout.
_LONG = (SessionStarted, DeviceConnected, ToolCalled, ToolReturned)


#: What was done to bring a phone back, in words.
_RESTORED = {
    "adb_server_started": "the adb server was started again",
    "connected": "connected again",
    "moved": "found at its new address",
}


class TerminalProgress:
    """Draws lines as they come. It keeps only what the present line of the terminal needs."""

    def __init__(self, *, is_live: bool | None = None, is_brief: bool = False) -> None:
        self._is_live = sys.stderr.isatty() if is_live is None else is_live
        self._is_brief = is_brief  # only what a person must see: questions, answers, checks, notes
        self._is_mid_line = False
        self._was_streamed = False
        self._sentences: dict[str, str] = {}
        self._asked: dict[str, ApprovalAsked] = {}
        self._unanswered: dict[str, ToolCalled] = {}

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
        if isinstance(event, ApprovalAsked):
            self._asked[event.call_id] = event
        if isinstance(event, ToolCalled) and any(verdict.code == NOBODY for verdict in event.verdicts):
            self._unanswered[event.call_id] = event
        if not self._is_brief or not isinstance(event, _LONG):
            self._draw(event)
        if isinstance(event, ToolReturned):
            self._explain(event.call_id)

    def _draw(self, event: Event) -> None:
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
        words = f"  {in_package(sentence, _short(package))}  [{verdict_words(event.verdicts)}]"
        if self._is_live:
            self._end_line()
            output.piece(words)
            self._is_mid_line = True
        else:
            self._sentences[event.call_id] = words

    def _explain(self, call_id: str) -> None:
        """Say what needed a yes, why, and how to allow it, where nobody could be asked."""
        asked, called = self._asked.pop(call_id, None), self._unanswered.pop(call_id, None)
        if asked is None or called is None:
            return
        package = called.target.package if called.target is not None else None
        self._line(f"  needs a yes: {in_package(_short(asked.sentence), _short(package or ''))}", "bold")
        for signal in asked.signals:
            self._line(f"    reason to ask: {_short(signal)}", "plain")
        if asked.rule:
            self._line(f"    rule: {_short(asked.rule)}", "plain")
        elif not asked.signals:
            self._line("    reason to ask: --ask wants it, not a rule or a risky word", "plain")
        self._line(f"    to allow it: {_remedy(asked)}", "plain")

    def _returned(self, event: ToolReturned) -> None:
        words = self._sentences.pop(event.call_id, "")
        output.piece(words)
        if event.status != "refused" or event.code == HIDDEN:  # who refused stands in the verdict
            told, style = STATUSES[event.status]
            output.piece(f" {told}", style=style)
        output.piece(f" {event.ms / 1000:.1f} s", style="dim")
        if event.status not in ("ok", "refused"):
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
        return refusal_words(refusal, _MAX_WHY)
    if not verdicts or verdicts[-1].gate != _LAST_GATE:
        # It ended before all gates were asked: the answer says why.
        return "not judged"
    approval = next((line for line in verdicts if line.gate == "approval" and line.code == "approved"), None)
    if approval is not None:
        return shorten(one_line(approval.reason), _MAX_WHY)
    rule = next((line.rule for line in verdicts if line.rule), None)
    return shorten(f"allowed by {one_line(rule)}", _MAX_WHY) if rule else "allowed"


def refusal_words(refusal: VerdictLine | Verdict, limit: int) -> str:
    """Say in at most about `limit` characters who said no and why; not what a model should do now."""
    told = _REFUSALS.get(refusal.code)
    if told:
        return f"refused: {told}"
    why = refusal.rule or refusal.reason.partition("; do not try it again")[0] or refusal.code
    return shorten(f"refused by {refusal.gate}: {one_line(why)}", limit)


def result_words(result: ToolResult, sentence: str) -> str:
    """Say to a person what became of one call that is not ok; `sentence` is what its result begins with."""
    refusal = next((verdict for verdict in result.verdicts if verdict.answer in (Answer.DENY, Answer.HALT)), None)
    if refusal is not None and (refusal.rule or refusal.code in _REFUSALS):
        return refusal_words(refusal, _MAX_LINE)
    told, _ = STATUSES[result.status.value]
    sentence = _short(sentence)
    return sentence if sentence.lower().startswith(told) else f"{told}: {sentence}"


def in_package(sentence: str, package: str | None) -> str:
    """Add the app to a sentence that does not name it."""
    return f"{sentence} in {package}" if package and package not in sentence else sentence


def _remedy(asked: ApprovalAsked) -> str:
    """Say how a person can allow what nobody was there to allow."""
    here = "run it in a terminal and answer there"
    if asked.level == "strong":
        return f"{here}; no rule can do it in your place"
    if asked.rule:
        return f"{here}, or put an allow line before that rule, in a rules file of your own (--policy)"
    return (
        f"{here}, or put an allow line for it into a rules file of your own (--policy); permission dialogs and "
        "installing apps always need a person"
    )


def _drawn(event: Event) -> tuple[str, Style] | None:
    """Return how an event that is a line of its own is drawn; None where there is nothing to see."""
    match event:
        case SessionStarted():
            return _started(event), "dim"
        case DeviceConnected():
            way = ", by plain ADB" if event.way == "plain" else ""
            words = f"  connected to {_short(event.model)} (Android API {event.sdk}) in {event.ms / 1000:.1f} s{way}"
            return words, "dim"
        case LinkLost():
            hint = f" ({_short(event.hint)})" if event.hint else ""
            return (
                f"  lost {_short(event.serial)}: {_short(event.message)}; waiting {event.patience_s:g} s{hint}",
                "warn",
            )
        case LinkRestored():
            how = "".join(f", {_RESTORED[word]}" for word in event.did if word in _RESTORED)
            return f"  {_short(event.serial)} is back after {event.ms / 1000:.1f} s{how}", "dim"
        case ScreenTaken():
            return f"  not by us: {_short(event.package or 'another app')} came to the front; paused, then on", "warn"
        case PhoneChanged():
            return changed_words(event), "bad" if event.became == "failed" else "dim"
        case ApprovalAnswered():
            return _answered(event)
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


def changed_words(event: PhoneChanged) -> str:
    """Say what was switched on the phone, or what became of it."""
    if event.became == "switched":
        return f"  the phone's {_short(event.what)} is {_short(event.ours)} for now"
    return f"  the phone's {_short(event.words)}"


def _answered(event: ApprovalAnswered) -> tuple[str, Style] | None:
    who = "you" if event.approver == "terminal" else _short(event.approver)
    match event.answer:
        case "yes":
            return f"  {who} said yes", "good"
        case "no":
            return f"  {who} said no", "bad"
        case "expired":
            return "  no answer in time, which is a no", "bad"
        case "stopped":
            return "  stopped before an answer came", "bad"
        case _:  # nobody was asked: the call's own lines say what that means
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
