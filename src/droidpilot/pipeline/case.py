"""Case: everything known about one call while it goes down the road, and the Gate port that judges it."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from droidpilot.core.calls import Answer, Effect, ToolCall, Verdict
from droidpilot.core.clock import Deadline
from droidpilot.policy.risk import Signal
from droidpilot.screens.hierarchy import Node
from droidpilot.screens.labels import Label, label_of
from droidpilot.screens.screen import Screen, is_helper_package
from droidpilot.tools.registry import Aim, Arguments, Scene, Tool

#: Code of the verdict that a yes gives.
APPROVED = "approved"
_REFUSALS = frozenset({Answer.DENY, Answer.HALT})
#: What changes by itself on a screen that nobody touches: times of day and the small numbers of badges.
_TICKING = re.compile(r"\d{1,2}[:.]\d{2}(?::\d{2})?(?: ?[AaPp]\.?[Mm]\.?)?|\d{1,2}\+?")
#: Tools that press what lies under a point, whatever they are called.
_PRESSES = frozenset({"tap", "long_press"})


@dataclass(slots=True)
class Case:
    """One call under way. Filled by describe, read by gates; verdicts are appended in gate order."""

    call: ToolCall
    deadline: Deadline
    tool: Tool | None = None
    arguments: Arguments | None = None
    scene: Scene | None = None
    aim: Aim | None = None
    labels: tuple[Label, ...] = ()
    said_too: tuple[Label, ...] = ()  # what the nodes say beside their labels: counts for deny, ask and risk
    said_inside: tuple[Label, ...] = ()  # what stands inside what is pressed: counts for deny and ask
    signals: tuple[Signal, ...] = ()
    verdicts: list[Verdict] = field(default_factory=list)
    picture: str = ""  # digest of a picture of the screen, kept for people
    was_asked: bool = False  # somebody thought about it, so the screen must be read again
    is_resolved: bool = False  # unknown at first, but a look showed that it happened

    @property
    def effect(self) -> Effect:
        return Effect.WRITE if self.tool is None else self.tool.effect

    @property
    def refusal(self) -> Verdict | None:
        """The verdict that refuses, None while every gate allowed."""
        return next((verdict for verdict in self.verdicts if verdict.answer in _REFUSALS), None)

    @property
    def is_approved(self) -> bool:
        """Whether somebody was asked about this very call and said yes."""
        return any(verdict.code == APPROVED for verdict in self.verdicts)

    @property
    def sentence(self) -> str:
        """What will happen, with the app: `Tap Send in com.chat`."""
        if self.aim is None:
            return ""
        where = f" in {self.aim.package}" if self.aim.package and self.tool and self.tool.needs_screen else ""
        return f"{self.aim.sentence}{where}"


class Gate(Protocol):
    """Judges a case. A gate that raises refuses and ends the session; it never acts and never asks twice."""

    @property
    def name(self) -> str: ...

    def judge(self, case: Case) -> Verdict: ...


def labels_under(screen: Screen, nodes: Iterable[Node]) -> tuple[Label, ...]:
    """Return the label of each node, in order; nodes without one are left out."""
    labels = (label_of(screen.hierarchy, node) for node in nodes)
    return tuple(label for label in labels if label.raw)


def said_beside(nodes: Iterable[Node]) -> tuple[Label, ...]:
    """Return what nodes say beside their label: a description behind a text, a hint (A25)."""
    texts = (text for node in nodes for text in (node.desc, "" if node.is_editable else node.hint) if text)
    return tuple(Label.of(text) for text in dict.fromkeys(texts))


def said_within(screen: Screen, nodes: Iterable[Node]) -> tuple[Label, ...]:
    """Return every text inside the node that takes the press, controls of their own left out (A15, A17).

    A row with a Delete icon is no Delete button; a row with the words "Send 500" is one.
    """
    taker = next((node for node in nodes if node.is_usable), None)
    if taker is None:
        return ()
    texts: dict[str, None] = {}
    index = taker.index + 1
    while index < taker.end:
        node = screen.nodes[index]
        if node.is_usable:
            index = node.end
            continue
        texts.update(dict.fromkeys(text for text in (node.text, node.desc) if text and not node.password))
        index += 1
    return tuple(Label.of(text) for text in texts)


def read_labels(case: Case) -> None:
    """Fill in everything that is said under the finger."""
    if case.scene is None or case.aim is None:
        return
    case.labels = labels_under(case.scene.screen, case.aim.nodes)
    case.said_too = said_beside(case.aim.nodes)
    case.said_inside = said_within(case.scene.screen, case.aim.nodes)


def same_call_key(case: Case) -> str:
    """Digest what a call would do, not how it was asked for: by ref, by x,y or by holding, a press of Send is one.

    State does not count (a toggle that turned is still the same toggle), nor where exactly a node was touched. Texts go
    into the digest only, which stays in memory.
    """
    aim = case.aim
    assert aim is not None and case.arguments is not None
    tool = case.call.tool
    is_press = tool in _PRESSES or "tap" in aim.also_as
    family = "press" if is_press else "confirm" if tool == "press" and aim.nodes else tool
    taker = next((node for node in aim.nodes if node.is_usable), next(iter(aim.nodes), None))
    what: list[object] = [aim.package]
    if taker is not None and case.scene is not None:
        said = "" if taker.is_editable else taker.text or taker.desc
        inside = next((label.raw for label in case.said_inside), "")
        what += [taker.cls, taker.resource_id, taker.package, said or inside]
    elif aim.points:
        what += [(x // 48, y // 48) for x, y in aim.points]
    if not is_press and family != "confirm":
        own = case.arguments.model_dump(exclude={"ref", "x", "y", "picture", "app", "duration_ms"})
        what += [own, aim.words if tool == "type_text" else ()]
    return _digest([family, what])


def target_key(case: Case, aim: Aim, screen: Screen) -> str:
    """Digest the fields that the call depends on (B15): the app, the nodes under the finger, their state and words.

    Where somebody was asked, they decided on the whole screen that they saw: every text of it but clocks and badges,
    the keyboard and the system's bars (A35, INV-88).
    """
    nodes = [[*node_identity(node), node.hint, node.enabled, node.checked, node.selected] for node in aim.nodes]
    said = [label.raw for label in (*labels_under(screen, aim.nodes), *said_within(screen, aim.nodes))]
    decided_on = _decided_on(screen) if case.was_asked else []
    return _digest([aim.package, screen.package, screen.activity, nodes, said, aim.words, decided_on])


def _decided_on(screen: Screen) -> list[str]:
    return [
        text
        for node in screen.nodes
        if not is_helper_package(node.package) or node.package == screen.package
        for text in (node.text, node.desc)
        if text and not _TICKING.fullmatch(text.strip())
    ]


def node_identity(node: Node) -> list[str]:
    """Return what makes a node the one it is, wherever it lies and whatever its state or typed text."""
    return [node.cls, node.resource_id, node.package, "" if node.is_editable else node.text, node.desc]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, sort_keys=True, default=str).encode()).hexdigest()
