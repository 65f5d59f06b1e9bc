"""Executor: the one road. Every call, whoever asks, is described, judged, written down, run once, looked at.

Only this file turns exceptions into results. It never decides whether a session goes on: a result says how it must end,
and the loop obeys. It never sees a model.
"""

from __future__ import annotations

import functools
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from uuid import uuid4

from droidpilot.core.calls import Answer, Effect, Status, ToolCall, ToolResult, Verdict
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import (
    DeviceError,
    Interrupted,
    ScreenUnreadable,
    TargetError,
    ToolError,
    TranscriptError,
)
from droidpilot.core.events import OutcomeResolved, ScreenTaken, ToolReturned
from droidpilot.core.images import Image
from droidpilot.core.stop import Stop
from droidpilot.core.text import shorten, shorten_marked
from droidpilot.device.driver import Driver
from droidpilot.device.keyboard import AdbKeyboard
from droidpilot.pipeline.aftermath import Aftermath
from droidpilot.pipeline.answers import Answered, device_trouble
from droidpilot.pipeline.approval import ApprovalGate
from droidpilot.pipeline.budget import Budget
from droidpilot.pipeline.case import Case, Gate, read_labels
from droidpilot.pipeline.fitness import unfit
from droidpilot.pipeline.observer import Observer, Why
from droidpilot.pipeline.pictures import Pictures
from droidpilot.pipeline.presence import Presence, Taken
from droidpilot.pipeline.records import Desk, called_line
from droidpilot.pipeline.signals import signals_of
from droidpilot.pipeline.telling import Teller
from droidpilot.screens.screen import Screen
from droidpilot.tools.picture import Screenshot
from droidpilot.tools.registry import CALL_TIMEOUT_S, Done, Phone, Registry, Scene, validate

#: Characters of a result that go back to the asker, screens apart (T29).
RESULT_CHARS = 12_000
#: Codes of refusals that tell of the phone, not of a target: they say nothing of what stands on the screen.
_STATES = frozenset({"locked", "screen_off", "state_unknown", "foreign_tree", "screen_taken"})
#: How many settled looks somebody else at the phone is given to come to rest.
_PAUSES = 3
#: Characters of a result that stand in the transcript's line; the rest is an artifact.
RECORD_CHARS = 2_000


class Executor:
    """Implements Dispatch. One per session, on one thread."""

    def __init__(
        self,
        *,
        registry: Registry,
        driver: Driver,
        observer: Observer,
        pictures: Pictures,
        teller: Teller,
        gates: Sequence[Gate],
        approval: ApprovalGate,
        budget: Budget,
        desk: Desk,
        clock: Clock,
        stop: Stop,
        keyboard: AdbKeyboard | None = None,
        is_lock_allowed: bool = False,
    ) -> None:
        self._registry = registry
        self._driver = driver
        self._observer = observer
        self._pictures = pictures
        self._teller = teller
        self._gates = gates
        self._approval = approval
        self._budget = budget
        self._desk = desk
        self._clock = clock
        self._stop = stop
        self._keyboard = keyboard
        self._is_lock_allowed = is_lock_allowed
        self._presence = Presence(clock, observer.pace)
        self._aftermath = Aftermath(observer, self._presence, teller, approval, clock, stop)

    # -- for runners

    def first_look(self) -> str:
        """Look at the phone before anything was asked (plumbing) and say what may be said of it.

        Raises:
            DeviceError: the phone cannot be read.
        """
        deadline = Deadline.after(self._clock, CALL_TIMEOUT_S)
        screen = self._observer.settled("start", deadline)
        self._presence.account(screen, has_result=True)
        return self._teller.whole_or_hidden(screen)

    @property
    def shown_screen(self) -> int | None:
        """Number of the look that the asker was shown last."""
        return self._observer.shown.number if self._observer.shown is not None else None

    @property
    def shows_secret_field(self) -> bool:
        """Whether the screen that the asker was told last has a field for a secret."""
        shown = self._observer.shown
        return shown is not None and self._has_secret_field(shown)

    @property
    def unresolved_writes(self) -> int:
        """How many writes may or may not have happened."""
        return self._approval.unresolved

    def submit(self, call: ToolCall) -> ToolResult:
        """Take one call down the road.

        Raises:
            TranscriptError: it could not be written down; nothing may be done any more.
        """
        started = self._clock.monotonic()
        case = Case(call, Deadline.after(self._clock, CALL_TIMEOUT_S))
        problem = self._guarded(case, self._decide, is_sent=False)
        send_key = uuid4().hex if problem is None and case.effect is Effect.WRITE else ""
        try:
            self._write_called(case, send_key)
        except Interrupted:
            # The line is on disk; nothing was sent, and that is written too.
            problem = Answered(Status.STOPPED, "Stopped before anything was sent.", "stopped", ends="stopped")
        answer = problem if problem is not None else self._guarded(case, self._run, is_sent=bool(send_key))
        assert answer is not None
        return self._write_returned(case, answer, started)

    def _decide(self, case: Case) -> Answered | None:
        return self._describe(case) or self._judge(case)

    def _guarded(self, case: Case, step: Callable[[Case], Answered | None], *, is_sent: bool) -> Answered | None:
        """Take one step of the road; whatever it raises becomes an answer, so that every call has both its lines."""
        try:
            return step(case)
        except TranscriptError:
            raise
        except Interrupted:
            answer = Answered(Status.STOPPED, "Stopped.", "stopped", ends="stopped")
        except Exception:
            answer = self._own_fault(case.call.tool)
        if is_sent:
            self._approval.note_unknown(case)
            return replace(answer, status=Status.UNKNOWN, sent="unknown")
        return answer

    # -- 1 describe

    def _describe(self, case: Case) -> Answered | None:
        """Find tool, target, labels and signals; None where the gates may judge it, else the answer.

        A tool that the session may not use is refused before the phone is so much as looked at.
        """
        call = case.call
        case.tool = self._registry.get(call.tool)
        verdict = self._judge_by(self._gates[0], case)
        case.verdicts.append(verdict)
        if case.refusal is not None:
            return self._refused(case)
        assert case.tool is not None  # capability refuses unknown tools
        try:
            if call.malformed:
                return Answered(Status.LOGIC, f"The call could not be read: {call.malformed}", "malformed")
            case.arguments = validate(case.tool, call.arguments)
            if case.tool.needs_screen:
                picture = self._picture_before(case)
                case.scene = self._scene(case, self._glance(case))
                case.picture = self._kept(picture, case.scene.screen)
                if (taken := self._somebody_else(case)) is not None:
                    return taken
                if (refused := self._unfit(case)) is not None:
                    return refused
            case.aim = case.tool.aim(case.arguments, case.scene)
            read_labels(case)
            case.signals = signals_of(case)
        except ToolError as error:
            return self._target_missing(case, error)
        except DeviceError as error:
            return device_trouble(error)
        return self._unfit(case)

    def _unfit(self, case: Case, *, of_unknown_state: bool = False) -> Answered | None:
        """Refuse what cannot be done to a phone in this state, before anybody is asked about it.

        Where the state is not known, often the app is not either, and what the rules say of that comes first.
        """
        if case.tool is None or case.scene is None:
            return None
        why = unfit(case.tool, case.arguments, case.aim, case.scene.screen, is_lock_allowed=self._is_lock_allowed)
        if why is None or (why.code == "state_unknown") is not of_unknown_state:
            return None
        case.verdicts.append(Verdict("staleness", Answer.DENY, why.code, why.reason))
        return self._refused(case)

    def _somebody_else(self, case: Case) -> Answered | None:
        """Pause where somebody else is at the phone: the call is not sent, and whoever asked gets the screen as it is.

        A read is not refused, since it says by itself what is there now.
        """
        assert case.scene is not None
        taken = self._presence.taken(case.scene.screen)
        self._presence.account(case.scene.screen)
        if taken is None:
            return None
        self._desk.record(_taken_line(case, taken))
        if case.effect is not Effect.WRITE:
            return None
        where = taken.now.package or "another app"
        reason = f"something else than this session brought {where} to the front, a person or the phone itself"
        case.verdicts.append(Verdict("staleness", Answer.DENY, "screen_taken", f"{reason}; nothing was sent"))
        for _ in range(_PAUSES):
            screen = self._observer.settled("stale", case.deadline)
            if screen.health.is_settled:
                break
        return self._refused(case)

    def _glance(self, case: Case, *, anew: bool = False) -> Screen:
        """Look once. Of a screen that cannot be read a picture can still be taken, and nothing else be done."""
        try:
            return self._observer.glance("call", case.deadline, anew=anew)
        except ScreenUnreadable as error:
            if not isinstance(case.tool, Screenshot):
                raise
            return self._observer.unread("call", error, case.deadline)

    def _scene(self, case: Case, screen: Screen) -> Scene:
        return Scene(
            screen=screen,
            find=lambda ref: self._observer.find(ref, screen),
            apps=functools.cache(lambda: self._driver.apps(case.deadline)),
            picture=self._pictures.frame,
            is_secret=self._observer.is_secret,
        )

    def _picture_before(self, case: Case) -> bytes:
        """Take what a person would see, before the look: it takes long, and the look must be fresh."""
        return self._pictures.keep(case.deadline) if case.effect is Effect.WRITE else b""

    def _kept(self, picture: bytes, screen: Screen) -> str:
        """Keep a picture unless the screen has a field for a secret: pixels cannot be redacted (INV-40)."""
        return self._desk.keep_picture(picture) if picture and not self._has_secret_field(screen) else ""

    def _has_secret_field(self, screen: Screen) -> bool:
        return any(self._observer.is_secret(node) for node in screen.nodes if node.is_editable)

    def scene_now(self, case: Case) -> Scene:
        """Build a scene on a look of right now, for the staleness gate."""
        assert case.scene is not None
        screen = self._glance(case, anew=True)
        return replace(case.scene, screen=screen, find=lambda ref: self._observer.find(ref, screen))

    def _target_missing(self, case: Case, error: ToolError) -> Answered:
        """Answer a call whose target cannot be used, with the screen as it is now: no further look is needed."""
        text = f"{error}."
        if case.scene is None:
            return Answered(Status.LOGIC, text, error.code)
        hidden = self._teller.hidden(case.scene.screen)
        if hidden:
            # The error may quote a label of a screen that must not be told.
            text = f"The target cannot be used ({error.code})."
        return self._with_screen(case, Answered(Status.LOGIC, text, error.code), "refused")

    # -- 2 gates

    def _judge(self, case: Case) -> Answered | None:
        """Ask the gates in order, the first one having been asked already; None where all allow."""
        try:
            for gate in self._gates[1:]:
                if gate is self._approval and (refused := self._unfit(case, of_unknown_state=True)) is not None:
                    return refused
                verdict = self._judge_by(gate, case)
                case.verdicts.append(verdict)
                if case.refusal is not None:
                    return self._refused(case)
        except DeviceError as error:
            return device_trouble(error)
        return None

    def _judge_by(self, gate: Gate, case: Case) -> Verdict:
        """Ask one gate. One that raises refuses and ends the session (0.5)."""
        try:
            return gate.judge(case)
        except (Interrupted, DeviceError, TranscriptError):
            raise
        except Exception:
            self._desk.log(traceback.format_exc())
            return Verdict(gate.name, Answer.HALT, "gate_broken", f"the {gate.name} gate failed, which refuses")

    def _refused(self, case: Case) -> Answered:
        refusal = case.refusal
        assert refusal is not None
        ends = ""
        if refusal.answer is Answer.HALT:
            ends = {"budget": "budget", "approval": "refused"}.get(refusal.gate, "internal")
        if refusal.code == "gate_broken":
            ends = "internal"
        text = f"Refused by the {refusal.gate} gate: {refusal.reason}."
        if refusal.gate == "staleness":
            if refusal.code in _STATES:
                text = f"Refused: {refusal.reason}."
            elif case.scene is not None and self._teller.hidden(case.scene.screen):
                text = "Refused by the staleness gate: the screen changed meanwhile; nothing was sent."
            return self._with_screen(case, Answered(Status.REFUSED, text, refusal.code, ends=ends), "stale")
        return Answered(Status.REFUSED, text, refusal.code, ends=ends)

    # -- 3 write

    def _write_called(self, case: Case, send_key: str) -> None:
        line = called_line(case, send_key, hide=self._desk.hide, shows_secret=self.shows_secret_field)
        self._desk.record(line)

    # -- 4 run, 5 look

    def _run(self, case: Case) -> Answered:
        tool, aim = case.tool, case.aim
        assert tool is not None and aim is not None
        is_write = tool.effect is Effect.WRITE
        left_s = self._budget.left_s
        deadline = case.deadline if left_s is None or is_write else case.deadline.sooner(left_s)
        before = case.scene.screen if case.scene is not None else None
        phone = Phone(
            driver=self._driver,
            clock=self._clock,
            deadline=deadline,
            look=lambda: self._observer.settled("call", deadline),
            picture=lambda: self._pictures.take(deadline),
            stop=self._stop,
            keyboard=self._keyboard,
        )
        if is_write:
            self._presence.wrote()
        try:
            done = tool.run(case.arguments, aim, phone)
        except DeviceError as error:
            if not is_write or error.sent == "no":
                return device_trouble(error)
            return self._aftermath.of_failure(case, error, before, deadline)
        except ToolError as error:
            if is_write:
                raise
            return Answered(Status.LOGIC, f"{error}.", error.code)
        if is_write:
            return self._aftermath.of_done(case, done, before, deadline)
        return self._read_done(case, done)

    def _read_done(self, case: Case, done: Done) -> Answered:
        if done.image is not None:
            return self._picture_done(case, done, done.image)
        if done.screen is None:
            return Answered(Status.OK, done.text, value=done.value, ends=done.ends)
        hidden = self._teller.hidden(done.screen, is_approved=case.is_approved)
        if hidden:
            # It came to the front between the gate and the look.
            return Answered(Status.REFUSED, hidden, "hidden")
        try:
            text, shown = self._teller.whole(done.screen, from_ref=done.from_ref)
        except TargetError as error:
            return Answered(Status.LOGIC, f"{error}.", error.code)
        return Answered(Status.OK, text, value=shown, screen=shown.number, ends=done.ends)

    def _picture_done(self, case: Case, done: Done, image: Image) -> Answered:
        """Hand over a picture, unless what was on the screen while it was taken must not be told."""
        told = [self._teller.hidden(look, is_approved=case.is_approved, reading="screenshot") for look in done.looks]
        if hidden := next(filter(None, told), ""):
            return Answered(Status.REFUSED, hidden, "hidden")
        return Answered(Status.OK, done.text, value=done.value, image=image, ends=done.ends)

    def _with_screen(self, case: Case, answer: Answered, why: Why) -> Answered:
        """Add the screen as it is now; an answer stands without it where the phone cannot be read."""
        try:
            screen = self._observer.settled(why, case.deadline)
        except (DeviceError, Interrupted):
            return answer
        return replace(answer, text=f"{answer.text}\n{self._teller.news(screen)}".rstrip(), screen=screen.number)

    # -- 7 write

    def _write_returned(self, case: Case, answer: Answered, started: float) -> ToolResult:
        call = case.call
        if answer.sent == "no":
            self._budget.release(case)
        # Redacted before it is cut: half a secret would not be known as one.
        full = self._desk.redact(answer.text)
        record = shorten(full, RECORD_CHARS)
        self._desk.record(
            ToolReturned(
                call_id=call.id,
                tool=call.tool,
                status=answer.status.value,
                sent=answer.sent,
                code=answer.code,
                text=record,
                artifact=self._desk.keep(full.encode()) if record != full else "",
                picture=self._desk.keep_picture(answer.image.data) if answer.image is not None else "",
                screen=answer.screen,
                read_back=answer.read_back,
                ms=round((self._clock.monotonic() - started) * 1000),
                ends=answer.ends,
            )
        )
        if case.is_resolved:
            self._desk.record(OutcomeResolved(call_id=call.id, outcome="done", by="look"))
        return ToolResult(
            call_id=call.id,
            tool=call.tool,
            status=answer.status,
            text=answer.text if answer.screen is not None else shorten_marked(answer.text, RESULT_CHARS),
            code=answer.code,
            value=answer.value if answer.status is Status.OK else None,
            image=answer.image,
            screen=answer.screen,
            verdicts=tuple(case.verdicts),
            ends=answer.ends,
            sent=answer.sent,
            read_back=answer.read_back,
        )

    # -- trouble

    def _own_fault(self, where: str) -> Answered:
        self._desk.log(traceback.format_exc())
        text = f"droidpilot itself failed ({where}); the traceback is in the session's log."
        return Answered(Status.FATAL, text, "internal", ends="internal")


def _taken_line(case: Case, taken: Taken) -> ScreenTaken:
    return ScreenTaken(
        call_id=case.call.id,
        was_package=taken.was.package,
        was_activity=taken.was.activity,
        package=taken.now.package,
        activity=taken.now.activity,
        after_s=round(taken.after_s, 3),
    )
