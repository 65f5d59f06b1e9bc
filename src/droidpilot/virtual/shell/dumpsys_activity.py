"""dumpsys activity: the app in front, the recent ones and those that run, in the words of Android 14.

This file must never change anything on the phone.
"""

from __future__ import annotations

import zlib

from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell.commands_apps import process_id


class NotTold(Exception):
    """Something of a known service that this phone does not tell; the command fails and says so."""


def app_record(phone: Phone) -> str:
    """Return `package/activity` of the app in front, whatever stands over it."""
    if phone.scene is not None:
        return f"{phone.package}/{phone.activity}"
    top = phone.tasks.top
    return f"{top.package}/{top.activity}"


def activity(phone: Phone, words: list[str]) -> str:
    """Print what `dumpsys activity [PART]` does.

    Raises:
        NotTold: a part that this phone knows nothing of.
    """
    phone.look()
    record = app_record(phone)
    package = record.partition("/")[0]
    if words[:1] == ["top"]:
        pid = process_id(phone, package) or 0
        return f"TASK {package} id=12 userId=0\n  ACTIVITY {record} a1b2c3d pid={pid}\n"
    if words[:1] == ["services"]:
        return "ACTIVITY MANAGER SERVICES (dumpsys activity services)\n  (nothing)\n"
    if words[:1] == ["recents"]:
        return _recents(phone)
    if words[:1] == ["processes"]:
        return _processes(phone)
    if words[:1] not in ([], ["activities"], ["a"]):
        raise NotTold(f"a virtual phone does not tell `dumpsys activity {words[0][:100]}`")
    is_asleep = phone.scene is None and (phone.keyguard.is_showing or not phone.screen_on)
    # Behind the lock screen nothing is resumed.
    resumed = "null" if is_asleep else f"ActivityRecord{{a1b2c3d u0 {record} t12}}"
    return (
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
        f"  topResumedActivity={resumed}\n"
        f"  mResumedActivity: {resumed}\n"
        f"  mFocusedApp=ActivityRecord{{a1b2c3d u0 {record} t12}}\n"
        "  KeyguardController:\n"
        f"    KeyguardShowing={str(phone.keyguard.is_showing).lower()} AodShowing=false KeyguardGoingAway=false\n"
    )


def _recents(phone: Phone) -> str:
    tasks = [
        f"  * Recent #{number}: Task{{{zlib.crc32(name.encode()) & 0xFFFFFFF:07x} #{12 + number} type=standard A="
        f"{phone.packages[name].uid if name in phone.packages else 10_000}:{name} U=0 visible="
        f"{str(name == phone.front).lower()}}}\n"
        for number, name in enumerate(phone.tasks.recents)
    ]
    return "ACTIVITY MANAGER RECENT TASKS (dumpsys activity recents)\n" + "".join(tasks)


def _processes(phone: Phone) -> str:
    records = []
    for name in sorted(phone.tasks):
        pid, package = process_id(phone, name), phone.packages.get(name)
        if pid is not None and package is not None:
            user = f"u0a{package.uid - 10_000}"
            hash = zlib.crc32(name.encode()) & 0xFFFFFFF
            records.append(f"  *APP* UID {package.uid} ProcessRecord{{{hash:07x} {pid}:{name}/{user}}}\n")
    return "ACTIVITY MANAGER RUNNING PROCESSES (dumpsys activity processes)\n" + "".join(records)
