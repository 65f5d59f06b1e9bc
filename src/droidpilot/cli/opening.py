"""Opens a session for a command: a plan made of the settings, the phone, the signals; all is let go of at the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from droidpilot.cli.approve import approver_here
from droidpilot.cli.starting import Start
from droidpilot.cli.stopping import stop_on_signals
from droidpilot.cli.target import chosen_phone
from droidpilot.core.calls import Origin
from droidpilot.core.clock import Clock
from droidpilot.core.config import environment
from droidpilot.core.progress import Progress
from droidpilot.core.stop import Stop
from droidpilot.pipeline.approval import Approver
from droidpilot.plan import PhoneAddress, Prepared, SessionPlan
from droidpilot.session import Session, open_session


def plan_of(
    begun: Start,
    *,
    clock: Clock,
    stop: Stop,
    origin: Origin,
    goal: str = "",
    title: str = "",
    checks: tuple[str, ...] = (),
    is_check_waived: bool = False,
) -> SessionPlan:
    """Make the plan of a session from the settings in force; who is at the terminal can be asked."""
    return SessionPlan(
        home=begun.home,
        origin=origin,
        settings=begun.settings,
        user_policies=begun.user_policies,
        shipped_policies=begun.shipped_policies,
        project_rules=begun.loaded.rules,
        api_keys=begun.api_keys,
        audit_key=begun.audit_key,
        goal=goal,
        title=title,
        checks=checks,
        is_check_waived=is_check_waived,
        approver=_approver(begun.settings.approver, clock=clock, stop=stop),
    )


def _approver(command: str | None, *, clock: Clock, stop: Stop) -> Approver:
    """Return who is asked: the user's command where there is one, else the person here, else nobody.

    Raises:
        UsageError: the command cannot be run.
    """
    if command is None:
        return approver_here(clock=clock, stop=stop)
    from droidpilot.cli.approve_command import CommandApprover

    return CommandApprover(command, stop=stop, env=environment())


@contextmanager
def opened(prepared: Prepared, *, clock: Clock, stop: Stop, progress: Progress) -> Iterator[Session]:
    """Find or start the phone and open a session on it, under Ctrl-C.

    Raises:
        DeviceError: no phone, or it cannot be reached.
        TranscriptError: the transcript cannot be written.
    """
    plan = prepared.plan
    settings = plan.settings
    with (
        stop_on_signals(stop),
        chosen_phone(settings.device, adb_port=settings.adb_port, home=plan.home, clock=clock) as target,
        open_session(
            prepared,
            PhoneAddress(serial=target.serial, adb_port=target.adb_port, is_virtual=target.is_virtual, key=target.key),
            clock=clock,
            stop=stop,
            progress=progress,
        ) as session,
    ):
        yield session
