"""`droidpilot virtual`: phones in software, behind a real adb server of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit, UsageError
from droidpilot.core.text import quoted

if TYPE_CHECKING:
    from droidpilot.virtual.registry import Entry
    from droidpilot.virtual.wire.auth import Trust

app = typer.Typer(
    help="Start virtual phones, break them, ask for their state.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)


_LAST_PORT = 65_535

Serial = Annotated[str, typer.Argument(metavar="SERIAL", help="The serial that `virtual start` printed.")]


@app.command(short_help="Run virtual phones until Ctrl-C.")
def start(
    port: Annotated[
        int, typer.Option(metavar="P", min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same phone.")] = 0,
    scene: Annotated[
        str, typer.Option(metavar="FILE", help="Show this uiautomator dump, or a folder with a scene.toml.")
    ] = "",
    count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=200, help="Run N phones of N seeds; --json prints one line each."),
    ] = None,
    connect: Annotated[
        bool, typer.Option("--connect", help="Attach to your own adb server, which must run, and to none of ours.")
    ] = False,
    auth: Annotated[
        str, typer.Option(metavar="MODE", help="What the phone does with keys of computers: none, accept or reject.")
    ] = "none",
    profile: Annotated[
        str | None, typer.Option(metavar="AGE", help="Answer as slowly as a phone: fast, middling or old.")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME[@CALL][,ARG...]", help="Break something, from the start or at a call; repeatable."),
    ] = None,
    json: options.Json = False,
) -> Exit:
    """Run a virtual phone until Ctrl-C. It prints its serial, which --device accepts.

    Example: droidpilot virtual start --seed 7

    Example: droidpilot virtual start --fault tap-lost@3 --fault drop@input:5,after
    """
    from droidpilot.cli import starting
    from droidpilot.cli.target import reap_dead
    from droidpilot.cli.virtual_serving import own_server, users_server
    from droidpilot.core.clock import SystemClock
    from droidpilot.virtual.scenes.file import read_scene
    from droidpilot.virtual.server import PhonePlan, serve

    if port and port + (count or 1) - 1 > _LAST_PORT:
        raise UsageError(
            f"{count} phones from port {port} on need ports behind {_LAST_PORT}, the last there is",
            hint="begin lower, or leave out --port for free ones",
        )
    script = read_scene(Path(scene)) if scene else None
    begun = starting.start({})
    home, clock = begun.home, SystemClock()
    reap_dead(home)
    faults = tuple(fault or ()) + ((f"slow,{profile}",) if profile is not None else ())
    plans = [
        PhonePlan(port + number if port else 0, seed + number, _trust(auth), faults, scene=script)
        for number in range(count or 1)
    ]
    with ExitStack() as stack:

        def on_ready(entries: list[Entry]) -> list[Entry]:
            port = begun.settings.adb_port
            server = users_server(home, entries, port, clock) if connect else own_server(home, entries, clock)
            return stack.enter_context(server)

        def on_served(served: list[Entry]) -> None:
            for entry in served:
                _tell(entry, as_json=json, is_line=count is not None)
            if not json:
                output.note("Ctrl-C ends it." if len(served) == 1 else "Ctrl-C ends them.", style="dim")

        serve(home, plans, on_ready=on_ready, on_served=on_served)
    return Exit.DONE


def _trust(mode: str) -> Trust:
    from droidpilot.virtual.wire.auth import TRUSTS

    for known in TRUSTS:
        if mode == known:
            return known
    raise UsageError(f"no mode {quoted(mode)} for --auth", hint=f"use one of: {', '.join(TRUSTS)}")


@app.command(short_help="List the faults there are.")
def faults(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Only this one, with its arguments.")] = None,
    json: options.Json = False,
) -> Exit:
    """List every fault that a virtual phone can have, with its arguments.

    Example: droidpilot virtual faults hang
    """
    from droidpilot.virtual.faults.faults import FORMS, form_of

    output.require_stdout()
    if name is not None and not json:
        form = form_of(name)
        output.result(f"{form.usage}\n  {form.line}")
        return Exit.DONE
    if json:
        output.result_json(
            {
                "faults": [
                    {"name": f.name, "usage": f.usage, "line": f.line, "calls": f.kind}
                    for f in (FORMS.values() if name is None else [form_of(name)])
                ]
            }
        )
        return Exit.DONE
    output.table([("FAULT", "CALLS", "WHAT HAPPENS"), *((form.name, form.kind, form.line) for form in FORMS.values())])
    output.note(f"arguments of one: {output.program()} virtual faults NAME", style="dim")
    return Exit.DONE


@app.command(short_help="Break a running one, or mend it.")
def fault(
    serial: Serial,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME[@CALL]", help="The fault; see `droidpilot virtual faults`.")
    ] = None,
    args: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="Its arguments.")] = None,
    list_: Annotated[bool, typer.Option("--list", help="Only tell what is broken.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="End the fault NAME; without a name, all of them.")] = False,
    json: options.Json = False,
) -> Exit:
    """Break something on a running virtual phone, now or at a call to come, and tell what is broken.

    Example: droidpilot virtual fault 127.0.0.1:40001 offline 20

    Example: droidpilot virtual fault 127.0.0.1:40001 dump-error@+2 idle times=3
    """
    from droidpilot.cli import starting
    from droidpilot.cli.target import reap_dead
    from droidpilot.virtual import registry
    from droidpilot.virtual.faults.faults import form_of, read_fault

    output.require_stdout()
    plain, at, call = (name or "").partition("@")
    if name is None and not (list_ or clear):
        raise UsageError("no fault was named", hint="list them with: droidpilot virtual faults")
    if name is not None and clear:
        form_of(plain)
    elif name is not None:
        read_fault(plain, args or [])
    home = starting.start({}).home
    reap_dead(home)
    entry = registry.find(home, serial)
    if clear:
        told = registry.ask(entry, "clear-faults", name=plain or None)
    elif list_:
        told = registry.ask(entry, "faults")
    else:
        told = registry.ask(entry, "fault", name=plain, args=args or [], at=call if at else None)
    if json:
        output.result_json(told)
    else:
        for path, value in _flat("", {key: told[key] for key in ("active", "scheduled") if told.get(key)}):
            output.result(f"{path} = {_word(value)}")
        if not told.get("active") and not told.get("scheduled"):
            output.note("nothing is broken")
    return Exit.DONE


# Words may begin with a dash: -5 is a number, and whether it fits is for the action to say.
@app.command(short_help="Be the person at a running one.", context_settings={"ignore_unknown_options": True})
def do(
    serial: Serial,
    action: Annotated[str, typer.Argument(metavar="ACTION", help="What to do; see `droidpilot virtual actions`.")],
    args: Annotated[list[str] | None, typer.Argument(metavar="ARGS", help="Its words.")] = None,
) -> Exit:
    """Do to a running virtual phone what no cable can: turn it, lock it, let an app crash, post a notification.

    Example: droidpilot virtual do 127.0.0.1:40001 rotate 1
    """
    from droidpilot.cli import starting
    from droidpilot.cli.target import reap_dead
    from droidpilot.virtual import registry

    home = starting.start({}).home
    reap_dead(home)
    registry.ask(registry.find(home, serial), "do", name=action, args=args or [])
    return Exit.DONE


@app.command(short_help="List what `virtual do` can do.")
def actions(json: options.Json = False) -> Exit:
    """List every action with its words.

    Example: droidpilot virtual actions
    """
    from droidpilot.virtual.actions import ACTIONS

    output.require_stdout()
    if json:
        known = [{"name": name, "words": one.words, "line": one.line} for name, one in sorted(ACTIONS.items())]
        output.result_json({"actions": known})
        return Exit.DONE
    output.table([("ACTION", "WORDS", "WHAT HAPPENS"), *((n, a.words, a.line) for n, a in sorted(ACTIONS.items()))])
    return Exit.DONE


@app.command(short_help="Print the true state of a running one.")
def state(
    serial: Serial,
    json: options.Json = False,
) -> Exit:
    """Print the true state of a running virtual phone, for checks.

    Example: droidpilot virtual state 127.0.0.1:40001 --json
    """
    from droidpilot.cli import starting
    from droidpilot.cli.target import reap_dead
    from droidpilot.virtual import registry

    output.require_stdout()
    home = starting.start({}).home
    reap_dead(home)
    told = registry.ask(registry.find(home, serial), "state")
    if json:
        output.result_json(told)
    else:
        for path, value in _flat("", told):
            output.result(f"{path} = {_word(value)}")
    return Exit.DONE


def _tell(entry: Entry, *, as_json: bool, is_line: bool) -> None:
    from droidpilot.device.adb_trouble import adb_command

    if as_json:
        told = {
            "serial": entry.serial,
            "port": entry.port,
            "seed": entry.seed,
            "pid": entry.pid,
            "adb_port": entry.adb_port,
        }
        if is_line:
            output.result(dumps(told))
        else:
            output.result_json(told)
        return
    output.result(entry.serial)
    output.note(f"try: {output.program()} look --device {entry.serial}", style="dim")
    output.note(f"or:  {adb_command()} -P {entry.adb_port} -s {entry.serial} shell", style="dim")


def _word(value: Any) -> str:
    """Write a value as JSON does, a text without its quotes where it is one line."""
    return value if isinstance(value, str) and len(value.splitlines()) <= 1 else dumps(value, ensure_ascii=False)


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Walk nested values and return `a.b.0 = value` pairs in order."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _flat(f"{path}.{number}", inner)
    elif path:
        yield path, value
