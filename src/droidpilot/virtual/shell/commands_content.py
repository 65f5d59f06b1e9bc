"""content query: the rows of a few content providers, as the shell prints them.

Source: Content.java of AOSP's cmds/content (`Row: N column=value, ...`, `No result found.`, NULL). A `--where` here is
a list of `column operator value` joined by AND; a real phone takes any SQL. This file must never change anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from droidpilot.virtual.apps.packages import CALENDAR, CONTACTS
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell.job import Job
from droidpilot.virtual.shell.patterns import BadPattern, Pattern
from droidpilot.virtual.store import NAMESPACES

Value = str | int | None
Row = dict[str, Value]
SETTINGS_URI: Final = "content://settings/"
MAX_WHERE: Final = 2_000
_CONDITION = re.compile(
    r"""\s*\(?\s*(\w+)\s*(=|==|!=|<>|>=|<=|>|<|\blike\b)\s*('(?:[^']|'')*'|"[^"]*"|-?\d+)\s*\)?\s*""", re.IGNORECASE
)
_AND = re.compile(r"\band\b", re.IGNORECASE)


class BadQuery(ValueError):
    """The provider would refuse it; the text is what it says."""


def _contacts(phone: Phone) -> list[dict[str, Any]]:
    kept: Any = phone.apps[CONTACTS].state()["contacts"]
    return list(kept)


def _phones(phone: Phone) -> list[Row]:
    return [
        {
            "_id": 2 * person["id"],
            "contact_id": person["id"],
            "raw_contact_id": person["id"],
            "display_name": person["name"],
            "data1": person["phone"],
            "data2": 2,
            "mimetype": "vnd.android.cursor.item/phone_v2",
            "number": person["phone"],
        }
        for person in _contacts(phone)
        if person["phone"]
    ]


def _people(phone: Phone) -> list[Row]:
    return [
        {"_id": person["id"], "display_name": person["name"], "has_phone_number": int(bool(person["phone"]))}
        for person in _contacts(phone)
    ]


def _emails(phone: Phone) -> list[Row]:
    return [
        {
            "_id": 2 * person["id"] + 1,
            "contact_id": person["id"],
            "display_name": person["name"],
            "data1": person["email"],
            "mimetype": "vnd.android.cursor.item/email_v2",
        }
        for person in _contacts(phone)
        if person["email"]
    ]


def _events(phone: Phone) -> list[Row]:
    kept: Any = phone.apps[CALENDAR].state()["calendar"]
    return [
        {
            "_id": event["id"],
            "calendar_id": 1,
            "title": event["title"],
            "dtstart": int(datetime.fromisoformat(event["begins"]).timestamp() * 1000),
            "dtend": int(datetime.fromisoformat(event["ends"]).timestamp() * 1000),
            "eventLocation": event["place"] or None,
            "description": None,
            "allDay": 0,
            "eventTimezone": "UTC",
            "deleted": 0,
        }
        for event in kept
    ]


def _calendars(_: Phone) -> list[Row]:
    return [{"_id": 1, "calendar_displayName": "Phone", "account_name": "phone", "account_type": "LOCAL", "visible": 1}]


PROVIDERS: Final[dict[str, tuple[Callable[[Phone], list[Row]], tuple[str, ...]]]] = {
    "content://com.android.contacts/data/phones": (
        _phones,
        ("_id", "contact_id", "raw_contact_id", "display_name", "data1", "data2", "mimetype", "number"),
    ),
    "content://com.android.contacts/data/emails": (
        _emails,
        ("_id", "contact_id", "display_name", "data1", "mimetype"),
    ),
    "content://com.android.contacts/contacts": (_people, ("_id", "display_name", "has_phone_number")),
    "content://com.android.calendar/events": (
        _events,
        (
            *("_id", "calendar_id", "title", "dtstart", "dtend"),
            *("eventLocation", "description", "allDay", "eventTimezone", "deleted"),
        ),
    ),
    "content://com.android.calendar/calendars": (
        _calendars,
        ("_id", "calendar_displayName", "account_name", "account_type", "visible"),
    ),
}
"""Address: how its rows are made, and its columns in order."""


def content(job: Job) -> int:
    """Run `content query --uri URI [--projection a:b] [--where W] [--sort COLUMN [ASC|DESC]]`."""
    words = job.args[1:]
    if words[:1] != ["query"]:
        return job.fail(f"[ERROR] Unsupported command: {' '.join(words[:1])[:100]}", 255)
    try:
        options = _options(words[1:])
    except BadQuery as problem:
        return job.fail(f"[ERROR] {problem}", 255)
    uri = options["uri"].rstrip("/")
    with job.phone.lock:
        job.phone.advance()
        try:
            rows = _query(job.phone, uri, options)
        except BadQuery as problem:
            # The tool prints the trace of what the provider threw, and ends with 0 all the same.
            authority = uri.removeprefix("content://").split("/")[0][:200]
            return job.fail(f"Error while accessing provider:{authority}\n{problem}", 0)
    if not rows:
        job.say("No result found.")
    for number, row in enumerate(rows):
        job.say(f"Row: {number} " + ", ".join(f"{name}={_shown(value)}" for name, value in row.items()))
    return 0


def _options(words: list[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    at = 0
    while at < len(words):
        name = words[at].removeprefix("--")
        if words[at] not in ("--uri", "--projection", "--where", "--sort", "--user"):
            raise BadQuery(f"Unsupported argument: {words[at][:100]}")
        if at + 1 >= len(words):
            raise BadQuery(f"Argument is missing a value: {words[at]}")
        given[name] = words[at + 1]
        at += 2
    if "uri" not in given:
        raise BadQuery("Content provider URI not specified. Did you specify --uri argument?")
    return given


def _query(phone: Phone, uri: str, options: dict[str, str]) -> list[Row]:
    rows, columns = _rows_of(phone, uri)
    wanted = options["projection"].split(":") if options.get("projection") else list(columns)
    for name in wanted:
        if name not in columns:
            raise BadQuery(f"java.lang.IllegalArgumentException: Invalid column {name[:100]}")
    is_kept = _where(options.get("where", ""), columns)
    rows = [row for row in rows if is_kept(row)]
    if options.get("sort"):
        name, _, order = options["sort"].strip().partition(" ")
        if name not in columns:
            raise BadQuery(f"android.database.sqlite.SQLiteException: no such column: {name[:100]}")
        is_backward = order.strip().lower() == "desc"
        rows = sorted(rows, key=lambda row: (row[name] is not None, row[name] or 0), reverse=is_backward)
    return [{name: row[name] for name in wanted} for row in rows]


def _rows_of(phone: Phone, uri: str) -> tuple[list[Row], tuple[str, ...]]:
    if uri in PROVIDERS:
        make, columns = PROVIDERS[uri]
        return make(phone), columns
    # One entry by its number, as in .../contacts/7.
    parent, _, number = uri.rpartition("/")
    if parent in PROVIDERS and number.isascii() and number.isdigit():
        make, columns = PROVIDERS[parent]
        return [row for row in make(phone) if row["_id"] == int(number)], columns
    namespace, _, key = uri.removeprefix(SETTINGS_URI).partition("/")
    if uri.startswith(SETTINGS_URI) and namespace in NAMESPACES:
        kept = sorted(phone.settings.values[namespace].items())
        made: list[Row] = [
            {"_id": n, "name": name, "value": value, "is_preserved_in_restore": 0}
            for n, (name, value) in enumerate(kept, 1)
            if not key or key == name
        ]
        return made, ("_id", "name", "value", "is_preserved_in_restore")
    authority = uri.removeprefix("content://").split("/")[0][:200]
    if any(known.startswith(f"content://{authority}/") for known in (*PROVIDERS, SETTINGS_URI)):
        raise BadQuery(f"java.lang.IllegalArgumentException: Unknown URL {uri[:300]}")
    raise BadQuery(f"java.lang.IllegalStateException: Could not find provider: {authority}")


def _where(text: str, columns: tuple[str, ...]) -> Callable[[Row], bool]:
    """Read conditions joined by AND."""
    if len(text) > MAX_WHERE:
        raise BadQuery("android.database.sqlite.SQLiteException: the selection is too long")
    tests: list[Callable[[Row], bool]] = []
    at = 0
    while text.strip() and at < len(text):
        found = _CONDITION.match(text, at)
        if found is None:
            raise BadQuery(f"android.database.sqlite.SQLiteException: near {text[at : at + 40]!r}: syntax error")
        name, operator, value = found.groups()
        if name not in columns:
            raise BadQuery(f"android.database.sqlite.SQLiteException: no such column: {name[:100]}")
        tests.append(_condition(name, operator.lower(), _literal(value)))
        at = found.end()
        joined = _AND.match(text, at)
        if at < len(text) and joined is None:
            raise BadQuery(f"android.database.sqlite.SQLiteException: near {text[at : at + 40]!r}: syntax error")
        if joined is not None:
            at = joined.end()
            if not text[at:].strip():
                raise BadQuery("android.database.sqlite.SQLiteException: incomplete input")
    return lambda row: all(test(row) for test in tests)


def _literal(text: str) -> str | int:
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return text[1:-1] if text[0] == '"' else int(text)


def _condition(name: str, operator: str, wanted: str | int) -> Callable[[Row], bool]:
    if operator == "like":
        parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in str(wanted))
        try:
            pattern = Pattern("".join(parts), ignores_case=True)
        except BadPattern as problem:
            raise BadQuery("android.database.sqlite.SQLiteException: LIKE or GLOB pattern too complex") from problem
        return lambda row: row[name] is not None and pattern.is_whole(str(row[name]))

    def test(row: Row) -> bool:
        value = row[name]
        if value is None:
            return False
        if operator in ("=", "=="):
            return str(value) == str(wanted)
        if operator in ("!=", "<>"):
            return str(value) != str(wanted)
        if not isinstance(value, int) or not isinstance(wanted, int):
            return False
        return {">": value > wanted, "<": value < wanted, ">=": value >= wanted, "<=": value <= wanted}[operator]

    return test


def _shown(value: Value) -> str:
    return "NULL" if value is None else str(value)
