"""What Android prints and the in-phone server answers, as values, and a selector as that server reads it.

Pure and tolerant; what cannot be read is None or empty, never a guess.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from droidpilot.core.errors import DeviceRefused, ScreenUnreadable
from droidpilot.core.text import one_line, shorten
from droidpilot.device.driver import App, Foreground
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import failure_code
from droidpilot.screens.selector import Selector

#: Source: Android's package name grammar; strict, because it stands in a command on the phone.
PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+")
_COMPONENT = re.compile(rf"({PACKAGE.pattern})/(\.?[A-Za-z_$][A-Za-z0-9_.$]*)")
_FOCUS = re.compile(r"^[ \t]*mCurrentFocus=(.*)$", re.MULTILINE)
_FOCUSED_APP = re.compile(r"^[ \t]*mFocusedApp=(.*)$", re.MULTILINE)
_WINDOW = re.compile(r"Window\{([0-9a-f]+) (?:u\d+ )?([^}]*)\}")
_FLAGS = re.compile(r"(?<![a-z])fl=(?:#([0-9a-f]{1,16})|([A-Z][A-Z_ ]*))")
_FLAG_SECURE = 0x2000  # Source: WindowManager.LayoutParams
#: Source: PhoneWindowManager, KeyguardController and KeyguardServiceDelegate of Android 7 to 14, which say it in their
#: own words. "mDreamingLockscreen" is true whenever the lock screen is there, dreaming or not.
_LOCKED = re.compile(
    r"(?<![\w.])(?:mDreamingLockscreen|mShowingLockscreen|isKeyguardShowing|m?KeyguardShowing)=true\b"
    r"|\bKeyguardServiceDelegate\s+showing=true\b"
)
#: Source: DisplayPolicy (mAwake) and KeyguardServiceDelegate (screenState) of the same.
_OFF = re.compile(r"(?<![\w.])(?:mAwake=false|screenState=(?:SCREEN_STATE_)?OFF)\b")
_PROPERTY = re.compile(r"^\[([^\]]+)\]: \[(.*)\]$", re.MULTILINE)
_LABEL = re.compile(r"nonLocalizedLabel=(.*?)(?: icon=0x[0-9a-f]+| banner=0x[0-9a-f]+|$)")
#: Last parts of package names that say nothing about the app.
_MUTE_PARTS = frozenset({"android", "app", "apps", "application", "client", "main", "mobile", "release", "prod", "ui"})

_FIRST_PACKAGE = re.compile(rb"""\bpackage\s*=\s*["']([^"']{1,200})""")
#: Source: bug reports of scrcpy and minitouch: what stops a shell from touching is a switch of the maker, by brand.
_INJECT_SWITCHES: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("xiaomi", "redmi", "poco", "blackshark"),
        "turn on 'USB debugging (Security settings)' in Developer options (it wants a Mi account and a SIM), then "
        "restart the phone",
    ),
    (
        ("oppo", "realme", "oneplus"),
        "turn on 'Disable permission monitoring' in Developer options, then connect the phone again",
    ),
    (("vivo", "iqoo"), "turn on 'USB simulated click' or 'USB security operations' in Developer options"),
)
_EMPTY_DUMP = re.compile(r"<hierarchy[^>]*/>\s*$")

#: Bits of a selector's fields. Source: uiautomator2's selector format.
_SELECTOR_BITS: dict[str, int] = {
    "text": 0x01,
    "className": 0x10,
    "description": 0x40,
    "focused": 0x020000,
    "packageName": 0x080000,
    "resourceId": 0x200000,
    "instance": 0x01000000,
}


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
        found, is_secure = focused_app or Foreground(None, None), False
    else:
        block = _block(text, window[1])
        found, is_secure = _in_front(_component(window[2]), focused_app, _owner(block)), _is_secure(block)
    is_locked, is_off = _LOCKED.search(text) is not None, _OFF.search(text) is not None
    return replace(found, is_secure=is_secure, is_locked=is_locked, is_off=is_off)


def _in_front(titled: Foreground | None, focused_app: Foreground | None, owner: str | None) -> Foreground:
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


def _block(text: str, window: str) -> str:
    """Find the block of the dump that tells about the window with this hash; empty where there is none."""
    block = re.search(
        rf"^[ \t]*Window #\d+ Window\{{{window} .*?(?=^[ \t]*Window #\d+ |\Z)", text, re.MULTILINE | re.DOTALL
    )
    return block[0] if block else ""


def _owner(block: str) -> str | None:
    """Find the package that owns the window of this block."""
    found = re.search(rf"\bpackage=({PACKAGE.pattern})(?:\s|$)", block)
    return found[1] if found else None


def _is_secure(block: str) -> bool:
    """Tell whether the window of this block forbids pictures of itself.

    Source: LayoutParams.toString, flag names since Android 9 (`fl=LAYOUT_IN_SCREEN SECURE`), a number before.
    """
    found = _FLAGS.search(block)
    if found is None:
        return False
    return bool(int(found[1], 16) & _FLAG_SECURE) if found[1] else "SECURE" in found[2].split()


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


def selector_json(selector: Selector) -> dict[str, Any]:
    """Write a selector as the in-phone server reads it."""
    fields = {
        "text": selector.text,
        "className": selector.cls,
        "description": selector.desc,
        "focused": selector.focused,
        "packageName": selector.package,
        "resourceId": selector.resource_id,
        "instance": selector.instance,
    }
    given = {name: value for name, value in fields.items() if value is not None}
    mask = sum(_SELECTOR_BITS[name] for name in given)
    return {"mask": mask, "childOrSibling": [], "childOrSiblingSelector": [], **given}


def bounds_in(info: object) -> set[Bounds]:
    """Return the whole and the visible rectangle of an objInfo answer, those it has."""
    found: set[Bounds] = set()
    sides = ("left", "top", "right", "bottom")
    for name in ("bounds", "visibleBounds"):
        box = info.get(name) if isinstance(info, dict) else None
        if isinstance(box, dict) and all(isinstance(box.get(side), int) for side in sides):
            found.add(Bounds(*(box[side] for side in sides)))
    return found


def unreadable(said: str, code: str) -> ScreenUnreadable:
    """Build the error for a dump that is none; what the phone said may name the reason better than `code`."""
    known = failure_code(said) or code
    return ScreenUnreadable(
        f"the screen cannot be read: {shorten(one_line(said), 300)}", code=known, hint="a screenshot may still work"
    )


def is_empty_dump(text: str) -> bool:
    """Tell whether a dump is well formed and holds no node."""
    return bool(_EMPTY_DUMP.search(text[-200:]))


def dump_bytes(text: str) -> bytes:
    """Encode a dump; JSON may carry half of a surrogate pair, which becomes U+FFFD."""
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()


def first_package(data: bytes) -> str:
    """Return the package that a dump names first, "" where it names none."""
    found = _FIRST_PACKAGE.search(data)
    return found[1].decode("utf-8", "replace") if found is not None else ""


def is_injection_denied(said: str) -> bool:
    """Tell whether the phone let nothing be touched. Source: InputManager of Android 7 to 15."""
    return "INJECT_EVENTS" in said or ("SecurityException" in said and "inject" in said.lower())


def injection_denied(brand: str) -> DeviceRefused:
    """Build the error for a phone that lets nothing be touched; the first event is refused, so nothing was."""
    known = next((words for brands, words in _INJECT_SWITCHES if brand.lower() in brands), None)
    any_brand = (
        "look in Developer options for 'USB debugging (Security settings)' or 'Disable permission monitoring' and turn "
        "it on"
    )
    return DeviceRefused("the phone does not let a computer touch it", code="inject_denied", hint=known or any_brand)
