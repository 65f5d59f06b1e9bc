"""`droidpilot demo`: a whole session on a virtual phone with a scripted model. No phone, no key, no network."""

from __future__ import annotations

from droidpilot.cli import output
from droidpilot.core.errors import Exit

GOAL = "Turn Wi-Fi on and tell Liam"
#: One for each part of the goal; the second can only be read where a message was really sent.
CHECKS = ("setting:global/wifi_on=1", "text=You: Wi-Fi is on now")


def demo() -> Exit:
    """Watch a whole session: a virtual phone, a scripted model, gates, a question, a check, a verified transcript.

    Example: droidpilot demo
    """
    from droidpilot.cli.demo_session import run_demo
    from droidpilot.cli.ending import outcome_line
    from droidpilot.cli.session_lines import verification_line
    from droidpilot.core.config import audit_key, environment
    from droidpilot.transcript.verify import verify

    output.note("droidpilot demo", style="bold")
    output.note("  a phone in software behind a real adb server, and a model that reads from a script", style="dim")
    output.note(f"  goal: {GOAL}")
    for check in CHECKS:
        output.note(f"  check: {check}")
    output.note("  both are looked at on the phone at the end, whatever the model says", style="dim")
    output.note()
    run = run_demo(GOAL, CHECKS)
    verification = verify(run.directory, key=audit_key(environment()))
    output.note()
    output.result(outcome_line(run.outcome, run.directory), style="good" if run.outcome.exit is Exit.DONE else "bad")
    output.result(f"transcript {verification_line(verification)}", style="good" if verification.ok else "bad")
    output.note()
    if run.outcome.exit is Exit.FAILED and run.was_refused:
        output.note("This is not done and checked, and the exit code says so: 1.", style="bold")
        output.note("  Without a yes nothing is sent, so a check found no message where it should stand. That the")
        output.note("  model calls itself done changes nothing: what counts is what was seen on the phone.")
        output.note()
    program = output.program()
    output.note("Next:", style="bold")
    for words, meaning in (
        (f"session show {run.session}", "what was asked, decided, sent and answered"),
        ("virtual start", "a virtual phone to play with; then look, call, run"),
        ("devices", "your own phones"),
        ('run "..." --model NAME', "your own goal; see run --help"),
    ):
        output.note(f"  {program} {words.ljust(40)}  {meaning}")
    return run.outcome.exit if verification.ok else Exit.FAILED
