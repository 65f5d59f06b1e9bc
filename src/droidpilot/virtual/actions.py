"""The table of what can be done to a running phone by name and words: `droidpilot virtual do SERIAL NAME WORD...`.

Words come from outside: each action says what it takes, and anything else is a UsageError. This file must never know
how the words travel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from droidpilot.core.errors import UsageError
from droidpilot.core.text import quoted
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.ui.keys import key_code
from droidpilot.virtual.ui.obstructions import KINDS

MOST_WORDS: Final = 20
MAX_WORD: Final = 1_000
Words = Sequence[str]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that can be done: its words, what it does in a line, and who does it."""

    words: str
    """The words it takes as a person would write them; empty where it takes none."""
    line: str
    run: Callable[[Phone, Words], None]
    least: int = 0
    most: int = 0


def act(phone: Phone, name: str, words: Words) -> None:
    """Do something to a phone.

    Raises:
        UsageError: there is no such action, or it does not take these words.
    """
    action = ACTIONS.get(name)
    if action is None:
        raise UsageError(f"no action {quoted(name[:60])}", hint=f"known: {', '.join(sorted(ACTIONS))}")
    is_long = len(words) > MOST_WORDS or any(len(word) > MAX_WORD for word in words)
    if is_long or not action.least <= len(words) <= action.most:
        raise UsageError(f"{name} does not take these words", hint=f"{name} {action.words}".strip())
    action.run(phone, words)


def _choice(word: str, known: Sequence[str]) -> str:
    if word not in known:
        raise UsageError(f"not known: {quoted(word[:60])}", hint=f"one of {', '.join(known)}")
    return word


def _whole(word: str) -> int:
    if not (word.isascii() and word.isdigit() and len(word) <= 9):
        raise UsageError(f"not a whole number from 0 on: {quoted(word[:60])}", hint="for example 0, 1, 500")
    return int(word)


def _app(phone: Phone, package: str) -> str:
    return _choice(package, sorted(phone.apps))


def _size(word: str) -> tuple[int, int] | None:
    if word == "reset":
        return None
    width, _, height = word.partition("x")
    return _whole(width), _whole(height)


def _resize(phone: Phone, words: Words) -> None:
    size = _size(words[0])
    try:
        with phone.lock:
            phone.display.resize(size)
    except ValueError as error:
        raise UsageError(str(error), hint="for example 1440x3200, or reset") from error


def _rotate(phone: Phone, words: Words) -> None:
    phone.person.rotate(_whole(words[0]))


def _set_lock(phone: Phone, words: Words) -> None:
    kind = _choice(words[0], ("none", "swipe", "pin"))
    if kind == "pin":
        if len(words) < 2:
            raise UsageError("set-lock pin needs the PIN, 4 to 16 digits", hint="for example: set-lock pin 1234")
        phone.person.set_lock("pin", words[1])
    else:
        phone.person.set_lock("swipe" if kind == "swipe" else "none")


def _lock(phone: Phone, words: Words) -> None:
    is_lit = _choice(words[0], ("lit", "dark")) == "lit" if words else True
    phone.person.lock(is_lit=is_lit)


def _notify(phone: Phone, words: Words) -> None:
    phone.notify(words[1], words[2], package=_app(phone, words[0]))


def _screen(phone: Phone, words: Words) -> None:
    phone.person.screen(_choice(words[0], ("on", "off")) == "on")


def _shade(phone: Phone, words: Words) -> None:
    word = _choice(words[0], ("open", "quick", "close"))
    phone.person.shade(word != "close", is_quick=word == "quick")


def _crash(phone: Phone, words: Words) -> None:
    reason = words[1] if len(words) > 1 else "java.lang.IllegalStateException: something was wrong"
    phone.crash(_app(phone, words[0]), reason)


def _recover(phone: Phone, words: Words) -> None:
    with phone.lock:
        phone.failing.recover(_app(phone, words[0]))
        phone.changed()


def _ask(phone: Phone, words: Words) -> None:
    phone.ask_permission(_app(phone, words[0]), words[1], lambda _: None)


def _permit(is_granted: bool) -> Callable[[Phone, Words], None]:
    def put(phone: Phone, words: Words) -> None:
        with phone.lock:
            phone.permissions.put(_app(phone, words[0]), words[1], is_granted)

    return put


def _restless(phone: Phone, words: Words) -> None:
    if words[0] in ("on", "off"):
        phone.never_idle_until(None if words[0] == "on" else 0)
    else:
        phone.never_idle_until(phone.now_ms() + _whole(words[0]))


def _tap(phone: Phone, words: Words) -> None:
    x, y = _whole(words[0]), _whole(words[1])
    screen = phone.display.rect
    if x >= screen.width or y >= screen.height:
        raise UsageError(
            f"{x} {y} is not on the screen", hint=f"it is {screen.width} x {screen.height}, as it is turned now"
        )
    phone.person.touch.tap(x, y)


def _press(phone: Phone, words: Words) -> None:
    try:
        phone.person.touch.key(key_code(words[0]))
    except ValueError as error:
        raise UsageError(str(error), hint="for example BACK or HOME") from error


def _type(phone: Phone, words: Words) -> None:
    phone.person.touch.type_text(words[0])


def _start(phone: Phone, words: Words) -> None:
    phone.start(_app(phone, words[0]))


def _stop(phone: Phone, words: Words) -> None:
    phone.stop(_app(phone, words[0]))


ACTIONS: Final[dict[str, Action]] = {
    "ask-permission": Action("PACKAGE PERMISSION", "let an app ask the person for a permission", _ask, 2, 2),
    "bubble": Action(
        "PACKAGE [TEXT]", "an app's bubble over everything", lambda p, w: p.person.bubble(_app(p, w[0]), *w[1:]), 1, 2
    ),
    "crash": Action("PACKAGE [REASON]", "an app dies of an exception", _crash, 1, 2),
    "fold": Action("", "fold the phone: a smaller display", lambda p, _: p.person.fold(True)),
    "grant": Action("PACKAGE PERMISSION", "grant a permission", _permit(True), 2, 2),
    "hang": Action("PACKAGE", "an app takes no input any more", lambda p, w: p.hang(_app(p, w[0])), 1, 1),
    "lock": Action("[lit|dark]", "lock the phone; the screen stays on or goes dark", _lock, 0, 1),
    "no-bubbles": Action("", "take all bubbles away", lambda p, _: p.person.no_bubbles()),
    "notify": Action("PACKAGE TITLE TEXT", "post a notification", _notify, 3, 3),
    "obstruct": Action(
        f"{'|'.join(KINDS)}", "what the next started app shows first", lambda p, w: p.obstruct(w[0]), 1, 1
    ),
    "press": Action("KEY", "the person presses a key", _press, 1, 1),
    "recover": Action("PACKAGE", "an app that hangs takes input again", _recover, 1, 1),
    "restless": Action("on|off|MS", "the picture changes with every frame", _restless, 1, 1),
    "revoke": Action("PACKAGE PERMISSION", "take a permission away", _permit(False), 2, 2),
    "rotate": Action("0|1|2|3", "turn the phone, in quarter turns", _rotate, 1, 1),
    "screen": Action("on|off", "press the power key", _screen, 1, 1),
    "set-lock": Action("none|swipe|pin [PIN]", "choose how the phone locks", _set_lock, 1, 2),
    "shade": Action("open|quick|close", "the notification shade", _shade, 1, 1),
    "size": Action("WxH|reset", "another size of the display", _resize, 1, 1),
    "stale-tree": Action(
        "DUMPS", "so many dumps show the launcher's tree", lambda p, w: p.stale_tree(_whole(w[0])), 1, 1
    ),
    "start": Action("PACKAGE", "the person opens an app", _start, 1, 1),
    "stop": Action("PACKAGE", "end an app", _stop, 1, 1),
    "tap": Action("X Y", "the person taps a point", _tap, 2, 2),
    "toast": Action("TEXT", "a short message of an app", lambda p, w: p.toast(w[0]), 1, 1),
    "type": Action("TEXT", "the person types", _type, 1, 1),
    "unfold": Action("", "unfold the phone", lambda p, _: p.person.fold(False)),
    "unlock": Action("", "wake the phone and open it", lambda p, _: p.person.unlock()),
}
