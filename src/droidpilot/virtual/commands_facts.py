"""What the phone tells a doctor: free storage, its patch level, and the switches that some brands have.

This file must never know a view.
"""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell import Command, Job

STORAGE_KIB: Final = 64 * 1024 * 1024
"""Size of /data in KiB: 64 GiB, a fifth of it full."""
SECURITY_PATCH: Final = "2026-06-05"


def told_properties(phone: Phone) -> dict[str, str]:
    """Return properties that say how far the phone may be used; a phone that refuses inputs says so as Xiaomi's do."""
    known = {"ro.build.version.security_patch": SECURITY_PATCH}
    if phone.faults.is_set("inject-denied"):
        known["persist.security.adbinput"] = "0"
    return known


def _df(job: Job) -> int:
    """Print free space in KiB. Source: `df` of toybox."""
    used = STORAGE_KIB if job.phone.faults.is_set("storage-full") else STORAGE_KIB // 5
    free, share = STORAGE_KIB - used, round(used * 100 / STORAGE_KIB)
    job.say("Filesystem     1K-blocks     Used Available Use% Mounted on")
    job.say(f"/dev/block/dm-5 {STORAGE_KIB} {used} {free}  {share}% /data")
    return 0


FACT_COMMANDS: Final[dict[str, Command]] = {"df": _df}
