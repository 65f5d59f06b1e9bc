"""Breakers: when a run goes in circles, it ends with the reason instead of going on until the money is gone."""

from __future__ import annotations

import json

from droidpilot.core.calls import Status, ToolCall, ToolResult

#: Consecutive calls that did not succeed (G11, INV-94).
FAILURES_IN_A_ROW = 5
#: Calls of the same tool that does not exist.
SAME_UNKNOWN_TOOL = 3
#: Identical calls in a row that changed nothing (A18).
IDENTICAL_CALLS = 3


class Breakers:
    """Told of every call with its result; says when to stop."""

    def __init__(self) -> None:
        self._failures = 0
        self._unknown: dict[str, int] = {}
        self._last = ""
        self._same = 0

    def note(self, call: ToolCall, result: ToolResult, *, has_changed: bool) -> str:
        """Count one call. Returns why the run must end, empty while it may go on.

        `has_changed`: whether the screen the asker knows is another one now; the same scroll twice is no circle then.
        """
        self._failures = 0 if result.status is Status.OK else self._failures + 1
        if self._failures >= FAILURES_IN_A_ROW:
            return f"{FAILURES_IN_A_ROW} calls in a row did not succeed, the last with: {result.code or result.status}"
        if result.code == "unknown_tool":
            self._unknown[call.tool] = self._unknown.get(call.tool, 0) + 1
            if self._unknown[call.tool] >= SAME_UNKNOWN_TOOL:
                return f"a tool that does not exist was called {SAME_UNKNOWN_TOOL} times"
        key = json.dumps([call.tool, dict(call.arguments)], sort_keys=True, default=str)
        self._same = 1 if has_changed or key != self._last else self._same + 1
        self._last = key
        if self._same >= IDENTICAL_CALLS:
            return f"the same {call.tool} was asked for {IDENTICAL_CALLS} times and nothing changed"
        return ""
