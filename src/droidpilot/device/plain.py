"""PlainDriver: the Driver over commands that every Android has, for a phone on which the in-phone server cannot run.

`uiautomator dump`, `input`, `screencap`, `dumpsys`. Slower, and it types only what `input text` can. Each write is one
line to the phone's shell, sent once. Who chooses it, and when, is fallback.py's.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceRefused, ScreenUnreadable
from droidpilot.core.text import one_line, shorten
from droidpilot.device import covers, displays, keystrokes, pictures, readings
from droidpilot.device.adb import PhoneLink
from droidpilot.device.android import LONG_PRESS_MS, MAX_TRIES, AndroidDriver
from droidpilot.device.driver import KEYS, DeviceFacts, Display, Foreground
from droidpilot.device.inphone import PhoneServer
from droidpilot.device.lifeline import Lifeline
from droidpilot.screens.hierarchy import Bounds, Node
from droidpilot.screens.parse import holds_hierarchy, is_blank, parse_hierarchy
from droidpilot.screens.selector import Selector

#: Where dumps are written: the shell may write there on every Android, also before the first unlock.
FOLDER = "/data/local/tmp"
#: More than this is no hierarchy (parse.py reads no more either).
_MAX_DUMP_BYTES = 16 * 1024 * 1024


class PlainDriver(AndroidDriver):
    """One phone by plain ADB. It never starts anything on the phone that outlives a call."""

    _proves_itself = True

    def __init__(self, link: PhoneLink, clock: Clock, facts: DeviceFacts, line: Lifeline | None = None) -> None:
        super().__init__(link, PhoneServer(link, clock), clock, replace(facts, is_plain=True), line)
        self._token = secrets.token_hex(4)
        self._dumps = 0
        self._knows_covers = True  # of the last dump
        self._restless = ""  # the package of a screen that was never idle, where a compressed dump was given

    # reads

    def dump(self, deadline: Deadline) -> bytes:
        """Return the hierarchy of the window with focus, and over it a root for each place where another one lies.

        Those have a package and bounds only: `uiautomator dump` shows one window, and what it does not show takes the
        touches all the same.
        """
        data = self._hierarchy(deadline)
        over = self._covers(deadline)
        self._knows_covers = over is not None
        return covers.with_covers(data, over or ())

    def foreground(self, deadline: Deadline) -> Foreground:
        found = super().foreground(deadline)
        # Where nobody knows what lies over an app, nobody knows whose a touch is: rules that name an app fail closed.
        return found if self._knows_covers else replace(found, package=None, activity=None)

    def _covers(self, deadline: Deadline) -> tuple[covers.Cover, ...] | None:
        try:
            return covers.covers(self._shell("dumpsys", "window", deadline=deadline))
        except DeviceRefused:
            return None

    def _hierarchy(self, deadline: Deadline) -> bytes:
        """Return the hierarchy; of a screen that never comes to rest the compressed one, asked for once."""
        if self._restless:
            data = self._read(lambda: self._dumped(deadline, is_compressed=True), deadline)
            if readings.first_package(data) == self._restless:
                return data
            self._restless = ""  # another screen, which may well rest
        tired: list[ScreenUnreadable] = []
        empties = 0

        def attempt() -> bytes:
            nonlocal empties
            try:
                data = self._dumped(deadline, is_compressed=False)
                if empties < MAX_TRIES - 1 and readings.is_empty_dump(data.decode("utf-8", "replace")):
                    # No root for a moment, between two windows; a phone that goes on saying so shows nothing.
                    empties += 1
                    raise readings.unreadable("the phone shows no window", "null_root")
                return data
            except ScreenUnreadable as error:
                if error.code != "never_idle":
                    raise
                # The phone has waited 10 s for this answer already: it is not asked the same again.
                tired.append(error)
                return b""

        data = self._read(attempt, deadline)
        if not tired:
            return data
        try:
            data = self._dumped(deadline, is_compressed=True)
        except DeviceError:
            raise tired[0] from None
        self._restless = readings.first_package(data)
        return data

    def display(self, deadline: Deadline) -> Display:
        found = displays.display(self._shell("dumpsys", "display", deadline=deadline))
        if found is None:
            size = self._shell("wm", "size", deadline=deadline)
            found = displays.display(f"{self._shell('dumpsys', 'window', 'displays', deadline=deadline)}\n{size}")
        if found is None:
            raise DeviceRefused("the phone does not say how large its screen is", code="garbled")
        return found

    def has_focus(self, field: Selector, bounds: Bounds, deadline: Deadline) -> bool:
        found = [node for node in field.find(parse_hierarchy(self.dump(deadline))) if node.bounds == bounds]
        return len(found) == 1 and found[0].focused

    # writes: one line to the shell each

    def tap(self, x: int, y: int, deadline: Deadline) -> None:
        self._input([["tap", str(x), str(y)]], deadline)

    def long_press(self, x: int, y: int, deadline: Deadline) -> None:
        place = [str(x), str(y)]
        self._input([["swipe", *place, *place, str(LONG_PRESS_MS)]], deadline)

    def swipe(self, x1: int, y1: int, x2: int, y2: int, duration_ms: int, deadline: Deadline) -> None:
        self._input([["swipe", *map(str, (x1, y1, x2, y2, duration_ms))]], deadline)

    def press(self, key: str, deadline: Deadline) -> None:
        if key not in KEYS:
            raise DeviceRefused(f"no key is called {shorten(one_line(key), 50)!r}", code="no_key", hint=", ".join(KEYS))
        self._input([["keyevent", str(KEYS[key])]], deadline)

    def set_text(self, field: Selector, bounds: Bounds, text: str, deadline: Deadline) -> None:
        """Replace the text of a field that has the focus already.

        Giving it the focus would be a second write, and a tap on a field may do more than that.

        Raises:
            DeviceRefused: also `untypable` (names the characters), `not_focused`, `too_long`; all with sent "no".
        """
        refuse_untypable(text)
        found = [node for node in field.find(parse_hierarchy(self.dump(deadline))) if node.bounds == bounds]
        if not found:
            raise DeviceRefused("the field is not where it was on the last look", code="field_moved", hint="look again")
        node = found[0]
        if not node.focused:
            raise DeviceRefused(
                "the field has not the focus, and keys go to what has",
                code="not_focused",
                hint="tap the field first, then type",
            )
        self._input([*_clearing(node), *(["text", piece] for piece in keystrokes.arguments(text))], deadline)

    # inside

    def _dumped(self, deadline: Deadline, *, is_compressed: bool) -> bytes:
        """Have one dump written under a name that no dump had before, and read it: a stale file is never met (B06)."""
        self._alive()
        self._dumps += 1
        path = f"{FOLDER}/droidpilot-{self._token}-{self._dumps}.xml"
        how = ["--compressed"] if is_compressed else []
        said = self._link.shell(["uiautomator", "dump", *how, path], deadline)
        # It says ERROR and ends with 0.
        if said.code != 0 or "dumped to" not in said.text or "ERROR" in said.text:
            raise readings.unreadable(said.text or "nothing was said", "dump_failed")
        try:
            data = self._link.output(["cat", path], deadline, most_bytes=_MAX_DUMP_BYTES)
        finally:
            self._forget(path, deadline)
        text = data.decode("utf-8", "replace")
        if is_blank(text):
            raise readings.unreadable("the file with the hierarchy is empty", "empty")
        if not holds_hierarchy(text):
            raise readings.unreadable(data[:200].decode("utf-8", "replace"), "unreadable")
        return data

    def _forget(self, path: str, deadline: Deadline) -> None:
        try:
            self._link.shell(["rm", "-f", path], deadline)
        except DeviceError:
            return  # a file of some KB stays behind; the next reboot or person removes it

    def _capture(self, deadline: Deadline) -> bytes:
        self._alive()
        printed = self._link.output(("screencap", "-p"), deadline, most_bytes=pictures.MAX_PICTURE_BYTES)
        return pictures.without_chatter(printed)

    def _input(self, commands: Sequence[Sequence[str]], deadline: Deadline) -> None:
        """Send one line of `input` commands, once."""
        self._alive()
        if not commands:
            return
        lines = [["input", *words] for words in commands]
        answer = self._once(lambda: self._link.script(lines, deadline, sent="unknown"), deadline)
        if readings.is_injection_denied(answer.text):
            raise readings.injection_denied(self._facts.brand)
        if answer.code != 0 or "Error" in answer.text:
            said = shorten(one_line(answer.text), 200)
            if not said or any(words[0] == "text" for words in commands):
                said = f"exit code {answer.code}"  # its words may repeat what was typed, which may be a secret
            raise DeviceRefused(f"the phone's input command failed: {said}", code="phone_error", sent="unknown")

    def _post(self, method: str, params: tuple[object, ...], deadline: Deadline) -> Any:
        self._alive()
        raise DeviceRefused(
            f"{method} needs the helper on the phone, which cannot run there", code="no_helper", hint="see the notes"
        )


def refuse_untypable(text: str) -> None:
    """Refuse what `input text` would drop or garble, naming the characters.

    Raises:
        DeviceRefused: code `untypable`, sent "no".
    """
    odd = keystrokes.untypable(text)
    if not odd:
        return
    named = ", ".join("a line break" if character in "\r\n" else repr(character) for character in odd[:10])
    more = f" and {len(odd) - 10} more" if len(odd) > 10 else ""
    raise DeviceRefused(
        f"without the helper this phone can only be sent plain ASCII; it cannot be sent {named}{more}",
        code="untypable",
        hint="nothing was typed; ask a person to type it",
    )


def _clearing(node: Node) -> list[list[str]]:
    """Return the commands that empty a field: the keys that delete as many characters as it shows."""
    several = keystrokes.is_several_lines(node.content)
    return [["keyevent", *keys] for keys in keystrokes.erasing(len(node.content), several_lines=several)]
