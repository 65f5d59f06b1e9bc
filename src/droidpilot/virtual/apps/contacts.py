"""Contacts: a long list of people and a page for each."""

from __future__ import annotations

from droidpilot.virtual.apps.packages import CONTACTS
from droidpilot.virtual.apps.people import people
from droidpilot.virtual.host import Host
from droidpilot.virtual.views import Rows, View
from droidpilot.virtual.widgets import ROW_HEIGHT, page, row
from droidpilot.virtual.windows import Window


class Contacts:
    """An app that is only looked at."""

    package = CONTACTS
    activity = "com.android.contacts.activities.PeopleActivity"
    label = "Contacts"

    def __init__(self, host: Host) -> None:
        self._host = host
        random = host.random("contacts")
        self._numbers = {name: f"+1 555 {random.randint(1000000, 9999999)}" for name in people(random, 60)}

    def first(self) -> Window:
        window = Window(CONTACTS, self.activity, "Contacts", "list", lambda: self._list(window))
        return window

    def clear(self) -> None:
        """Do nothing: nothing can be changed here."""

    def state(self) -> dict[str, object]:
        return {}

    def _list(self, window: Window) -> View:
        names = sorted(self._numbers)
        rows = View("androidx.recyclerview.widget.RecyclerView", "android:id/list", scroll=window.scroll("list"))
        rows.rows = Rows(
            [ROW_HEIGHT] * len(names),
            lambda n: row(names[n], on_click=lambda: self._host.open(self._person(names[n]))),
        )
        return page(CONTACTS, "Contacts", rows, on_up=None)

    def _person(self, name: str) -> Window:
        def body() -> View:
            column = View("android.widget.LinearLayout")
            column.children = [row(self._numbers[name], "Mobile")]
            return page(CONTACTS, name, column, on_up=self._host.back)

        return Window(CONTACTS, "com.android.contacts.quickcontact.QuickContactActivity", name, f"person/{name}", body)
