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
    packages = dict.fromkeys([aim.package, *(node.package for node in aim.nodes if node.package)])
    ids = tuple(node.resource_id for node in aim.nodes if node.resource_id)
    signals = assess(
        RiskInput(
            tool=case.call.tool,
            effect=case.effect,
            packages=tuple(packages),
            # A finger that moves over labels presses none of them.
            labels=() if aim.is_gesture_over else case.labels,
            ids=() if aim.is_gesture_over else ids,
            is_password_field=aim.is_secret,
            key=aim.words[0] if case.call.tool == "press" and aim.words else "",
        )
    )
    return () if {signal.name for signal in signals} == {SENSITIVE_FIELD} else signals
