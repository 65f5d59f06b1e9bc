"""What `doctor` looks at on one phone, each as findings: one line, and what to do next. Shows nothing by itself.

It only reads, and sends no input; the in-phone server is started and stopped again. Everything that a phone said is
data: cut and on one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from droidpilot.cli.doctor_trust import trust
from droidpilot.cli.findings import Finding, fail, failure, ok, warn
from droidpilot.cli.target import VIRTUAL, Target, chosen_phone
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceBusy, DeviceError
from droidpilot.core.text import plural, shorten
from droidpilot.device.adb import AdbServer
from droidpilot.device.attached import transport_of
from droidpilot.device.card import Card, card_of
from droidpilot.device.doctor import read_phone, try_server
from droidpilot.device.facts import PhoneFacts
from droidpilot.device.lease import Lease

#: Seconds that the in-phone server gets, copying it and a second start included.
SERVER_S = 45.0
#: When Android itself calls its storage low: below 5 % and below 500 MiB. Source: StorageManager, DEFAULT_THRESHOLD_*.
LOW_STORAGE_SHARE, LOW_STORAGE_BYTES = 0.05, 500 * 1024 * 1024
LOW_BATTERY = 15
#: Seconds that a phone's clock may differ from ours: what people and certificates forgive.
CLOCK_S = 120.0
#: Milliseconds of one round trip through the shell that make everything slow.
SLOW_MS = 250.0
#: Failures of the in-phone server after which plain adb still works. Not: another tool holds the phone's accessibility,
#: or nothing can be written there; both stop plain adb too.
_LEAVES_PLAIN = frozenset({"helper_failed", "helper_died"})
_MIB = 1024 * 1024
_MAX_LISTED = 200


def phone(
    device: str,
    *,
    adb_port: int,
    home: Path,
    clock: Clock,
    progress: Callable[[str], None],
    on_card: Callable[[str, Card], None],
) -> Iterator[Finding]:
    """Look at one phone through adb, and try the in-phone server on it. Nobody else may be using it."""
    with ExitStack() as stack:
        serial = "" if device == VIRTUAL else device
        try:
            target = stack.enter_context(chosen_phone(device, adb_port=adb_port, home=home, clock=clock))
            serial = target.serial
            if device == VIRTUAL:
                yield ok("phone", f"{serial} (virtual) was started for this command", "started").of("phone", serial)
            facts = read_phone(AdbServer(target.adb_port), serial, clock)
        except DeviceError as error:
            yield failure("phone", error).of("phone", serial)
            return
        card = card_of(facts, transport="virtual" if target.is_virtual else transport_of(serial))
        on_card(serial, card)
        for one in (*_about(facts, card), *_state(facts), *trust(facts, card)):
            yield one.of("phone", serial)
        if facts.not_asked:
            return
        yield _server(target, facts, clock, home, progress, stack).of("phone", serial)
        yield _plain(facts).of("phone", serial)


def _about(facts: PhoneFacts, card: Card) -> Iterator[Finding]:
    release = f"Android {facts.release} (API {facts.sdk})" if facts.sdk else "an Android that does not say which"
    patch = f", security patch {facts.security_patch}" if facts.security_patch else ""
    yield ok("phone", f"{facts.model or 'a phone'} with {release}{patch}")
    if facts.unanswered:
        names = shorten(", ".join(facts.unanswered), _MAX_LISTED)
        text = f"no answer in time to: {names}"
        if facts.not_asked:
            text += f"; {plural(facts.not_asked, 'more question')} not asked"
            yield fail("answers", "hung", text, "is the phone frozen? restart it; over Wi-Fi, try a cable")
        else:
            yield warn("answers", "slow", text, "is the phone busy? look again when it rests")
    if facts.latency_ms is not None:
        text = f"{card.transport}, one round trip {facts.latency_ms:g} ms"
        if facts.latency_ms > SLOW_MS:
            hint = "every step waits for it: use a cable, or come nearer to the access point"
            yield warn("connection", "slow", text, hint)
        else:
            yield ok("connection", text)


def _state(facts: PhoneFacts) -> Iterator[Finding]:
    """Tell how the phone is right now."""
    yield from _screen(facts)
    if facts.storage is not None:
        text = f"{facts.storage.free_bytes // _MIB} of {facts.storage.total_bytes // _MIB} MiB free in /data"
        if facts.storage.free_bytes < min(LOW_STORAGE_BYTES, LOW_STORAGE_SHARE * facts.storage.total_bytes):
            yield warn("storage", "low", text, "free some: the helper may not fit, and Android gets slow")
        else:
            yield ok("storage", text)
    if facts.clock_skew_s is not None:
        skew = abs(facts.clock_skew_s)
        if skew > CLOCK_S:
            way = "ahead of" if facts.clock_skew_s > 0 else "behind"
            text = f"the phone's clock is {skew:.0f} s {way} this computer's"
            yield warn("clock", "skewed", text, "turn on 'Set time automatically': logins and certificates fail")
        else:
            yield ok("clock", "the phone's and this computer's agree")
    if facts.battery is not None:
        text = f"{facts.battery.level} %, {'charging' if facts.battery.is_charging else 'not charging'}"
        if facts.battery.level < LOW_BATTERY and not facts.battery.is_charging:
            yield warn("battery", "low", text, "charge it: Android slows down and may switch off in mid-run")
        else:
            yield ok("battery", text)
    scales = [facts.global_settings.get(name) for name in _SCALES]
    if any(scale is not None for scale in scales):
        yield _animations([scale if scale is not None else "1" for scale in scales])
    stay = facts.global_settings.get("stay_on_while_plugged_in")
    if stay is not None:
        is_on = stay.isdecimal() and int(stay[:4]) > 0
        yield ok(
            "stay awake",
            "on while it charges" if is_on else "off: the screen goes off by itself",
            "on" if is_on else "off",
        )


_SCALES = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")


def _animations(scales: list[str]) -> Finding:
    text = f"window, transition and animator scale {', '.join(shorten(one, 10) for one in scales)}"
    if any(_number(one) > 1 for one in scales):
        hint = "set them to 1x or off in Developer options: each step waits for them"
        return warn("animations", "slow", text, hint)
    return ok("animations", text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 1.0


def _screen(facts: PhoneFacts) -> Iterator[Finding]:
    if facts.is_screen_on is None and facts.is_locked is None:
        return
    lock = (
        ""
        if facts.is_lock_secure is None
        else " by a PIN, pattern or password"
        if facts.is_lock_secure
        else " by a swipe"
    )
    if facts.is_screen_on is False:
        yield warn(
            "screen", "off", "it is off", "wake it and unlock it by hand: a session sends no input while it is off"
        )
    elif facts.is_locked:
        yield warn(
            "screen", "locked", f"it is locked{lock}", "unlock it by hand: a session sends no input while it is locked"
        )
    else:
        yield ok("screen", f"on and unlocked{'; a PIN, pattern or password is set' if facts.is_lock_secure else ''}")


def _server(
    target: Target, facts: PhoneFacts, clock: Clock, home: Path, progress: Callable[[str], None], stack: ExitStack
) -> Finding:
    try:
        lease = stack.enter_context(Lease.take(home, target.serial, clock=clock))
        if own_id := facts.properties.get("ro.serialno"):
            lease.add_phone(own_id)
    except DeviceBusy as error:
        return warn("in-phone server", "busy", f"not tried: {error.message}", error.hint)
    deadline = Deadline.after(clock, SERVER_S)
    try:
        answer = try_server(AdbServer(target.adb_port), target.serial, clock, deadline, progress=progress)
    except DeviceError as error:
        if error.code in _LEAVES_PLAIN and facts.missing_tools == ():
            text = f"{error.message}; a session goes by plain adb there, which is slower and types ASCII only"
            return warn("in-phone server", error.code, text, error.hint)
        return failure("in-phone server", error)
    ping = f"ping {answer.ping_ms:g} ms"
    if answer.start_ms is None:
        return ok("in-phone server", f"one ran already and was left running, {ping}", "ran")
    copied = "" if facts.is_jar_there else "copied to the phone, "
    text = f"{copied}started in {answer.start_ms} ms, {ping}, stopped again"
    if answer.deaths:
        hint = "restart the phone if it happens again: sessions start it again, but only once per call"
        return warn("in-phone server", "died_once", f"died once, then {text}", hint)
    return ok("in-phone server", text)


def _plain(facts: PhoneFacts) -> Finding:
    if facts.missing_tools is None:
        return ok("plain adb", "not told whether the phone has uiautomator, input and screencap", "unknown")
    if facts.missing_tools:
        text = f"the phone lacks {', '.join(facts.missing_tools)}: without the in-phone server nothing would work"
        return warn("plain adb", "missing", text, "keep the in-phone server working")
    return ok("plain adb", "uiautomator, input and screencap are there, should the in-phone server not run")
