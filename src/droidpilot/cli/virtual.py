"""`droidpilot virtual`: phones in software, behind a real adb server of their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from droidpilot.virtual.registry import Entry

app = typer.Typer(
    help="Start a virtual phone; ask it for its state.",
    rich_markup_mode=None,
    no_args_is_help=True,
    add_completion=False,
)


@app.command(short_help="Run a virtual phone until Ctrl-C.")
def start(
    port: Annotated[
        int, typer.Option(metavar="P", min=0, max=65535, help="Port on 127.0.0.1; 0 takes a free one.")
    ] = 0,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same phone.")] = 0,
    scene: Annotated[
        str, typer.Option(metavar="FILE", help="Show this uiautomator dump, or a folder with a scene.toml.")
    ] = "",
    json: options.Json = False,
) -> Exit:
    """Run a virtual phone until Ctrl-C. It prints its serial, which --device accepts.

    Example: droidpilot virtual start --seed 7
    """
    from droidpilot.cli import starting
    from droidpilot.cli.target import reap_dead, with_private_server
    from droidpilot.core.clock import SystemClock
    from droidpilot.virtual.scene_file import read_scene
    from droidpilot.virtual.server import serve

    script = read_scene(Path(scene)) if scene else None
    home = starting.start({}).home
    reap_dead(home)
    with ExitStack() as stack:

        def on_ready(entry: Entry) -> Entry:
            server, registered = with_private_server(home, entry, SystemClock())
            stack.callback(server.stop)
            _tell(registered, as_json=json)
            return registered

        serve(home, port=port, seed=seed, scene=script, on_ready=on_ready)
    return Exit.DONE


@app.command(short_help="Print the true state of a running one.")
def state(
    serial: Annotated[str, typer.Argument(metavar="SERIAL", help="The serial that `virtual start` printed.")],
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
            output.result(f"{path} = {value}")
    return Exit.DONE


def _tell(entry: Entry, *, as_json: bool) -> None:
    from droidpilot.device.adb_trouble import adb_command

    if as_json:
        output.result_json(
            {
                "serial": entry.serial,
                "port": entry.port,
                "seed": entry.seed,
                "pid": entry.pid,
                "adb_port": entry.adb_port,
            }
        )
        return
    output.result(entry.serial)
    output.note(f"try: {output.program()} look --device {entry.serial}", style="dim")
    output.note(f"or:  {adb_command()} -P {entry.adb_port} -s {entry.serial} shell", style="dim")
    output.note("Ctrl-C ends it.", style="dim")


def _flat(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Walk nested values and return `a.b.0 = value` pairs in order."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from _flat(f"{path}.{key}" if path else str(key), inner)
    elif isinstance(value, list) and value:
        for number, inner in enumerate(value):
            yield from _flat(f"{path}.{number}", inner)
    else:
        yield path, value
