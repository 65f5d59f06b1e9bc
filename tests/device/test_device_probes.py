"""The questions to a phone's shell: each bounded, all of them bounded, and what is made of odd answers."""

from __future__ import annotations

import time

import pytest
from tests.fakes.told_phone import HEALTHY, told_phones

from droidpilot.core.clock import SystemClock
from droidpilot.core.errors import DeviceError
from droidpilot.device import probes
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.card import card_of, read_card
from droidpilot.device.facts import Battery, Storage, facts_of
from droidpilot.device.phone_notes import phone_notes

SERIAL = "R5CT1"


def test_a_question_that_hangs_costs_its_seconds_and_the_rest_is_asked() -> None:
    with told_phones({SERIAL: "device"}, {"dumpsys window": None}) as told:
        began = time.monotonic()
        reading = probes.read(PhoneLink(AdbServer(told.port), SERIAL), SystemClock(), each_s=0.3)
        took = time.monotonic() - began
    assert reading.unanswered == ("window",) and reading.skipped == ()
    facts = facts_of(reading)
    assert facts.unanswered == ("dumpsys window",) and facts.not_asked == 0
    assert facts.is_screen_on is True and facts.is_locked is None and facts.battery == Battery(80, True)
    assert took < 5


def test_a_phone_that_stops_answering_is_asked_no_more() -> None:
    names = ("getprop", "settings list global")
    hung = {name: None for name in HEALTHY if name not in names}
    with told_phones({SERIAL: "device"}, hung) as told:
        began = time.monotonic()
        reading = probes.read(PhoneLink(AdbServer(told.port), SERIAL), SystemClock(), each_s=0.2)
        took = time.monotonic() - began
    assert len(reading.unanswered) == probes.PATIENCE
    assert len(reading.skipped) == len(probes.PROBES) - len(names) - probes.PATIENCE
    assert facts_of(reading).not_asked == len(reading.skipped) and took < 5


def test_a_phone_that_never_answers_is_an_error_at_once() -> None:
    with told_phones({SERIAL: "device"}, dict.fromkeys(HEALTHY)) as told, pytest.raises(DeviceError):
        probes.read(PhoneLink(AdbServer(told.port), SERIAL), SystemClock(), each_s=0.2)


def test_all_questions_together_end_in_time() -> None:
    slow = dict.fromkeys([name for name in HEALTHY if name.startswith("dumpsys")])
    with told_phones({SERIAL: "device"}, slow) as told:
        began = time.monotonic()
        reading = probes.read(PhoneLink(AdbServer(told.port), SERIAL), SystemClock(), each_s=5, all_s=0.6)
        took = time.monotonic() - began
    assert took < 3 and reading.unanswered


def test_the_card_costs_few_questions() -> None:
    with told_phones({SERIAL: "device"}) as told:
        card = read_card(PhoneLink(AdbServer(told.port), SERIAL), SystemClock(), transport="usb")
    assert len(told.commands) == len(probes.CARD_PROBES)
    assert card.sdk == 34 and card.adbd == 351 and card.warnings == ()
    assert card.verifier == {"verifier_verify_adb_installs": "1", "package_verifier_enable": None}


def test_storage_is_read_where_the_device_has_spaces_and_where_several_lines_are_told() -> None:
    text = "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/a b 100 50 50 50% /\n/d 2000 1000 900 53% /data\n"
    with told_phones({SERIAL: "device"}, {"df -k /data": text}) as told:
        reading = probes.read(PhoneLink(AdbServer(told.port), SERIAL), SystemClock(), ("properties", "storage"))
    assert facts_of(reading).storage == Storage(900 * 1024, 2000 * 1024)


def test_what_a_phone_does_not_tell_is_unknown_and_never_off() -> None:
    silent = {name: ("sh: not found\n", 127) for name in HEALTHY if name != "true"}
    with told_phones({SERIAL: "device"}, silent) as told:
        facts = facts_of(probes.read(PhoneLink(AdbServer(told.port), SERIAL), SystemClock()))
    assert facts.sdk == 0 and facts.keyboards is None and facts.enabled_keyboards is None
    assert (facts.is_locked, facts.is_lock_secure, facts.battery, facts.storage) == (None, None, None, None)
    assert (facts.settings_write, facts.missing_tools, facts.clock_skew_s) == ("unknown", None, None)
    card = card_of(facts, transport="usb")
    assert card.warnings == () and card.switches == () and card.keyboards.served is None
    assert card.as_json()["api"] is None


def test_every_note_says_where_it_comes_from_and_codes_are_unique() -> None:
    notes = phone_notes()
    entries = [(one.code, one.source) for kind in (notes.holes, notes.switches, notes.notes) for one in kind]
    assert all(len(source) > 10 for _, source in entries)
    codes = [code for code, _ in entries]
    assert len(codes) == len(set(codes))
    assert all(switch.property or switch.setting for switch in notes.switches)
