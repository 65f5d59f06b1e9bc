"""Commands about apps: am, pm, cmd package, monkey, ps. Texts and codes are those libraries look at.

This file must never know a view.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable
from typing import Final

from droidpilot.virtual.phone import HOME, Phone
from droidpilot.virtual.shell import Command, Job
from droidpilot.virtual.store import ADB_KEYBOARD

FIRST_PID = 2_000


def process_id(phone: Phone, package: str) -> int | None:
    """Return the pid of a package that runs, else None."""
    if package not in phone.tasks or package not in phone.packages:
        return None
    return FIRST_PID + phone.packages[package].uid - 10_000


def component(phone: Phone, package: str) -> str:
    """Return `package/activity` of an app's launcher entry."""
    return f"{package}/{phone.apps[package].activity}"


async def _monkey(job: Job) -> int:
    async with job.context.trouble.call("start"):
        return _launch(job)


def _launch(job: Job) -> int:
    words = job.args
    package = words[words.index("-p") + 1] if "-p" in words and words.index("-p") + 1 < len(words) else ""
    if package == HOME or not job.phone.start(package):
        return job.fail("** No activities found to run, monkey aborted.", 252)
    job.say("Events injected: 1\n## Network stats: elapsed time=14ms (0ms mobile, 0ms wifi, 14ms not connected)")
    return 0


async def _am(job: Job) -> int:
    verb = job.args[1] if len(job.args) > 1 else ""
    if verb in ("start", "start-activity"):
        async with job.context.trouble.call("start"):
            return _am_start(job)
    if verb in ("force-stop", "stop-app") and len(job.args) > 2:
        async with job.context.trouble.call("start"):
            job.phone.stop(job.args[-1])
            return 0
    if verb in ("kill", "kill-all"):
        return 0
    if verb == "broadcast":
        return await _am_broadcast(job)
    return job.fail(f"Unknown command: {verb[:100]}", 255)


def _option(words: list[str], name: str) -> str | None:
    return words[words.index(name) + 1] if name in words and words.index(name) + 1 < len(words) else None


def _am_start(job: Job) -> int:
    words = job.args[2:]
    target, action = _option(words, "-n"), _option(words, "-a") or ""
    plain = words[-1] if target is None and words and "/" in words[-1] and "-d" not in words else None
    name = target or plain
    if "-S" in words and name:
        job.phone.stop(name.split("/")[0])
    if name is None and action == "android.settings.WIFI_SETTINGS":
        name = "com.android.settings/.Settings"
    if name is None and action == "android.settings.SETTINGS":
        name = "com.android.settings/.Settings"
    if name is None and _option(words, "-c") == "android.intent.category.HOME":
        name = component(job.phone, HOME)
    if name is None:
        job.say(f"Starting: Intent {{ act={action[:200]} dat={(_option(words, '-d') or '')[:200]} }}")
        return job.fail("Error: Activity not started, unable to resolve Intent", 1)
    job.say(f"Starting: Intent {{ cmp={name[:200]} }}")
    package, _, activity = name.partition("/")
    app = job.phone.apps.get(package)
    known = {_full(package, app.activity), app.first().activity} if app is not None else set()
    if _full(package, activity) not in known or not job.phone.start(package):
        job.say("Error type 3")
        job.say(f"Error: Activity class {{{name[:200]}}} does not exist.")
        return 1
    return 0


def _full(package: str, activity: str) -> str:
    """Return the class name of an activity that may begin with a dot."""
    return f"{package}{activity}" if activity.startswith(".") else activity


async def _am_broadcast(job: Job) -> int:
    words, phone = job.args[2:], job.phone
    action = _option(words, "-a") or ""
    job.say(f"Broadcasting: Intent {{ act={action[:200]} flg=0x400000 }}")
    if not action.startswith("ADB_KEYBOARD") or phone.settings.get("secure", "default_input_method") != ADB_KEYBOARD:
        job.say("Broadcast completed: result=0")
        return 0
    async with job.context.trouble.call("input") as met:
        if "tap-lost" in met:
            job.say('Broadcast completed: result=-1, data="success"')
            return 0
        return _keyboard(job, action, words)


def _keyboard(job: Job, action: str, words: list[str]) -> int:
    """Do what a broadcast asks of the keyboard for adb."""
    if action == "ADB_KEYBOARD_INPUT_TEXT":
        try:
            text = base64.b64decode(_option(words, "text") or "", validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            job.say("Broadcast completed: result=0")
            return 0
        job.context.touch.type_text(text, kind="keyboard_text")
    elif action == "ADB_KEYBOARD_CLEAR_TEXT":
        job.context.touch.clear_focused()
    elif action in ("ADB_KEYBOARD_EDITOR_CODE", "ADB_KEYBOARD_SMART_ENTER"):
        job.context.touch.key(66)
    job.say('Broadcast completed: result=-1, data="success"')
    return 0


def _pm(job: Job) -> int:
    words = job.args[1:]
    phone = job.phone
    verb = words[0] if words else ""
    names = [word for word in words[1:] if not word.startswith("-")]
    if verb == "list" and names[:1] == ["packages"]:
        flags = [word for word in words if word.startswith("-")]
        wanted = names[1] if len(names) > 1 else ""
        for package in sorted(phone.packages.values(), key=lambda package: package.name):
            is_asked = not (("-3" in flags and package.is_system) or ("-s" in flags and not package.is_system))
            if wanted in package.name and is_asked:
                shown = f"/data/app/{package.name}/base.apk={package.name}" if "-f" in flags else package.name
                job.say(f"package:{shown}")
        return 0
    if verb == "path" and names:
        if names[0] not in phone.packages:
            return 1
        job.say(f"package:/data/app/~~virtual==/{names[0]}/base.apk")
        return 0
    if verb == "clear" and names:
        if names[0] not in phone.packages:
            job.say("Failed")
            return 1
        phone.stop(names[0])
        if names[0] in phone.apps:
            phone.apps[names[0]].clear()
        job.say("Success")
        return 0
    if verb in ("query-activities", "resolve-activity"):
        return _activities(job, verb, words)
    if verb == "grant":
        return 0
    if verb in ("install", "uninstall"):
        job.say(
            "Failure [INSTALL_FAILED_USER_RESTRICTED]"
            if verb == "install"
            else "Failure [DELETE_FAILED_INTERNAL_ERROR]"
        )
        return 1
    return job.fail(f"Unknown command: {verb[:100]}", 255)


def _activities(job: Job, verb: str, words: list[str]) -> int:
    """List launcher entries. Source: `cmd package help` of Android 14."""
    phone = job.phone
    if verb == "resolve-activity":
        package = words[-1]
        if package not in phone.apps:
            job.say("No activity found")
            return 0
        if "--brief" in words:
            job.say("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false")
        job.say(component(phone, package))
        return 0
    found = [(component(phone, package), label) for package, label in phone.launchable_apps()]
    if "--components" in words:
        for name, _ in found:
            job.say(name)
        return 0
    job.say(f"{len(found)} activities found:")
    for number, (name, label) in enumerate(found):
        job.say(
            f"  Activity #{number}:\n    priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false"
        )
        if "--brief" in words:
            job.say(f"    {name}")
            continue
        package, _, activity = name.partition("/")
        full = f"{package}{activity}" if activity.startswith(".") else activity
        job.say(f"    ActivityInfo:\n      name={full}\n      packageName={package}")
        job.say(f"      labelRes=0x0 nonLocalizedLabel={label} icon=0x0 banner=0x0")
    return 0


def _cmd(job: Job) -> int | Awaitable[int]:
    if job.args[1:2] == ["package"]:
        job.args = ["pm", *job.args[2:]]
        return _pm(job)
    if job.args[1:2] == ["activity"]:
        job.args = ["am", *job.args[2:]]
        return _am(job)
    return job.fail(f"cmd: Can't find service: {' '.join(job.args[1:2])[:100]}", 20)


def _ps(job: Job) -> int:
    job.say("USER           PID  PPID     VSZ    RSS WCHAN            ADDR S NAME")
    job.say("root             1     0 10936000  7000 0                   0 S init")
    for name in sorted({*job.phone.tasks, "com.android.systemui"}):
        pid = process_id(job.phone, name) or 1_500
        job.say(f"u0_a{pid % 1000:<8} {pid:>6}   500 14000000 120000 0                   0 S {name}")
    return 0


def _pidof(job: Job) -> int:
    found = [pid for name in job.args[1:] if (pid := process_id(job.phone, name)) is not None]
    if found:
        job.say(" ".join(map(str, found)))
    return 0 if found else 1


APP_COMMANDS: Final[dict[str, Command]] = {
    "am": _am,
    "cmd": _cmd,
    "monkey": _monkey,
    "pidof": _pidof,
    "pm": _pm,
    "ps": _ps,
}
