"""A run that kills itself with SIGKILL right after its N-th line is on disk; test_killed.py starts it."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from tests.e2e.setting import SHIPPED, find
from tests.fakes.model import FakeModel, call, last_text, reply

from droidpilot.core.calls import Origin
from droidpilot.core.clock import SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.events import Event
from droidpilot.core.progress import Progress
from droidpilot.core.stop import Stop
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import open_session


def main(home: Path, serial: str, adb_port: int, kill_after: int) -> None:
    seen = 0

    def count(event: Event) -> None:
        nonlocal seen
        seen += 1
        if seen == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)

    model = FakeModel(
        [
            lambda request: reply("", call("tap", id="a", ref=find("Messages", last_text(request)))),
            lambda request: reply("", call("press", id="b", key="home"), call("press", id="c", key="recents")),
            reply("", call("done", id="d", summary="done")),
        ]
    )
    settings = load_settings({"model": "fake", "base_url": "http://127.0.0.1:9/v1"}, cwd=home, env={}).settings
    plan = SessionPlan(
        home=home,
        origin=Origin.MODEL,
        settings=settings,
        user_policies=home / "policies",
        shipped_policies=SHIPPED,
        goal="Look at the messages",
        checks=("setting:global/wifi_on=0",),
    )
    clock = SystemClock()
    address = PhoneAddress(serial=serial, adb_port=adb_port, is_virtual=True)
    progress = Progress(on_event=count)
    with open_session(prepare(plan), address, clock=clock, stop=Stop(), progress=progress) as session:
        session.run_goal(model)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
