"""Commands about the phone itself: properties, display, settings, keyboard, pictures, the in-phone server.

Texts and codes are those that Android 14 prints, as far as libraries look at them. This file must never know a view.
"""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.faults import broken_dumps
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.rpc.compressing import compressed
from droidpilot.virtual.scenes.port import DumpRefused
from droidpilot.virtual.shell.commands_facts import properties, told_properties
from droidpilot.virtual.shell.commands_input import run_input
from droidpilot.virtual.shell.commands_log import logcat
from droidpilot.virtual.shell.commands_services import nc, refuse_recording
from droidpilot.virtual.shell.job import Command, Job
from droidpilot.virtual.store import ADB_KEYBOARD, LATIN_IME, NAMESPACES, NESTED_IME, StoreFull
from droidpilot.virtual.ui.hierarchy import DEFAULT_DEPTH

DENIED = (
    "Exception occurred while executing 'put':\njava.lang.SecurityException: Permission denial: writing to settings "
    "requires:android.permission.WRITE_SECURE_SETTINGS"
)
MAX_PROPERTY = 91
"""Characters of a property's value. Source: PROP_VALUE_MAX."""
DISPLAY_ID = "4619827259835644672"
"""What SurfaceFlinger calls the only display."""


def _getprop(job: Job) -> int:
    known = properties(job.phone.seed, job.phone.sdk) | told_properties(job.phone) | job.phone.properties
    if len(job.args) == 1:
        for name, value in sorted(known.items()):
            job.say(f"[{name}]: [{value}]")
    else:
        job.say(known.get(job.args[1], job.args[2] if len(job.args) > 2 else ""))
    return 0


def _setprop(job: Job) -> int:
    """Set one of the properties that a shell user may set. Source: `property_contexts` of Android 14."""
    if len(job.args) != 3:
        return job.fail("usage: setprop NAME VALUE")
    name, value = job.args[1:]
    kept = job.phone.properties
    if not name.startswith(("debug.", "log.tag.")) or len(name) > 200 or len(value) > MAX_PROPERTY or len(kept) > 500:
        return job.fail(f"setprop: failed to set property '{name[:200]}' to '{value[:100]}'")
    kept[name] = value
    return 0


def _wm(job: Job) -> int:
    verb, value = [*job.args[1:], "", ""][:2]
    display = job.phone.display
    try:
        with job.phone.lock:
            if verb == "size" and not value:
                job.say("Physical size: {}x{}".format(*display.physical))
                if display.override is not None:
                    job.say("Override size: {}x{}".format(*display.override))
            elif verb == "size":
                width, _, height = value.partition("x")
                display.resize(None if value == "reset" else (int(width), int(height)))
            elif verb == "density" and not value:
                job.say(f"Physical density: {display.density}")
                if display.density_override is not None:
                    job.say(f"Override density: {display.density_override}")
            elif verb == "density":
                display.set_density(None if value == "reset" else int(value))
            elif verb == "user-rotation":
                return _user_rotation(job, job.args[2:])
            else:
                return job.fail("usage: wm size [reset|WxH] | wm density [reset|DPI]", 255)
    except ValueError:
        return job.fail(f"Error: bad {verb} {value[:40]}", 255)
    return 0


def _user_rotation(job: Job, words: list[str]) -> int:
    settings = job.phone.settings
    if not words:
        is_free = settings.is_on("system", "accelerometer_rotation")
        job.say("free" if is_free else f"lock {settings.get('system', 'user_rotation') or '0'}")
    elif words[0] == "free" and len(words) == 1:
        settings.put("system", "accelerometer_rotation", "1", source="shell")
    elif words[0] == "lock" and words[1:] in ([], ["0"], ["1"], ["2"], ["3"]):
        settings.put("system", "accelerometer_rotation", "0", source="shell")
        settings.put(
            "system", "user_rotation", words[1] if words[1:] else str(job.phone.display.rotation), source="shell"
        )
    else:
        return job.fail("usage: wm user-rotation [free|lock [0..3]]", 255)
    return 0


def _settings(job: Job) -> int:
    words = job.args[1:]
    if words[1:2] == ["--user"]:
        del words[1:3]
    elif words[:1] == ["--user"]:
        del words[:2]
    verb, namespace, key, value, *_ = [*words, "", "", "", ""]
    if namespace not in NAMESPACES:
        return job.fail(f"Invalid namespace '{namespace[:100]}'", 255)
    settings = job.phone.settings
    with job.phone.lock:
        job.phone.advance()
        if verb == "list":
            for name, kept in sorted(settings.values[namespace].items()):
                job.say(f"{name}={kept}")
        elif verb == "get" and len(words) == 3:
            found = settings.get(namespace, key)
            job.say("null" if found is None else found)
        elif verb in ("put", "delete") and job.phone.faults.is_set("settings-denied"):
            return job.fail(DENIED, 255)
        elif verb == "put" and key == "default_input_method" and job.phone.faults.is_set("ime-stuck"):
            return 0
        elif verb == "delete" and len(words) == 3:
            job.say(f"Deleted {settings.delete(namespace, key, source='shell')} rows")
        elif verb == "put" and len(words) >= 4:
            try:
                settings.put(namespace, key, value, source="shell")
            except StoreFull as problem:
                return job.fail(f"settings: {problem}", 255)
        else:
            return job.fail("usage: settings get|put|delete|list NAMESPACE [KEY [VALUE]]", 255)
    return 0


def _svc(job: Job) -> int:
    known = {"wifi": "wifi_on", "data": "mobile_data", "bluetooth": "bluetooth_on"}
    what, verb = [*job.args[1:], "", ""][:2]
    if what not in known or verb not in ("enable", "disable"):
        return job.fail("usage: svc [wifi|data|bluetooth] [enable|disable]", 255)
    job.phone.settings.put("global", known[what], "1" if verb == "enable" else "0", source="shell")
    return 0


def installed_imes(phone: Phone) -> list[str]:
    """Return the keyboards that are installed."""
    known = (LATIN_IME, NESTED_IME, ADB_KEYBOARD)
    return [name for name in known if name == LATIN_IME or name.split("/")[0] in phone.packages]


def _ime(job: Job) -> int:
    settings = job.phone.settings
    verb = job.args[1] if len(job.args) > 1 else ""
    installed = installed_imes(job.phone)
    # `id;subtype;subtype`: each keyboard keeps its own, whichever other is switched on or off.
    entries = [entry for entry in (settings.get("secure", "enabled_input_methods") or "").split(":") if entry]
    enabled = [entry.partition(";")[0] for entry in entries]
    if verb == "list":
        for name in installed if "-a" in job.args else [name for name in enabled if name in installed]:
            job.say(name)
        return 0
    name = job.args[2] if len(job.args) > 2 else ""
    if name not in installed:
        return job.fail(f"Unknown input method {name[:200]} cannot be {verb}d for user #0", 255)
    if verb == "enable":
        more = [name] if name not in enabled else []
        settings.put("secure", "enabled_input_methods", ":".join([*entries, *more]), source="shell")
        job.say(f"Input method {name}: now enabled for user #0")
    elif verb == "set":
        if not job.phone.faults.is_set("ime-stuck"):
            settings.put("secure", "default_input_method", name, source="shell")
        job.say(f"Input method {name} selected for user #0")
    elif verb == "disable":
        left = [entry for entry in entries if entry.partition(";")[0] != name]
        settings.put("secure", "enabled_input_methods", ":".join(left), source="shell")
        if settings.get("secure", "default_input_method") == name:
            settings.put("secure", "default_input_method", LATIN_IME, source="shell")
        job.say(f"Input method {name}: now disabled for user #0")
    else:
        return job.fail("usage: ime list|enable|set|disable", 255)
    return 0


async def _uiautomator(job: Job) -> int:
    if job.args[1:2] != ["dump"]:
        return job.fail("uiautomator: this phone can only dump", 255)
    path = next((word for word in job.args[2:] if not word.startswith("-")), "/sdcard/window_dump.xml")
    async with job.context.trouble.call("dump") as met:
        return _dump_to(job, path, met.word("dump-error"))


def _dump_to(job: Job, path: str, failure: str) -> int:
    """Write the UI hierarchy to a file; `failure` is one of a broken phone's, or empty."""
    printed = broken_dumps.printed_error(failure)
    if printed is not None:
        if printed[1] != 0:
            return job.fail(*printed)
        job.say(printed[0])
        return 0
    if failure == "stale-file":
        job.say(f"UI hierchary dumped to: {path}")
        return 0
    try:
        data = job.phone.dump_bytes(DEFAULT_DEPTH)
        if job.context.trouble.compresses("--compressed" in job.args or None):
            data = compressed(data.decode("utf-8", "replace")).encode("utf-8")
        if failure:
            data = broken_dumps.spoil(failure, data.decode("utf-8", "replace")).encode("utf-8")
        job.put(path, data, mode=0o100660)
    except DumpRefused as refused:
        # As on real phones: the line alone, exit code 0 and no file.
        job.say(refused.line)
        return 0
    except StoreFull as full:
        return job.fail(f"ERROR: {full}")
    job.say(f"UI hierchary dumped to: {path}")
    return 0


async def _screencap(job: Job) -> int:
    """Take a PNG: to a file, or to the output. A raw frame buffer is not offered."""
    words, displays = job.args[1:], (DISPLAY_ID, "0")
    if "-d" in words:
        at = words.index("-d")
        if words[at + 1 : at + 2] not in ([display] for display in displays):
            return job.fail(f"Display Id '{' '.join(words[at + 1 : at + 2])[:100]}' is not valid.")
        del words[at : at + 2]
    paths = [word for word in words if not word.startswith("-")]
    if "-p" not in words and not any(path.endswith(".png") for path in paths):
        return job.fail("screencap: this phone can only write PNG: screencap -p [FILE]")
    async with job.context.trouble.call("picture") as met:
        return await _picture_to(job, paths, met.word("screencap-fails"))


async def _picture_to(job: Job, paths: list[str], failure: str) -> int:
    """Write a PNG to the first path or the output; `failure` is one of a broken phone's, or empty."""
    if failure == "denied":
        return job.fail(f"Error opening file: {paths[0][:200]} (Permission denied)" if paths else "Permission denied")
    if failure == "no-file":
        return 0
    png = b"" if failure == "empty" else await job.context.camera.png()
    if not paths:
        job.write(png)
        return 0
    try:
        job.put(paths[0], png)
    except StoreFull as full:
        return job.fail(f"Error opening file: {paths[0][:200]} ({full})")
    return 0


async def _app_process(job: Job) -> int:
    """Run the in-phone server until the client goes away."""
    words = job.args
    if "com.wetest.uia2.Main" not in words or not job.env.get("CLASSPATH", "").endswith("u2.jar"):
        return job.fail("Aborted")
    if job.phone.files.read(job.env["CLASSPATH"]) is None:
        return job.fail("Error: Could not find or load main class com.wetest.uia2.Main")
    at = words.index("-p") + 1 if "-p" in words else len(words)
    port = words[at] if at < len(words) else "9008"
    if job.phone.faults.is_set("no-helper"):
        return job.fail("Killed", 137)
    runner = job.context.runner
    ended = runner.start(int(port)) if port.isdigit() else None
    if ended is None:
        return job.fail(
            "java.lang.IllegalStateException: UiAutomationService "
            "android.accessibilityservice.IAccessibilityServiceClient$Stub$Proxy@5deffd5already registered!"
        )
    try:
        await ended.wait()
    finally:
        runner.stop(ended)
    return 0


def _ip(job: Job) -> int:
    if job.phone.wifi.connected is None:
        return job.fail(f"{job.args[0]}: wlan0: No such device")
    if job.args[0] == "ifconfig":
        job.say("wlan0     Link encap:UNSPEC\n          inet addr:10.0.2.16  Bcast:10.0.2.255  Mask:255.255.255.0")
    else:
        job.say("3: wlan0: <BROADCAST,MULTICAST,UP,LOWER_UP>\n    inet 10.0.2.16/24 brd 10.0.2.255 scope global wlan0")
    return 0


DEVICE_COMMANDS: Final[dict[str, Command]] = {
    "app_process": _app_process,
    "getprop": _getprop,
    "ifconfig": _ip,
    "ime": _ime,
    "input": run_input,
    "ip": _ip,
    "logcat": logcat,
    "nc": nc,
    "screencap": _screencap,
    "screenrecord": refuse_recording,
    "setprop": _setprop,
    "settings": _settings,
    "svc": _svc,
    "uiautomator": _uiautomator,
    "wm": _wm,
}
