"""What a phone's answers say of it, as values. Pure and tolerant: what cannot be read is None or empty, never a guess.

Everything here is text that a phone said: cut and on one line. It must never judge, and never ask.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from droidpilot.core.text import one_line, shorten
from droidpilot.device import readings
from droidpilot.device.probes import JAR, PLAIN_TOOLS, PROBES, Reading

Right = Literal["allowed", "denied", "unknown"]

_MAX_VALUE = 300
_MAX_NAMES = 20
_SETTING = re.compile(r"^([^=\s]{1,200})=(.*)$", re.MULTILINE)
_DENIED = re.compile(r"SecurityException|Permission denial|permission denied", re.IGNORECASE)
#: Source: `df -k` of toybox. The device column may be a path with anything in it, the numbers come last.
_STORAGE = re.compile(r"\s(\d{1,15})\s+(\d{1,15})\s+(-?\d{1,15})\s+\d{1,3}%")
_BATTERY = re.compile(r"^\s*(level|scale|status|AC powered|USB powered|Wireless powered):\s*(\S+)", re.MULTILINE)
#: Source: InputMethodManagerService.dump: mCurId is who serves, mCurMethodId who was chosen (Android 7 to 15).
_SERVED = re.compile(r"\bmCurId=(\S+)")
_CHOSEN = re.compile(r"\bmCurMethodId=(\S+)")
_CONNECTED = re.compile(r"\bmHaveConnection=(true|false)")
#: Source: PowerManagerService.dump; KeyguardServiceDelegate.dump.
_WAKEFULNESS = re.compile(r"\bmWakefulness=(\w+)")
_SECURE_LOCK = re.compile(r"\bKeyguardServiceDelegate\b[^}]{0,400}?\bsecure=(true|false)")
_MODULE = re.compile(r"package:com\.(?:google\.)?android\.adbd versionCode:(\d{1,18})")
_PATCH = re.compile(r"\d{4}-\d{2}-\d{2}")


@dataclass(frozen=True, slots=True)
class Battery:
    """Per cent, and whether anything charges it."""

    level: int
    is_charging: bool


@dataclass(frozen=True, slots=True)
class Storage:
    """Of /data, in bytes."""

    free_bytes: int
    total_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneFacts:
    """What a phone says of itself; empty or None where it says nothing."""

    brand: str
    model: str
    release: str
    sdk: int  # 0 where it does not say
    security_patch: str  # YYYY-MM-DD
    adbd: int | None  # version code of the adbd module
    properties: Mapping[str, str]
    global_settings: Mapping[str, str]
    secure_settings: Mapping[str, str]
    keyboard: str  # package/class of the default input method
    keyboards: tuple[str, ...] | None  # installed; None where the phone does not tell
    enabled_keyboards: tuple[str, ...] | None
    is_keyboard_list_denied: bool
    served_keyboard: str | None  # the one that fields really get; empty: none yet; None: not told
    accessibility: tuple[str, ...]  # services that a person switched on
    is_screen_on: bool | None
    is_locked: bool | None
    is_lock_secure: bool | None
    battery: Battery | None
    storage: Storage | None
    clock_skew_s: float | None  # phone minus this computer
    settings_write: Right
    missing_tools: tuple[str, ...] | None  # of those plain adb needs
    is_jar_there: bool
    latency_ms: float | None
    unanswered: tuple[str, ...]  # commands that had no answer in time
    not_asked: int  # questions that were spared after that, since the phone seems to hang


def facts_of(reading: Reading) -> PhoneFacts:
    """Make facts of the answers to `probes.PROBES`, or to some of them."""
    known = readings.properties(reading.text("properties"))
    secure = settings_in(reading.text("secure"))
    sdk = known.get("ro.build.version.sdk", "")
    patch = known.get("ro.build.version.security_patch", "")
    module = _MODULE.search(reading.text("modules"))
    window = reading.text("window")
    return PhoneFacts(
        brand=short(known.get("ro.product.brand", "") or known.get("ro.product.manufacturer", "")),
        model=short(known.get("ro.product.model", "")),
        release=short(known.get("ro.build.version.release", "")),
        sdk=int(sdk) if sdk.isdecimal() and sdk.isascii() and len(sdk) < 4 else 0,
        security_patch=patch if _PATCH.fullmatch(patch) else "",
        adbd=int(module[1]) if module else None,
        properties=known,
        global_settings=settings_in(reading.text("global")),
        secure_settings=secure,
        keyboard=short(_set(secure.get("default_input_method", ""))),
        keyboards=_names(reading, "keyboards"),
        enabled_keyboards=_names(reading, "enabled"),
        is_keyboard_list_denied=any(
            _DENIED.search(reading.answers[name].text) for name in ("keyboards", "enabled") if name in reading.answers
        ),
        served_keyboard=_served(reading.text("input_method")),
        accessibility=tuple(
            short(one) for one in _set(secure.get("enabled_accessibility_services", "")).split(":") if one
        )[:_MAX_NAMES],
        is_screen_on=_is_screen_on(reading.text("power"), window),
        is_locked=readings.foreground(window).is_locked if window else None,
        is_lock_secure=_is_lock_secure(window),
        battery=_battery(reading.text("battery")),
        storage=_storage(reading.text("storage")),
        clock_skew_s=_skew_s(reading),
        settings_write=_right(reading, "settings_write"),
        missing_tools=_missing_tools(reading),
        is_jar_there=JAR in reading.text("jar"),
        latency_ms=reading.latency_ms,
        unanswered=tuple(" ".join(PROBES[name]) for name in reading.unanswered),
        not_asked=len(reading.skipped),
    )


def settings_in(text: str) -> dict[str, str]:
    """Read the output of `settings list`."""
    return dict(_SETTING.findall(text))


def short(text: str) -> str:
    """Return text of a phone as it may stand in a line."""
    return shorten(one_line(text), _MAX_VALUE)


def _set(value: str) -> str:
    return "" if value == "null" else value


def _names(reading: Reading, name: str) -> tuple[str, ...] | None:
    """Read a list of keyboards; a refusal or a complaint is no empty list."""
    answer = reading.answers.get(name)
    if answer is None or answer.code != 0 or _DENIED.search(answer.text):
        return None
    return tuple(short(line) for line in answer.text.splitlines() if "/" in line and " " not in line.strip())[
        :_MAX_NAMES
    ]


def _served(text: str) -> str | None:
    served, chosen, connected = _SERVED.search(text), _CHOSEN.search(text), _CONNECTED.search(text)
    if served is None:
        return short(_set(chosen[1])) if chosen else None
    if connected is not None and connected[1] == "false":
        return ""
    return short(_set(served[1]))


def _is_screen_on(power: str, window: str) -> bool | None:
    found = _WAKEFULNESS.search(power)
    if found is not None:
        return found[1] == "Awake"
    is_off = readings.foreground(window).is_off
    return None if is_off is None else not is_off


def _is_lock_secure(window: str) -> bool | None:
    found = _SECURE_LOCK.search(window)
    return found[1] == "true" if found else None


def _battery(text: str) -> Battery | None:
    told = dict(_BATTERY.findall(text))
    level, scale = told.get("level", ""), told.get("scale", "100")
    if not (level.isdecimal() and scale.isdecimal() and 0 < int(scale) <= 10_000 and int(level) <= int(scale)):
        return None
    is_charging = any(told.get(f"{source} powered") == "true" for source in ("AC", "USB", "Wireless"))
    return Battery(round(int(level) * 100 / int(scale)), is_charging)


def _storage(text: str) -> Storage | None:
    lines = list(_STORAGE.finditer(text))
    return Storage(max(0, int(lines[-1][3])) * 1024, int(lines[-1][1]) * 1024) if lines else None


def _skew_s(reading: Reading) -> float | None:
    answer = reading.answers.get("time")
    said = reading.text("time")
    if answer is None or not re.fullmatch(r"\d{9,11}", said):
        return None
    # The phone says whole seconds: its clock is up to one second further.
    middle = answer.asked.timestamp() + (answer.answered - answer.asked).total_seconds() / 2
    return round(int(said) + 0.5 - middle, 1)


def _right(reading: Reading, name: str) -> Right:
    answer = reading.answers.get(name)
    if answer is None:
        return "unknown"
    if _DENIED.search(answer.text):
        return "denied"
    return "allowed" if answer.code == 0 and answer.text.startswith("Deleted 0") else "unknown"


def _missing_tools(reading: Reading) -> tuple[str, ...] | None:
    answer = reading.answers.get("tools")
    if answer is None or "not found" in answer.text:
        return None
    there = {line.strip().rpartition("/")[2] for line in answer.text.splitlines()}
    return tuple(tool for tool in PLAIN_TOOLS if tool not in there)
