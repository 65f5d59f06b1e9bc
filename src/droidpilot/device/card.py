"""The trust and compatibility card of one phone: what a person should know before a first run there. Pure.

It is made of facts that the phone told and of phone_notes.toml. It must never ask a phone and never say more than was
told: what is not known is "unknown", never "off".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from droidpilot.core.clock import Clock
from droidpilot.core.text import shorten
from droidpilot.device import probes
from droidpilot.device.adb import PhoneLink
from droidpilot.device.facts import PhoneFacts, facts_of
from droidpilot.device.phone_notes import LevelNote, PhoneNotes, Switch, phone_notes

State = Literal["on", "off", "unknown"]

#: Seconds that the card of one phone may take in a listing.
CARD_S = 6.0
_EACH_S = 3.0
_MAX_LISTED = 200


@dataclass(frozen=True, slots=True)
class SwitchState:
    """A switch of the phone's brand and its state as far as the phone tells."""

    code: str
    name: str
    where: str
    state: State
    blocks: tuple[str, ...]
    remark: str


@dataclass(frozen=True, slots=True)
class Warning:
    """Something worth a warning: a stable code, what, and what to do."""

    code: str
    text: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Keyboards:
    """Keyboards by package/class: installed, enabled, default and served are four different things.

    None: the phone did not tell. `served` is empty where no field has asked for one yet.
    """

    installed: tuple[str, ...] | None
    enabled: tuple[str, ...] | None
    default: str
    served: str | None
    typing: str  # the installed one that types any character, empty where there is none


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """All of it. `verifier` holds the two settings as the phone says them, None where it has none."""

    brand: str
    model: str
    release: str
    sdk: int
    security_patch: str
    adbd: int | None
    transport: str
    verifier: Mapping[str, str | None]
    switches: tuple[SwitchState, ...]
    suspended: tuple[str, ...]
    keyboards: Keyboards
    notes: tuple[LevelNote, ...]
    warnings: tuple[Warning, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as it stands in `--json`."""
        return {
            "brand": self.brand,
            "model": self.model,
            "android": self.release,
            "api": self.sdk or None,
            "security_patch": self.security_patch or None,
            "adbd_version": self.adbd,
            "transport": self.transport,
            "verifier": dict(self.verifier),
            "switches": [asdict(one) for one in self.switches],
            "accessibility_suspended": list(self.suspended),
            "keyboards": asdict(self.keyboards),
            "notes": [
                {"code": one.code, "level": one.level, "text": one.text, "source": one.source} for one in self.notes
            ],
            "warnings": [asdict(one) for one in self.warnings],
        }


def read_card(link: PhoneLink, clock: Clock, *, transport: str) -> Card:
    """Ask a phone for the card alone: a few questions, at most `CARD_S` seconds.

    Raises:
        DeviceError: it cannot be reached.
    """
    reading = probes.read(link, clock, probes.CARD_PROBES, each_s=_EACH_S, all_s=CARD_S, is_timed=False)
    return card_of(facts_of(reading), transport=transport)


def card_of(facts: PhoneFacts, *, transport: str, notes: PhoneNotes | None = None) -> Card:
    """Judge what a phone told. `transport` is usb, tcp, emulator or virtual."""
    known = notes or phone_notes()
    switches = switches_of(facts, known)
    held = tuple(one for one in known.notes if _holds(one, facts))
    keyboards = Keyboards(
        installed=facts.keyboards,
        enabled=facts.enabled_keyboards,
        default=facts.keyboard,
        served=facts.served_keyboard,
        typing=next((one for one in facts.keyboards or () if one in known.typing_keyboards), ""),
    )
    return Card(
        brand=facts.brand,
        model=facts.model,
        release=facts.release,
        sdk=facts.sdk,
        security_patch=facts.security_patch,
        adbd=facts.adbd,
        transport=transport,
        verifier={name: facts.global_settings.get(name) for name in _VERIFIER},
        switches=switches,
        suspended=facts.accessibility,
        keyboards=keyboards,
        notes=held,
        warnings=tuple(_warnings(facts, transport, switches, held, known)),
    )


#: Source: PackageManagerService of Android 7 to 14; the first is the switch "Verify apps over USB".
_VERIFIER = ("verifier_verify_adb_installs", "package_verifier_enable")


def switches_of(facts: PhoneFacts, notes: PhoneNotes) -> tuple[SwitchState, ...]:
    """List the switches of the phone's brand, and any other whose property the phone has all the same."""
    found = []
    for switch in notes.switches:
        is_brand = facts.brand.lower() in switch.brands
        said = facts.properties.get(switch.property) if switch.property else facts.secure_settings.get(switch.setting)
        if is_brand or (said is not None and said != ""):
            found.append(
                SwitchState(
                    switch.code, switch.name, switch.where, _state(switch, said, facts), switch.blocks, switch.remark
                )
            )
    return tuple(found)


def _state(switch: Switch, said: str | None, facts: PhoneFacts) -> State:
    if said:
        return "on" if said.strip().lower() in switch.on else "off"
    if facts.settings_write == "allowed":
        return "unknown"
    return "off" if any(name in facts.properties for name in switch.absent_is_off_with) else "unknown"


def _holds(note: LevelNote, facts: PhoneFacts) -> bool:
    is_level = note.from_api <= facts.sdk <= (note.to_api or facts.sdk)
    return is_level and (not note.setting or facts.secure_settings.get(note.setting, "") in note.on)


def _warnings(
    facts: PhoneFacts,
    transport: str,
    switches: tuple[SwitchState, ...],
    held: tuple[LevelNote, ...],
    notes: PhoneNotes,
) -> list[Warning]:
    found: list[Warning] = []
    for hole in notes.holes:
        is_affected = transport in hole.transports and hole.from_api <= facts.sdk <= hole.to_api
        if is_affected and (not facts.security_patch or facts.security_patch < hole.fixed):
            patch = facts.security_patch or "unknown"
            found.append(
                Warning(
                    hole.code,
                    f"security patch {patch}, closed by {hole.fixed}: {hole.text}; {hole.remark}",
                    hole.next_step,
                )
            )
    for switch in switches:
        if switch.state == "off":
            found.append(Warning(switch.code, *in_words(switch)))
    if facts.accessibility:
        names = ", ".join(one.rpartition("/")[2] for one in facts.accessibility)
        found.append(
            Warning(
                "accessibility-suspended",
                f"{shorten(names, _MAX_LISTED)} is on",
                "Android suspends them while the in-phone server runs; they come back with its end",
            )
        )
    if facts.keyboard and notes.is_tool_keyboard(facts.keyboard):
        found.append(
            Warning(
                "keyboard-of-a-tool",
                f"{facts.keyboard} is one of an automation tool",
                "run `droidpilot doctor --repair`, or choose your own in the phone's settings",
            )
        )
    found += [Warning(one.code, one.text, "") for one in held if one.level == "warn"]
    return found


def in_words(switch: SwitchState) -> tuple[str, str]:
    """Say what a switch that is off keeps from working, and what to do."""
    parts = {
        "input": "taps and keys are refused",
        "settings": "keyboard and settings cannot be switched",
        "installs": "apps cannot be installed",
    }
    effect = ", ".join(parts[one] for one in switch.blocks)
    return f"'{switch.name}' is off: {effect}", f"turn it on in {switch.where}; {switch.remark}"
