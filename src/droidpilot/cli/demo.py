"""`droidpilot demo`: a whole session on a virtual phone with a scripted model. No phone, no key, no network."""

from __future__ import annotations

from droidpilot.cli import output
from droidpilot.core.errors import Exit

GOAL = "Turn Wi-Fi on and tell Liam"
CHECK = "setting:global/wifi_on=1"


def demo() -> Exit:
    """Watch a whole session: a virtual phone, a scripted model, gates, a question, a check, a verified transcript.

    Example: droidpilot demo
    """
    from droidpilot.cli.demo_session import run_demo
    from droidpilot.cli.ending import outcome_line
    from droidpilot.cli.session_lines import verification_line
    from droidpilot.transcript.verify import verify

    output.note("droidpilot demo", style="bold")
    output.note("  a phone in software behind a real adb server, and a model that reads from a script", style="dim")
    output.note(f"  goal: {GOAL}")
    output.note(f"  check: {CHECK}, looked at on the phone, whatever the model says")
    output.note()
    run = run_demo(GOAL, CHECK)
    verification = verify(run.directory)
    output.note()
    output.result(outcome_line(run.outcome, run.directory), style="good" if run.outcome.exit is Exit.DONE else "bad")
    output.result(f"transcript {verification_line(verification)}", style="good" if verification.ok else "bad")
    output.note()
    output.note("Next:", style="bold")
    output.note(f"  droidpilot session show {run.session}   what was asked, decided, sent and answered")
    output.note("  droidpilot virtual start                    a virtual phone to play with; then look, call, run")
    output.note("  droidpilot devices                          your own phones")
    output.note('  droidpilot run "..." --model NAME           your own goal; see droidpilot run --help')
    return run.outcome.exit if verification.ok else Exit.FAILED
