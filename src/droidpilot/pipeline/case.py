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
from droidpilot.screens.labels import Label, label_of, raw_label
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Aim, Arguments, Scene, Tool

#: Code of the verdict that a yes gives.
APPROVED = "approved"
_REFUSALS = frozenset({Answer.DENY, Answer.HALT})
#: Texts that a decision may hang on: amounts of money, with a symbol or a currency's code on either side.
_AMOUNT = re.compile(r"[$€£¥₹₩₦₿]\s?\d|\d[\d.,]*\s?(?:[$€£¥₹₩₦₿]|[A-Z]{3}\b)|\d+[.,]\d{2}\b")


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
    signals: tuple[Signal, ...] = ()
    verdicts: list[Verdict] = field(default_factory=list)
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


def same_call_key(case: Case) -> str:
    """Digest what a call would do by its target, not by the caller's words: a tap on a ref and on its x,y are one.

    Texts go into the digest only, which stays in memory.
    """
    aim, arguments = case.aim, case.arguments
    assert aim is not None and arguments is not None
    own = arguments.model_dump(exclude={"ref", "x", "y", "picture"})
    points = () if aim.nodes else aim.points
    return _digest([case.call.tool, aim.package, [node_identity(node) for node in aim.nodes], aim.words, points, own])


def target_key(case: Case, aim: Aim, screen: Screen) -> str:
    """Digest the fields that the call depends on (B15): the app, the nodes under the finger and their state.

    Where somebody was asked, also what they may have decided on: amounts and what stands in text fields (A35, INV-88).
    """
    nodes = [[*node_identity(node), node.enabled, node.checked, node.selected] for node in aim.nodes]
    decided_on = []
    if case.was_asked:
        decided_on = [node.text for node in screen.nodes if node.is_editable or _AMOUNT.search(raw_label(node))]
    return _digest([aim.package, screen.package, screen.activity, nodes, aim.words, decided_on])


def node_identity(node: Node) -> list[str]:
    return [node.cls, node.resource_id, node.package, "" if node.is_editable else node.text, node.desc]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True, sort_keys=True, default=str).encode()).hexdigest()
