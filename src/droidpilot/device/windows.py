"""What `dumpsys window` says: who has the focus, whether its window forbids pictures, whether the phone is locked.

A window's title is chosen by its app and printed raw, line breaks included: nothing inside a title is ever read. What
two lines contradict, and what a title with line breaks may have made up, is not known (None), and never a guess.
Source: WindowState.dump, DisplayContent.dump, PhoneWindowManager.dump and KeyguardServiceDelegate.dump of Android 7-14.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import pairwise

from droidpilot.device.driver import Foreground, LockState

#: Source: Android's package name grammar; strict, because it stands in a command on the phone.
PACKAGE = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+")
COMPONENT = re.compile(rf"({PACKAGE.pattern})/(\.?[A-Za-z_$][A-Za-z0-9_.$]*)")

#: The first section repeats what was so when an app last hung, with windows that are long gone.
_LAST_ANR = re.compile(
    r"\A\s*WINDOW MANAGER LAST ANR\b.*?^(?=WINDOW MANAGER (?!LAST ANR\b)|\Z)", re.MULTILINE | re.DOTALL
)
_HEAD = re.compile(r"([ \t]*)Window #(\d{1,6}) Window\{([0-9a-f]+) (.*)")
_DISPLAY = re.compile(r"[ \t]*Display: mDisplayId=(\d{1,6})\b")
_FOCUS = re.compile(r"[ \t]*mCurrentFocus=(.*)")
_FOCUSED_APP = re.compile(r"[ \t]*mFocusedApp=(.*)")
_WINDOW = re.compile(r"Window\{([0-9a-f]+) (?:u\d+ )?(.*)\}")
_RECORD = re.compile(rf"\bActivityRecord\{{[0-9a-f]+ u\d+ ({COMPONENT.pattern})[ }}]")
#: Where a window's own lines say who owns it; they belong to the head before them.
_OWNER = re.compile(
    r"[ \t]+(?:mOwnerUid=\d+ (?:\w+=\w+ )*"
    r"|mDisplayId=-?\d+ (?:\w+=-?\w+ )*mSession=Session\{[^{}]*\} (?:mClient=\S+ )?)?"
    rf"package=({PACKAGE.pattern})(?:[ \t]|$)"
)
_OWN_LINE = re.compile(r"[ \t]*(?:mOwnerUid=\d+ .*\bpackage=|mDisplayId=-?\d+ .*\bmSession=Session\{|mAttrs=)")
#: LayoutParams.toString: a number before Android 9, on the line of mAttrs; names since, on a line of their own.
_FLAGS = re.compile(r"[ \t]+(?:mAttrs=.*? )?fl=(?:#([0-9a-f]{1,16})\b|([A-Z_ ]*))")
_FLAG_SECURE = 0x2000  # Source: WindowManager.LayoutParams

_WORD = re.compile(r"(\w+)=([^\s{}]*)")
_KEYGUARD = "KeyguardServiceDelegate"
#: What tells of the lock screen, in the words of each Android. "mDreamingLockscreen" is true whenever it is there,
#: dreaming or not.
_LOCKED = ("mDreamingLockscreen", "mShowingLockscreen", "isKeyguardShowing", "KeyguardShowing", "mKeyguardShowing")
_SHOWING = f"{_KEYGUARD} showing"
#: What tells that the display is off.
_OFF = {"mAwake": "false", "screenState": "OFF"}
_WAKEFULNESS = re.compile(r"^[ \t]*mWakefulness=(\w+)[ \t\r]*$", re.MULTILINE)


@dataclass(slots=True)
class _Block:
    """The lines of one window, without the head, which holds its title."""

    indent: int
    window: str
    lines: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Dump:
    """A dump taken apart. `is_broken`: a title with line breaks may have made up lines of it."""

    blocks: list[_Block] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    is_broken: bool = False


def foreground(text: str) -> Foreground:
    """Read the window with focus out of `dumpsys window`.

    Where the windows' own lines are printed, they say who owns the one with focus; its title only adds the activity.
    """
    dump = _taken_apart(_LAST_ANR.sub("", text))
    if dump.is_broken:
        return Foreground(None, None)
    state = _lock_state(dump.others)
    focus, focused_app = _focus(dump.others)
    if focus is None:
        return Foreground(None, None, None, state.is_locked, state.is_off)
    record = _component(found[1]) if (found := _RECORD.search(focused_app)) is not None else None
    window = _WINDOW.fullmatch(focus)
    if window is None:
        front = record or Foreground(None, None)
        # Nothing has the focus for a moment: what is seen may be any of the windows.
        flags = {_is_secure(block.lines) for block in dump.blocks}
        is_secure = False if flags == {False} else None
    else:
        block = next((one for one in dump.blocks if one.window == window[1]), None)
        titled = _component(window[2].removesuffix(" EXITING"))
        front = _in_front(
            titled, record, _owner(block.lines) if block is not None else None, has_block=bool(dump.blocks)
        )
        is_secure = _is_secure(block.lines) if block is not None else None
    return replace(front, is_secure=is_secure, is_locked=state.is_locked, is_off=state.is_off)


def over_focus(text: str) -> list[list[str]] | None:
    """Return the own lines of each window that lies over the one with focus, topmost first; None where it is not told.

    Source: RootWindowContainer.dumpWindowsNoHeader, which begins with the topmost window.
    """
    dump = _taken_apart(_LAST_ANR.sub("", text))
    focus, _ = _focus(dump.others)
    window = _WINDOW.fullmatch(focus or "")
    if dump.is_broken or window is None:
        return None
    names = [block.window for block in dump.blocks]
    return [block.lines for block in dump.blocks[: names.index(window[1])]] if window[1] in names else None


def owner_of(lines: list[str]) -> str | None:
    """Return the package that owns the window of these own lines; None where they do not tell, or contradict it."""
    return _owner(lines)


def lock_state(text: str) -> LockState:
    """Read whether the phone is locked or off out of `dumpsys window policy` or `dumpsys activity activities`."""
    return _lock_state(text.split("\n"))


def is_off(text: str) -> bool | None:
    """Read out of `dumpsys power` whether the display is off. Source: PowerManagerService.dump."""
    found = set(_WAKEFULNESS.findall(text))
    return found != {"Awake"} if len(found) == 1 else None


def _taken_apart(text: str) -> _Dump:
    """Tell windows' own lines from all others, and see whether a title broke out of its line.

    Such a title leaves its head without an end, or own lines of a window without a head, or makes up a head, which then
    has a number or a hash that another one has.
    """
    dump = _Dump()
    block: _Block | None = None
    numbers: list[int] = []
    for raw in text.split("\n"):
        line = raw.removesuffix("\r")
        head = _HEAD.match(line)
        if head is not None:
            dump.is_broken |= not line.endswith("}:")
            block = _Block(len(head[1]), head[3])
            dump.blocks.append(block)
            numbers.append(int(head[2]))
        elif block is not None and (not line.strip() or _indent(line) > block.indent):
            block.lines.append(line)
        else:
            block = None
            dump.is_broken |= _OWN_LINE.match(line) is not None
            focus = _FOCUS.fullmatch(line)
            if focus is not None and focus[1] not in ("", "null") and _WINDOW.fullmatch(focus[1]) is None:
                dump.is_broken = True
            dump.others.append(line)
    steps = {after - before for before, after in pairwise(numbers)}
    is_listed = steps in (set(), {1}, {-1})
    dump.is_broken |= not is_listed or len({one.window for one in dump.blocks}) != len(dump.blocks)
    return dump


def _focus(lines: Iterable[str]) -> tuple[str | None, str]:
    """Return what has the focus on the first display, "" for nothing, and the app that it is given to.

    Several displays have one each; without their heads, or with two of one head, two answers are none (None).
    """
    display, heads = -1, []
    windows: dict[str, set[int]] = {}
    apps: dict[str, set[int]] = {}
    for line in lines:
        if (head := _DISPLAY.match(line)) is not None:
            display = int(head[1])
            heads.append(display)
        for pattern, found in ((_FOCUS, windows), (_FOCUSED_APP, apps)):
            if (said := pattern.fullmatch(line)) is not None and said[1].strip() not in ("", "null"):
                found.setdefault(said[1].strip(), set()).add(display)
    can_tell = 0 in heads and len(set(heads)) == len(heads)
    focus, app = (_only(found, can_tell=can_tell) for found in (windows, apps))
    return focus, app or ""


def _only(found: dict[str, set[int]], *, can_tell: bool) -> str | None:
    if len(found) > 1 and can_tell:
        found = {said: displays for said, displays in found.items() if displays == {0}}
    return next(iter(found), "") if len(found) < 2 else None


def _in_front(
    titled: Foreground | None, focused_app: Foreground | None, owner: str | None, *, has_block: bool
) -> Foreground:
    if owner is not None:
        candidates = (titled, focused_app)
        return next((one for one in candidates if one is not None and one.package == owner), Foreground(owner, None))
    if has_block or (titled is not None and focused_app is not None and titled.package != focused_app.package):
        return Foreground(None, None)
    return titled or Foreground(None, None)


def _component(text: str) -> Foreground | None:
    """Read `package/activity`; the activity is returned in full."""
    found = COMPONENT.fullmatch(text)
    if found is None:
        return None
    package, activity = found[1], found[3]
    return Foreground(package, package + activity if activity.startswith(".") else activity)


def _owner(lines: list[str]) -> str | None:
    """Return the package that owns the window of these lines."""
    found = {owner[1] for line in lines if (owner := _OWNER.match(line)) is not None}
    return found.pop() if len(found) == 1 else None


def _is_secure(lines: list[str]) -> bool | None:
    """Tell whether the window of these lines forbids pictures of itself."""
    found = {
        bool(int(flags[1], 16) & _FLAG_SECURE) if flags[1] else "SECURE" in flags[2].split()
        for line in lines
        if (flags := _FLAGS.match(line)) is not None
    }
    return found.pop() if len(found) == 1 else None


def _lock_state(lines: Iterable[str]) -> LockState:
    said: dict[str, set[str]] = {}
    keyguard: int | None = None
    for line in lines:
        if line.strip() == _KEYGUARD:
            keyguard = _indent(line)
            continue
        if keyguard is not None and _indent(line) <= keyguard:
            keyguard = None
        for word in line.split():
            pair = _WORD.fullmatch(word)
            if pair is None:
                break  # a name, a title: what follows is its own
            name = _SHOWING if pair[1] == "showing" and keyguard is not None else pair[1]
            said.setdefault(name, set()).add(pair[2].removeprefix("SCREEN_STATE_"))
    is_locked = _any(said, dict.fromkeys((*_LOCKED, _SHOWING), "true"))
    return LockState(is_locked, _any(said, _OFF))


def _any(said: dict[str, set[str]], wanted: dict[str, str]) -> bool | None:
    """Tell whether any name has the value that is looked for; None where none is there, or one has two values."""
    found = [(said[name], value) for name, value in wanted.items() if name in said]
    if not found or any(len(values) > 1 for values, _ in found):
        return None
    return any(value in values for values, value in found)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))
