"""What droidpilot itself costs per tap: own code in memory, and the real stack against peers that answer at once."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from droidpilot.agent.loop import Loop
from droidpilot.core.calls import Origin
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.events import Event
from droidpilot.core.stop import Stop
from droidpilot.device.adb_server import start_private_server
from droidpilot.device.attached import connect_tcp
from droidpilot.device.settle import SETTLE_GAP_S
from droidpilot.model.client import ModelReply, ModelRequest
from droidpilot.pipeline.approval import AskMode
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import make_model, open_session
from droidpilot.tools.shelf import all_tools
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.sessions import new_session_id
from droidpilot.transcript.writer import TranscriptWriter
from tests.e2e.setting import SHIPPED
from tests.fakes.driver import Call, FakeDriver, State, dump, node
from tests.fakes.model import FakeModel, call, reply
from tests.fakes.road import make_road

#: Turns of a run, and the stretch round the 30th that is measured.
TURNS = 40
STRETCH = slice(20, 40)


def own_code_ms() -> float:
    """Return the milliseconds of a whole tap turn with Driver and Model in memory, transcript on disk."""
    driver = FakeDriver({name: State([_screen(name)], "com.list") for name in ("odd", "even")}, "odd")

    def turn_page(fake: FakeDriver, write: Call) -> None:
        fake.show("even" if fake.showing == "odd" else "odd")

    driver.react = turn_page
    clock = SystemClock()
    asked: list[float] = []

    def tap(request: ModelRequest) -> ModelReply:
        asked.append(time.perf_counter())
        return reply("", call("tap", id=f"call{len(asked)}", x=540, y=70))

    with tempfile.TemporaryDirectory() as home:
        writer = TranscriptWriter.create(Path(home), new_session_id(clock), clock=clock, redactor=Redactor())

        def append(event: Event) -> None:
            writer.append(event)

        with writer:
            road = make_road(
                driver,
                ask=AskMode.NEVER,
                record=append,
                keep=lambda data: writer.artifacts.put(data, "xml"),
            )
            loop = Loop(
                model=FakeModel([*([tap] * TURNS), reply("", call("done", summary="x"))]),
                dispatch=road.executor,
                budget=road.budget,
                tools=all_tools().schemas(all_tools().names),
                shown_screen=lambda: road.executor.shown_screen,
                record=append,
                on_text=lambda piece: None,
                clock=road.clock,
                stop=Stop(),
            )
            loop.run("Tap along", road.executor.first_look())
    return _median_gap_ms(asked)


@dataclass(frozen=True)
class Stack:
    between_ms: float
    gap_ms: float


def real_stack() -> Stack:
    """Run 40 taps through real adb, the real in-phone protocol and the real model client, peers in another process."""
    clock = SystemClock()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        peers = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.peers", str(TURNS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert peers.stdout is not None and peers.stdin is not None
        private = start_private_server(home, clock)
        try:
            told = json.loads(peers.stdout.readline())
            connect_tcp(private.server, told["serial"], Deadline.after(clock, 10))
            settings = load_settings(
                {"model": "scripted", "base_url": told["base_url"], "ask": "never", "max_turns": 100}, cwd=home, env={}
            ).settings
            plan = SessionPlan(
                home=home,
                origin=Origin.MODEL,
                settings=settings,
                user_policies=home / "policies",
                shipped_policies=SHIPPED,
                goal="Tap along",
            )
            prepared = prepare(plan)
            address = PhoneAddress(serial=told["serial"], adb_port=private.port, is_virtual=True)
            with open_session(prepared, address, clock=clock, stop=Stop()) as session:
                outcome = session.run_goal(make_model(prepared, clock))
            assert outcome.turns == TURNS + 3, outcome
            peers.stdin.close()
            asked = json.loads(peers.stdout.readline())
        finally:
            private.stop()
            peers.kill()
            peers.wait()
    return Stack(_median_gap_ms(asked), SETTLE_GAP_S * 1000)


def _median_gap_ms(moments: list[float]) -> float:
    gaps = [later - earlier for earlier, later in pairwise(moments)]
    return median(gaps[STRETCH]) * 1000


def _screen(name: str) -> bytes:
    """A list of 100 nodes, of which a tap changes one."""
    rows = [
        node(
            node(text=f"Row {number}", bounds=(40, 140 + 60 * number, 900, 190 + 60 * number), package="com.list"),
            cls="android.widget.LinearLayout",
            clickable=True,
            bounds=(0, 140 + 60 * number, 1080, 200 + 60 * number),
            package="com.list",
        )
        for number in range(32)
    ]
    rows += [
        node(text=f"Note {number}", bounds=(900, 140 + 60 * number, 1080, 200 + 60 * number)) for number in range(33)
    ]
    button = node(text=f"Page {name}", cls="android.widget.Button", clickable=True, bounds=(0, 0, 1080, 140))
    return dump(node(node(*rows, button, cls="android.widget.FrameLayout"), package="com.list"))
