"""Contacts, Notes, Calendar, Clock: what is made, changed and deleted there, through the real stack."""

from __future__ import annotations

import pytest
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.packages import CALENDAR, CLOCK, CONTACTS, NOTES


def test_a_contact_is_made_changed_and_deleted(user: User) -> None:
    before = {person["name"] for person in user.truth("contacts")}
    user.tap("Contacts", "Create contact")
    assert not user.d(text="Save").info["enabled"]
    user.fill(f"{CONTACTS}:id/name_field", "Aaron Ahead")
    user.fill(f"{CONTACTS}:id/phone_field", "+49 30 1234567")
    user.tap("Save", "Aaron Ahead")
    assert user.sees("+49 30 1234567")
    user.tap("Edit")
    assert user.text_of(f"{CONTACTS}:id/name_field") == "Aaron Ahead"
    user.fill(f"{CONTACTS}:id/email_field", "aaron@ahead.example")
    user.tap("Save")
    assert user.sees("aaron@ahead.example")
    made = next(person for person in user.truth("contacts") if person["name"] not in before)
    assert made == {"id": 61, "name": "Aaron Ahead", "phone": "+49 30 1234567", "email": "aaron@ahead.example"}
    user.tap_id(f"{CONTACTS}:id/menu_delete")
    user.tap("Cancel")
    assert made in user.truth("contacts")
    user.tap_id(f"{CONTACTS}:id/menu_delete")
    user.d(resourceId="android:id/button1").click()
    assert {person["name"] for person in user.truth("contacts")} == before
    assert user.truth("title") == "Contacts"


def test_a_note_is_made_changed_and_deleted(user: User) -> None:
    user.tap("Notes")
    user.d(description="New note").click()
    user.fill(f"{NOTES}:id/editable_title", "Shopping")
    user.fill(f"{NOTES}:id/edit_note_text", "Salt 🧂\nPepper")
    user.tap("Save")
    assert user.truth("notes")[0] == {"title": "Shopping", "text": "Salt 🧂\nPepper"}
    assert len(user.truth("notes")) == 6
    user.tap("Shopping")
    user.fill(f"{NOTES}:id/edit_note_text", "Salt")
    user.tap("Save")
    assert user.truth("notes")[0] == {"title": "Shopping", "text": "Salt"}
    user.tap("Shopping", "Delete")
    assert user.sees("Delete note?")
    user.d(resourceId="android:id/button1").click()
    assert [note["title"] for note in user.truth("notes")].count("Shopping") == 0


def test_an_event_needs_a_title_and_a_time_and_goes_away_again(user: User) -> None:
    user.tap("Calendar")
    user.d(description="Create event").click()
    assert not user.d(text="Save").info["enabled"]
    user.fill(f"{CALENDAR}:id/title_edit_text", "Oboe lesson")
    user.fill(f"{CALENDAR}:id/start_time", "25:00")
    user.tap("Monday, March 2")
    assert user.sees("Tuesday, March 3")
    user.tap("Save")
    assert user.sees("Enter a time such as 14:30")
    assert len(user.truth("calendar")) == 8
    user.fill(f"{CALENDAR}:id/start_time", "06:15")
    user.tap("Save")
    made = next(event for event in user.truth("calendar") if event["title"] == "Oboe lesson")
    assert made["begins"] == "2026-03-03T06:15:00+00:00"
    user.tap("Oboe lesson", "Delete")
    user.d(resourceId="android:id/button1").click()
    assert len(user.truth("calendar")) == 8
    assert user.sees("March 2026")


def test_alarms_are_switched_and_made(user: User) -> None:
    user.tap("Clock")
    first = user.truth("clock", "alarms")[0]
    assert not first["on"]
    user.tap(first["time"])
    assert user.truth("clock", "alarms")[0] == {"time": first["time"], "on": True}
    user.d(description="Add alarm").click()
    user.fill(f"{CLOCK}:id/material_hour_text_input", "23")
    user.fill(f"{CLOCK}:id/material_minute_text_input", "77")
    assert not user.d(text="OK").info["enabled"]
    user.fill(f"{CLOCK}:id/material_minute_text_input", "07")
    user.tap("OK")
    assert {"time": "23:07", "on": True} in user.truth("clock", "alarms")
    user.d(text="23:07").long_click()
    assert user.sees("Delete alarm?")
    user.d(resourceId="android:id/button1").click()
    assert {"time": "23:07", "on": True} not in user.truth("clock", "alarms")


def test_a_running_stopwatch_is_never_idle_and_shows_another_time_in_every_frame() -> None:
    hand = Hand.at()
    hand.tap("Clock", "Stopwatch")
    assert hand.phone.is_idle
    hand.tap("Start")
    dumps: list[str] = []
    for _ in range(5):
        hand.clock.advance(0.1)
        assert not hand.phone.is_idle
        dumps.append(hand.phone.dump(50))
    assert len(set(dumps)) == 5
    hand.tap("Lap")
    hand.phone.home()
    assert hand.phone.is_idle, "what is not shown does not move"
    hand.clock.advance(1.0)
    hand.tap("Clock", "Pause")
    assert hand.phone.is_idle
    clock = hand.phone.state()["clock"]
    assert isinstance(clock, dict)
    assert clock["stopwatch"] == {"running": False, "elapsed_ms": pytest.approx(1500, abs=1), "laps_ms": [500]}
    assert "00:01.50" in hand.labels()
    hand.tap("Reset")
    assert "00:00.00" in hand.labels()


def test_clearing_an_apps_data_brings_the_seed_back(user: User) -> None:
    before = user.truth("notes")
    user.tap("Notes")
    user.d(description="New note").click()
    user.fill(f"{NOTES}:id/edit_note_text", "x")
    user.tap("Save")
    assert user.truth("notes") != before
    user.d.app_clear(NOTES)
    assert user.truth("notes") == before
