"""The session of the demo: its own virtual phone, a scripted model, the shipped default policy, defaults for the rest.

Nothing of the user's settings counts here, and the approver named `demo` exists only in here: it answers for a person
who is not there, on a phone that this file started and that ends with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from droidpilot.cli import output
from droidpilot.cli.approve import approver_here
from droidpilot.cli.progress import TerminalProgress
from droidpilot.cli.stopping import stop_on_signals
from droidpilot.cli.target import reap_dead, started_phone
from droidpilot.core import config
from droidpilot.core.calls import Origin
from droidpilot.core.clock import Clock, SystemClock
from droidpilot.core.config import Prices, Settings
from droidpilot.core.errors import DroidpilotError
from droidpilot.core.events import ApprovalAnswered, Event
from droidpilot.core.stop import Stop
from droidpilot.model.scripted import ScriptedServer, load_script
from droidpilot.pipeline.approval import ApprovalReply, ApprovalRequest, Approver
from droidpilot.pipeline.outcome import Outcome
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import make_model, open_session

SCRIPT = Path(__file__).with_name("demo.yaml")
#: The demo's phone: the same one each time, since its script names what is on it.
SEED = 0


@dataclass(frozen=True, slots=True)
class DemoRun:
    """What the demo came to and where it is recorded."""

    session: str
    directory: Path
    outcome: Outcome
    was_refused: bool  # a person was asked, and the answer was no yes


class _DemoApprover:
    """Says yes on the demo's own phone where nobody is at a terminal, and says that it does."""

    name = "demo"
    is_person = False

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        output.note(f"  May I? {request.sentence}", style="bold")
        output.note(
            "  (nobody is at a terminal, so the demo answers for you; anywhere else this would be a no)", style="dim"
        )
        return ApprovalReply(request.prompt_id, "yes")


def run_demo(goal: str, checks: tuple[str, ...]) -> DemoRun:
    """Run the session to its end.

    Raises:
        DroidpilotError: it could not be opened.
    """
    env = config.environment()
    home, clock, stop = config.state_home(env), SystemClock(), Stop()
    reap_dead(home)
    with (
        stop_on_signals(stop),
        ScriptedServer(load_script(SCRIPT)) as model_server,
        started_phone(home, seed=SEED, clock=clock) as target,
    ):
        plan = SessionPlan(
            home=home,
            origin=Origin.MODEL,
            audit_key=config.audit_key(env),
            settings=Settings(
                model=model_server.model,
                base_url=model_server.base_url,
                prices=Prices(input=0, output=0),
                pictures=True,
            ),
            user_policies=home / "demo-has-no-policies",
            shipped_policies=config.shipped_dir("policies"),
            goal=goal,
            checks=checks,
            approver=_approver(clock, stop),
        )
        prepared = prepare(plan)
        address = PhoneAddress(serial=target.serial, adb_port=target.adb_port, is_virtual=True)
        session = None
        terminal = TerminalProgress()
        answers: list[str] = []

        def on_event(event: Event) -> None:
            if isinstance(event, ApprovalAnswered):
                answers.append(event.answer)
            terminal.on_event(event)

        progress = replace(terminal.listener(), on_event=on_event)
        try:
            with open_session(prepared, address, clock=clock, stop=stop, progress=progress) as session:
                outcome = session.run_goal(make_model(prepared, clock, progress=progress))
        except DroidpilotError as error:
            if session is None or session.outcome is None:
                raise
            output.note(f"droidpilot: {' '.join(str(error).split())}", style="bad")
            outcome = session.outcome
    return DemoRun(session.id, session.directory, outcome, was_refused=any(answer != "yes" for answer in answers))


def _approver(clock: Clock, stop: Stop) -> Approver:
    here = approver_here(clock=clock, stop=stop)
    return _DemoApprover() if here.name == "none" else here
