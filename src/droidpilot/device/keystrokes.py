"""Text as key presses: what `input text` can carry, and how it must be said so that the phone types exactly that.

Pure. The phone's shell is no concern of this file: every argument is quoted where it is sent.
"""

from __future__ import annotations

from collections.abc import Iterator

#: Characters of one `input text`: it answers when the last key is in, and a slow phone takes 10 ms for each.
CHUNK_CHARS = 200
#: Keys of one `input keyevent`.
CHUNK_KEYS = 100
#: Source: Android KeyEvent.
MOVE_END, DELETE = 123, 67


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


def erasing(count: int) -> Iterator[list[str]]:
    """Return the arguments of `input keyevent` that go to the end of a line and delete `count` characters."""
    keys = [MOVE_END, *[DELETE] * count] if count else []
    for start in range(0, len(keys), CHUNK_KEYS):
        yield [str(key) for key in keys[start : start + CHUNK_KEYS]]
