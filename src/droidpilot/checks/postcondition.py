"""Check: one post-condition, parsed from its expression and judged on one complete, readable look.

What could not be judged is not passed. Absence needs positive evidence: a whole screen that was read without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from droidpilot.core.calls import Dispatch, Origin, Status, ToolCall, ToolResult
from droidpilot.core.errors import UsageError
from droidpilot.core.events import CheckFinished, CheckStarted, Event
from droidpilot.core.text import quoted, shorten
from droidpilot.screens.labels import clean
from droidpilot.screens.screen import Screen, is_visible

Kind = Literal["text", "no_text", "package", "setting"]

_SETTING = re.compile(r"setting:(system|secure|global)/([A-Za-z0-9_.:/-]{1,200})=(.*)\Z", re.DOTALL)
_HINT = 'use text=WORDS, text!=WORDS, package=NAME or setting:NAMESPACE/KEY=VALUE, e.g. "setting:global/wifi_on=1"'


@dataclass(frozen=True, slots=True)
class Check:
    """A parsed expression. `key` is the setting's `namespace/key`, empty for other kinds."""

    expression: str
    kind: Kind
    wanted: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was seen. `passed` is None where it could not be judged."""

    check: Check
    passed: bool | None
    reason: str
    ends: str = ""  # how the session must end because of the look, empty where it goes on


def parse_check(expression: str) -> Check:
    """Parse one expression.

    Raises:
        UsageError: it is none, or it asks for nothing.
    """
    setting = _SETTING.match(expression)
    if setting is not None:
        return Check(expression, "setting", setting[3], f"{setting[1]}/{setting[2]}")
    kinds: tuple[tuple[str, Kind], ...] = (("text!=", "no_text"), ("text=", "text"), ("package=", "package"))
    for prefix, kind in kinds:
        if expression.startswith(prefix):
            wanted = expression.removeprefix(prefix)
            wanted = clean(wanted) if kind != "package" else wanted.strip()
            if not wanted:
                break
            return Check(expression, kind, wanted)
    raise UsageError(f"check {quoted(expression)} cannot be read", hint=_HINT)


def judge_all(checks: tuple[Check, ...], dispatch: Dispatch, record: Callable[[Event], None]) -> tuple[Judgement, ...]:
    """Look for each check in turn, through the road, and record what was seen."""
    judged = []
    for number, check in enumerate(checks, start=1):
        call = _call(check, f"check{number}")
        record(CheckStarted(expression=check.expression, call_id=call.id))
        judgement = judge(check, dispatch.submit(call))
        record(CheckFinished(expression=check.expression, passed=judgement.passed, reason=judgement.reason))
        judged.append(judgement)
    return tuple(judged)


def _call(check: Check, call_id: str) -> ToolCall:
    if check.kind == "setting":
        namespace, _, key = check.key.partition("/")
        arguments = {"namespace": namespace, "key": key}
        return ToolCall(id=call_id, tool="read_setting", arguments=arguments, origin=Origin.CHECK)
    return ToolCall(id=call_id, tool="ui_tree", arguments={}, origin=Origin.CHECK)


def judge(check: Check, result: ToolResult) -> Judgement:
    """Judge a check on the answer to its look."""
    if result.status is not Status.OK:
        return Judgement(check, None, f"could not be looked at: {result.code or result.status}", result.ends)
    if check.kind == "setting":
        value = result.value
        shown = "not set" if value is None else f'"{shorten(clean(value), 60)}"'
        return Judgement(check, value == check.wanted, f"{check.key} is {shown}")
    screen = result.value
    if not isinstance(screen, Screen):
        return Judgement(check, None, "the look gave no screen")
    if check.kind == "package":
        if screen.package is None:
            return Judgement(check, None, "the phone did not say which app is in front")
        return Judgement(check, screen.package == check.wanted, f"{screen.package} is in front")
    return _judge_text(check, screen)


def _judge_text(check: Check, screen: Screen) -> Judgement:
    if not screen.health.is_complete or not screen.nodes:
        return Judgement(check, None, "the screen could not be read as a whole")
    if any(check.wanted in text for text in visible_texts(screen)):
        return Judgement(check, check.kind == "text", "it is on the screen")
    if not screen.health.is_settled:
        return Judgement(check, None, "it was not seen, but the screen was still moving")
    where = screen.package or "an unknown app"
    return Judgement(check, check.kind == "no_text", f"the whole screen of {where} was read without it")


def visible_texts(screen: Screen) -> list[str]:
    """Return every text and description on the screen, cleaned; password fields and hints say nothing."""
    texts = []
    for node in screen.nodes:
        if is_visible(node, screen.display):
            texts += [] if node.password else [clean(node.text)]
            texts.append(clean(node.desc))
    return [text for text in texts if text]
