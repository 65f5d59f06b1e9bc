"""Case: everything known about one call while it goes down the road, and the Gate port that judges it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from droidpilot.core.calls import Answer, Effect, ToolCall, Verdict
from droidpilot.core.clock import Deadline
from droidpilot.core.events import Judged
from droidpilot.policy.risk import Signal
from droidpilot.screens.hierarchy import Node, root_of
from droidpilot.screens.labels import Label, label_of, raw_label
from droidpilot.screens.screen import Screen, is_page
from droidpilot.tools.registry import Aim, Arguments, Scene, Tool

#: Code of the verdict that a yes gives.
APPROVED = "approved"
#: Code of a rules verdict whose ask only a person may answer: no command, model or client.
PERSON = "ask_person"
_REFUSALS = frozenset({Answer.DENY, Answer.HALT})


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
    judged: tuple[Judged, ...] = ()  # what the rules were asked
    verdicts: list[Verdict] = field(default_factory=list)
    picture: str = ""  # digest of a picture of the screen, kept for people
    was_asked: bool = False  # somebody thought about it, so the screen must be read again
    is_resolved: bool = False  # unknown at first, but a look showed that it happened

    @property
    def effect(self) -> Effect:
        return Effect.WRITE if self.tool is None else self.tool.effect

    @property
    def packages(self) -> tuple[str | None, ...]:
        """Every app that the call may touch, the aim's own first; the strictest that is said of any of them counts."""
        if self.aim is None:
            return (None,)
        under = (*self.aim.nodes, *self.aim.maybe)
        screen = self.scene.screen if self.scene is not None else None
        return tuple(dict.fromkeys((self.aim.package, *(packages_of(screen, under) if screen is not None else ()))))

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


def packages_of(screen: Screen, nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return whose the nodes are: by their own word, which the app chooses, and by the windows that they lie in.

    Where no window says that it is of the app in front, any may be.
    """
    found: dict[str, None] = {}
    for node in nodes:
        root = root_of(screen.hierarchy, node)
        found |= dict.fromkeys(package for package in (node.package, root.package) if package)
    if found and screen.package and all(root.package != screen.package for root in screen.hierarchy.roots()):
        found[screen.package] = None
    return tuple(found)


def labels_under(screen: Screen, nodes: Iterable[Node]) -> tuple[Label, ...]:
    """Return the label of each node, in order; nodes without one are left out.

    A page that takes presses is not called by all that stands on it.
    """
    labels = (
        Label.of(raw_label(node)) if is_page(node, screen.display) else label_of(screen.hierarchy, node)
        for node in nodes
    )
    return tuple(label for label in labels if label.raw)


def said_beside(nodes: Iterable[Node]) -> tuple[Label, ...]:
    """Return what nodes say beside their label: a description behind a text, a hint (A25)."""
    texts = (text for node in nodes for text in (node.desc, "" if node.is_editable else node.hint) if text)
    return tuple(Label.of(text) for text in dict.fromkeys(texts))


def inside(screen: Screen, nodes: Iterable[Node]) -> tuple[Node, ...]:
    """Return what lies inside the node that takes the press, controls of their own left out (A15, A17).

    A row with a Delete icon is no Delete button; a row with the words "Send 500" is one. A whole page that takes
    presses says nothing about what a press on it does.
    """
    taker = next((node for node in nodes if node.is_usable), None)
    if taker is None or is_page(taker, screen.display):
        return ()
    found: list[Node] = []
    index = taker.index + 1
    while index < taker.end:
        node = screen.nodes[index]
        if node.clickable or node.long_clickable or node.is_editable:
            index = node.end
            continue
        found.append(node)
        index += 1
    return tuple(found)


def said_within(screen: Screen, nodes: Iterable[Node]) -> tuple[Label, ...]:
    """Return every text inside the node that takes the press."""
    texts = (text for node in inside(screen, nodes) if not node.password for text in (node.text, node.desc, node.hint))
    return tuple(Label.of(text) for text in dict.fromkeys(texts) if text)


def read_labels(case: Case) -> None:
    """Fill in everything that is said under the finger."""
    if case.scene is None or case.aim is None:
        return
    case.labels = labels_under(case.scene.screen, case.aim.nodes)
    screen, aim = case.scene.screen, case.aim
    case.said_too = (*said_beside(aim.nodes), *labels_under(screen, aim.maybe), *said_beside(aim.maybe))
    case.said_inside = said_within(screen, aim.nodes)
