"""Builds one session from concrete parts and tears it down; the only place that constructs them.

First everything a person gave is checked (`prepare`), so that a typo costs nothing; then the transcript is opened, the
phone leased and reached. However a session ends, it says so in its last line, unless it was killed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from droidpilot import __version__
from droidpilot.agent.loop import Loop
from droidpilot.checks.postcondition import judge_all
from droidpilot.core.calls import Origin, Status, ToolCall, ToolResult
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceRefused, DroidpilotError, Exit, Interrupted, TranscriptError
from droidpilot.core.events import (
    TEXT_ELSEWHERE,
    CommandGiven,
    DeviceConnected,
    Event,
    LinkRestored,
    Noted,
    SessionEnded,
    SessionStarted,
)
from droidpilot.core.progress import Progress
from droidpilot.core.stop import Stop
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.adb_server import ensure_server
from droidpilot.device.driver import Driver
from droidpilot.device.fallback import connect
from droidpilot.device.keeper import ANIMATIONS, AUTO_ROTATION, ROTATION, Keeper
from droidpilot.device.keyboard import AdbKeyboard
from droidpilot.device.lease import Lease
from droidpilot.device.lifeline import Keep
from droidpilot.model.client import Model
from droidpilot.model.openai_chat import OpenAIChat
from droidpilot.pipeline.approval import ApprovalGate, AskMode, guards
from droidpilot.pipeline.budget import Budget
from droidpilot.pipeline.executor import Executor
from droidpilot.pipeline.gates import CapabilityGate, RulesGate, StalenessGate
from droidpilot.pipeline.observer import Observer
from droidpilot.pipeline.outcome import Outcome, judge_outcome, outcome_name
from droidpilot.pipeline.pictures import Pictures
from droidpilot.pipeline.records import Desk
from droidpilot.pipeline.ref_store import load_refs, save_refs
from droidpilot.pipeline.telling import Teller, screen_limit_bytes
from droidpilot.plan import PhoneAddress, Prepared
from droidpilot.screens.refs import RefBook
from droidpilot.transcript.ledger import OpenAction, open_actions
from droidpilot.transcript.record import SessionRecord
from droidpilot.transcript.redaction import RedactedStream, Redactor
from droidpilot.transcript.sessions import new_session_id
from droidpilot.transcript.writer import TranscriptWriter

#: Seconds until a phone that does not answer at the start is given up.
CONNECT_TIMEOUT_S = 45.0
#: Seconds that putting back what was changed on the phone may take; what is left then, the next run puts back.
PUT_BACK_TIMEOUT_S = 10.0


class Session:
    """One open session. Made by `open_session`; use one of run_goal, call, look."""

    def __init__(
        self,
        prepared: Prepared,
        address: PhoneAddress,
        *,
        record: SessionRecord,
        redactor: Redactor,
        clock: Clock,
        stop: Stop,
        progress: Progress,
    ) -> None:
        self._prepared = prepared
        self._address = address
        self._record = record
        self._redactor = redactor
        self._clock = clock
        self._stop = stop
        self._progress = progress
        self._budget = Budget(prepared.limits, clock)
        self._refs: RefBook | None = None
        self._executor: Executor | None = None
        self._keeper: Keeper | None = None
        self._calls = 0
        self.outcome: Outcome | None = None

    @property
    def id(self) -> str:
        return self._record.id

    @property
    def directory(self) -> Path:
        return self._record.directory

    # -- what a door asks for

    def run_goal(self, model: Model) -> Outcome:
        """Let the model work towards the goal, then look for the checks.

        Raises:
            DeviceError: the phone could not be read at the start.
            TranscriptError: what happened could not be written down.
        """
        executor = self._road()
        plan = self._prepared.plan
        stream = RedactedStream(self._redactor, self._progress.on_text)

        def say(piece: str) -> None:
            # Before a password field the prose may hold what is to be typed; it is shown when the calls are known.
            if not executor.shows_secret_field:
                stream(piece)

        loop = Loop(
            model=model,
            dispatch=self,
            budget=self._budget,
            tools=self._prepared.registry.schemas(self._prepared.allowed),
            shown_screen=lambda: executor.shown_screen,
            shows_secret=lambda: executor.shows_secret_field,
            record=self._record.append,
            on_text=say,
            clock=self._clock,
            stop=self._stop,
        )
        ending = loop.run(plan.goal, executor.first_look())
        how: str = ending.how
        passed: list[bool | None] = []
        if how == "done" and self._prepared.checks:
            judged = judge_all(self._prepared.checks, self, self._record.append)
            passed = [judgement.passed for judgement in judged]
            how = next((judgement.ends for judgement in judged if judgement.ends), how)
        code, reason = judge_outcome(
            how,
            ending.reason,
            checks=passed,
            is_check_waived=plan.is_check_waived,
            unknown_writes=executor.unresolved_writes,
        )
        return self._end(code, reason, summary=ending.summary)

    def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Take one call of a person down the road."""
        self._calls += 1
        call_id = f"h{self._calls}"
        shown = {key: TEXT_ELSEWHERE if key == "text" else value for key, value in arguments.items()}
        self._record.append(CommandGiven(tool=tool, arguments=shown, call_id=call_id))
        return self.submit(ToolCall(id=call_id, tool=tool, arguments=arguments, origin=Origin.HUMAN))

    def end_call(self, result: ToolResult) -> Outcome:
        """End a session of one call, by what became of it."""
        codes = {
            Status.OK: Exit.DONE,
            Status.REFUSED: Exit.REFUSED,
            Status.UNKNOWN: Exit.UNKNOWN,
            Status.STOPPED: Exit.INTERRUPTED,
            Status.FATAL: Exit.DEVICE,
        }
        code = codes.get(result.status, Exit.FAILED)
        if result.ends == "internal":
            code = Exit.INTERNAL
        elif result.ends == "device":
            code = Exit.DEVICE
        elif result.ends == "stopped":
            code = Exit.INTERRUPTED
        return self._end(code, result.code or result.status.value)

    def submit(self, call: ToolCall) -> ToolResult:
        """Take a call down the road: the Dispatch of every runner of this session."""
        return self._road().submit(call)

    # -- opening and closing

    def begin(self) -> None:
        """Write the first line."""
        plan, prepared = self._prepared.plan, self._prepared
        self._record.begin(
            SessionStarted(
                goal=plan.goal,
                origin=plan.origin.value,
                version=__version__,
                serial=self._address.serial,
                is_virtual=self._address.is_virtual,
                model=prepared.model.model if prepared.model is not None else "",
                base_url=prepared.model.base_url if prepared.model is not None else "",
                policy=prepared.policy.name,
                policy_digest=prepared.policy.digest,
                ask=plan.settings.ask,
                approver=plan.approver.name,
                tools=[name for name in prepared.registry.tools if name in prepared.allowed],
                limits=prepared.limits.as_dict(),
                checks=list(plan.checks),
            ),
            title=plan.title,
            phone=self._address.key,
        )
        for note in prepared.notes:
            self._record.append(Noted(text=note))

    def keep(self, link: PhoneLink) -> None:
        """Put back what a run that was killed left changed on this phone, before anything else is done with it."""
        self._keeper = Keeper(self._prepared.plan.home, link, self._clock, record=self._note_change)
        self._put_back()

    def switch(self) -> None:
        """Switch on the phone what the settings ask for; what it does not let be switched stays, and is said."""
        settings = self._prepared.plan.settings
        wanted = [(*key, "0") for key in ANIMATIONS] if settings.animations == "off" else []
        if settings.rotation != "keep":
            wanted += [(*AUTO_ROTATION, "0"), (*ROTATION, settings.rotation)]
        assert self._keeper is not None, "a phone is kept before it is changed"
        try:
            for namespace, key, value in wanted:
                deadline = Deadline.after(self._clock, PUT_BACK_TIMEOUT_S)
                self._keeper.put_setting(namespace, key, value, deadline)
        except DeviceRefused as error:
            self._record.append(Noted(text=str(error)))

    def build_road(self, driver: Driver, link: PhoneLink) -> None:
        """Plug the concrete parts together. The order of the gates is part of the design."""
        plan, prepared = self._prepared.plan, self._prepared
        rules = prepared.policy.rules
        # Read only now that the phone is ours: whoever held it before has written them.
        self._refs = load_refs(plan.home, self._address.serial)
        observer = Observer(
            driver,
            self._clock,
            self._refs,
            record=self._record.append,
            keep=lambda data: self._record.keep(data, "xml"),
            hide=self._record.hide,
        )
        approval = ApprovalGate(
            AskMode(plan.settings.ask),
            plan.approver,
            is_guarded=guards(rules),
            clock=self._clock,
            record=self._record.append,
            waited=self._budget.waited,
        )
        for action in open_actions(plan.home, phone=self._address.key or self._address.serial, key=plan.audit_key):
            approval.note_earlier(action.call.same_as, action.name)
            self._record.append(Noted(text=_left_open(action)))
        is_lock_allowed = plan.settings.lock_screen
        staleness = StalenessGate(
            observer, scene_of=lambda case: executor.scene_now(case), is_lock_allowed=is_lock_allowed
        )
        executor = Executor(
            registry=prepared.registry,
            driver=driver,
            observer=observer,
            pictures=Pictures(
                driver, observer, self._clock, self._stop, prepared.images, is_kept=plan.settings.pictures
            ),
            teller=Teller(
                observer,
                rules,
                # A person's terminal has no window that a screen could fill.
                limit_bytes=screen_limit_bytes(plan.settings.context_tokens) if prepared.model is not None else None,
            ),
            gates=(
                CapabilityGate(prepared.registry, prepared.allowed),
                RulesGate(rules),
                approval,
                self._budget,
                staleness,
            ),
            approval=approval,
            budget=self._budget,
            desk=Desk(
                record=self._record.append,
                keep=lambda data: self._record.keep(data, "txt"),
                keep_picture=lambda data: self._record.keep(data, "jpg"),
                hide=self._record.hide,
                redact=self._record.redact,
                log=self._record.log,
            ),
            clock=self._clock,
            stop=self._stop,
            keyboard=(
                AdbKeyboard(link, self._keeper, self._clock)
                if plan.settings.keyboard == "switch" and self._keeper is not None
                else None
            ),
            is_lock_allowed=is_lock_allowed,
        )
        self._executor = executor

    def connected(self, driver: Driver, ms: int) -> None:
        facts = driver.facts
        self._record.append(
            DeviceConnected(
                serial=facts.serial,
                transport=_transport(facts.serial),
                model=facts.model,
                sdk=facts.sdk,
                ms=ms,
                way="plain" if facts.is_plain else "helper",
            )
        )

    def note(self, text: str) -> None:
        """Write down something that whoever reads or watches should know; who watches is told every line."""
        self._record.append(Noted(text=text))

    def fail(self, error: BaseException) -> None:
        """Write the last line of a session that an error ended, where it can still be written."""
        if self._record.is_ended:
            return
        with suppress(TranscriptError):
            self._end_by(error)

    def _end_by(self, error: BaseException) -> None:
        if isinstance(error, KeyboardInterrupt | Interrupted):
            self._end(Exit.INTERRUPTED, "a person stopped it")
        elif isinstance(error, DroidpilotError):
            self._end(error.exit, str(error))
        else:
            self._end(Exit.INTERNAL, f"droidpilot itself failed: {type(error).__name__}")

    def close(self) -> None:
        """Keep the refs for the next command on this phone, and write the last line if nobody did."""
        if self._refs is not None:
            save_refs(self._prepared.plan.home, self._address.serial, self._refs)
        if not self._record.is_ended:
            self._end(Exit.INTERNAL, "the session was closed without an outcome")

    # -- inside

    def _put_back(self) -> None:
        """Put back what was changed on the phone, also while a person stops the session."""
        if self._keeper is None:
            return
        with suppress(Interrupted), self._stop.shielded():
            deadline = Deadline.after(self._clock, PUT_BACK_TIMEOUT_S)
            for done in self._keeper.restore(deadline):
                if not done.is_recorded:
                    self._note_change(Noted(text=done.words))

    def _note_change(self, event: Event) -> None:
        """Write down what the keeper did. A transcript that cannot be written must not leave the phone changed."""
        with suppress(TranscriptError):
            self._record.append(event)

    def _road(self) -> Executor:
        assert self._executor is not None, "open_session builds the road before it hands out a session"
        return self._executor

    def _end(self, code: Exit, reason: str, *, summary: str = "") -> Outcome:
        self._put_back()
        budget = self._budget
        self.outcome = outcome = Outcome(
            exit=code,
            name=outcome_name(code),
            reason=self._record.redact(reason),
            summary=self._record.redact(summary),
            turns=budget.turns,
            actions=budget.actions,
            tokens=budget.tokens,
            usd=budget.usd if budget.tokens else None,
            seconds=round(budget.seconds, 3),
        )
        self._record.end(
            SessionEnded(
                outcome=outcome.name,
                exit_code=int(code),
                reason=outcome.reason,
                summary=outcome.summary,
                turns=outcome.turns,
                actions=outcome.actions,
                tokens=outcome.tokens,
                usd=outcome.usd,
                seconds=outcome.seconds,
            ),
            unknown=self._executor.unresolved_writes if self._executor is not None else 0,
        )
        return outcome


@contextmanager
def open_session(
    prepared: Prepared,
    address: PhoneAddress,
    *,
    clock: Clock,
    stop: Stop,
    progress: Progress | None = None,
) -> Iterator[Session]:
    """Open the transcript, lease the phone, reach it, and hand out the session; close all of it afterwards.

    Raises:
        DeviceError: the phone is held by another process or cannot be reached; the transcript says so too.
        TranscriptError: the transcript cannot be written.
    """
    progress = progress or Progress()
    home = prepared.plan.home
    audit_key = prepared.plan.audit_key
    keys = (*prepared.plan.api_keys.values(), audit_key.decode("utf-8", "surrogateescape"))
    redactor = Redactor(key for key in keys if key)
    with ExitStack() as stack:
        session_id = new_session_id(clock)
        writer = stack.enter_context(
            TranscriptWriter.create(home, session_id, clock=clock, redactor=redactor, key=audit_key)
        )
        record = SessionRecord(writer, redactor=redactor, clock=clock, stop=stop, progress=progress)
        session = Session(
            prepared, address, record=record, redactor=redactor, clock=clock, stop=stop, progress=progress
        )
        try:
            session.begin()
            lease = stack.enter_context(Lease.take(home, address.serial, clock=clock, session=session_id))
            server = AdbServer(address.adb_port)
            link = PhoneLink(server, address.serial)
            session.keep(link)
            progress.on_step(f"connecting to {address.serial}")
            started = clock.monotonic()
            driver = connect(
                server,
                address.serial,
                clock=clock,
                deadline=Deadline.after(clock, CONNECT_TIMEOUT_S),
                progress=progress.on_step,
                note=session.note,
                keep=_keep(prepared, address, lease, record, link, clock=clock, stop=stop),
            )
            stack.callback(driver.close)
            session.connected(driver, round((clock.monotonic() - started) * 1000))
            session.switch()
            session.build_road(driver, link)
            yield session
        except BaseException as error:
            session.fail(error)
            raise
        finally:
            session.close()


def _keep(
    prepared: Prepared,
    address: PhoneAddress,
    lease: Lease,
    record: SessionRecord,
    link: PhoneLink,
    *,
    clock: Clock,
    stop: Stop,
) -> Keep:
    """Say how the line to the phone is kept. The adb server of a virtual phone is that phone's own, to start and end.

    A virtual phone has no other serial, and those of one seed are all alike: its lease needs no second name. The
    keeper's own `link` follows where the phone moved to, and is held to the phone that the driver reached.
    """
    server = AdbServer(address.adb_port)

    def tell(event: Event) -> None:
        if isinstance(event, LinkRestored) and event.serial != link.serial:
            link.move_to(event.serial)
        record.append(event)

    def identified(phone: str) -> None:
        link.pin(phone)
        if not address.is_virtual:
            lease.add_phone(phone)

    return Keep(
        patience_s=prepared.plan.settings.link_patience_s,
        start_server=None if address.is_virtual else lambda: ensure_server(server, clock),
        tell=tell,
        identified=identified,
        check_stop=stop.check,
    )


def make_model(prepared: Prepared, clock: Clock, *, progress: Progress | None = None) -> OpenAIChat:
    """Build the model client of a prepared run. Its library takes a second to import: that begins now, on a thread."""
    assert prepared.model is not None, "only a run has a model"
    model = OpenAIChat(prepared.model, clock=clock, on_retry=(progress or Progress()).on_step)
    threading.Thread(target=model.prepare, name="import-model-library", daemon=True).start()
    return model


def _left_open(action: OpenAction) -> str:
    if action.doubt:
        return (
            f"unresolved: {action.call.sentence or action.call.tool} may have happened in session {action.session}; "
            f"its transcript says what became of it, but was changed ({action.doubt}), so that is not believed"
        )
    return (
        f"unresolved: {action.call.sentence or action.call.tool} may have happened in an earlier session; it is not "
        f"done again before somebody says what became of it: droidpilot session actions resolve {action.name} "
        "--as done|not-done"
    )


def _transport(serial: str) -> str:
    if serial.startswith("emulator-"):
        return "emulator"
    return "tcp" if ":" in serial or "._adb" in serial else "usb"
