"""Answered: what came of a call, before it is written down; and how trouble with the phone reads as an answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from droidpilot.core.calls import Status
from droidpilot.core.errors import DeviceBusy, DeviceError, DeviceLost, DeviceRefused, DeviceUnavailable, Sent
from droidpilot.core.images import Image


@dataclass(frozen=True, slots=True)
class Answered:
    """A result before it is written."""

    status: Status
    text: str
    code: str = ""
    value: Any = None
    image: Image | None = None
    screen: int | None = None
    ends: str = ""
    sent: Sent = "no"
    read_back: str = ""


def device_trouble(error: DeviceError) -> Answered:
    """Answer a call that failed before anything was sent: what is gone ends the session, a no of the phone is final."""
    if is_gone(error):
        return Answered(Status.FATAL, f"{error}.", error.code, ends="device")
    status = Status.LOGIC if isinstance(error, DeviceRefused) else Status.TRANSIENT
    return Answered(status, f"{error}. Nothing was sent.", error.code)


def is_gone(error: DeviceError) -> bool:
    """Tell whether the phone cannot be reached any more."""
    return isinstance(error, DeviceLost | DeviceUnavailable | DeviceBusy)
