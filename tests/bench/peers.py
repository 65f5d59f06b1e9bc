"""The other side of the bench in a process of its own: a virtual phone without delays and a scripted model server.

Prints one JSON line with serial and base_url, then, when its standard input ends, one with the moments of all requests.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from droidpilot.model.scripted import ScriptedCall, ScriptedServer, Step, StepSource
from droidpilot.virtual.server import running_phone


def main(turns: int) -> None:
    def toggle(body: dict[str, Any]) -> Step:
        return Step(calls=[ScriptedCall(tool="tap", find="Airplane mode")])

    steps: list[StepSource] = [
        Step(calls=[ScriptedCall(tool="open_app", args={"app": "Settings"})]),
        Step(calls=[ScriptedCall(tool="tap", find="Network & internet")]),
        *([toggle] * turns),
        Step(calls=[ScriptedCall(tool="done", args={"summary": "x"})]),
    ]
    moments: list[float] = []
    with running_phone(transition_ms=0) as phone, ScriptedServer(steps=steps) as server:
        server.on_request = lambda request: moments.append(time.perf_counter())
        print(json.dumps({"serial": phone.serial, "base_url": server.base_url}), flush=True)
        sys.stdin.read()
        print(json.dumps(moments), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
