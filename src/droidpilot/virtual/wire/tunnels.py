"""Tunnels from the phone to the computer: `adb reverse`, its list, and connections through it.

Source: AOSP `adb.cpp`, handle_forward_request, on the phone's side. Nothing listens for them: a program on the phone,
such as `nc`, asks for a connection to a port, and the host that made the tunnel opens the other end.
"""

from __future__ import annotations

import re
from typing import Final

from droidpilot.virtual.wire.streams import Host, Stream

MOST: Final = 100
FIRST_FREE_PORT: Final = 40_000
_END: Final = re.compile(r"(?:tcp:[0-9]{1,5}|local(?:abstract|reserved|filesystem):[^;\s]{1,200})")


class Tunnels:
    """The reverse tunnels of one phone."""

    def __init__(self) -> None:
        self._ends: dict[str, tuple[str, Host]] = {}
        """End on the phone to end on the host, and that host."""

    @property
    def ends(self) -> dict[str, str]:
        """End on the phone to end on the host; those of a host that is gone are gone too."""
        self._ends = {here: there for here, there in self._ends.items() if there[1].is_there}
        return {here: there for here, (there, _) in self._ends.items()}

    async def serve(self, stream: Stream, request: str) -> None:
        """Answer one request: forward, list-forward, killforward, killforward-all."""
        verb, _, rest = request.partition(":")
        is_new = rest.startswith("norebind:")
        ends = rest.removeprefix("norebind:").split(";")
        if verb == "list-forward":
            await stream.write(_text("".join(f"(reverse) {here} {there}\n" for here, there in self.ends.items())))
        elif verb == "killforward-all":
            self._ends.clear()
            await stream.write(b"OKAY")
        elif verb == "killforward" and len(ends) == 1:
            found = self._ends.pop(ends[0], None)
            await stream.write(b"OKAY" if found is not None else _failure(f"listener '{ends[0][:200]}' not found"))
        elif verb == "forward" and len(ends) == 2 and all(_END.fullmatch(end) for end in ends):
            await stream.write(self._add(ends[0], ends[1], stream.host, is_new=is_new))
        else:
            await stream.write(_failure("bad forward request"))

    def _add(self, here: str, there: str, host: Host, *, is_new: bool) -> bytes:
        if is_new and here in self.ends:
            return _failure(f"cannot rebind existing socket {here}")
        if len(self.ends) >= MOST:
            return _failure("too many tunnels")
        port = b""
        if here == "tcp:0":
            number = next(n for n in range(FIRST_FREE_PORT, 65_536) if f"tcp:{n}" not in self.ends)
            here, port = f"tcp:{number}", _text(str(number))
        self._ends[here] = (there, host)
        return b"OKAY" + port

    async def connect(self, port: int) -> Stream | None:
        """Open the tunnel of a port on the phone; None where there is none, or its other end refuses."""
        found = self._ends.get(f"tcp:{port}")
        return await found[1].open_to_host(found[0]) if found is not None and found[1].is_there else None


def _text(text: str) -> bytes:
    data = text.encode()[:0xFFFF]
    return f"{len(data):04x}".encode() + data


def _failure(text: str) -> bytes:
    return b"FAIL" + _text(text)
