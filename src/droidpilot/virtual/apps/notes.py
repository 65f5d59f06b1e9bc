"""Notes: a list of short texts, an editor with Save, and a question before one is deleted."""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.virtual.apps.packages import NOTES
from droidpilot.virtual.apps.parts import action, confirmation, edit, recycler, scroller, with_action, with_menu
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import button, label, page, row
from droidpilot.virtual.ui.windows import Window

MAX_NOTES = 500
FIRST = (
    ("Groceries", "Milk\nBread\nTwo lemons"),
    ("Wi-Fi at the cabin", "Ask the neighbour, second door"),
    ("Books to read", "The dispossessed\nPiranesi"),
    ("Meter reading", "Gas 04412, power 18330"),
    ("Birthday ideas", "A kite, or the blue mug"),
)


@dataclass(slots=True, eq=False)
class Note:
    title: str
    text: str


class Notes:
    """A small notebook, newest note first."""

    package = NOTES
    activity = ".activities.BrowseActivity"
    label = "Notes"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        random = self._host.random("notes")
        self._notes = [Note(*pair) for pair in random.sample(FIRST, len(FIRST))]

    def state(self) -> dict[str, object]:
        return {"notes": [{"title": note.title, "text": note.text} for note in self._notes]}

    def first(self) -> Window:
        window = Window(NOTES, f"{NOTES}{self.activity}", "Notes", "list", lambda: self._list(window))
        return window

    def _list(self, window: Window) -> View:
        shown = self._notes
        create = action(
            "New note",
            id=f"{NOTES}:id/speed_dial_create_note",
            on_click=lambda: self._host.open(self._editor(None)),
        )
        content = recycler(window, len(shown), lambda n: self._row(shown[n]), id=f"{NOTES}:id/notes_list")
        if not shown:
            content = scroller(window, [label("Notes you add appear here", pad=(66, 42, 66, 42))])
        return page(NOTES, "Notes", with_action(content, create), on_up=None)

    def _row(self, note: Note) -> View:
        made = row(
            note.title or "Untitled",
            note.text.split("\n")[0][:60],
            on_click=lambda: self._host.open(self._editor(note)),
        )
        made.id = f"{NOTES}:id/note_card"
        return made

    def _editor(self, note: Note | None) -> Window:
        title, text = TextField("title", hint="Title"), TextField("text", hint="Note")
        if note is not None:
            title.put(note.title)
            text.put(note.text)

        def save() -> None:
            if not (title.text.strip() or text.text.strip()):
                return
            if note is None:
                self._notes.insert(0, Note(title.text.strip(), text.text))
                del self._notes[MAX_NOTES:]
            else:
                note.title, note.text = title.text.strip(), text.text
            self._host.close(window)

        def delete() -> None:
            if note in self._notes:
                self._notes.remove(note)
            self._host.close(window)

        def ask() -> Window:
            what = title.text.strip() or "This note"
            return confirmation(
                self._host, window, "Delete note?", f"{what} will be gone for good.", yes="Delete", on_yes=delete
            )

        def body() -> View:
            is_empty = not (title.text.strip() or text.text.strip())
            done = button(
                "Save", id=f"{NOTES}:id/save", is_enabled=not is_empty, on_click=lambda: self._host.later(save)
            )
            remove = button("Delete", id=f"{NOTES}:id/menu_delete", on_click=lambda: self._host.open(ask()))
            fields = [
                edit(window, title, f"{NOTES}:id/editable_title"),
                edit(window, text, f"{NOTES}:id/edit_note_text"),
            ]
            made = page(NOTES, heading, scroller(window, fields), on_up=self._host.back)
            return with_menu(made, *([remove] if note is not None else []), done)

        heading = "Edit note" if note is not None else "New note"
        window = Window(NOTES, f"{NOTES}.activities.EditorActivity", heading, "editor", body)
        window.focus = text if note is None else None
        return window
