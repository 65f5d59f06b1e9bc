"""A stage for reports about reading: a real stack from the adb server up, whose phone shows what a report shows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import adbutils
from tests.e2e.setting import SHIPPED, Setting, virtual_setting
from tests.fakes.model import Answer, FakeModel, call, reply

from droidpilot.core.calls import Origin
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.events import AnyEvent
from droidpilot.core.stop import Stop
from droidpilot.device.adb import AdbServer
from droidpilot.device.android import connect, reach
from droidpilot.device.driver import Driver
from droidpilot.device.plain import PlainDriver
from droidpilot.model.client import ModelRequest
from droidpilot.pipeline.outcome import Outcome
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import open_session
from droidpilot.transcript.files import TRANSCRIPT
from droidpilot.transcript.projections import CallView, calls
from droidpilot.transcript.reader import read_events
from droidpilot.virtual.scenes.file import scene_of
from droidpilot.virtual.scenes.scene import show

OWN_DUMPS = Path(__file__).parents[1] / "data" / "dumps"


@dataclass(frozen=True)
class Run:
    """A run that is over: what the model was told after each of its calls, and what stands in the transcript."""

    outcome: Outcome
    told: list[str]
    events: list[AnyEvent]
    calls: list[CallView]


class Stage:
    """One phone behind a private adb server."""

    def __init__(self, setting: Setting, folder: Path) -> None:
        self.setting = setting
        self.phone = setting.phone.phone
        self.clock = SystemClock()
        self._folder = folder
        self._runs = 0

    def show(self, dump: str | bytes) -> bytes:
        """Show a dump: one of our own by name, or given bytes. None of its faults stay."""
        data = (OWN_DUMPS / dump).read_bytes() if isinstance(dump, str) else dump
        show(self.phone, scene_of(data))
        return data

    def fault(self, name: str, *args: object) -> None:
        self.phone.faults.set(name, *args)

    def within(self, seconds: float) -> Deadline:
        return Deadline.after(self.clock, seconds)

    @contextmanager
    def driver(self) -> Iterator[Driver]:
        made = connect(
            AdbServer(self.setting.adb_port), self.setting.phone.serial, clock=self.clock, deadline=self.within(20)
        )
        try:
            yield made
        finally:
            made.close()

    @contextmanager
    def plain_driver(self) -> Iterator[Driver]:
        """The driver of phones on which the in-phone server cannot run: `uiautomator dump` and a file."""
        server = AdbServer(self.setting.adb_port)
        reached = reach(server, self.setting.phone.serial, clock=self.clock, deadline=self.within(10))
        made = PlainDriver(reached.link, self.clock, reached.facts, reached.line)
        try:
            yield made
        finally:
            made.close()

    def adb_device(self) -> adbutils.AdbDevice:
        """The same phone for a program of somebody else."""
        return adbutils.AdbClient(port=self.setting.adb_port).device(self.setting.phone.serial)

    def run(
        self,
        *answers: Answer | Callable[[ModelRequest], object],
        rules: str = "allow *",
        checks: Sequence[str] = (),
    ) -> Run:
        """Let a model in memory work on the phone, then say `done`; everything below it is real."""
        self._runs += 1
        home = self._folder / f"home-{self._runs}"
        (home / "policies").mkdir(parents=True)
        (home / "policies" / "test.rules").write_text(rules + "\n")
        settings = load_settings(
            {"model": "fake-vision", "base_url": "http://127.0.0.1:9/v1", "policy": "test", "ask": "never"},
            cwd=home,
            env={},
        ).settings
        plan = SessionPlan(
            home=home,
            origin=Origin.MODEL,
            settings=settings,
            user_policies=home / "policies",
            shipped_policies=SHIPPED,
            goal="Look at it",
            checks=tuple(checks),
            is_check_waived=not checks,
        )
        done = reply("", call("done", id="end", summary="done"))
        model = FakeModel([*answers, done])  # type: ignore[list-item]  # a step may also act on the stage first
        address = PhoneAddress(serial=self.setting.phone.serial, adb_port=self.setting.adb_port, is_virtual=True)
        with open_session(prepare(plan), address, clock=self.clock, stop=Stop()) as session:
            outcome = session.run_goal(model)
            directory = session.directory
        lines = read_events(directory / TRANSCRIPT).lines
        told = [str(message["content"]) for message in model.requests[-1].messages if message["role"] == "tool"]
        return Run(outcome, told, [line.event for line in lines], calls(lines))  # type: ignore[misc]  # known lines


@contextmanager
def stage_in(folder: Path, *, seed: int = 0) -> Iterator[Stage]:
    with virtual_setting(folder, seed=seed) as setting:
        yield Stage(setting, folder)
