"""A whole session as the page shows it: a head, then sections (turns, calls by hand, checks) with what is in them.

Values only, every text in them cut and made visible; how it looks is the template's affair.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from droidpilot.core.events import (
    AnyEvent,
    CheckFinished,
    CheckStarted,
    CommandGiven,
    DeviceConnected,
    LinkLost,
    LinkRestored,
    ModelAsked,
    ModelFailed,
    ModelReplied,
    Noted,
    Nudged,
    OutcomeResolved,
    PhoneChanged,
    ScreenTaken,
    SessionStarted,
)
from droidpilot.core.text import plural
from droidpilot.transcript.page_cards import Badge, Card, CardMaker, Icon, Tone
from droidpilot.transcript.page_drawing import ArtifactGetter, Looks, PictureShelf
from droidpilot.transcript.page_head import Head, head_of
from droidpilot.transcript.page_records import Records
from droidpilot.transcript.page_text import TEXT_BYTES, Paper
from droidpilot.transcript.pictures import PictureFile
from droidpilot.transcript.projections import CallView, calls
from droidpilot.transcript.reader import BadLine, Line, RawEvent, Transcript
from droidpilot.transcript.verify import Verification

#: Bytes of a page; pictures get what text and frame leave of it.
PAGE_BYTES = 19_000_000
_FRAME_BYTES = 150_000
_CARD_BYTES = 5_000  # of a card's frame, its text apart
_LINE_BYTES = 500

_PROSE = 8_000
_WORDS = 600


@dataclass(frozen=True, slots=True)
class Remark:
    """One line between the calls."""

    kind: Literal["remark"]
    word: str
    text: str
    tone: Tone


@dataclass(frozen=True, slots=True)
class Prose:
    """What the model said."""

    kind: Literal["prose"]
    text: str


@dataclass(frozen=True, slots=True)
class CheckSeen:
    """A post-condition and what was seen."""

    kind: Literal["check"]
    anchor: str
    expression: str
    badge: Badge
    seen: str


@dataclass(frozen=True, slots=True)
class CardItem:
    """A call."""

    kind: Literal["card"]
    card: Card


Item = Remark | Prose | CheckSeen | CardItem


@dataclass(slots=True)
class Section:
    """A turn, or what is no turn. `facts` stand beside its title."""

    anchor: str
    title: str
    short: str  # for the strip of links
    time: str = ""
    facts: list[str] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    worst: Tone = "plain"
    icon: Icon | None = None  # of the worst thing in it


@dataclass(frozen=True, slots=True)
class Worry:
    """One thing to look at first."""

    anchor: str
    where: str
    badge: Badge
    text: str


@dataclass(frozen=True, slots=True)
class PageView:
    """All that the template needs."""

    head: Head
    worries: tuple[Worry, ...]
    sections: tuple[Section, ...]
    pictures: tuple[PictureFile, ...]


_RANK: dict[Tone, int] = {"plain": 0, "good": 1, "warn": 2, "bad": 3}
_PASSED: dict[bool | None, Badge] = {
    True: Badge("check", "passed", "good"),
    False: Badge("cross", "failed", "bad"),
    None: Badge("question", "not judged", "bad"),
}
_MAX_WORRIES = 50


def page_view(transcript: Transcript, verification: Verification, artifact: ArtifactGetter) -> PageView:
    """Make the view of a whole transcript, readable or not."""
    return _Builder(transcript, verification, artifact).build()


class _Builder:
    """Goes through the lines once, with the section it is in."""

    def __init__(self, transcript: Transcript, verification: Verification, artifact: ArtifactGetter) -> None:
        self._transcript = transcript
        self._verification = verification
        self._paper = Paper()
        lines = transcript.lines
        views = calls(lines)
        frame = _FRAME_BYTES + _CARD_BYTES * len(views) + _LINE_BYTES * len(lines)
        self._shelf = PictureShelf(artifact, PAGE_BYTES - TEXT_BYTES - frame)
        self._cards = CardMaker(Records(lines), Looks(lines), self._shelf, self._paper, artifact)
        self._at: dict[int, list[CallView]] = {}
        for view in views:
            places = (view.asked_seq, view.called_seq, view.returned_seq)
            place = next((seq for seq in places if seq is not None), lines[0].seq if lines else 0)
            self._at.setdefault(place, []).append(view)
        self._sections: list[Section] = []
        self._worries: list[Worry] = []
        self._made = 0

    def build(self) -> PageView:
        head = head_of(self._transcript, self._verification, self._paper)
        is_marked = self._verification.ok
        for line in _in_order(self._transcript):
            if not is_marked and line.number >= (self._verification.first_bad_line or 0):
                is_marked = True
                self._remark(
                    "not verified",
                    f"from line {self._verification.first_bad_line} of the transcript on nothing is proven: "
                    f"{self._verification.reason}",
                    "bad",
                )
            if isinstance(line, BadLine):
                is_end = self._transcript.is_torn and line is self._transcript.bad[-1]
                words = "its end is missing: the session was killed" if is_end else "it is not one of ours, or torn"
                self._remark("unreadable", f"line {line.number} cannot be read: {words}", "bad")
                continue
            if isinstance(line.event, RawEvent):
                kind = self._paper.line(line.event.kind, 60) or "?"
                self._remark("unread", f"a line of kind {kind} that this version cannot read", "warn")
            else:
                self._take(line, line.event)
            for view in self._at.pop(line.seq, ()):
                self._add_card(view)
        sections = tuple(section for section in self._sections if section.items or section.facts)
        return PageView(head, tuple(self._worries[:_MAX_WORRIES]), sections, tuple(self._shelf.shown))

    def _take(self, line: Line, event: AnyEvent) -> None:
        match event:
            case ModelAsked():
                self._turn(event.turn, line.ts)
            case ModelReplied():
                self._replied(event, line.ts)
            case ModelFailed():
                self._turn(event.turn, line.ts)
                self._remark("no reply", f"{event.message} ({event.code})", "bad")
            case Nudged():
                self._remark("droidpilot said", event.text, "plain")
            case CommandGiven():
                self._section("by-hand", "By hand", "hand", line.ts)
            case CheckStarted():
                self._section("checks", "Checks", "checks", line.ts)
            case CheckFinished():
                self._section("checks", "Checks", "checks", line.ts)
                self._checked(event)
            case OutcomeResolved():
                found = "it had happened" if event.outcome == "done" else "it had not happened"
                self._remark("found out", f"call {event.call_id}: {found} (seen by a {event.by})", "plain")
            case Noted():
                self._remark("note", event.text, "warn")
            case DeviceConnected():
                about = f"{event.serial}, {event.model}, Android API {event.sdk}, over {event.transport}"
                self._remark("phone", f"{about}, connected in {event.ms:,} ms", "plain")
            case LinkLost():
                self._remark("phone", f"{event.serial} was lost: {event.message}", "warn")
            case LinkRestored():
                self._remark("phone", f"{event.serial} is back after {event.ms:,} ms", "plain")
            case ScreenTaken():
                where = event.package or "another app"
                self._remark("phone", f"{where} came to the front, and not by us: the call was held back", "warn")
            case PhoneChanged():
                words = event.words or f"{event.what} is {event.ours} for now, it was {event.before}"
                self._remark("phone", words, "bad" if event.became == "failed" else "plain")
            case SessionStarted():
                self._section("start", "Start", "start", line.ts)
            case _:
                pass

    def _replied(self, event: ModelReplied, ts: str) -> None:
        section = self._turn(event.turn, ts)
        about = "about " if event.is_estimated else ""
        section.facts += [
            f"{about}{event.prompt_tokens:,} tokens in, {event.completion_tokens:,} out",
            *([f"{event.cached_tokens:,} from cache"] if event.cached_tokens else []),
            "price unknown" if event.usd is None else f"${event.usd:.4f}",
            f"{event.ms:,} ms",
            *([plural(event.attempts, "attempt")] if event.attempts > 1 else []),
        ]
        if event.finish_reason not in ("stop", "tool_calls"):
            section.facts.append(f"ended by {self._paper.line(event.finish_reason, 40) or 'no word'}")
        if event.text.strip():
            section.items.append(Prose("prose", self._paper.text(event.text.strip(), _PROSE)))

    def _checked(self, event: CheckFinished) -> None:
        anchor = self._anchor()
        expression, badge = self._paper.line(event.expression, _WORDS), _PASSED[event.passed]
        seen = self._paper.line(event.reason, _WORDS)
        section = self._sections[-1]
        section.items.append(CheckSeen("check", anchor, expression, badge, seen))
        self._note_state(section, badge)
        if event.passed is not True:
            self._worries.append(Worry(anchor, section.title, badge, expression))

    def _add_card(self, view: CallView) -> None:
        if not self._sections:
            self._section("start", "Start", "start", "")
        section = self._sections[-1]
        card = self._cards.card(view, self._anchor())
        section.items.append(CardItem("card", card))
        self._note_state(section, card.badge)
        if card.badge.tone in ("warn", "bad"):
            self._worries.append(Worry(card.anchor, section.title, card.badge, card.sentence or card.tool))

    def _remark(self, word: str, text: str, tone: Tone) -> None:
        if not self._sections:
            self._section("start", "Start", "start", "")
        section = self._sections[-1]
        section.items.append(Remark("remark", word, self._paper.line(text, _WORDS), tone))
        if tone == "bad":
            self._note_state(section, Badge("bang", word, tone))

    def _note_state(self, section: Section, badge: Badge) -> None:
        if _RANK[badge.tone] > _RANK[section.worst]:
            section.worst, section.icon = badge.tone, badge.icon

    def _turn(self, turn: int, ts: str) -> Section:
        return self._section(f"turn-{turn}", f"Turn {turn}", str(turn), ts)

    def _section(self, anchor: str, title: str, short: str, ts: str) -> Section:
        """Return the section that is open, if it is that one, else begin it."""
        if not self._sections or self._sections[-1].title != title:
            again = sum(section.title == title for section in self._sections)
            unique = f"{anchor}-again-{again}" if again else anchor
            self._sections.append(Section(unique, title, short, ts[11:19]))
        return self._sections[-1]

    def _anchor(self) -> str:
        self._made += 1
        return f"c{self._made}"


def _in_order(transcript: Transcript) -> Iterator[Line | BadLine]:
    lines: list[Line | BadLine] = [*transcript.lines, *transcript.bad]
    return iter(sorted(lines, key=lambda line: line.number))
