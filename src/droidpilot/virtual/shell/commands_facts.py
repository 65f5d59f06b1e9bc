"""What the phone tells a doctor beside its name: its patch level, and the switches that some brands have.

This file must never know a view.
"""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.phone import Phone

SECURITY_PATCH: Final = "2026-06-05"


def told_properties(phone: Phone) -> dict[str, str]:
    """Return properties that say how far the phone may be used; a phone that refuses inputs says so as Xiaomi's do."""
    known = {"ro.build.version.security_patch": SECURITY_PATCH}
    if phone.faults.is_set("inject-denied"):
        known["persist.security.adbinput"] = "0"
    return known
