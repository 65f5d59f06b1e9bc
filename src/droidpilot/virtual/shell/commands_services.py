"""`cmd SERVICE ...` and small commands beside it: status bar, notifications, night mode, tunnels, things we refuse.

Texts are those of Android 14, as far as tools look at them. This file must never know a view.
"""

from __future__ import annotations

import asyncio
from typing import Final

from droidpilot.virtual.shell.job import Command, Job

READ_S: Final = 5.0
"""So long `nc` waits for the other end where no `-w` says otherwise."""
MAX_READ: Final = 4 * 1024 * 1024


def statusbar(job: Job) -> int:
    """Run `cmd statusbar VERB`."""
    phone = job.phone
    verb = job.args[2] if len(job.args) > 2 else ""
    if verb not in ("expand-notifications", "expand-settings", "collapse"):
        return job.fail(f"Unknown command: {verb[:100]}", 255)
    if verb == "collapse":
        phone.later(phone.shade.close)
    elif not phone.keyguard.is_showing:
        phone.later(lambda: phone.shade.open(is_quick=verb == "expand-settings"))
    return 0


def notification(job: Job) -> int:
    """Run `cmd notification post [-t TITLE] TAG TEXT` or `list`."""
    words = job.args[2:]
    if words[:1] == ["list"]:
        for one in job.phone.notifications.shown:
            job.say(one.key)
        return 0
    if words[:1] != ["post"]:
        return job.fail(f"Unknown command: {' '.join(words[:1])[:100]}", 255)
    title, rest = "", words[1:]
    while rest[:1] and rest[0].startswith("-"):
        if rest[0] in ("-t", "--title"):
            title = " ".join(rest[1:2])
        rest = rest[2:]
    if len(rest) < 2:
        return job.fail("usage: cmd notification post [-t TITLE] TAG TEXT", 255)
    job.phone.notify(title, rest[1], package="com.android.shell")
    job.say(f"posting:\n  Notification(channel=shell_cmd tag={rest[0][:100]})")
    return 0


def night(job: Job) -> int:
    """Run `cmd uimode night [yes|no]`."""
    settings = job.phone.settings
    value = job.args[3] if len(job.args) > 3 else ""
    if job.args[2:3] != ["night"] or value not in ("", "yes", "no"):
        return job.fail("usage: cmd uimode night [yes|no]", 255)
    if value:
        settings.put("secure", "ui_night_mode", "2" if value == "yes" else "1", source="shell")
    job.say(f"Night mode: {'yes' if settings.get('secure', 'ui_night_mode') == '2' else 'no'}")
    return 0


def airplane(job: Job) -> int:
    """Run `cmd connectivity airplane-mode [enable|disable]`."""
    settings = job.phone.settings
    value = job.args[3] if len(job.args) > 3 else ""
    if job.args[2:3] != ["airplane-mode"] or value not in ("", "enable", "disable"):
        return job.fail("usage: cmd connectivity airplane-mode [enable|disable]", 255)
    if value:
        settings.put("global", "airplane_mode_on", "1" if value == "enable" else "0", source="shell")
    else:
        job.say("enabled" if settings.is_on("global", "airplane_mode_on") else "disabled")
    return 0


CMD_SERVICES: Final[dict[str, Command]] = {
    "connectivity": airplane,
    "notification": notification,
    "statusbar": statusbar,
    "uimode": night,
}


async def nc(job: Job) -> int:
    """Talk to a port of the phone itself: only those that `adb reverse` made lead anywhere."""
    words, wait_s = job.args[1:], READ_S
    if words[:1] in (["-w"], ["-W"]) and len(words) > 1 and words[1].isdecimal():
        wait_s, words = float(words[1]), words[2:]
    words = [word for word in words if not word.startswith("-")]
    if len(words) != 2 or not words[1].isdecimal():
        return job.fail("nc: usage: nc [-w SECONDS] HOST PORT", 1)
    is_here = words[0] in ("localhost", "127.0.0.1", "::1")
    stream = await job.context.tunnels.connect(int(words[1])) if is_here else None
    if stream is None:
        return job.fail(f"nc: connect: {'Connection refused' if is_here else 'Network is unreachable'}")
    try:
        if job.stdin:
            await stream.write(job.stdin)
        while len(job.out) < MAX_READ:
            async with asyncio.timeout(wait_s):
                got = await stream.read()
            if not got:
                break
            job.write(got)
    except TimeoutError:
        pass
    finally:
        await stream.host.hang_up(stream)
    return 0


def refuse_recording(job: Job) -> int:
    """Refuse `screenrecord`: no file is left, so that a pull of it says so."""
    return job.fail("screenrecord: ERROR: unable to configure video/avc codec: a virtual phone records no video")
