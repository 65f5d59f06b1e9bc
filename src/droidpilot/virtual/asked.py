"""What may be asked of a running phone over its control port, and from Python by the same names.

This file must never know a socket.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from droidpilot.core.errors import UsageError
from droidpilot.virtual.actions import act
from droidpilot.virtual.control import Ask
from droidpilot.virtual.phone import Phone


def requests_of(phone: Phone) -> dict[str, Ask]:
    """Return the requests about one phone, by name. Each raises UsageError where the request does not fit."""

    def state(_: Mapping[str, Any]) -> dict[str, object]:
        return phone.state()

    def fault(request: Mapping[str, Any]) -> dict[str, object]:
        name, args, at = request.get("name"), request.get("args", []), request.get("at")
        if not isinstance(name, str) or not isinstance(args, list) or not (at is None or isinstance(at, int | str)):
            raise UsageError("a fault needs a name and a list of arguments")
        if at is None:
            phone.faults.set(name, *args)
        else:
            phone.faults.schedule(name, at, *args)
        return phone.faults.state()

    def faults(_: Mapping[str, Any]) -> dict[str, object]:
        return phone.faults.state()

    def clear(request: Mapping[str, Any]) -> dict[str, object]:
        name = request.get("name")
        phone.faults.clear(name if isinstance(name, str) else None)
        return phone.faults.state()

    def do(request: Mapping[str, Any]) -> dict[str, object]:
        name, words = request.get("name"), request.get("args", [])
        if not isinstance(name, str) or not isinstance(words, list) or not all(isinstance(w, str) for w in words):
            raise UsageError("an action needs a name and a list of words")
        act(phone, name, words)
        return {"done": name}

    return {"do": do, "state": state, "fault": fault, "faults": faults, "clear-faults": clear}
