"""Commands about text: search, count, sort, cut. Options that are not known here are refused, never passed over.

Source: toybox 0.8.9 of Android 14. This file must never know how a shell line is read.
"""

from __future__ import annotations

import posixpath
import re
from itertools import groupby
from typing import Final

from droidpilot.virtual.shell.commands_files import BadOption, options, refusing
from droidpilot.virtual.shell.job import Command, Job
from droidpilot.virtual.shell.patterns import BadPattern, Pattern

MAX_NUMBERS: Final = 100_000
_SIGNS: Final = re.compile(r"\\([(){}|+?])|([(){}|+?])")
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def whole(word: str) -> int | None:
    """Return the number a word is, or None."""
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else None


def unescaped(text: str) -> str:
    """Return a text with its backslash signs put in full."""
    return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[0]), text, flags=re.S)


def _pattern_of(text: str, letters: str, name: str) -> Pattern:
    if "F" in letters or name == "fgrep":
        text = re.escape(text)
    elif "E" not in letters and name != "egrep":
        # In a basic expression it is the other way round: `\(` groups and `(` is a sign.
        text = _SIGNS.sub(lambda found: found[1] or f"\\{found[2]}", text)
    text = f"\\b(?:{text})\\b" if "w" in letters else text
    return Pattern(f"^(?:{text})$" if "x" in letters else text, ignores_case="i" in letters)


def _grep(job: Job) -> int:
    letters, words = options(job, "EFHechilnoqsvwx")
    if "o" in letters:
        raise BadOption("grep: Unknown option 'o' (this phone shows whole lines)")
    if not words:
        return job.fail("grep: no pattern", 2)
    try:
        wanted = _pattern_of(words[0], letters, job.args[0])
    except BadPattern as problem:
        return job.fail(f"grep: {problem}", 2)
    any_found, code = False, 0
    for path in words[1:] or ["-"]:
        data = job.stdin if path == "-" else job.read(path)
        if data is None:
            code = 2 if "s" in letters else job.fail(f"grep: {path}: No such file or directory", 2)
            continue
        lines = data.decode("utf-8", "replace").removesuffix("\n").split("\n") if data else []
        found = [(at, line) for at, line in enumerate(lines, 1) if wanted.is_in(line) != ("v" in letters)]
        any_found = any_found or bool(found)
        named = f"{path}:" if ("H" in letters or len(words) > 2) and "h" not in letters else ""
        if "q" in letters:
            continue
        if "l" in letters:
            found = found[:0] if not found else [(0, path)]
            named = ""
        if "c" in letters and "l" not in letters:
            job.say(f"{named}{len(found)}")
            continue
        for at, line in found:
            job.say(f"{named}{f'{at}:' if 'n' in letters and at else ''}{line}")
    return code or (0 if any_found else 1)


def _given(job: Job, paths: list[str]) -> bytes:
    """Return the files that were named one after another, or the input."""
    held = bytearray()
    for path in paths or ["-"]:
        data = job.stdin if path == "-" else job.read(path)
        if data is None:
            raise BadOption(f"{job.args[0]}: {path}: No such file or directory")
        held += data
    return bytes(held)


def _count_words(job: Job) -> tuple[int, str, list[str]]:
    """Read `-n N`, `-nN`, `-N` and `-c N`: the number, its unit, and the other words."""
    count, unit, paths = 10, "n", list[str]()
    words = job.args[1:]
    while words:
        word = words.pop(0)
        if word[:2] in ("-n", "-c"):
            unit, given = word[1], word[2:] or (words.pop(0) if words else "")
        elif word.startswith("-") and word != "-":
            given = word[1:]
        else:
            paths.append(word)
            continue
        number = whole(given.lstrip("-+") if unit == "n" and given[:1] == "-" else given)
        if number is None:
            raise BadOption(f"{job.args[0]}: bad number or option '{word[:40]}'")
        count = number
    return count, unit, paths


def _head(job: Job) -> int:
    count, unit, paths = _count_words(job)
    data = _given(job, paths)
    job.write(data[:count] if unit == "c" else b"".join(data.splitlines(keepends=True)[:count]))
    return 0


def _tail(job: Job) -> int:
    count, unit, paths = _count_words(job)
    data = _given(job, paths)
    pieces = data.splitlines(keepends=True)
    job.write(data[max(0, len(data) - count) :] if unit == "c" else b"".join(pieces[max(0, len(pieces) - count) :]))
    return 0


def _sort(job: Job) -> int:
    letters, paths = options(job, "nru")
    lines = _given(job, paths).splitlines()
    lines = sorted(set(lines) if "u" in letters else lines)
    if "n" in letters:
        lines.sort(key=lambda line: int(found[0][:18]) if (found := re.match(rb"\s*-?\d+", line)) else 0)
    job.write(b"".join(line + b"\n" for line in (reversed(lines) if "r" in letters else lines)))
    return 0


def _uniq(job: Job) -> int:
    letters, paths = options(job, "cdu")
    for line, same in groupby(_given(job, paths[:1]).splitlines()):
        count = len(list(same))
        if ("d" in letters and count < 2) or ("u" in letters and count > 1):
            continue
        job.write((b"%7d " % count if "c" in letters else b"") + line + b"\n")
    return 0


def _wc(job: Job) -> int:
    """Count lines, words and bytes: one number alone stands as it is, several in columns."""
    letters, paths = options(job, "clmw")
    totals, code = [0, 0, 0, 0], 0
    for path in paths or [""]:
        data = job.read(path) if path not in ("", "-") else job.stdin
        if data is None:
            code = job.fail(f"wc: {path}: No such file or directory")
            continue
        counts = [data.count(b"\n"), len(data.split()), len(data), len(data.decode("utf-8", "replace"))]
        totals = [total + count for total, count in zip(totals, counts, strict=True)]
        job.say(_counted(letters, counts, path))
    if len(paths) > 1:
        job.say(_counted(letters, totals, "total"))
    return code


def _counted(letters: str, counts: list[int], name: str) -> str:
    shown = [count for letter, count in zip("lwcm", counts, strict=True) if letter in (letters or "lwc")]
    numbers = str(shown[0]) if len(shown) == 1 else " ".join(f"{count:>7}" for count in shown)
    return f"{numbers} {name}" if name else numbers


def _cut(job: Job) -> int:
    """Run `cut -d X -f LIST` and `cut -c LIST`."""
    words, delimiter, fields, chars, paths = job.args[1:], "\t", "", "", list[str]()
    while words:
        word = words.pop(0)
        if word[:2] not in ("-d", "-f", "-c", "-b"):
            paths.append(word)
            continue
        value = word[2:] or (words.pop(0) if words else "")
        if word[1] == "d":
            delimiter = value
        elif word[1] == "f":
            fields = value
        else:
            chars = value
    wanted = re.fullmatch(r"(\d{1,6})?(-)?(\d{1,6})?(?:,.*)?", fields or chars)
    if wanted is None or len(delimiter) != 1 or any(path.startswith("-") and path != "-" for path in paths):
        raise BadOption("cut: this phone knows -d X, -f LIST and -c LIST")
    ranges = []
    for piece in (fields or chars).split(","):
        one = re.fullmatch(r"(\d{0,6})(-?)(\d{0,6})", piece)
        if one is None or not (one[1] or one[3]):
            raise BadOption(f"cut: bad list '{(fields or chars)[:40]}'")
        first = int(one[1] or 1)
        ranges.append((first, int(one[3]) if one[3] else (1_000_000 if one[2] else first)))
    for line in _given(job, paths).decode("utf-8", "replace").splitlines():
        pieces = line.split(delimiter) if fields else list(line)
        kept = [piece for at, piece in enumerate(pieces, 1) if any(low <= at <= high for low, high in ranges)]
        job.say(line if fields and len(pieces) == 1 else (delimiter if fields else "").join(kept))
    return 0


def _set_of(text: str) -> str:
    """Put a set of `tr` in full: ranges and the classes that people use."""
    text = unescaped(text.replace("[:upper:]", "A-Z").replace("[:lower:]", "a-z").replace("[:digit:]", "0-9"))
    text = text.replace("[:space:]", " \t\n\r\v\f")
    return re.sub(
        r"(.)-(.)",
        lambda found: "".join(chr(code) for code in range(ord(found[1]), min(ord(found[2]), ord(found[1]) + 256) + 1)),
        text,
        flags=re.S,
    )


def _tr(job: Job) -> int:
    letters, words = options(job, "ds")
    if len(words) != (1 if letters else 2):
        raise BadOption("tr: usage: tr SET SET | tr -d SET | tr -s SET")
    text, first = job.stdin.decode("utf-8", "surrogateescape"), _set_of(words[0])
    if "d" in letters:
        text = text.translate({ord(char): None for char in first})
    elif "s" in letters:
        text = "".join(char for at, char in enumerate(text) if not (at and char in first and text[at - 1] == char))
    else:
        second = _set_of(words[1])
        to = second[: len(first)] + second[-1:] * (len(first) - len(second))
        text = text.translate(dict(zip(map(ord, first), to, strict=False)))
    job.write(text.encode("utf-8", "surrogateescape"))
    return 0


def _seq(job: Job) -> int:
    numbers = [int(word) if re.fullmatch(r"-?\d{1,9}", word) else None for word in job.args[1:]]
    if not 1 <= len(numbers) <= 3 or None in numbers:
        return job.fail("seq: this phone counts whole numbers: seq [FIRST [STEP]] LAST")
    given = [number for number in numbers if number is not None]
    first, step, last = (1, 1, given[0]) if len(given) == 1 else (given[0], given[1] if given[2:] else 1, given[-1])
    counted = range(first, last + (1 if step > 0 else -1), step) if step else range(MAX_NUMBERS + 1)
    if len(counted) > MAX_NUMBERS:
        return job.fail("seq: too many numbers")
    job.write("".join(f"{number}\n" for number in counted).encode())
    return 0


def _basename(job: Job) -> int:
    if len(job.args) not in (2, 3):
        return job.fail("basename: needs one path")
    name = posixpath.basename(job.args[1].rstrip("/")) or "/"
    suffix = job.args[2] if len(job.args) > 2 else ""
    job.say(name.removesuffix(suffix) if name != suffix else name)
    return 0


def _dirname(job: Job) -> int:
    if len(job.args) != 2:
        return job.fail("dirname: needs one path")
    job.say(posixpath.dirname(job.args[1].rstrip("/")) or ("/" if job.args[1].startswith("/") else "."))
    return 0


TEXT_COMMANDS: Final[dict[str, Command]] = {
    "basename": _basename,
    "cut": refusing(_cut),
    "dirname": _dirname,
    "egrep": refusing(_grep, 2),
    "fgrep": refusing(_grep, 2),
    "grep": refusing(_grep, 2),
    "head": refusing(_head),
    "seq": _seq,
    "sort": refusing(_sort),
    "tail": refusing(_tail),
    "tr": refusing(_tr),
    "uniq": refusing(_uniq),
    "wc": refusing(_wc),
}
