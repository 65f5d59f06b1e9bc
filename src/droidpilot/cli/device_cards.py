"""The trust and compatibility cards of all phones in a listing: read beside each other, each within its seconds."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from droidpilot.cli.target import Known
from droidpilot.core.clock import Clock
from droidpilot.core.errors import DeviceError
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.card import Card, read_card

#: So many phones are asked at a time: the questions are seven small commands each.
_AT_ONCE = 16

#: The card, or why there is none.
Read = Card | str


def read_cards(found: Sequence[Known], clock: Clock) -> dict[str, Read]:
    """Read the cards of the phones that are ready; one that does not answer costs `CARD_S` seconds and no other's."""
    ready = [one for one in found if one.device.is_ready]
    if not ready:
        return {}
    with ThreadPoolExecutor(min(_AT_ONCE, len(ready)), thread_name_prefix="card") as pool:
        return dict(pool.map(lambda one: (one.device.serial, _read(one, clock)), ready))


def _read(known: Known, clock: Clock) -> Read:
    transport = "virtual" if known.is_virtual else known.device.transport
    try:
        return read_card(PhoneLink(AdbServer(known.adb_port), known.device.serial), clock, transport=transport)
    except DeviceError as error:
        return shorten(one_line(error.message), 200)
