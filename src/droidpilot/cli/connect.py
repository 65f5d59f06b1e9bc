"""`droidpilot connect` and `disconnect`: a phone on the network, through the user's own adb server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from droidpilot.device.connecting import Connected


def connect(
    address: Annotated[
        str,
        typer.Argument(
            metavar="HOST[:PORT]",
            help="Where the phone listens (port 5555 if left out), or its serial number or mDNS name.",
        ),
    ],
    json: options.Json = False,
) -> Exit:
    """Connect a phone over the network, and show its line of `devices`.

    Wireless debugging has a new port after each restart of the phone: where the one given is closed, the one that the
    phone announces is taken. A phone that was never paired is paired first, see `droidpilot pair --help`.

    Examples: droidpilot connect 192.168.1.7:37123; droidpilot connect [fe80::1]:5555; droidpilot connect R5AA1234
    """
    from droidpilot.cli.starting import start
    from droidpilot.cli.target import user_server
    from droidpilot.core.clock import Deadline, SystemClock
    from droidpilot.device.connecting import CONNECT_S, connect_phone

    begun = start({})
    clock = SystemClock()
    server = user_server(begun.settings.adb_port, clock)
    show_connected(connect_phone(server, address, Deadline.after(clock, 2 * CONNECT_S)), as_json=json)
    return Exit.DONE


def disconnect(
    serial: Annotated[str, typer.Argument(metavar="HOST[:PORT]", help="The serial that `devices` shows.")],
    json: options.Json = False,
) -> Exit:
    """Let go of a phone that is connected over the network.

    Example: droidpilot disconnect 192.168.1.7:37123
    """
    from droidpilot.cli.starting import start
    from droidpilot.cli.target import ANSWER_S, user_server
    from droidpilot.core.clock import Deadline, SystemClock
    from droidpilot.device.connecting import disconnect_phone

    begun = start({})
    clock = SystemClock()
    server = user_server(begun.settings.adb_port, clock)
    gone = disconnect_phone(server, serial, Deadline.after(clock, ANSWER_S))
    if json:
        output.result_json({"serial": gone, "is_connected": False})
    else:
        output.note(f"{gone} is disconnected")
    return Exit.DONE


def show_connected(connected: Connected, *, as_json: bool) -> None:
    """Show a phone that is connected now as `devices` does, and say what was done."""
    from droidpilot.cli.devices import HEADER, as_json_of, row_of

    device = connected.device
    if as_json:
        told = {"was_connected": connected.was_connected, "moved_from": connected.moved_from or None}
        output.result_json({**as_json_of(device), **told})
        return
    if connected.moved_from:
        output.note(f"nothing answers at {connected.moved_from}; the phone announces {device.serial}")
    output.note(f"{'already connected to' if connected.was_connected else 'connected to'} {device.serial}")
    output.table([HEADER[:4], row_of(device)])
    if device.next_step:
        output.note(f"{device.serial} is {device.state}: {device.next_step}", style="warn")
