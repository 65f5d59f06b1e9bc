"""`droidpilot devices`: what is attached, who holds it, what is announced in the network, and what to do about each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from pathlib import Path

    from droidpilot.cli.device_cards import Read
    from droidpilot.cli.target import Known
    from droidpilot.device.attached import AttachedDevice
    from droidpilot.device.discovery import Service
    from droidpilot.device.lease import Owner

HEADER = ("SERIAL", "STATE", "TRANSPORT", "MODEL", "HELD BY")


Cards = Annotated[
    bool, typer.Option("--card", help="Ask each ready phone what is worth a warning: at most 6 seconds, all at once.")
]


def devices(json: options.Json = False, card: Cards = False) -> Exit:
    """List phones and running virtual phones; for one that is not ready, say what to do.

    Phones that only announce themselves in the network are named too, with the command that connects them. Only the
    adb server is asked. With --card, and with --json, each phone that is ready is asked for its trust and compatibility
    card too; one that does not answer has none, and the listing waits 6 seconds at most.

    Example: droidpilot devices --json
    """
    from droidpilot.cli.device_cards import read_cards
    from droidpilot.cli.starting import start
    from droidpilot.cli.target import as_adb_has_it, attached_phones, ended, reap_dead, virtual_phones
    from droidpilot.core.clock import SystemClock

    begun = start({})
    clock = SystemClock()
    dead = [entry.serial for entry in reap_dead(begun.home)]
    virtual = [as_adb_has_it(one) for one in virtual_phones(begun.home)]
    ours = {one.device.serial for one in virtual}
    attached = attached_phones(begun.settings.adb_port, clock)
    # An adb server still lists a phone whose process just ended, with advice for a cable.
    found = [one for one in attached if one.device.serial not in {*ours, *dead}] + virtual
    announced = _announced(begun.settings.adb_port, attached)
    for serial in dead:
        output.note(str(ended(serial)), style="warn")
    holders = [_holder(begun.home, one) for one in found]
    cards = read_cards(found, clock) if json or card else {}
    if json:
        pairs = zip(found, holders, strict=True)
        listed = [_as_json(one, holder) | _card_json(one, cards) for one, holder in pairs]
        output.result_json({"devices": listed, "announced": [_announced_json(one) for one in announced]})
        return Exit.DONE
    if found:
        columns = len(HEADER) if any(holders) else len(HEADER) - 1
        rows = [_as_row(one, holder) for one, holder in zip(found, holders, strict=True)]
        output.table([row[:columns] for row in (HEADER, *rows)])
    for one in found:
        if one.device.next_step:
            output.note(f"{one.device.serial} is {one.device.state}: {one.device.next_step}", style="warn")
    for serial, read in cards.items():
        for text in [read] if isinstance(read, str) else [one.text for one in read.warnings]:
            output.note(f"{serial}: {text}", style="warn")
    for service in announced:
        output.note(f"{service.name} announces itself at {service.address}; {_command(service)}")
    if not found and not announced:
        output.note("no phone is attached; plug one in with USB debugging on, or try: droidpilot virtual start")
    return Exit.DONE


def row_of(device: AttachedDevice) -> tuple[str, str, str, str]:
    """Return a phone's row of the table."""
    return (device.serial, "ready" if device.is_ready else device.state, device.transport, device.model)


def as_json_of(device: AttachedDevice) -> dict[str, Any]:
    """Return what is told of a phone in JSON."""
    return {
        "serial": device.serial,
        "state": device.state,
        "is_ready": device.is_ready,
        "transport": device.transport,
        "model": device.model,
        "next_step": device.next_step,
    }


def _holder(home: Path, known: Known) -> Owner | None:
    from droidpilot.device.lease import holder_of

    return holder_of(home, known.device.serial)


def _announced(adb_port: int, attached: Sequence[Known]) -> list[Service]:
    """List the announcements of phones that are not connected under that name or address."""
    from droidpilot.core.clock import Deadline, SystemClock
    from droidpilot.device.adb import AdbServer
    from droidpilot.device.attached import transport_of
    from droidpilot.device.discovery import bare_name, services

    known = {bare_name(one.device.serial) for one in attached}
    # A phone on a cable may announce itself too; adb would show it twice.
    plugged = {one.device.serial for one in attached if transport_of(one.device.serial) == "usb"}
    return [
        one
        for one in services(AdbServer(adb_port), Deadline.after(SystemClock(), _MDNS_S))
        if one.name not in known and one.address not in known and not any(map(one.is_of, plugged))
    ]


#: Seconds that the server gets to say what it hears; it knows already.
_MDNS_S = 3.0


def _command(service: Service) -> str:
    if service.kind == "pairing":
        return f"it waits to be paired: droidpilot pair {service.address}"
    return f"connect it with: droidpilot connect {service.address}"


def _announced_json(service: Service) -> dict[str, Any]:
    return {"name": service.name, "kind": service.kind, "address": service.address, "next_step": _command(service)}


def _as_row(known: Known, holder: Owner | None) -> tuple[str, ...]:
    serial, state, transport, model = row_of(known.device)
    kind = f"{transport} (virtual)" if known.is_virtual else transport
    return (serial, state, kind, model, holder.words if holder is not None else "")


def _as_json(known: Known, holder: Owner | None) -> dict[str, Any]:
    held = {"pid": holder.pid, "since": holder.since, "session": holder.session} if holder is not None else None
    more = {"is_virtual": known.is_virtual, "adb_port": known.adb_port, "held_by": held}
    return as_json_of(known.device) | more


def _card_json(known: Known, cards: dict[str, Read]) -> dict[str, Any]:
    read = cards.get(known.device.serial)
    if read is None or isinstance(read, str):
        return {"card": None, "card_problem": read or "the phone is not ready"}
    return {"card": read.as_json(), "card_problem": ""}
