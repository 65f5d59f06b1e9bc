"""A call as the page shows it: what was asked, what each gate said, who was asked, what came of it. Values only."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal

from droidpilot.core.calls import Answer
from droidpilot.core.errors import DroidpilotError
from droidpilot.core.events import (
    ApprovalAsked,
    Target,
    TargetNode,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.transcript.page_drawing import ArtifactGetter, Drawing, Looks, PictureShelf, draw_picture, draw_target
from droidpilot.transcript.page_records import Records
from droidpilot.transcript.page_text import Paper, visible
from droidpilot.transcript.projections import CallState, CallView

Tone = Literal["good", "plain", "warn", "bad"]
Icon = Literal["check", "cross", "question", "circle", "square", "bang", "wave"]

_LABEL = 300
_SENTENCE = 600
_REASON = 600
_ARGUMENTS = 2_000
_RESULT = 12_000
_MAX_LINES = 400
_LINE_BYTES = 30  # of a line's frame
_MAX_NODES = 8
_MAX_VERDICTS = 12
#: Lines of an answer that are shown without a click.
OPEN_LINES = 14


@dataclass(frozen=True, slots=True)
class Badge:
    """How something ended: told by a word, an icon and a frame; the colour only repeats it."""

    icon: Icon
    word: str
    tone: Tone
    gloss: str = ""


BADGES: dict[CallState, Badge] = {
    CallState.OK: Badge("check", "ok", "good"),
    CallState.NOT_SENT: Badge("circle", "not sent", "warn", "it was asked for, and nothing of it reached the phone"),
    CallState.REFUSED: Badge("cross", "refused", "bad", "a gate said no; nothing reached the phone"),
    CallState.TRANSIENT: Badge("wave", "failed for now", "warn", "it was not done and may work later"),
    CallState.LOGIC: Badge("bang", "not possible", "warn", "it was not done, and asking the same again is no use"),
    CallState.FATAL: Badge("bang", "fatal", "bad", "it was not done, and the session could not go on"),
    CallState.UNKNOWN: Badge("question", "unknown", "bad", "it may or may not have happened"),
    CallState.STOPPED: Badge("square", "stopped", "warn", "it was stopped before there was an answer"),
    CallState.DONE: Badge("check", "found to have happened", "good", "nobody knew at first whether it had"),
    CallState.NOT_DONE: Badge("circle", "found not to have happened", "warn", "nobody knew at first whether it had"),
}
_GATE_BADGES: dict[str, Badge] = {
    Answer.ALLOW: Badge("check", "allow", "good"),
    Answer.ASK: Badge("question", "ask", "warn"),
    Answer.DENY: Badge("cross", "deny", "bad"),
    Answer.HALT: Badge("square", "halt", "bad"),
}
_STRANGE = Badge("question", "unreadable", "bad")


@dataclass(frozen=True, slots=True)
class Gate:
    """One gate's answer."""

    name: str
    badge: Badge
    code: str
    reason: str
    rule: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One question to a person, and what came back."""

    approver: str
    is_strong: bool
    sentence: str
    why: str
    answer: str  # in words
    is_yes: bool


@dataclass(frozen=True, slots=True)
class Under:
    """One node under the finger, in words. `looks_like` is what its label looks like where it is not what it is."""

    label: str
    looks_like: str
    what: str


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of an answer; `mark` says whether it came, changed or went."""

    text: str
    mark: Literal["", "came", "changed", "went"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One call."""

    anchor: str
    badge: Badge
    tool: str
    origin: str
    effect: str
    sentence: str
    arguments: str
    malformed: str
    is_part: bool  # of another call
    gates: tuple[Gate, ...]
    signals: tuple[str, ...]
    asked: tuple[Asked, ...]
    under: tuple[Under, ...]
    under_more: int
    package: str
    drawing: Drawing | None
    picture: Drawing | None
    notes: tuple[str, ...]
    answer: str  # its first line
    lines: tuple[TextLine, ...]  # the rest
    foot: tuple[str, ...]

    @property
    def is_open(self) -> bool:
        return len(self.lines) <= OPEN_LINES


class CardMaker:
    """Makes the cards of one page."""

    def __init__(
        self, records: Records, looks: Looks, shelf: PictureShelf, paper: Paper, artifact: ArtifactGetter
    ) -> None:
        self._records = records
        self._looks = looks
        self._shelf = shelf
        self._paper = paper
        self._artifact = artifact

    def card(self, view: CallView, anchor: str) -> Card:
        """Make the card of one call."""
        paper, records = self._paper, self._records
        seq, called = records.called.get(view.call_id, (0, None))
        returned = records.returned.get(view.call_id)
        target = called.target if called is not None else None
        notes: list[str] = []
        picture = draw_picture(view.picture, self._shelf, paper) if view.picture else None
        if isinstance(picture, str):
            notes.append(picture)
            picture = None
        answer, lines = self._answer(view, returned, notes)
        return Card(
            anchor=anchor,
            badge=BADGES[view.state],
            tool=paper.line(view.tool, 100) or "?",
            origin=paper.line(view.origin, 40),
            effect=view.effect,
            sentence=paper.line(view.sentence, _SENTENCE),
            arguments=paper.pairs(view.arguments, _ARGUMENTS),
            malformed=paper.line(records.malformed.get(view.call_id, ""), _REASON),
            is_part=called is not None and called.parent_id is not None,
            gates=tuple(self._gate(verdict) for verdict in view.verdicts[:_MAX_VERDICTS]),
            signals=tuple(paper.line(signal.replace("_", " "), _LABEL) for signal in view.signals[:_MAX_VERDICTS]),
            asked=tuple(self._asked(question) for question in records.questions.get(view.call_id, ())[:_MAX_NODES]),
            under=self._under(target),
            under_more=max(0, len(target.nodes) - _MAX_NODES) if target is not None else 0,
            package=paper.line(target.package or "", _LABEL) if target is not None else "",
            drawing=draw_target(called, seq, self._looks, self._shelf) if called is not None else None,
            picture=picture,
            notes=tuple(notes),
            answer=answer,
            lines=lines,
            foot=self._foot(view, called, returned),
        )

    def _gate(self, verdict: VerdictLine) -> Gate:
        paper = self._paper
        return Gate(
            name=paper.line(verdict.gate, 60),
            badge=_GATE_BADGES.get(verdict.answer, _STRANGE),
            code=paper.line(verdict.code.replace("_", " "), 100),
            reason=paper.line(verdict.reason, _REASON),
            rule=paper.line(verdict.rule or "", _REASON),
        )

    def _asked(self, question: ApprovalAsked) -> Asked:
        paper = self._paper
        answered = self._records.answers.get(question.prompt_id)
        why = [*([f"the rule {question.rule}"] if question.rule else []), *question.signals[:_MAX_VERDICTS]]
        words = {
            "yes": "yes",
            "no": "no",
            "expired": "no answer came in time, which means no",
            "nobody": "there was nobody to ask, which means no",
            "stopped": "it was stopped while the question was open, which means no",
        }
        answer = "no answer is on record" if answered is None else words[answered.answer]
        if answered is not None:
            answer += f" (by {paper.line(answered.approver, 60)} after {answered.waited_s:.1f} s)"
        return Asked(
            approver=paper.line(question.approver, 60),
            is_strong=question.level == "strong",
            sentence=paper.line(question.sentence, _SENTENCE),
            why=paper.line("; ".join(why), _REASON),
            answer=answer,
            is_yes=answered is not None and answered.answer == "yes",
        )

    def _under(self, target: Target | None) -> tuple[Under, ...]:
        paper, made = self._paper, []
        for node in target.nodes[:_MAX_NODES] if target is not None else ():
            what = [f"ref {node.ref}"] if node.ref is not None else []
            what += [paper.line(node.cls.rpartition(".")[2], 100), paper.line(node.resource_id, 150)]
            what.append("{}, {} to {}, {} px".format(*node.bounds))
            looks_like = node.folded if _is_disguised(node) else ""
            made.append(
                Under(
                    label=paper.line(node.raw, _LABEL),
                    looks_like=paper.line(looks_like, _LABEL),
                    what=paper.line(", ".join(part for part in what if part), _LABEL),
                )
            )
        return tuple(made)

    def _answer(
        self, view: CallView, returned: ToolReturned | None, notes: list[str]
    ) -> tuple[str, tuple[TextLine, ...]]:
        """Return the first line of the answer and the rest of it, whole where its artifact is there."""
        text = view.text
        if view.artifact:
            try:
                text = self._artifact(view.artifact).decode("utf-8", "replace")
            except DroidpilotError as error:
                notes.append(self._paper.line(f"the whole answer cannot be shown: {error.message}", _REASON))
        if returned is None:
            return "", ()
        first, *rest = self._paper.text(text, _RESULT).split("\n")
        if first.startswith("<screen"):
            first, rest = "", [first, *rest]
        if len(rest) > _MAX_LINES:
            left_out = len(rest) - _MAX_LINES
            rest = [*rest[:_MAX_LINES], f"… [{left_out} more lines are in the transcript]"]
        self._paper.spent += _LINE_BYTES * len(rest)
        is_diff = any(line.startswith(("+", "~", "gone")) for line in rest)
        return first, tuple(TextLine(line, _mark(line) if is_diff else "") for line in rest)

    def _foot(self, view: CallView, called: ToolCalled | None, returned: ToolReturned | None) -> tuple[str, ...]:
        words = []
        if view.ms is not None:
            words.append(f"{view.ms:,} ms")
        if called is not None and called.screen is not None:
            words.append(f"judged on screen {called.screen}")
        if returned is not None and returned.screen is not None:
            words.append(f"answered with screen {returned.screen}")
            screen = self._looks.screen(returned.screen)
            if screen is not None:
                words.append(self._paper.line(screen.package or "app in front unknown", 150))
                words += [] if screen.is_settled else ["still moving"]
                words += [] if screen.is_complete else ["not read as a whole"]
        if returned is not None and view.effect == "write":
            words.append({"no": "nothing was sent", "yes": "sent once", "unknown": "may have been sent"}[returned.sent])
        if returned is not None and returned.code:
            words.append(f"code {self._paper.line(returned.code, 100)}")
        if view.send_key:
            words.append(f"send key {self._paper.line(view.send_key[:8], 20)}")
        if returned is not None and returned.ends:
            words.append(f"ends the session: {self._paper.line(returned.ends, 60)}")
        return tuple(words)


def _is_disguised(node: TargetNode) -> bool:
    """Tell whether a label holds hidden characters, or look-alikes of ASCII letters; accents are none."""
    bare = "".join(char for char in unicodedata.normalize("NFKD", node.cleaned) if not unicodedata.combining(char))
    return visible(node.raw) != node.raw or (node.folded.isascii() and node.folded.casefold() != bare.casefold())


def _mark(line: str) -> Literal["", "came", "changed", "went"]:
    if line.startswith("+"):
        return "came"
    if line.startswith("~"):
        return "changed"
    return "went" if line.startswith(("gone ", "gone:")) else ""
