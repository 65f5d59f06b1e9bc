"""An imagined call: what the gates would say of a tool on one thing of an app, without a phone.

The call is aimed by the tool itself at a screen that holds nothing but that thing, and judged by the real gates: there
is no second reading of the rules. Budget and staleness depend on a session and are left out. It must never act.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import quoteattr

from droidpilot.core.calls import Answer, Origin, ToolCall, Verdict
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import BadArguments, TargetError, UsageError
from droidpilot.core.events import Event
from droidpilot.core.text import quoted
from droidpilot.device.driver import KEYS, App
from droidpilot.pipeline.approval import ApprovalGate, ApprovalReply, ApprovalRequest, AskMode, guards
from droidpilot.pipeline.case import Case, read_labels
from droidpilot.pipeline.gates import CapabilityGate, RulesGate
from droidpilot.pipeline.signals import signals_of
from droidpilot.policy.risk import Signal
from droidpilot.policy.rules import RuleSet
from droidpilot.screens.hierarchy import Bounds, Node
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.screen import Screen, make_screen
from droidpilot.tools.registry import CALL_TIMEOUT_S, Registry, Scene, Tool, validate

#: What an imagined call ends in.
Ending = Literal["goes_ahead", "asks", "asks_strongly", "refused"]

_DISPLAY = Bounds(0, 0, 1080, 2400)
_THING = Bounds(90, 1000, 990, 1400)
_REF = 1
#: Gestures that move over things are imagined inside a list, as they are mostly used.
_MOVING = frozenset({"swipe", "scroll"})
#: An attribute would lose them otherwise.
_BREAKS = {"\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    """What would be under the finger. An empty package is one that cannot be told."""

    package: str = ""
    text: str = ""
    resource_id: str = ""
    is_password: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """What the gates would say. `question` is what a person would be asked, None where nobody would be."""

    sentence: str
    package: str | None
    is_app_missing: bool  # the tool is judged by an app, and none was given
    rules: Verdict
    signals: tuple[Signal, ...]
    question: ApprovalRequest | None
    at_terminal: Ending
    alone: Ending  # with nobody at a terminal
    reason: str  # why it is refused or asked; empty where it goes ahead


class _Nobody:
    """Notes the question and answers as an empty room does."""

    name = "none"
    is_person = True  # what is foretold is what a person would be asked

    def __init__(self) -> None:
        self.asked: ApprovalRequest | None = None

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        self.asked = request
        return ApprovalReply(request.prompt_id, "nobody")


def foretell(
    tool_name: str,
    arguments: Mapping[str, str],
    thing: Thing,
    *,
    registry: Registry,
    rules: RuleSet,
    mode: AskMode,
    clock: Clock,
) -> Foretold:
    """Judge one imagined call.

    Raises:
        UsageError: no such tool, or arguments that it cannot take.
    """
    tool = registry.get(tool_name)
    if tool is None:
        near = registry.nearest(tool_name)
        hint = f"did you mean {near}?" if near else f"there are: {', '.join(registry.tools)}"
        raise UsageError(f"there is no tool {quoted(tool_name)}", hint=hint)
    case = _case(tool, arguments, thing, clock)
    nobody = _Nobody()
    approval = ApprovalGate(
        mode, nobody, is_guarded=guards(rules), clock=clock, record=_forget, waited=lambda seconds: None
    )
    ruling = Verdict("rules", Answer.ALLOW)
    for gate in (CapabilityGate(registry, registry.names), RulesGate(rules), approval):
        verdict = gate.judge(case)
        case.verdicts.append(verdict)
        if gate.name == "rules":
            ruling = verdict
        if case.refusal is not None:
            break
    question = nobody.asked
    refusal = case.refusal
    at_terminal: Ending = "goes_ahead" if refusal is None else "refused"
    if question is not None:
        at_terminal = "asks_strongly" if question.level == "strong" else "asks"
    return Foretold(
        sentence=case.sentence,
        package=case.aim.package if case.aim is not None else None,
        is_app_missing=tool.needs_screen and not thing.package,
        rules=ruling,
        signals=case.signals,
        question=question,
        at_terminal=at_terminal,
        alone="goes_ahead" if refusal is None else "refused",
        reason=refusal.reason if refusal is not None else "",
    )


def unmatchable_tools(registry: Registry, clock: Clock) -> frozenset[str]:
    """Return the tools with which there is nothing for `matching` to see."""
    thing = Thing(package="com.example.app", text="global/wifi_on")
    cases = {
        name: _case(tool, {"key": "back"} if name == "press" else {}, thing, clock)
        for name, tool in registry.tools.items()
    }
    return frozenset(name for name, case in cases.items() if case.aim is not None and not case.aim.is_matchable)


def tools_without_app(registry: Registry) -> frozenset[str]:
    """Return the tools that touch no app."""
    return frozenset(name for name, tool in registry.tools.items() if not tool.needs_screen)


def _case(tool: Tool, arguments: Mapping[str, str], thing: Thing, clock: Clock) -> Case:
    """Describe the call as the executor does, on a screen with one thing."""
    given = {**_filled(tool, arguments, thing), **arguments}
    try:
        validated = validate(tool, given)
    except BadArguments as error:
        raise UsageError(error.message, hint=error.hint) from None
    call = ToolCall(id="imagined", tool=tool.name, arguments=given, origin=Origin.HUMAN)
    case = Case(call, Deadline.after(clock, CALL_TIMEOUT_S), tool=tool, arguments=validated)
    if tool.needs_screen:
        # For these the text is a name of something else and stands on no button.
        is_named = tool.name in ("open_app", "read_setting") or (tool.name == "press" and "key" not in arguments)
        screen = _screen(tool.name, thing, said="" if is_named else thing.text)
        app = App(thing.package, thing.text or thing.package)
        case.scene = Scene(screen=screen, find=lambda ref: _find(screen, ref), apps=lambda: (app,))
    try:
        case.aim = tool.aim(validated, case.scene)
    except TargetError as error:
        raise UsageError(f"{tool.name} cannot be aimed: {error.message}", hint=error.hint) from None
    if case.scene is not None:
        read_labels(case)
    case.signals = signals_of(case)
    return case


def _filled(tool: Tool, arguments: Mapping[str, str], thing: Thing) -> dict[str, object]:
    """Return the arguments that follow from the thing; what a person gave is kept."""
    text = thing.text
    match tool.name:
        case "tap" | "long_press":
            return {} if {"ref", "x", "y"} & set(arguments) else {"ref": _REF}
        case "type_text":
            return {"ref": _REF, "text": ""}
        case "scroll":
            return {"ref": _REF, "direction": "down"}
        case "swipe":
            x, y = _THING.center
            return {"x1": x, "y1": y, "x2": x, "y2": y - _THING.height}
        case "press":
            if "key" in arguments:
                return {}
            if text not in KEYS:
                raise UsageError("press needs a key", hint=f"for example: key=back; there are {', '.join(KEYS)}")
            return {"key": text}
        case "open_app":
            if not thing.package:
                raise UsageError("open_app needs an app", hint="name it: --package com.example.app --text Label")
            return {"app": thing.package}
        case "read_setting":
            namespace, slash, key = text.partition("/")
            if not slash and not {"namespace", "key"} <= set(arguments):
                raise UsageError("read_setting needs a setting", hint="write it: --text NAMESPACE/KEY")
            return {"namespace": namespace, "key": key}
        case "done":
            return {"summary": text}
        case _:
            return {}


def _screen(tool: str, thing: Thing, *, said: str) -> Screen:
    """Make a screen of one window, with the thing in a page or, for what moves, in a list.

    It is written as a dump and read like one, so that it holds what a phone's would.
    """
    is_field = tool == "type_text"
    window = {
        "class": "android.widget.FrameLayout",
        "package": thing.package,
        "scrollable": str(tool in _MOVING).lower(),
        "bounds": _written(_DISPLAY),
    }
    inner = {
        "class": f"android.widget.{'EditText' if is_field else 'Button'}",
        "package": thing.package,
        "resource-id": thing.resource_id,
        "hint" if is_field else "text": said,
        "clickable": "true",
        "focused": "true",
        "password": str(thing.is_password).lower(),
        "bounds": _written(_THING),
    }
    dump = f"<hierarchy><node {_attributes(window)}><node {_attributes(inner)} /></node></hierarchy>"
    return make_screen(
        number=1,
        hierarchy=parse_hierarchy(dump.encode("utf-8", "replace")),
        foreground_package=thing.package or None,
        activity=None,
        width=_DISPLAY.width,
        height=_DISPLAY.height,
        rotation=0,
        refs={_REF: 1},
    )


def _find(screen: Screen, ref: int) -> Node:
    node = screen.node_of(ref)
    if node is None:
        raise TargetError(f"there is no ref {ref}", hint=f"the one thing has ref {_REF}", code="no_ref")
    return node


def _attributes(values: Mapping[str, str]) -> str:
    return " ".join(f"{name}={quoteattr(value, _BREAKS)}" for name, value in values.items())


def _written(bounds: Bounds) -> str:
    return f"[{bounds.left},{bounds.top}][{bounds.right},{bounds.bottom}]"


def _forget(event: Event) -> None:
    """Keep no record of a question that nobody was asked."""
