"""Commands of the package manager: lists, installing, uninstalling, permissions. `pm` and `cmd package` are one.

Texts are those of Android 14, as far as adb and libraries look at them. This file must never know a view.
"""

from __future__ import annotations

import re
from typing import Final

from droidpilot.virtual.apps.packages import Package
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell.apk import Manifest, NoApk, read_manifest
from droidpilot.virtual.shell.job import Job

KEYBOARD: Final = "com.github.uiautomator"
FIRST_UID: Final = 10_500
PERMISSIONS: Final = tuple(
    f"android.permission.{name}"
    for name in (
        *("ACCESS_COARSE_LOCATION", "ACCESS_FINE_LOCATION", "ACCESS_NETWORK_STATE", "BLUETOOTH_CONNECT", "CALL_PHONE"),
        *("CAMERA", "INTERNET", "POST_NOTIFICATIONS", "READ_CALENDAR", "READ_CONTACTS", "READ_MEDIA_IMAGES"),
        *("READ_SMS", "RECORD_AUDIO", "SEND_SMS", "VIBRATE", "WRITE_CALENDAR", "WRITE_CONTACTS"),
    )
)
"""Permissions that a list names beside those that apps hold."""
_FILE_NAME: Final = re.compile(r"([A-Za-z][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)+)\.apk")


def component(phone: Phone, package: str) -> str:
    """Return `package/activity` of an app's launcher entry."""
    return f"{package}/{phone.apps[package].activity}"


def pm(job: Job) -> int:
    """Run `pm VERB ...`."""
    words = job.args[1:]
    if words[1:2] == ["--user"]:
        del words[1:3]
    verb = words[0] if words else ""
    command = VERBS.get(verb)
    return command(job, words) if command is not None else job.fail(f"Unknown command: {verb[:100]}", 255)


def _names(words: list[str]) -> list[str]:
    return [word for word in words[1:] if not word.startswith("-")]


def _list(job: Job, words: list[str]) -> int:
    names = _names(words)
    if names[:1] == ["permissions"]:
        job.say("All Permissions:\n")
        for name in sorted({*PERMISSIONS, *(name for kept in job.phone.permissions.granted.values() for name in kept)}):
            job.say(f"permission:{name}")
        return 0
    if names[:1] == ["users"]:
        job.say("Users:\n\tUserInfo{0:Owner:4c13} running")
        return 0
    if names[:1] != ["packages"]:
        return job.fail(f"Error: unknown list type '{' '.join(names[:1])[:100]}'", 255)
    flags = [word for word in words if word.startswith("-")]
    wanted = names[1] if len(names) > 1 else ""
    for package in sorted(job.phone.packages.values(), key=lambda package: package.name):
        is_asked = not (("-3" in flags and package.is_system) or ("-s" in flags and not package.is_system))
        if wanted in package.name and is_asked:
            shown = f"/data/app/{package.name}/base.apk={package.name}" if "-f" in flags else package.name
            job.say(f"package:{shown}" + (f" uid:{package.uid}" if "-U" in flags else ""))
    return 0


def _path(job: Job, words: list[str]) -> int:
    names = _names(words)
    if not names or names[0] not in job.phone.packages:
        return 1
    job.say(f"package:/data/app/~~virtual==/{names[0]}/base.apk")
    return 0


def _clear(job: Job, words: list[str]) -> int:
    phone, names = job.phone, _names(words)
    if not names or names[0] not in phone.packages:
        job.say("Failed")
        return 1
    phone.stop(names[0])
    if names[0] in phone.apps:
        phone.apps[names[0]].clear()
    phone.permissions.clear(names[0])
    phone.notifications.clear(names[0])
    job.say("Success")
    return 0


def _install(job: Job, words: list[str]) -> int:
    """Install an apk: a file on the phone, or what comes as input with `-S BYTES`."""
    phone = job.phone
    paths = [word for word in _names(words) if word.endswith(".apk") or word.startswith("/")]
    if phone.faults.is_set("storage-full"):
        return _failed(job, "INSTALL_FAILED_INSUFFICIENT_STORAGE")
    if paths:
        kept = phone.files.read(paths[0])
        if kept is None:
            job.say(f"Error: Unable to open file: {paths[0][:200]}")
            return _failed(job, "INSTALL_FAILED_INVALID_URI")
        data = kept.data
    else:
        size = words[words.index("-S") + 1 : words.index("-S") + 2] if "-S" in words else []
        data = job.stdin
        if not size or str(len(data)) != size[0]:
            return _failed(job, "INSTALL_FAILED_INVALID_APK: Failed to read the apk from the input")
    try:
        found = read_manifest(data)
    except NoApk as problem:
        named = _FILE_NAME.fullmatch(paths[0].rsplit("/", 1)[-1]) if paths else None
        if named is None:
            return _failed(job, f"INSTALL_PARSE_FAILED_NOT_APK: Failed to parse base.apk: {problem}")
        found = Manifest(named[1], "1.0", 1)
    known = phone.packages.get(found.package)
    if known is not None and "-R" in words:
        return _failed(
            job,
            f"INSTALL_FAILED_ALREADY_EXISTS: Attempt to re-install {found.package} without first uninstalling.",
        )
    if known is not None and found.code < known.code and known.name != KEYBOARD and "-d" not in words:
        return _failed(
            job,
            f"INSTALL_FAILED_VERSION_DOWNGRADE: Downgrade detected: Update version code {found.code} is older than "
            f"current {known.code}",
        )
    uid = known.uid if known is not None else 1 + max((p.uid for p in phone.packages.values()), default=FIRST_UID)
    label = known.label if known is not None else found.package.rsplit(".", 1)[-1].title()
    is_system = known is not None and known.is_system
    phone.install(
        Package(found.package, label, found.version, found.code, uid, is_system, max(1, len(data) // 1024**2))
    )
    if found.package == KEYBOARD:
        phone.faults.is_over("ime-unknown")
    job.say("Success")
    return 0


def _uninstall(job: Job, words: list[str]) -> int:
    names = _names(words)
    package = job.phone.packages.get(names[0]) if names else None
    if package is None or (package.is_system and package.name != KEYBOARD):
        return _failed(job, "DELETE_FAILED_INTERNAL_ERROR")
    job.phone.uninstall(package.name)
    job.say("Success")
    return 0


def _failed(job: Job, reason: str) -> int:
    job.say(f"Failure [{reason}]")
    return 1


def _grant(job: Job, words: list[str]) -> int:
    names, phone = _names(words), job.phone
    if len(names) < 2:
        return job.fail("Error: no permission specified", 255)
    if names[0] not in phone.packages:
        return job.fail(f"Exception occurred while executing '{words[0]}':\nUnknown package: {names[0][:200]}", 255)
    with phone.lock:
        phone.permissions.put(names[0], names[1], words[0] == "grant")
        # An app that loses a permission while it runs is ended. Source: PermissionManagerService.
        if words[0] == "revoke" and names[0] in phone.tasks:
            phone.stop(names[0])
        phone.changed()
    return 0


def _resolve(job: Job, words: list[str]) -> int:
    package = words[-1]
    if package not in job.phone.apps:
        job.say("No activity found")
        return 0
    if "--brief" in words:
        job.say("priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=false")
    job.say(component(job.phone, package))
    return 0


def _query(job: Job, words: list[str]) -> int:
    """List launcher entries. Source: `cmd package help` of Android 14."""
    phone = job.phone
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


VERBS: Final = {
    "clear": _clear,
    "grant": _grant,
    "install": _install,
    "list": _list,
    "path": _path,
    "query-activities": _query,
    "resolve-activity": _resolve,
    "revoke": _grant,
    "uninstall": _uninstall,
}
