"""Calendar: the events of one week by day, a page for each, and an editor for new ones.

Its week is always the same, as the clock in the status bar stands still: equal inputs make equal screens. This file
must never ask what day it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from droidpilot.virtual.apps.packages import CALENDAR
from droidpilot.virtual.apps.parts import action, confirmation, edit, message, scroller, with_action, with_menu
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import button, label, page, row
from droidpilot.virtual.ui.windows import Window

MONDAY = datetime(2026, 3, 2, tzinfo=UTC)
DAYS = 7
MAX_EVENTS = 500
PLANS = ("Dentist", "Team lunch", "Piano lesson", "Call with Oslo", "Yoga", "School play", "Car service", "Book club")
PLACES = ("Main Street 5", "Room 204", "", "Harbor Cafe")


@dataclass(slots=True, eq=False)
class Event:
    number: int
    title: str
    begins: datetime
    minutes: int
    place: str = ""

    @property
    def ends(self) -> datetime:
        return self.begins + timedelta(minutes=self.minutes)


class Calendar:
    """The events of the week that begins on MONDAY, in UTC; `content query` tells them too."""

    package = CALENDAR
    activity = "com.android.calendar.AllInOneActivity"
    label = "Calendar"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        random = self._host.random("calendar")
        self._events = [
            Event(
                number,
                title,
                MONDAY + timedelta(days=random.randrange(DAYS), hours=random.randint(8, 18)),
                random.choice((30, 60, 90)),
                random.choice(PLACES),
            )
            for number, title in enumerate(random.sample(PLANS, len(PLANS)), 1)
        ]
        self._last = len(self._events)

    def state(self) -> dict[str, object]:
        return {
            "calendar": [
                {
                    "id": event.number,
                    "title": event.title,
                    "begins": event.begins.isoformat(),
                    "ends": event.ends.isoformat(),
                    "place": event.place,
                }
                for event in sorted(self._events, key=lambda event: (event.begins, event.number))
            ]
        }

    def first(self) -> Window:
        window = Window(CALENDAR, self.activity, "Calendar", "week", lambda: self._week(window))
        return window

    def _on(self, day: datetime) -> list[Event]:
        found = [event for event in self._events if event.begins.date() == day.date()]
        return sorted(found, key=lambda event: (event.begins, event.number))

    def _week(self, window: Window) -> View:
        rows = []
        for number in range(DAYS):
            day = MONDAY + timedelta(days=number)
            heading = label(_day(day), id=f"{CALENDAR}:id/day_header", size=40, pad=(66, 36, 66, 12))
            rows += [heading, *[self._event_row(event) for event in self._on(day)]]
            if not self._on(day):
                rows.append(label("No events", id=f"{CALENDAR}:id/empty_day", size=38, pad=(66, 12, 66, 36)))
        create = action(
            "Create event",
            id=f"{CALENDAR}:id/floating_action_button",
            on_click=lambda: self._host.open(self._editor()),
        )
        agenda = scroller(window, rows, name="agenda", id=f"{CALENDAR}:id/agenda_list")
        return page(CALENDAR, "March 2026", with_action(agenda, create), on_up=None)

    def _event_row(self, event: Event) -> View:
        return row(event.title, _hours(event), on_click=lambda: self._host.open(self._page(event)))

    def _page(self, event: Event) -> Window:
        def delete() -> None:
            if event in self._events:
                self._events.remove(event)
            self._host.close(window)

        def ask() -> None:
            text = f"{event.title} on {_day(event.begins)} will be deleted."
            self._host.open(confirmation(self._host, window, "Delete this event?", text, yes="Delete", on_yes=delete))

        def body() -> View:
            rows = [row(_day(event.begins), _hours(event))]
            rows += [row(event.place, "Location")] if event.place else []
            shown = page(CALENDAR, event.title, scroller(window, rows), on_up=self._host.back)
            return with_menu(shown, button("Delete", id=f"{CALENDAR}:id/info_action_delete", on_click=ask))

        activity = "com.android.calendar.event.EventInfoActivity"
        window = Window(CALENDAR, activity, event.title, f"event/{event.number}", body)
        return window

    def _editor(self) -> Window:
        title, place = TextField("title", hint="Add title"), TextField("location", hint="Add location")
        begins = TextField("start", hint="Start, such as 14:30")
        chosen = [0]
        problem = [""]

        def next_day() -> None:
            chosen[0] = (chosen[0] + 1) % DAYS

        def save() -> None:
            time = _time_of(begins.text)
            problem[0] = "" if time is not None else "Enter a time such as 14:30"
            if time is None or not title.text.strip() or len(self._events) >= MAX_EVENTS:
                return
            self._last += 1
            day = MONDAY + timedelta(days=chosen[0])
            self._events.append(Event(self._last, title.text.strip(), day + time, 60, place.text.strip()))
            self._host.close(window)

        def body() -> View:
            done = button(
                "Save",
                id=f"{CALENDAR}:id/save",
                is_enabled=bool(title.text.strip()),
                on_click=lambda: self._host.later(save),
            )
            day = row(_day(MONDAY + timedelta(days=chosen[0])), "Date", on_click=lambda: self._host.later(next_day))
            day.id = f"{CALENDAR}:id/start_date"
            parts = [edit(window, title, f"{CALENDAR}:id/title_edit_text"), day]
            parts += [edit(window, begins, f"{CALENDAR}:id/start_time"), edit(window, place, f"{CALENDAR}:id/location")]
            if problem[0]:
                parts.append(message(problem[0], id=f"{CALENDAR}:id/error"))
            return with_menu(page(CALENDAR, "New event", scroller(window, parts), on_up=self._host.back), done)

        window = Window(CALENDAR, "com.android.calendar.event.EditEventActivity", "New event", "editor", body)
        window.focus = title
        return window


def _day(day: datetime) -> str:
    return f"{day:%A}, {day:%B} {day.day}"


def _hours(event: Event) -> str:
    return f"{event.begins:%H:%M} - {event.ends:%H:%M}"


def _time_of(text: str) -> timedelta | None:
    """Read `14:30`; None where it is no time."""
    hour, colon, minute = text.strip().partition(":")
    if not (colon and hour.isdecimal() and minute.isdecimal() and len(minute) == 2 and len(hour) <= 2):
        return None
    if not (int(hour) < 24 and int(minute) < 60):
        return None
    return timedelta(hours=int(hour), minutes=int(minute))
