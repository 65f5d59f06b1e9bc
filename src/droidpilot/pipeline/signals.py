"""Signals: hands the risk room what lies under the finger, and nothing the caller said."""

from __future__ import annotations

from droidpilot.core.calls import Effect
from droidpilot.pipeline.case import Case
from droidpilot.policy.risk import SENSITIVE_FIELD, RiskInput, Signal, assess


def signals_of(case: Case) -> tuple[Signal, ...]:
    """Collect the reasons to worry about a write; reads have none.

    A secret field is no reason by itself, but adds to another one: logging in is what people ask for.
    """
    aim = case.aim
    if aim is None or case.tool is None or case.effect is Effect.READ:
        return ()
    under = (*aim.nodes, *aim.maybe)
    ids = tuple(node.resource_id for node in under if node.resource_id)
    signals = assess(
        RiskInput(
            tool=_kind(case),
            effect=case.effect,
            packages=case.packages,
            # A finger that moves over labels presses none of them.
            labels=() if aim.is_gesture_over else (*case.labels, *case.said_too),
            ids=() if aim.is_gesture_over else ids,
            is_password_field=aim.is_secret,
            key=aim.words[0] if case.call.tool == "press" and aim.words else "enter",
        )
    )
    return () if {signal.name for signal in signals} == {SENSITIVE_FIELD} else signals


def _kind(case: Case) -> str:
    """Name the tool that does what this call does: a swipe of no length is a tap, a line break in a text is enter."""
    assert case.aim is not None
    return case.aim.also_as[0] if case.aim.also_as else case.call.tool
