"""What shell commands of Android print, as values. Pure and tolerant; what cannot be read is None, never a guess."""

from __future__ import annotations

import re

from droidpilot.device.driver import App, Foreground

#: Source: Android's package name grammar; strict, because it stands in a command on the phone.
PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+")
_COMPONENT = re.compile(rf"({PACKAGE.pattern})/(\.?[A-Za-z_$][A-Za-z0-9_.$]*)")
_FOCUS = re.compile(r"^[ \t]*mCurrentFocus=(.*)$", re.MULTILINE)
_FOCUSED_APP = re.compile(r"^[ \t]*mFocusedApp=(.*)$", re.MULTILINE)
_WINDOW = re.compile(r"Window\{([0-9a-f]+) (?:u\d+ )?([^}]*)\}")
_PROPERTY = re.compile(r"^\[([^\]]+)\]: \[(.*)\]$", re.MULTILINE)
_LABEL = re.compile(r"nonLocalizedLabel=(.*?)(?: icon=0x[0-9a-f]+| banner=0x[0-9a-f]+|$)")
#: Last parts of package names that say nothing about the app.
_MUTE_PARTS = frozenset({"android", "app", "apps", "application", "client", "main", "mobile", "release", "prod", "ui"})


def properties(text: str) -> dict[str, str]:
    """Read the output of `getprop`."""
    return dict(_PROPERTY.findall(text))


def foreground(text: str) -> Foreground:
    """Read the window with focus out of `dumpsys window`.

    A window's title is chosen by its app, its `package=` by the system: where the window's own block is printed, that
    decides, and a title only adds the activity. Source: WindowState.dump and DisplayContent.dump of Android 7 to 14.
    """
    focus = _first_named(_FOCUS.findall(text))
    focused_app = _component(_first_named(_FOCUSED_APP.findall(text)))
    window = _WINDOW.search(focus)
    if window is None:
        return focused_app or Foreground(None, None)
    titled = _component(window[2])
    owner = _owner(text, window[1])
    if owner is not None:
        candidates = (titled, focused_app)
        return next((one for one in candidates if one is not None and one.package == owner), Foreground(owner, None))
    if titled is not None and focused_app is not None and titled.package != focused_app.package:
        return Foreground(None, None)
    return titled or Foreground(None, None)


def _first_named(found: list[str]) -> str:
    """Return the first that is not null: the default display is printed first."""
    return next((one for one in found if one.strip() not in ("", "null")), "")


def _component(text: str) -> Foreground | None:
    """Find `package/activity` in `text`; the activity is returned in full."""
    found = _COMPONENT.search(text)
    if found is None:
        return None
    package, activity = found[1], found[3]
    return Foreground(package, package + activity if activity.startswith(".") else activity)


def _owner(text: str, window: str) -> str | None:
    """Find the package of the window with this hash in its own block of the dump."""
    block = re.search(
        rf"^[ \t]*Window #\d+ Window\{{{window} .*?(?=^[ \t]*Window #\d+ |\Z)", text, re.MULTILINE | re.DOTALL
    )
    found = re.search(rf"\bpackage=({PACKAGE.pattern})(?:\s|$)", block[0]) if block else None
    return found[1] if found else None


def launcher_entries(text: str) -> dict[str, str]:
    """Read `package/activity` lines of `cmd package query-activities` in any of its forms, the first per package."""
    entries: dict[str, str] = {}
    package = name = ""
    for line in text.splitlines():
        word = line.strip()
        if _COMPONENT.fullmatch(word):
            entries.setdefault(word.partition("/")[0], word)
        elif word.startswith(("ResolveInfo", "Activity #")):
            package = name = ""
        elif word.startswith("name=") and not name:
            name = word.removeprefix("name=")
        elif word.startswith("packageName=") and not package:
            package = word.removeprefix("packageName=")
            if name and _COMPONENT.fullmatch(f"{package}/{name}"):
                entries.setdefault(package, f"{package}/{name}")
    return entries


def apps(text: str) -> tuple[App, ...]:
    """Read launchable apps, sorted by label, out of `cmd package query-activities` (not brief).

    Most labels are resources that plain ADB cannot resolve: only a label that the phone prints is used, every other one
    is made from the last telling part of the package.
    """
    labels: dict[str, str] = {}
    package = ""
    for line in text.splitlines():
        word = line.strip()
        if word.startswith("packageName="):
            package = word.removeprefix("packageName=")
        elif package and (found := _LABEL.search(word)) and found[1] not in ("", "null"):
            labels.setdefault(package, found[1])
    found_apps = [App(package, labels.get(package) or label_of(package)) for package in launcher_entries(text)]
    return tuple(sorted(found_apps, key=lambda app: (app.label.casefold(), app.package)))


def label_of(package: str) -> str:
    """Make a name from a package: its last telling part, with a capital."""
    parts = [part for part in package.split(".") if part]
    telling = next((part for part in reversed(parts[1:]) if part.lower() not in _MUTE_PARTS), parts[-1])
    words = telling.replace("_", " ")
    return words[:1].upper() + words[1:]
