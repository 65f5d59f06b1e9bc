"""Contacts: a long list of people, a page for each, an editor, and a question before one is deleted."""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.virtual.apps.packages import CONTACTS
from droidpilot.virtual.apps.parts import confirmation, edit, recycler, scroller, with_action, with_menu
from droidpilot.virtual.apps.people import people
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import button, page, row
from droidpilot.virtual.ui.windows import Window

PEOPLE = 60
MAX_PEOPLE = 1_000
PERSON_ACTIVITY = "com.android.contacts.quickcontact.QuickContactActivity"
EDITOR_ACTIVITY = "com.google.android.apps.contacts.editor.ContactEditorActivity"


@dataclass(slots=True, eq=False)
class Person:
    number: int
    """Never given twice, as the provider's `_id`."""
    name: str
    phone: str
    email: str = ""


class Contacts:
    """The address book. What stands in it is also what `content query` tells."""

    package = CONTACTS
    activity = "com.android.contacts.activities.PeopleActivity"
    label = "Contacts"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        random = self._host.random("contacts")
        phones = [(name, f"+1 555 {random.randint(1000000, 9999999)}") for name in people(random, PEOPLE)]
        self._people = [Person(number, *pair) for number, pair in enumerate(phones, 1)]
        self._last = len(self._people)

    def state(self) -> dict[str, object]:
        return {
            "contacts": [{"id": p.number, "name": p.name, "phone": p.phone, "email": p.email} for p in self._in_order()]
        }

    def first(self) -> Window:
        window = Window(CONTACTS, self.activity, "Contacts", "list", lambda: self._list(window))
        return window

    def _in_order(self) -> list[Person]:
        return sorted(self._people, key=lambda person: person.name)

    def _list(self, window: Window) -> View:
        shown = self._in_order()
        rows = recycler(
            window, len(shown), lambda n: row(shown[n].name, on_click=lambda: self._host.open(self._page(shown[n])))
        )
        create = button(
            "Create contact",
            id=f"{CONTACTS}:id/floating_action_button",
            on_click=lambda: self._host.open(self._editor(None)),
        )
        return page(CONTACTS, "Contacts", with_action(rows, create), on_up=None)

    def _page(self, person: Person) -> Window:
        def delete() -> None:
            self._people.remove(person)
            self._host.close(window)
            self._host.toast(f"{person.name} deleted")

        def ask() -> Window:
            return confirmation(
                self._host,
                window,
                "Delete contact?",
                f"{person.name} will be removed from this device.",
                yes="Delete",
                on_yes=delete,
            )

        def body() -> View:
            change = button(
                "Edit", id=f"{CONTACTS}:id/menu_edit", on_click=lambda: self._host.open(self._editor(person))
            )
            facts = [row(person.phone, "Mobile")] if person.phone else []
            facts += [row(person.email, "Email")] if person.email else []
            remove = row("Delete", "Remove this contact", on_click=lambda: self._host.open(ask()))
            remove.id = f"{CONTACTS}:id/menu_delete"
            shown = page(CONTACTS, person.name, scroller(window, [*facts, remove]), on_up=self._host.back)
            return with_menu(shown, change)

        window = Window(CONTACTS, PERSON_ACTIVITY, person.name, f"person/{person.number}", body)
        return window

    def _editor(self, person: Person | None) -> Window:
        name, phone = TextField("name", hint="Name"), TextField("phone", hint="Phone")
        email = TextField("email", hint="Email")
        if person is not None:
            name.put(person.name)
            phone.put(person.phone)
            email.put(person.email)

        def save() -> None:
            if not name.text.strip() or (person is None and len(self._people) >= MAX_PEOPLE):
                return
            kept = person if person is not None else self._new()
            kept.name, kept.phone, kept.email = name.text.strip(), phone.text.strip(), email.text.strip()
            self._host.close(window)
            self._host.toast("Contact saved")

        def body() -> View:
            save_id = f"{CONTACTS}:id/toolbar_button"
            done = button(
                "Save", id=save_id, is_enabled=bool(name.text.strip()), on_click=lambda: self._host.later(save)
            )
            fields = [edit(window, field, f"{CONTACTS}:id/{field.name}_field") for field in (name, phone, email)]
            return with_menu(page(CONTACTS, title, scroller(window, fields), on_up=self._host.back), done)

        title = "Edit contact" if person is not None else "Create contact"
        window = Window(CONTACTS, EDITOR_ACTIVITY, title, "editor", body)
        window.focus = name
        return window

    def _new(self) -> Person:
        self._last += 1
        made = Person(self._last, "", "")
        self._people.append(made)
        return made
