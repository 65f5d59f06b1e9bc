"""A person at a virtual phone's form, through a whole session: what was typed, what was told, what is true."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.setting import SHIPPED, Setting

from droidpilot.core.calls import Origin, ToolResult
from droidpilot.core.clock import SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.events import Event, PhoneChanged
from droidpilot.core.progress import Progress
from droidpilot.core.stop import Stop
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import Session, open_session
from droidpilot.virtual.apps.packages import FIELDS
from droidpilot.virtual.ui.views import TextField


@dataclass
class Typing:
    """One session with the form in front."""

    setting: Setting
    session: Session
    events: list[Event] = field(default_factory=list)

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        return self.session.call(tool, arguments)

    def ref(self, hint: str) -> int:
        """Return the ref of the field with this hint, or with this text."""
        for line in self.call("ui_tree").text.splitlines():
            number, _, rest = line.lstrip("+~ ").partition(" ")
            if number.isdigit() and " ".join(hint.split()).replace('"', "'") in " ".join(rest.split()).replace(
                '"', "'"
            ):
                return int(number)
        raise AssertionError(f"no {hint!r}")

    def type(self, name: str, text: str, **arguments: Any) -> ToolResult:
        """Type into the field of that name, which is given the focus first, as a person would."""
        ref = self.ref(self.field(name).shown())
        self.call("tap", ref=ref)
        return self.call("type_text", ref=ref, text=text, **arguments)

    def field(self, name: str) -> TextField:
        """The phone's own field: what is true, and what the app makes of a text."""
        return form_field(self.setting, name)

    def holds(self, name: str) -> str:
        return self.field(name).text

    @property
    def changes(self) -> list[PhoneChanged]:
        return [event for event in self.events if isinstance(event, PhoneChanged)]


def form_field(setting: Setting, name: str) -> TextField:
    fields: tuple[TextField, ...] = setting.phone.phone.apps[FIELDS]._fields  # type: ignore[attr-defined]  # the app's own
    return next(one for one in fields if one.name == name)


def prepared_plan(home: Path, **flags: str) -> Any:
    home.mkdir(exist_ok=True)
    settings = load_settings({"ask": "never", **flags}, cwd=home, env={}).settings
    return prepare(
        SessionPlan(
            home=home,
            origin=Origin.HUMAN,
            settings=settings,
            user_policies=home / "policies",
            shipped_policies=SHIPPED,
            title="typing",
        )
    )


@contextmanager
def open_phone(setting: Setting, home: Path, **flags: str) -> Iterator[Typing]:
    """Open a session on the phone; `flags` are settings (keyboard="switch")."""
    events: list[Event] = []
    address = PhoneAddress(serial=setting.phone.serial, adb_port=setting.adb_port, is_virtual=True)
    progress = Progress(on_event=events.append)
    with open_session(
        prepared_plan(home, **flags), address, clock=SystemClock(), stop=Stop(), progress=progress
    ) as session:
        result = None
        try:
            yield Typing(setting, session, events)
            result = session.call("ui_tree", {})
        finally:
            if result is not None:
                session.end_call(result)


@contextmanager
def open_form(setting: Setting, home: Path, **flags: str) -> Iterator[Typing]:
    """Open a session with the form in front, all its fields empty."""
    setting.phone.phone.apps[FIELDS].clear()
    setting.phone.phone.stop(FIELDS)
    with open_phone(setting, home, **flags) as typing:
        assert typing.call("open_app", app="Fields").status == "ok"
        yield typing
