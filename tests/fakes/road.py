"""A whole road in memory: the real executor, gates, observer and policy over a FakeDriver, with the lines it wrote."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from droidpilot.core.calls import Origin, ToolCall, ToolResult
from droidpilot.core.clock import ManualClock
from droidpilot.core.events import Event, ToolCalled, ToolReturned
from droidpilot.core.images import ImageLimits
from droidpilot.core.stop import Stop
from droidpilot.pipeline.approval import ApprovalGate, ApprovalReply, ApprovalRequest, Approver, AskMode, NoApprover
from droidpilot.pipeline.budget import Budget, Limits
from droidpilot.pipeline.case import Gate
from droidpilot.pipeline.executor import Executor
from droidpilot.pipeline.gates import CapabilityGate, RulesGate, StalenessGate
from droidpilot.pipeline.observer import Observer
from droidpilot.pipeline.pictures import Pictures
from droidpilot.pipeline.records import Desk
from droidpilot.pipeline.telling import Teller
from droidpilot.policy.grammar import parse_rules
from droidpilot.policy.rules import RuleSet
from droidpilot.screens.refs import RefBook
from droidpilot.tools.shelf import all_tools
from tests.fakes.driver import Call, FakeDriver, dump, node

SEND = (40, 2000, 400, 2140)
NAME = (40, 300, 1040, 440)
BACK = (40, 100, 140, 200)


def chat(
    *,
    text: str = "",
    send: str = "Send",
    package: str = "com.chat",
    password: bool = False,
    extra: tuple[str, ...] = (),
    beside: tuple[str, ...] = (),
) -> bytes:
    """A screen with a field, a Send button and a Back button; `beside` are windows of their own."""
    return dump(
        node(
            node(cls="android.widget.ImageButton", desc="Back", bounds=BACK, clickable=True, package=package),
            node(
                cls="android.widget.EditText",
                text=text,
                hint="Message",
                resource_id=f"{package}:id/field",
                bounds=NAME,
                clickable=True,
                focused=True,
                password=password,
                package=package,
            ),
            node(
                cls="android.widget.Button",
                text=send,
                resource_id=f"{package}:id/go",
                bounds=SEND,
                clickable=True,
                package=package,
            ),
            *extra,
            cls="android.widget.FrameLayout",
            package=package,
        ),
        *beside,
    )


class Person:
    """An approver that answers as told, and may do something (let time pass, change the screen) while it thinks."""

    name = "terminal"
    is_person = True

    def __init__(self, *answers: str, think: Callable[[], None] | None = None) -> None:
        self.answers = list(answers)
        self.asked: list[ApprovalRequest] = []
        self._think = think

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        self.asked.append(request)
        if self._think is not None:
            self._think()
        return ApprovalReply(request.prompt_id, self.answers.pop(0))  # type: ignore[arg-type]  # a test may lie


class BrokenGate:
    """A gate that raises."""

    def __init__(self, name: str) -> None:
        self.name = name

    def judge(self, case: object) -> Any:
        raise RuntimeError("the gate broke")


@dataclass
class Road:
    """The road and everything around it that a test may look at."""

    driver: FakeDriver
    clock: ManualClock
    executor: Executor
    budget: Budget
    stop: Stop
    lines: list[Event] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    calls: int = 0

    def submit(self, tool: str, *, origin: Origin = Origin.MODEL, malformed: str = "", **arguments: Any) -> ToolResult:
        self.calls += 1
        return self.executor.submit(
            ToolCall(
                id=f"c{self.calls}",
                tool=tool,
                arguments=arguments,
                origin=origin,
                screen=self.executor.shown_screen,
                malformed=malformed,
            )
        )

    @property
    def kinds(self) -> list[str]:
        return [line.kind for line in self.lines]

    @property
    def called(self) -> list[ToolCalled]:
        return [line for line in self.lines if isinstance(line, ToolCalled)]

    @property
    def returned(self) -> list[ToolReturned]:
        return [line for line in self.lines if isinstance(line, ToolReturned)]

    @property
    def writes(self) -> list[Call]:
        return self.driver.writes

    def ref(self, label: str) -> int:
        """Return the ref of the thing called `label`, from a look through the road."""
        text = self.submit("ui_tree").text
        for line in text.splitlines():
            number, _, rest = line.partition(" ")
            if number.isdigit() and label in rest:
                return int(number)
        raise AssertionError(f"no {label!r} in:\n{text}")


def make_road(
    driver: FakeDriver | None = None,
    *,
    rules: str = "",
    ask: AskMode = AskMode.RISKY,
    approver: Approver | None = None,
    limits: Limits | None = None,
    allowed: frozenset[str] | None = None,
    replace_gates: Mapping[str, Gate] | None = None,
    keeps_pictures: bool = False,
    record: Callable[[Event], None] | None = None,
    keep: Callable[[bytes], str] = lambda data: "",
    clock: ManualClock | None = None,
    limit_bytes: int | None = None,
    is_lock_allowed: bool = False,
) -> Road:
    """Build a road over `driver` (a chat screen of com.chat if None); `record` and `keep` take the place of a list."""
    if driver is None:
        driver = FakeDriver.of({"chat": chat()})
        driver.states["chat"].package = "com.chat"
    clock, stop, registry = clock or ManualClock(), Stop(), all_tools()
    lines: list[Event] = []
    write = lines.append if record is None else record
    secrets: list[str] = []
    log: list[str] = []
    rule_set = RuleSet(parse_rules(rules, source="test.rules", tools=registry.names))
    budget = Budget(limits or Limits(), clock)
    observer = Observer(driver, clock, RefBook(), record=write, keep=keep, hide=secrets.append)
    approval = ApprovalGate(
        ask,
        approver or NoApprover(),
        is_guarded=lambda package: package is None or rule_set.names_app(package),
        clock=clock,
        record=write,
        waited=budget.waited,
    )
    gates: list[Gate] = [
        CapabilityGate(registry, registry.names if allowed is None else allowed),
        RulesGate(rule_set),
        approval,
        budget,
        StalenessGate(observer, scene_of=lambda case: executor.scene_now(case), is_lock_allowed=is_lock_allowed),
    ]
    for name, gate in (replace_gates or {}).items():
        gates[[one.name for one in gates].index(name)] = gate
    executor = Executor(
        registry=registry,
        driver=driver,
        observer=observer,
        pictures=Pictures(driver, observer, clock, stop, ImageLimits(), is_kept=keeps_pictures),
        teller=Teller(observer, rule_set, limit_bytes=limit_bytes),
        gates=gates,
        approval=approval,
        budget=budget,
        desk=Desk(
            record=write,
            keep=keep,
            keep_picture=keep,
            hide=secrets.append,
            redact=lambda text: text,
            log=log.append,
        ),
        clock=clock,
        stop=stop,
        is_lock_allowed=is_lock_allowed,
    )
    return Road(driver, clock, executor, budget, stop, lines, secrets, log)
