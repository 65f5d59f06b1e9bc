"""FakeDriver: a Driver in memory. Scripted dumps per state, a record of every call, errors on demand.

It knows no hierarchy room: dumps are bytes that a test wrote (or built with `node` and `dump`). Writes do what `react`
says, and `set_text` shows the text in the dump as a phone does, so that the road finds what it typed.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused, DeviceTimeout
from droidpilot.core.images import Image
from droidpilot.device.driver import KEYS, App, DeviceFacts, Display, Foreground, LockState, Picture
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.selector import Selector

WRITES = frozenset({"tap", "long_press", "swipe", "set_text", "type_keys", "press", "start_app"})

_HEAD = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n"


def node(
    *children: str,
    cls: str = "android.widget.TextView",
    text: str = "",
    desc: str = "",
    resource_id: str = "",
    package: str = "com.example",
    bounds: tuple[int, int, int, int] = (0, 0, 1080, 2340),
    hint: str = "",
    **flags: bool,
) -> str:
    """Build one `<node>` as Android dumps it. `flags`: clickable, checked, password, ... (underscores for dashes)."""
    names = (
        *("checkable", "checked", "clickable", "enabled", "focusable", "focused", "scrollable", "long_clickable"),
        *("password", "selected", "visible_to_user"),
    )
    unknown = set(flags) - set(names)
    assert not unknown, f"no such flag: {unknown}"
    on = {"enabled": True, "visible_to_user": True} | flags
    left, top, right, bottom = bounds
    attributes = {
        "index": "0",
        "text": text,
        "resource-id": resource_id,
        "class": cls,
        "package": package,
        "content-desc": desc,
        **{name.replace("_", "-"): str(on.get(name, False)).lower() for name in names},
        "bounds": f"[{left},{top}][{right},{bottom}]",
        "hint": hint,
    }
    return (
        "<node "
        + " ".join(f"{key}={quoteattr(value)}" for key, value in attributes.items())
        + (">" + "".join(children) + "</node>" if children else " />")
    )


def dump(*roots: str, rotation: int = 0) -> bytes:
    """Build a whole dump from `node` strings."""
    return (_HEAD + f'<hierarchy rotation="{rotation}">' + "".join(roots) + "</hierarchy>").encode()


def plain_picture(width: int, height: int, *, color: str = "#305070", is_secure: bool = False) -> Picture:
    """Build a picture of one colour."""
    import PIL.Image

    out = io.BytesIO()
    PIL.Image.new("RGB", (width, height), color).save(out, "JPEG")
    image = Image(out.getvalue(), "image/jpeg", width, height)
    return Picture(image, is_black=color in ("black", "#000000"), is_secure=is_secure)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that reached the driver: its name and arguments, deadline left out."""

    name: str
    args: tuple[object, ...] = ()


@dataclass(slots=True)
class State:
    """What the fake shows: `frames` are handed out one per dump, the last one again and again."""

    frames: list[bytes]
    package: str | None = "com.example"
    activity: str | None = "com.example.MainActivity"
    picture: Picture | None = None  # None: a plain one of the display's size
    is_locked: bool = False
    is_off: bool = False


@dataclass(slots=True)
class _Failure:
    name: str
    nth: int
    error: DeviceError
    has_happened: bool


React = Callable[["FakeDriver", Call], None]


@dataclass(slots=True)
class FakeDriver:
    """A Driver in memory.

    `states` by name; `react(fake, call)` runs for every write that happens and may `show` another state or change
    `settings`. Without `react` nothing moves.
    """

    states: dict[str, State]
    showing: str
    react: React | None = None
    launchable: tuple[App, ...] = (App("com.example", "Example"),)
    settings: dict[tuple[str, str], str] = field(default_factory=dict)
    screen: Display = field(default_factory=lambda: Display(1080, 2340, 0))
    calls: list[Call] = field(default_factory=list)
    is_closed: bool = False
    _failures: list[_Failure] = field(default_factory=list)
    _counts: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, dumps: Mapping[str, bytes], *, react: React | None = None) -> FakeDriver:
        """Build from plain dumps by state name; the first one is shown, in front is `com.example`."""
        return cls({name: State([one]) for name, one in dumps.items()}, next(iter(dumps)), react)

    # what a test asks and sets

    @property
    def writes(self) -> list[Call]:
        """Every write that was asked for, also those that failed, in order."""
        return [call for call in self.calls if call.name in WRITES]

    def show(self, state: str) -> None:
        """Change what the phone shows."""
        assert state in self.states, f"no state {state!r}"
        self.showing = state

    def fail(self, name: str, error: DeviceError, *, nth: int = 1, has_happened: bool = False) -> None:
        """Raise `error` at the nth call of `name` from now on (any write: "write").

        `has_happened` says whether the write takes effect all the same.
        """
        self._failures.append(_Failure(name, self._counts.get(name, 0) + nth, error, has_happened))

    # Driver

    @property
    def facts(self) -> DeviceFacts:
        return DeviceFacts(serial="fake-1", model="Fake Phone", brand="fake", sdk=34, release="14")

    def dump(self, deadline: Deadline) -> bytes:
        self._read(Call("dump"), deadline)
        frames = self.states[self.showing].frames
        return frames.pop(0) if len(frames) > 1 else frames[0]

    def foreground(self, deadline: Deadline) -> Foreground:
        self._read(Call("foreground"), deadline)
        state = self.states[self.showing]
        return Foreground(state.package, state.activity, False, state.is_locked, state.is_off)

    def lock_state(self, deadline: Deadline) -> LockState:
        self._read(Call("lock_state"), deadline)
        state = self.states[self.showing]
        return LockState(state.is_locked, state.is_off)

    def display(self, deadline: Deadline) -> Display:
        self._read(Call("display"), deadline)
        return self.screen

    def screenshot(self, deadline: Deadline) -> Picture:
        self._read(Call("screenshot"), deadline)
        return self.states[self.showing].picture or plain_picture(self.screen.width, self.screen.height)

    def apps(self, deadline: Deadline) -> tuple[App, ...]:
        self._read(Call("apps"), deadline)
        return tuple(sorted(self.launchable, key=lambda app: app.label))

    def read_setting(self, namespace: str, key: str, deadline: Deadline) -> str | None:
        self._read(Call("read_setting", (namespace, key)), deadline)
        if namespace not in ("system", "secure", "global") or not (key.isascii() and key.isprintable()):
            raise DeviceRefused(f"no setting {namespace!r}/{key!r}", code="bad_setting")
        return self.settings.get((namespace, key))

    def tap(self, x: int, y: int, deadline: Deadline) -> None:
        self._write(Call("tap", (x, y)), deadline)

    def long_press(self, x: int, y: int, deadline: Deadline) -> None:
        self._write(Call("long_press", (x, y)), deadline)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, deadline: Deadline) -> None:
        self._write(Call("swipe", (x1, y1, x2, y2, duration_ms)), deadline)

    def set_text(self, field: Selector, bounds: Bounds, text: str, deadline: Deadline) -> None:
        found = self._find(field)
        if found is None or found.get("bounds") != _brackets(bounds):
            self._alive(deadline)
            raise DeviceRefused("the field is not where it was", code="field_moved")
        self._write(Call("set_text", (field, bounds, text)), deadline)

    def has_focus(self, field: Selector, bounds: Bounds, deadline: Deadline) -> bool:
        self._read(Call("has_focus", (field, bounds)), deadline)
        found = self._find(field)
        return found is not None and found.get("focused") == "true" and found.get("bounds") == _brackets(bounds)

    def type_keys(
        self, text: str, deadline: Deadline, *, erase: int, several_lines: bool = False, at_end: bool = False
    ) -> None:
        if any(not " " <= one <= "~" for one in text):
            raise DeviceRefused("no key makes this", code="untypable")
        self._write(Call("type_keys", (text, erase)), deadline)

    def press(self, key: str, deadline: Deadline) -> None:
        if key not in KEYS:
            raise DeviceRefused(f"no key {key!r}", code="no_key")
        self._write(Call("press", (key,)), deadline)

    def start_app(self, package: str, deadline: Deadline) -> None:
        if all(app.package != package for app in self.launchable):
            raise DeviceRefused(f"no app {package!r}", code="no_app")
        self._write(Call("start_app", (package,)), deadline)

    def close(self) -> None:
        self.is_closed = True

    # inside

    def _alive(self, deadline: Deadline) -> None:
        if self.is_closed:
            raise DeviceLost("the driver is closed", code="closed")
        if deadline.is_over():
            raise DeviceTimeout("no time left before anything was sent")

    def _due(self, call: Call) -> _Failure | None:
        """Count the call and return the failure that is due, if any."""
        self.calls.append(call)
        names = (call.name, "write") if call.name in WRITES else (call.name,)
        due = None
        for name in names:
            self._counts[name] = self._counts.get(name, 0) + 1
            due = due or next(
                (one for one in self._failures if (one.name, one.nth) == (name, self._counts[name])), None
            )
        return due

    def _read(self, call: Call, deadline: Deadline) -> None:
        self._alive(deadline)
        failure = self._due(call)
        if failure is not None:
            raise failure.error

    def _write(self, call: Call, deadline: Deadline) -> None:
        self._alive(deadline)
        failure = self._due(call)
        if failure is None or failure.has_happened:
            self._happen(call)
        if failure is not None:
            raise failure.error

    def _happen(self, call: Call) -> None:
        if call.name == "set_text":
            field, _, text = call.args
            assert isinstance(field, Selector)
            self._fill(field, str(text))
        if call.name == "type_keys":
            text, erase = call.args
            field = Selector(focused=True)
            found = self._find(field)
            if found is not None:
                held = "" if found.get("text") == found.get("hint") else found.get("text", "")
                self._fill(field, held[: len(held) - int(str(erase))] + str(text))
        if self.react is not None:
            self.react(self, call)

    def _fill(self, field: Selector, text: str) -> None:
        frames = self.states[self.showing].frames
        tree = ElementTree.fromstring(frames[0].decode())
        found = _search(tree, field)
        assert found is not None
        found.set("text", "\u2022" * len(text) if found.get("password") == "true" else text)
        frames[:] = [_HEAD.encode() + ElementTree.tostring(tree, encoding="unicode").encode()]

    def _find(self, field: Selector) -> ElementTree.Element | None:
        return _search(ElementTree.fromstring(self.states[self.showing].frames[0].decode()), field)


def _brackets(bounds: Bounds) -> str:
    return f"[{bounds.left},{bounds.top}][{bounds.right},{bounds.bottom}]"


def _search(tree: ElementTree.Element, field: Selector) -> ElementTree.Element | None:
    wanted = {
        "text": field.text,
        "content-desc": field.desc,
        "resource-id": field.resource_id,
        "class": field.cls,
        "package": field.package,
        "focused": None if field.focused is None else str(field.focused).lower(),
    }
    found = [
        one
        for one in tree.iter("node")
        if all(value is None or one.get(key, "") == value for key, value in wanted.items())
    ]
    place = field.instance or 0
    return found[place] if place < len(found) else None
