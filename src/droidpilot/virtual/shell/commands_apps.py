"""Commands about apps: am, cmd, monkey, ps. Texts and codes are those libraries look at.

This file must never know a view.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable
from typing import Final

from droidpilot.virtual.host import Viewer
from droidpilot.virtual.phone import HOME, Phone
from droidpilot.virtual.shell.commands_packages import component, pm
from droidpilot.virtual.shell.commands_services import CMD_SERVICES
from droidpilot.virtual.shell.job import Command, Job
from droidpilot.virtual.store import ADB_KEYBOARD


def process_id(phone: Phone, package: str) -> int | None:
    """Return the pid of a package that runs, else None."""
    if package not in phone.tasks or package not in phone.packages:
        return None
    return phone.pid_of(package)


async def _monkey(job: Job) -> int:
    async with job.context.trouble.call("start"):
        return _launch(job)


def _launch(job: Job) -> int:
    words = job.args
    package = words[words.index("-p") + 1] if "-p" in words and words.index("-p") + 1 < len(words) else ""
    if words[-1].isdecimal() and words[-1] != "1":
        return job.fail("** Error: a virtual phone throws no random events: a count of 1 starts the app.", 251)
    if package == HOME or not job.phone.start(package):
        return job.fail("** No activities found to run, monkey aborted.", 252)
    job.say("Events injected: 1\n## Network stats: elapsed time=14ms (0ms mobile, 0ms wifi, 14ms not connected)")
    return 0


async def _am(job: Job) -> int:
    verb = job.args[1] if len(job.args) > 1 else ""
    if verb in ("start", "start-activity"):
        async with job.context.trouble.call("start"):
            code = _am_start(job)
        if "-W" in job.args and code == 0:
            await job.context.pause(job.phone.transition_ms)
        return code
    if verb in ("force-stop", "stop-app") and len(job.args) > 2:
        async with job.context.trouble.call("start"):
            job.phone.stop(job.args[-1])
            return 0
    if verb == "crash" and len(job.args) > 2:
        job.phone.crash(job.args[-1], "android.app.RemoteServiceException: shell-induced crash")
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
        url = _option(words, "-d") or ""
        job.say(f"Starting: Intent {{ act={action[:200]} dat={url[:200]} }}")
        if action == "android.intent.action.VIEW" and url.startswith(("http://", "https://")):
            viewer = next((app for app in job.phone.apps.values() if isinstance(app, Viewer)), None)
            if viewer is not None:
                viewer.view(url)
                return 0
        return job.fail("Error: Activity not started, unable to resolve Intent", 1)
    job.say(f"Starting: Intent {{ cmp={name[:200]} }}")
    package, _, activity = name.partition("/")
    app = job.phone.apps.get(package)
    known = {_full(package, app.activity), app.first().activity} if app is not None else set()
    was_front, was_running = job.phone.front == package, package in job.phone.tasks
    if _full(package, activity) not in known or not job.phone.start(package):
        job.say("Error type 3")
        job.say(f"Error: Activity class {{{name[:200]}}} does not exist.")
        return 1
    if "-W" in words:
        # What is in front already is brought there in no time; another one takes a transition at most.
        took = 0 if was_front else job.phone.transition_ms
        state = "HOT" if was_running else "COLD"
        job.say(f"Status: ok\nLaunchState: {'UNKNOWN (0)' if was_front else state}\nActivity: {name[:200]}")
        job.say(f"TotalTime: {took}\nWaitTime: {took}\nComplete")
    return 0


def _full(package: str, activity: str) -> str:
    """Return the class name of an activity that may begin with a dot."""
    return f"{package}{activity}" if activity.startswith(".") else activity


async def _am_broadcast(job: Job) -> int:
    words, phone = job.args[2:], job.phone
    action = _option(words, "-a") or ""
    job.say(f"Broadcasting: Intent {{ act={action[:200]} flg=0x400000 }}")
    # `-p` sends it to one package; without it every app that listens gets it.
    is_for_keyboard = _option(words, "-p") in (None, ADB_KEYBOARD.partition("/")[0])
    is_asked = action.startswith("ADB_KEYBOARD") and is_for_keyboard
    if not is_asked or phone.settings.get("secure", "default_input_method") != ADB_KEYBOARD:
        job.say("Broadcast completed: result=0")
        return 0
    async with job.context.trouble.call("input") as met:
        if "tap-lost" in met:
            job.say('Broadcast completed: result=-1, data="success"')
            return 0
        return _keyboard(job, action, words)


def _keyboard(job: Job, action: str, words: list[str]) -> int:
    """Do what a broadcast asks of the keyboard for adb."""
    phone = job.phone
    if action == "ADB_KEYBOARD_INPUT_TEXT":
        try:
            text = base64.b64decode(_option(words, "text") or "", validate=True).decode("utf-8")
        except (binascii.Error, UnicodeDecodeError):
            job.say("Broadcast completed: result=0")
            return 0
        job.context.touch.type_text(text, kind="keyboard_text")
    elif action == "ADB_KEYBOARD_CLEAR_TEXT":
        job.context.touch.clear_focused()
    elif action == "ADB_KEYBOARD_HIDE":
        phone.later(phone.keyboard.hide)
    elif action in ("ADB_KEYBOARD_EDITOR_CODE", "ADB_KEYBOARD_SMART_ENTER"):
        job.context.touch.key(66)
    job.say('Broadcast completed: result=-1, data="success"')
    return 0


def _cmd(job: Job) -> int | Awaitable[int]:
    if job.args[1:2] == ["package"]:
        job.args = ["pm", *job.args[2:]]
        return pm(job)
    if job.args[1:2] == ["activity"]:
        job.args = ["am", *job.args[2:]]
        return _am(job)
    service = CMD_SERVICES.get(" ".join(job.args[1:2]))
    if service is not None:
        return service(job)
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
    "pm": pm,
    "ps": _ps,
}
