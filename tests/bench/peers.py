"""The other side of the bench in a process of its own: a virtual phone without delays and a scripted model server.

The script is so many turns of toggling, with a picture in place of some of them, and is played again for each run.
Prints one JSON line with serial and base_url, then, when its standard input ends, one with the moments of all requests.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from droidpilot.model.scripted import ScriptedCall, ScriptedServer, Step, StepSource
from droidpilot.virtual.server import running_phone


def main(turns: int, pictures: int = 0, runs: int = 1) -> None:
    def toggle(body: dict[str, Any]) -> Step:
        return Step(calls=[ScriptedCall(tool="tap", find="Airplane mode")])

    # the next run finds Settings on its first page
    leave = [ScriptedCall(tool="press", args={"key": key}) for key in ("back", "home")]
    picture = Step(calls=[ScriptedCall(tool="screenshot")])
    every = turns // pictures if pictures else 0
    middle: list[StepSource] = [picture if every and turn % every == every - 1 else toggle for turn in range(turns)]
    steps: list[StepSource] = [
        Step(calls=[ScriptedCall(tool="open_app", args={"app": "Settings"})]),
        Step(calls=[ScriptedCall(tool="tap", find="Network & internet")]),
        *middle,
        Step(calls=[*leave, ScriptedCall(tool="done", args={"summary": "x"})]),
    ]
    steps *= runs
    moments: list[float] = []
    with running_phone(transition_ms=0) as phone, ScriptedServer(steps=steps) as server:
        server.on_request = lambda request: moments.append(time.perf_counter())
        print(json.dumps({"serial": phone.serial, "base_url": server.base_url}), flush=True)
        sys.stdin.read()
        print(json.dumps(moments), flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
