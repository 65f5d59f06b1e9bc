"""What `doctor` tells of the trust and compatibility card: keyboards, switches of the brand, installs, holes, notes.

Everything that a phone said is data: cut and on one line. It must never ask a phone.
"""

from __future__ import annotations

from collections.abc import Iterator

from droidpilot.cli.findings import Finding, fail, ok, warn
from droidpilot.core.text import shorten
from droidpilot.device.card import Card, in_words
from droidpilot.device.facts import PhoneFacts
from droidpilot.device.phone_notes import phone_notes

_MAX_LISTED = 200


def trust(facts: PhoneFacts, card: Card) -> Iterator[Finding]:
    """Tell what the card says: keyboards, switches of the brand, holes, what will be suspended, notes."""
    yield from _keyboards(facts)
    yield from _rights(facts, card)
    yield _installs(card)
    warned = {one.code: one for one in card.warnings}
    holes = {one.code for one in phone_notes().holes}
    if card.suspended:
        suspended = warned["accessibility-suspended"]
        yield warn("accessibility", "suspended", suspended.text, suspended.next_step)
    else:
        yield ok("accessibility", "no service is on that the in-phone server would suspend")
    for one in card.warnings:
        if one.code in holes:
            yield warn("wireless adb", one.code.replace("-", "_"), one.text, one.next_step)
    if card.transport == "tcp" and not holes & set(warned):
        yield ok("wireless adb", f"no known hole at security patch {facts.security_patch or 'unknown'}")
    for note in card.notes:
        text = f"API {facts.sdk}: {note.text}"
        outcome = note.code.replace("-", "_")
        yield warn("note", outcome, text) if note.level == "warn" else ok("note", text, outcome)


def _keyboards(facts: PhoneFacts) -> Iterator[Finding]:
    notes = phone_notes()
    if not facts.keyboard:
        yield warn(
            "keyboard", "none", "none is the default", "choose one in the phone's settings, or nobody can type there"
        )
    elif notes.is_tool_keyboard(facts.keyboard):
        yield warn(
            "keyboard",
            "of_a_tool",
            f"{facts.keyboard} is one of an automation tool",
            "choose your own in the phone's settings: another tool switched it and did not switch it back",
        )
    else:
        yield ok("keyboard", f"{facts.keyboard}; droidpilot leaves it as it is")
    if facts.is_keyboard_list_denied:
        yield warn(
            "keyboards enabled",
            "denied",
            "the phone does not let the shell list its keyboards: that is a missing right, not a missing keyboard",
            "see 'shell rights'",
        )
    elif facts.enabled_keyboards is not None and facts.keyboard:
        if facts.keyboard in facts.enabled_keyboards:
            yield ok("keyboards enabled", shorten(", ".join(facts.enabled_keyboards), _MAX_LISTED))
        else:
            yield warn(
                "keyboards enabled",
                "default_not_enabled",
                f"{facts.keyboard} is the default and not enabled",
                "switch it on in the phone's settings, under 'On-screen keyboard'",
            )
    if facts.served_keyboard:
        if facts.keyboard and facts.served_keyboard != facts.keyboard:
            yield warn(
                "keyboard served",
                "another",
                f"fields get {facts.served_keyboard}, though {facts.keyboard} is the default",
                "restart the phone: its switch of keyboards hangs",
            )
        else:
            yield ok("keyboard served", f"fields get {facts.served_keyboard}")
    elif facts.served_keyboard == "":
        yield ok("keyboard served", "none yet: no field has asked for one", "none_yet")
    if facts.keyboards is not None:
        found = next((one for one in facts.keyboards if one in notes.typing_keyboards), "")
        if found:
            is_enabled = facts.enabled_keyboards is not None and found in facts.enabled_keyboards
            yield ok("typing keyboard", f"{found} is installed{' and enabled' if is_enabled else ''}")
        else:
            yield ok(
                "typing keyboard",
                "AdbKeyboard is not installed; text goes another way, or is refused in words",
                "absent",
            )


def _rights(facts: PhoneFacts, card: Card) -> Iterator[Finding]:
    """Tell whether `adb shell` may touch and switch: asked without touching, so some phones cannot be told."""
    off = [one for one in card.switches if one.state == "off" and {"input", "settings"} & set(one.blocks)]
    if off:
        for one in off:
            text, hint = in_words(one)
            if "input" in one.blocks:
                yield fail("shell rights", "input_denied", text, hint)
            else:
                yield warn("shell rights", "settings_denied", text, hint)
        return
    if facts.settings_write == "denied":
        named = [one for one in card.switches if "settings" in one.blocks]
        where = f"turn on '{named[0].name}' in {named[0].where}" if named else _ANY_SWITCH
        yield warn(
            "shell rights",
            "settings_denied",
            "the shell may not write settings there: keyboards cannot be switched, and taps may be refused too",
            where,
        )
        return
    if facts.settings_write == "allowed":
        unknown = next((one for one in card.switches if one.state == "unknown" and "input" in one.blocks), None)
        more = f"; if taps do nothing: '{unknown.name}' in {unknown.where}" if unknown else ""
        yield ok("shell rights", f"the shell may write settings{more}")


_ANY_SWITCH = (
    "look in Developer options for 'USB debugging (Security settings)' (Xiaomi, Redmi, POCO), 'Disable permission "
    "monitoring' (OPPO, realme, OnePlus) or 'USB simulated click' (vivo)"
)


def _installs(card: Card) -> Finding:
    """Tell what stands between `adb install` and the phone."""
    off = next((one for one in card.switches if one.state == "off" and "installs" in one.blocks), None)
    if off is not None:
        text, hint = in_words(off)
        return warn("app installs", "switched_off", text, hint)
    adb_setting, all_setting = card.verifier.values()
    if "0" in (adb_setting, all_setting):
        return ok("app installs", "not verified: 'Verify apps over USB' is off in Developer options", "not_verified")
    told = "is on" if adb_setting == "1" else "is at the phone's default"
    text = f"'Verify apps over USB' {told}: an install may wait for a yes on the phone"
    return ok("app installs", text, "verified")
