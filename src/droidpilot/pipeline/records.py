"""What the road writes with, and the line that every call leaves before it is run, built from its case.

What may not be written is decided here, for arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from droidpilot.core.calls import Effect, Verdict
from droidpilot.core.events import TEXT_SECRET, Event, Target, TargetNode, ToolCalled, VerdictLine
from droidpilot.pipeline.case import Case
from droidpilot.pipeline.identity import written_keys
from droidpilot.screens.labels import label_of

#: Nodes under the finger that are written down.
_MOST_NODES = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """What the executor writes with: the transcript, the artifacts, the redactor and the log of our own faults."""

    record: Callable[[Event], None]
    keep: Callable[[bytes], str]
    keep_picture: Callable[[bytes], str]
    hide: Callable[[str], None]  # from now on this text is a secret
    redact: Callable[[str], str]
    log: Callable[[str], None]


def called_line(case: Case, send_key: str, *, hide: Callable[[str], None], shows_secret: bool = False) -> ToolCalled:
    """Build `tool_called`. A text for a password field is handed to `hide` and replaced; one for no field, replaced.

    `shows_secret`: a field for a secret is on the screen. Of a call that found no target only names are kept then.
    """
    call = case.call
    return ToolCalled(
        call_id=call.id,
        parent_id=call.parent_id,
        origin=call.origin.value,
        turn_kind=call.turn_kind.value,
        tool=call.tool,
        effect="read" if case.effect is Effect.READ else "write",
        tier=case.tool.tier.value if case.tool is not None else "blind",
        arguments=_arguments(case, hide, shows_secret=shows_secret),
        sentence=case.sentence,
        screen=case.scene.screen.number if case.scene is not None else call.screen,
        target=_target(case),
        same_as=written_keys(case) if send_key else [],
        judged=list(case.judged),
        signals=[signal.name for signal in case.signals],
        verdicts=[_verdict_line(verdict) for verdict in case.verdicts],
        send_key=send_key,
        picture=case.picture,
    )


def _arguments(case: Case, hide: Callable[[str], None], *, shows_secret: bool) -> dict[str, Any]:
    arguments = dict(case.call.arguments)
    if case.aim is not None and not case.aim.is_secret:
        return arguments
    if case.aim is not None:
        hide(str(arguments.get("text", "")))
    elif shows_secret:
        return dict.fromkeys(arguments, TEXT_SECRET)
    # Where no field was found, the text may stand under a name that was misspelt.
    names = set(arguments) - {"ref", "mode"} if case.call.tool == "type_text" else {"text"} & set(arguments)
    return {name: TEXT_SECRET if name in names else value for name, value in arguments.items()}


def _verdict_line(verdict: Verdict) -> VerdictLine:
    return VerdictLine(
        gate=verdict.gate,
        answer=verdict.answer.value,
        code=verdict.code,
        reason=verdict.reason,
        rule=verdict.rule,
    )


def _target(case: Case) -> Target | None:
    if case.aim is None or case.scene is None:
        return None
    screen = case.scene.screen
    refs = {index: ref for ref, index in screen.refs.items()}
    nodes = []
    for node in (*case.aim.nodes, *case.aim.maybe)[:_MOST_NODES]:
        label = label_of(screen.hierarchy, node)
        box = node.bounds
        nodes.append(
            TargetNode(
                ref=refs.get(node.index),
                cls=node.cls,
                resource_id=node.resource_id,
                package=node.package,
                bounds=(box.left, box.top, box.right, box.bottom),
                raw=label.raw,
                cleaned=label.cleaned,
                folded=label.folded,
            )
        )
    return Target(package=case.aim.package, points=list(case.aim.points), nodes=nodes)
