"""Text as key presses: what `input text` can carry, and how it must be said so that the phone types exactly that.

Pure. The phone's shell is no concern of this file: every argument is quoted where it is sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from droidpilot.core.errors import DeviceRefused

#: Characters of one `input text`: it answers when the last key is in, and a slow phone takes 10 ms for each.
CHUNK_CHARS = 200
#: Keys of one `input keyevent`.
CHUNK_KEYS = 100
#: Keys that are pressed one by one to empty a field; more would take half a minute on a slow phone.
MAX_CLEARED = 500
#: A text that is longer may be wrapped, and takes several lines without a line break.
MAX_LINE = 30
#: Source: Android KeyEvent.
MOVE_END, DELETE, DELETE_FORWARD = 123, 67, 112


def untypable(text: str) -> str:
    """Return the characters that no key of Android's virtual keyboard makes, each once, in order.

    A line break is one of them: it would be the enter key, which presses a form's button. Source: KeyCharacterMap of
    the virtual keyboard: `getEvents` returns null for a whole text with one such character, and `input` crashes.
    """
    return "".join(dict.fromkeys(character for character in text if not " " <= character <= "~"))


def arguments(text: str) -> Iterator[str]:
    """Split a text into arguments of `input text` that come out as exactly that text.

    `input` turns `%s` into a space and has no way to say a literal one: it is split between the two. A space is
    sent as `%s`, since old versions of the command lose it. Source: InputShellCommand.sendText of Android 4 to 14.
    """
    start = 0
    while start < len(text):
        end = min(len(text), start + CHUNK_CHARS)
        literal = text.find("%s", start, end + 1)
        if literal >= 0:
            end = literal + 1
        yield text[start:end].replace(" ", "%s")
        start = end


def is_several_lines(content: str) -> bool:
    """Tell whether a field may show its content in several lines: the key for the end goes to that of one line."""
    return len(content) > MAX_LINE or "\n" in content or "\r" in content


def erasing(count: int, *, several_lines: bool = False) -> Iterator[list[str]]:
    """Return the arguments of `input keyevent` that go to the end of a line and delete `count` characters.

    In several lines the cursor may be in the middle then, and what is behind it is deleted forwards: at the end of a
    field that key does nothing. No key goes to the end of a field on every phone.

    Raises:
        DeviceRefused: code `too_long`, sent "no": so many keys would take half a minute.
    """
    if count > MAX_CLEARED:
        raise DeviceRefused(
            f"the field holds {count} characters, which is too much to delete key by key",
            code="too_long",
            hint="empty the field on the screen first, by its own button",
        )
    keys = [MOVE_END, *[DELETE] * count] if count else []
    if several_lines:
        keys += [DELETE_FORWARD] * count
    for start in range(0, len(keys), CHUNK_KEYS):
        yield [str(key) for key in keys[start : start + CHUNK_KEYS]]
