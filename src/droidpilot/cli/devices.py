"""`droidpilot devices`: what is attached, and what to do about a phone that is not ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from droidpilot.cli.device_cards import Read
    from droidpilot.cli.target import Known

Cards = Annotated[
    bool, typer.Option("--card", help="Ask each ready phone what is worth a warning: at most 6 seconds, all at once.")
]


def devices(json: options.Json = False, card: Cards = False) -> Exit:
    """List phones and running virtual phones; for one that is not ready, say what to do.

    Only the adb server is asked. With --card, and with --json, each phone that is ready is asked for its trust and
    compatibility card too; a phone that does not answer has none, and the listing waits 6 seconds at most.

    Example: droidpilot devices --json
    """
    from droidpilot.cli.device_cards import read_cards
    from droidpilot.cli.starting import start
    from droidpilot.cli.target import attached_phones, ended, reap_dead, virtual_phones
    from droidpilot.core.clock import SystemClock

    begun = start({})
    dead = [entry.serial for entry in reap_dead(begun.home)]
    virtual = virtual_phones(begun.home)
    ours = {one.device.serial for one in virtual}
    attached = attached_phones(begun.settings.adb_port, SystemClock())
    # An adb server still lists a phone whose process just ended, with advice for a cable.
    found = [one for one in attached if one.device.serial not in {*ours, *dead}] + virtual
    for serial in dead:
        output.note(str(ended(serial)), style="warn")
    cards = read_cards(found, SystemClock()) if json or card else {}
    if json:
        output.result_json({"devices": [_as_json(one) | _card_json(one, cards) for one in found]})
        return Exit.DONE
    if not found:
        output.note("no phone is attached; plug one in with USB debugging on, or try: droidpilot virtual start")
        return Exit.DONE
    output.table([("SERIAL", "STATE", "TRANSPORT", "MODEL"), *map(_as_row, found)])
    for one in found:
        if one.device.next_step:
            output.note(f"{one.device.serial} is {one.device.state}: {one.device.next_step}", style="warn")
    for serial, read in cards.items():
        warnings = [read] if isinstance(read, str) else [one.text for one in read.warnings]
        for text in warnings:
            output.note(f"{serial}: {text}", style="warn")
    return Exit.DONE


def _as_row(known: Known) -> tuple[str, ...]:
    device = known.device
    transport = f"{device.transport} (virtual)" if known.is_virtual else device.transport
    return (device.serial, "ready" if device.is_ready else device.state, transport, device.model)


def _as_json(known: Known) -> dict[str, Any]:
    device = known.device
    return {
        "serial": device.serial,
        "state": device.state,
        "is_ready": device.is_ready,
        "transport": device.transport,
        "model": device.model,
        "is_virtual": known.is_virtual,
        "adb_port": known.adb_port,
        "next_step": device.next_step,
    }


def _card_json(known: Known, cards: dict[str, Read]) -> dict[str, Any]:
    read = cards.get(known.device.serial)
    if read is None or isinstance(read, str):
        return {"card": None, "card_problem": read or "the phone is not ready"}
    return {"card": read.as_json(), "card_problem": ""}
