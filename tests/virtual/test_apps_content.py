"""content query: rows in the shape that AOSP's tool prints, of what the apps and the settings really hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.virtual.conftest import User
from tests.virtual.test_virtual_shell import run
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.packages import CONTACTS

PHONES = "content query --uri content://com.android.contacts/data/phones"
EVENTS = "content query --uri content://com.android.calendar/events"


def test_a_contact_made_on_the_screen_is_a_row_for_the_shell(user: User) -> None:
    line = f"{PHONES} --projection display_name:data1 --where \"display_name='Ada O''Hara'\""
    assert user.d.shell(line).output.strip() == "No result found."
    user.tap("Contacts", "Create contact")
    user.fill(f"{CONTACTS}:id/name_field", "Ada O'Hara")
    user.fill(f"{CONTACTS}:id/phone_field", "555 1234")
    user.tap("Save")
    assert user.d.shell(line).output.strip() == "Row: 0 display_name=Ada O'Hara, data1=555 1234"


def test_rows_have_all_columns_in_order_where_none_are_asked_for() -> None:
    hand = Hand.at()
    output, code = run(PHONES, hand=hand)
    lines = output.splitlines()
    assert (len(lines), code) == (60, 0)
    assert [line.split(" ")[1] for line in lines] == [str(n) for n in range(60)]
    assert [part.split("=")[0] for part in lines[0].split(" ", 2)[2].split(", ")][:4] == [
        *("_id", "contact_id", "raw_contact_id", "display_name"),
    ]


def test_events_have_times_in_ms_and_null_for_what_is_not_there() -> None:
    hand = Hand.at()
    calendar = hand.phone.state()["calendar"]
    assert isinstance(calendar, list)
    output, _ = run(f"{EVENTS} --projection title:dtstart:dtend:eventLocation:description --sort dtstart", hand=hand)
    rows = output.splitlines()
    assert len(rows) == len(calendar)
    first = calendar[0]
    assert rows[0].startswith(f"Row: 0 title={first['title']}, dtstart=1772")
    assert all(row.endswith("description=NULL") for row in rows)


def test_settings_are_rows_too() -> None:
    line = "content query --uri content://settings/secure --projection value --where \"name='ui_night_mode'\""
    assert run(line) == ("Row: 0 value=1\n", 0)
    assert run("content query --uri content://settings/global/bluetooth_on --projection name:value") == (
        "Row: 0 name=bluetooth_on, value=1\n",
        0,
    )


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("_id = 3", ["3"]),
        ("_id >= 59", ["59", "60"]),
        ("_id > 2 AND _id<5", ["3", "4"]),
        ("(_id = 3) and (has_phone_number = 1)", ["3"]),
        ("_id != 1 AND _id < 4", ["2", "3"]),
        ("display_name LIKE 'ZZ%'", []),
        ("display_name = 'x' AND _id = 1", []),
    ],
)
def test_conditions(where: str, found: list[str]) -> None:
    output, _ = run(f'content query --uri content://com.android.contacts/contacts --projection _id --where "{where}"')
    rows = [] if output == "No result found.\n" else output.splitlines()
    assert sorted(row.partition("_id=")[2] for row in rows) == sorted(found)


def test_like_knows_percent_and_underscore_and_no_case() -> None:
    hand = Hand.at()
    people = hand.phone.state()["contacts"]
    assert isinstance(people, list)
    name = next(person["name"] for person in people if person["name"].isascii())
    pattern = f"%{name[1:3].upper()}_{name[4:]}"
    output, _ = run(
        f"content query --uri content://com.android.contacts/contacts --projection display_name --where "
        f"\"display_name LIKE '{pattern}'\"",
        hand=hand,
    )
    assert f"display_name={name}" in output


@pytest.mark.parametrize(
    ("line", "told", "code"),
    [
        (f"{PHONES} --projection nope", "Invalid column nope", 0),
        (f'{PHONES} --where "nope = 1"', "no such column: nope", 0),
        (f'{PHONES} --where "drop table x"', "syntax error", 0),
        (f'{PHONES} --where "_id = 1 AND"', "incomplete input", 0),
        ("content query --uri content://com.android.contacts/nope", "Unknown URL", 0),
        ("content query --uri content://sms/inbox", "Could not find provider: sms", 0),
        ("content query", "URI not specified", 255),
        ("content insert --uri content://x", "Unsupported command: insert", 255),
        (f"{PHONES} --frob 1", "Unsupported argument: --frob", 255),
        (f"{PHONES} --where", "missing a value", 255),
    ],
)
def test_what_cannot_be_answered_says_why(line: str, told: str, code: int) -> None:
    output, status = run(line)
    assert told in output
    assert status == code


@given(where=st.text(max_size=60))
def test_any_condition_is_answered(where: str) -> None:
    from droidpilot.virtual.shell.commands_content import BadQuery, _where

    try:
        test = _where(where, ("_id", "name"))
    except BadQuery:
        return
    assert test({"_id": 1, "name": None}) in (True, False)
