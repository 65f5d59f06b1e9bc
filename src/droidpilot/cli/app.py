"""`droidpilot`: the commands, and what becomes of an error. Nothing heavy is imported on the way to `--help`."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable
from typing import Annotated, Any

import typer

from droidpilot import __version__
from droidpilot.cli import (
    call,
    config_show,
    connect,
    demo,
    devices,
    doctor,
    look,
    model_server,
    output,
    pair,
    policy,
    run,
    sessions,
    virtual,
)
from droidpilot.core.errors import DroidpilotError, Exit, UsageError


def _finish(code: Any, **_options: Any) -> None:
    """Exit with what the command returned."""
    raise typer.Exit(int(code or 0))


app = typer.Typer(
    name="droidpilot",
    help="Drive Android phones from this computer, one gated and recorded call at a time.",
    epilog="Begin with: droidpilot demo. Exit codes: 0 done and checked, 1 failed, 2 usage, 3 phone, 4 model, "
    "5 refused, 6 budget spent, 7 outcome unknown, 8 done but not checked, 70 our bug, 130 interrupted.",
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    result_callback=_finish,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(is_asked: bool) -> None:
    if is_asked:
        output.result(f"droidpilot {__version__}")
        raise typer.Exit


#: Commands that are run for what they print. The others do something, which counts for more than being told of it.
_READING = frozenset({"look", "devices", "session", "doctor", "config", "policy"})


@app.callback()
def options(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Hold the options that stand before a command."""
    if context.invoked_subcommand in _READING:
        output.require_stdout()


app.command("demo", short_help="Watch a whole session; needs no phone and no key.")(demo.demo)
app.command("run", short_help="Let a model work towards a goal on a phone.")(run.run)
app.command("look", short_help="Look at the phone's screen.")(look.look)
app.command("call", short_help="Call one tool by hand.")(call.call)
app.command("devices", short_help="List phones, and what to do about each.")(devices.devices)
app.command("connect", short_help="Connect a phone over the network.")(connect.connect)
app.command("disconnect", short_help="Let go of a phone on the network.")(connect.disconnect)
app.command("pair", short_help="Pair with a phone over Wi-Fi, by code or QR code.")(pair.pair)
app.add_typer(sessions.app, name="session", short_help="List, show and verify recorded sessions.")
app.add_typer(virtual.app, name="virtual", short_help="Start a virtual phone; ask it for its state.")
app.command("doctor", short_help="Check that everything a session needs is there.")(doctor.doctor)
app.add_typer(config_show.app, name="config", short_help="Show the settings in force, and where each comes from.")
app.add_typer(policy.app, name="policy", short_help="List, check and explain rules.")
app.command("model-server", short_help="Serve a scripted model.")(model_server.model_server)


def main() -> None:
    """Run the command line and exit."""
    output.prepare_streams()
    sys.exit(guarded(lambda: app(prog_name="droidpilot")))


def guarded(command: Callable[[], Any]) -> Exit:
    """Run a command; an error becomes one line on stderr and an exit code, never a traceback. SystemExit passes."""
    try:
        command()
        return Exit.DONE
    except DroidpilotError as error:
        return _report(error)
    except KeyboardInterrupt:
        output.note("droidpilot: stopped", style="bad")
        return Exit.INTERRUPTED
    except OSError as error:
        if error.errno not in output.FULL:
            return _bug(error)
        if error.filename is not None:
            hint = "free the disk, or set DROIDPILOT_HOME to a folder on another one"
            return _report(UsageError(f"cannot write {error.filename}: {error.strerror}", hint=hint))
        # Help and usage are written by the library of the command line, not by output.py.
        output.silence(sys.stdout)
        return _report(UsageError(f"the output cannot be written: {error.strerror}", hint="is the disk full?"))
    except Exception as error:  # the last line of defence: a bug becomes one line and a file
        return _bug(error)


def _bug(error: Exception) -> Exit:
    output.note(f"droidpilot: our bug: {type(error).__name__} ({_kept_traceback(error)})", style="bad")
    return Exit.INTERNAL


def _report(error: DroidpilotError) -> Exit:
    line = " ".join(str(error).split())
    output.note(f"droidpilot: {line}", style="bad")
    return error.exit


def _kept_traceback(error: Exception) -> str:
    """Write the traceback under the state folder and say where it is, or why it could not be written."""
    from droidpilot.core.clock import SystemClock
    from droidpilot.core.config import environment, state_home

    # pydantic repeats the value it refused, and that may be a typed secret.
    text = re.sub(
        r"input_value=.*?, input_type=", "input_value=(left out), input_type=", _traceback(error), flags=re.DOTALL
    )
    try:
        folder = state_home(environment()) / "crashes"
        folder.mkdir(mode=0o700, exist_ok=True)
        path = folder / f"{SystemClock().now():%Y%m%d-%H%M%S-%f}.txt"
        path.touch(mode=0o600)
        path.write_text(text, encoding="utf-8", errors="backslashreplace")
    except (OSError, DroidpilotError) as trouble:
        return f"its traceback could not be kept: {trouble}"
    return f"please report it with {path}"


def _traceback(error: Exception) -> str:
    return f"droidpilot {__version__}\n" + "".join(traceback.format_exception(error))
