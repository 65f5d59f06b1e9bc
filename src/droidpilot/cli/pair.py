"""`droidpilot pair`: make a phone's wireless debugging trust this computer, by six digits or a QR code.

The code is asked for without echo where it is not given, and is shown and written nowhere.
"""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit, UsageError

if TYPE_CHECKING:
    from droidpilot.core.clock import Clock
    from droidpilot.device.adb import AdbServer
    from droidpilot.device.pairing import Paired


def pair(
    address: Annotated[
        str | None, typer.Argument(metavar="HOST:PORT", help="What the phone shows under 'Pair with pairing code'.")
    ] = None,
    code: Annotated[
        str | None, typer.Argument(metavar="CODE", help="Its six digits; asked for without echo if left out.")
    ] = None,
    qr: Annotated[bool, typer.Option("--qr", help="Draw a QR code that the phone scans instead.")] = False,
    light: Annotated[bool, typer.Option("--light", help="Draw it for a terminal with a light background.")] = False,
    json: options.Json = False,
) -> Exit:
    """Pair with a phone over Wi-Fi (Android 11 or newer), then connect to it.

    On the phone: Developer options, Wireless debugging, 'Pair device with pairing code', which shows an address, with a
    port of its own, and a code; or 'Pair device with QR code' for --qr. Once paired, `connect` is enough.

    Examples: droidpilot pair 192.168.1.7:41915; droidpilot pair --qr
    """
    from droidpilot.cli.starting import start
    from droidpilot.cli.target import user_server
    from droidpilot.core.clock import Deadline, SystemClock
    from droidpilot.device import pairing
    from droidpilot.device.connecting import CONNECT_S, parse_address

    if qr == (address is not None):
        raise UsageError("give HOST:PORT, or --qr and no address", hint="see: droidpilot pair --help")
    where = None if address is None else parse_address(address, default_port=None)
    begun = start({})
    clock = SystemClock()
    if where is None:
        paired = _by_qr(begun.settings.adb_port, clock, is_terminal_light=light)
        server = user_server(begun.settings.adb_port, clock)
    else:
        given = code if code is not None else _asked()
        server = user_server(begun.settings.adb_port, clock)
        paired = pairing.pair(server, where, given.strip(), Deadline.after(clock, CONNECT_S))
    output.note(f"paired with {paired.name or paired.address}", style="good")
    return _connected(server, paired, clock, as_json=json)


def _asked() -> str:
    """Ask for the code on the terminal, without echo."""
    if not sys.stdin.isatty():
        raise UsageError("the pairing code is missing", hint="droidpilot pair HOST:PORT CODE, or run it on a terminal")
    return getpass.getpass("code that the phone shows: ", stream=sys.stderr)


def _by_qr(adb_port: int, clock: Clock, *, is_terminal_light: bool) -> Paired:
    from droidpilot.cli.qr import lines_of, matrix_of
    from droidpilot.cli.target import user_server
    from droidpilot.core.clock import Deadline
    from droidpilot.core.errors import DeviceUnavailable
    from droidpilot.device import pairing
    from droidpilot.device.connecting import CONNECT_S, Address
    from droidpilot.device.discovery import is_mdns_there

    offer = pairing.new_offer()
    # First what a person may have to install: nothing is started in vain.
    matrix = matrix_of(offer.text)
    server = user_server(adb_port, clock)
    if not is_mdns_there(server, Deadline.after(clock, CONNECT_S)):
        raise DeviceUnavailable(
            "this adb server does not listen for phones in the network",
            hint="pair with digits: droidpilot pair HOST:PORT",
            code="no_mdns",
        )
    for line in lines_of(matrix, is_terminal_light=is_terminal_light):
        output.note(line)
    output.note("scan it on the phone: Developer options, Wireless debugging, 'Pair device with QR code'")
    found = pairing.wait_for_scan(server, offer, clock, Deadline.after(clock, pairing.SCAN_S))
    where = Address(found.host, found.port)
    return pairing.pair(server, where, offer.password, Deadline.after(clock, CONNECT_S))


def _connected(server: AdbServer, paired: Paired, clock: Clock, *, as_json: bool) -> Exit:
    """Connect to the phone where it announces itself; say how where it does not."""
    from droidpilot.cli.connect import show_connected
    from droidpilot.core.clock import Deadline
    from droidpilot.device import pairing
    from droidpilot.device.connecting import CONNECT_S, connect_phone

    found = pairing.wait_for_phone(server, paired.name, clock, Deadline.after(clock, pairing.ANNOUNCE_S))
    if found is not None:
        show_connected(connect_phone(server, found.address, Deadline.after(clock, 2 * CONNECT_S)), as_json=as_json)
        return Exit.DONE
    if as_json:
        output.result_json({"name": paired.name, "is_paired": True, "serial": None})
    output.note("now: droidpilot connect HOST:PORT, with the port that the page 'Wireless debugging' itself shows")
    return Exit.DONE
