"""What Android prints and the in-phone server answers, as values, and a selector as that server reads it.

Pure and tolerant; what cannot be read is None or empty, never a guess.
"""

from __future__ import annotations

import re
from typing import Any

from droidpilot.core.errors import DeviceRefused, ScreenUnreadable
from droidpilot.core.text import one_line, shorten
from droidpilot.device.driver import App
from droidpilot.device.windows import COMPONENT as _COMPONENT
from droidpilot.device.windows import PACKAGE as PACKAGE
from droidpilot.device.windows import foreground as foreground
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import failure_code
from droidpilot.screens.selector import Selector

_PROPERTY = re.compile(r"^\[([^\]]+)\]: \[(.*)\]$", re.MULTILINE)
_LABEL = re.compile(r"(?:labelRes=\S+ )?nonLocalizedLabel=(.*?)(?: icon=0x[0-9a-f]+| banner=0x[0-9a-f]+|$)")
_ACTIVITY = re.compile(r"[ \t]*Activity #(\d{1,6}):[ \t\r]*$")
_COUNT = re.compile(r"\s*(\d{1,6}) activit(?:y|ies) found")
_MAX_LABEL = 200
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
    entries = launcher_entries(text)
    labels = _labels(text)
    found_apps = [App(package, labels.get(package) or label_of(package)) for package in entries]
    return tuple(sorted(found_apps, key=lambda app: (app.label.casefold(), app.package)))


def _labels(text: str) -> dict[str, str]:
    """Read the labels that stand in the block of their own package.

    A label is its app's to choose, line breaks included: of a block only the first package and the first label count,
    and where the blocks are not those that the phone counted, no label is believed.
    """
    blocks: list[tuple[str, str]] = []
    numbers: list[int] = []
    for line in text.split("\n"):
        if (head := _ACTIVITY.match(line)) is not None:
            numbers.append(int(head[1]))
            blocks.append(("", ""))
        elif blocks:
            package, label = blocks[-1]
            word = line.strip()
            if word.startswith("packageName=") and not package:
                blocks[-1] = (word.removeprefix("packageName="), label)
            elif package and not label and (found := _LABEL.match(word)) is not None:
                blocks[-1] = (package, found[1] or "null")
    counted = _COUNT.match(text)
    if numbers != list(range(len(numbers))) or (counted is not None and int(counted[1]) != len(numbers)):
        return {}
    labels: dict[str, str] = {}
    for package, label in blocks:
        labels.setdefault(package, "" if label == "null" else shorten(one_line(label), _MAX_LABEL))
    return labels


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


def is_proof_of_denial(said: str) -> bool:
    """Tell whether the phone refused the very event that it was given, in Android's own words."""
    return re.search(r"Injecting .{0,200}INJECT_EVENTS permission", said, re.DOTALL) is not None


def injection_denied(brand: str) -> DeviceRefused:
    """Build the error for a phone that lets nothing be touched; the first event is refused, so nothing was."""
    known = next((words for brands, words in _INJECT_SWITCHES if brand.lower() in brands), None)
    any_brand = (
        "look in Developer options for 'USB debugging (Security settings)' or 'Disable permission monitoring' and turn "
        "it on"
    )
    return DeviceRefused("the phone does not let a computer touch it", code="inject_denied", hint=known or any_brand)
