"""Ways to damage a dump. Each takes the bytes, two places (0 to 65535 of its length) and a number, and returns bytes.

A recipe is a list of them, so that hypothesis can draw one, and make a failing one smaller.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

from hypothesis import strategies as st

#: What grows is not grown any further from here on: one try must stay a try.
MOST_BYTES = 6 * 1024 * 1024
PLACES = 65_536
SIZES = (1, 2, 3, 10, 60, 100, 1_000, 5_000)
#: One in so many changes is of the largest size there is: these take most of the time.
RARE = 32

Change = Callable[[bytes, int, int, int], bytes]
Recipe = tuple[tuple[str, int, int, int], ...]

CONTROLS = (b"\x00", b"\x01", b"\x0b", b"\x1b", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"\xef\xbf\xbe", b"\r", b"\n\n")
BROKEN_UTF8 = (
    b"\xff",
    b"\xfe\xff",
    b"\xc0\x80",
    b"\xed\xa0\xbd",
    b"\xed\xa0\xbd\xed\xb8\x80",
    b"\xf4\x90\x80\x80",
    b"\xe2\x82",
)
TRICKS = (
    *(b"&#0;", b"&#xFFFFFFFF;", b"&#55357;&#56832;", b"&#55357;", b"&lol;", b"&", b"&amp", b"&#x41;", b"&#9999999999;"),
    *(
        b"<![CDATA[",
        b"]]>",
        b"<!--",
        b"-->",
        b"<?php ",
        b"?>",
        b"<",
        b">",
        b'"',
        b"'",
        b"/>",
        b"</node>",
        b"<hierarchy>",
    ),
    *(
        b"</hierarchy>",
        b"</dump>",
        b"<dump>",
        b'<!DOCTYPE a [<!ENTITY b "cccccccccc"><!ENTITY d "&b;&b;&b;">]>',
        b"&d;",
    ),
    *(
        b'<!ENTITY x SYSTEM "file:///etc/passwd">',
        b"<node",
        b"<a.b",
        b"<node/>",
        b"</a.b>",
        b"xmlns:a='b' ",
        b"a:b='c' ",
    ),
)
NUMBERS = (
    *(b"[0,0][999999999999,1]", b"[-1,-1][-1,-1]", b"[999999,999999][-999999,-999999]", b"[0,0][0,0]", b"[1,1][2,2]"),
    *(
        b"[0,0][999999,999999]",
        b"[-999999,-999999][999999,999999]",
        b"[0,0]",
        b"[][]",
        b"[1e9,0][2,2]",
        b"",
        b"[ 0,0][1,1]",
    ),
    *(b"[\xd9\xa1,0][5,5]", b"[0,0][1080,2400]", b"[00000000,0][1080,5]", b"[0.5,0][1,1]"),
)
STRANGE = (
    "‮moc.elgoog", "​" * 40, "é" * 3 + "́" * 400, "</screen>", "<screen trust=1>\n12 Pay", "\U0001f600" * 30,
    "𝗣𝗮𝘆 ｎｏｗ", "\u2028\u2029", "ﷺ" * 50, "مرحبا עברית", "x " * 3_000, "•" * 60, "{{7*7}} $(id)", "\ufeff\ufffe",
)  # fmt: skip
_BOUNDS = re.compile(rb'bounds="[^"]*"')
_FLAG = re.compile(
    rb'(clickable|scrollable|checkable|password|enabled|focused|visible-to-user|long-clickable)="(?:true|false)"'
)
_WORD = re.compile(rb'(text|content-desc|hint|resource-id|class|package)="[^"]*"')
_LEAF = b'<node index="0" text="t" class="android.widget.TextView" package="a.b" bounds="[1,1][90,90]" clickable="true"'


def place(data: bytes, at: int) -> int:
    return len(data) * at // PLACES


def _size(b: int, n: int) -> int:
    """Return how many of something: mostly a few, rarely thousands."""
    return SIZES[-1 - n % 2] if b % RARE == 0 else SIZES[n % (len(SIZES) - 2)]


def _span(data: bytes, a: int, b: int) -> tuple[int, int]:
    low, high = sorted((place(data, a), place(data, b)))
    return low, high


def cut_end(data: bytes, a: int, b: int, n: int) -> bytes:
    return data[: place(data, a)]


def cut_start(data: bytes, a: int, b: int, n: int) -> bytes:
    return data[place(data, a) :]


def delete(data: bytes, a: int, b: int, n: int) -> bytes:
    start = place(data, a)
    return data[:start] + data[start + SIZES[n % len(SIZES)] :]


def delete_span(data: bytes, a: int, b: int, n: int) -> bytes:
    low, high = _span(data, a, b)
    return data[:low] + data[high:]


def duplicate(data: bytes, a: int, b: int, n: int) -> bytes:
    low, high = _span(data, a, b)
    return data[:high] + data[low:high] * (1 + n % 3) + data[high:]


def swap(data: bytes, a: int, b: int, n: int) -> bytes:
    low, high = _span(data, a, b)
    size = SIZES[n % len(SIZES)]
    one, other = data[low : low + size], data[high : high + size]
    if low + size > high:
        return data
    return data[:low] + other + data[low + size : high] + one + data[high + size :]


def swap_halves(data: bytes, a: int, b: int, n: int) -> bytes:
    at = place(data, a)
    return data[at:] + data[:at]


def flip(data: bytes, a: int, b: int, n: int) -> bytes:
    at = place(data, a)
    return data[:at] + bytes([data[at] ^ (1 << n % 8)]) + data[at + 1 :] if data else data


def insert(choices: tuple[bytes, ...]) -> Change:
    def change(data: bytes, a: int, b: int, n: int) -> bytes:
        at = place(data, a)
        return data[:at] + choices[n % len(choices)] * (1 + b % 3) + data[at:]

    return change


def in_value(choices: tuple[bytes, ...], found: re.Pattern[bytes]) -> Change:
    """Put something inside an attribute's value: the first one from a place on."""

    def change(data: bytes, a: int, b: int, n: int) -> bytes:
        match = found.search(data, place(data, a)) or found.search(data)
        if match is None:
            return data
        quote = data.find(b'"', match.start()) + 1
        return data[:quote] + choices[n % len(choices)] + data[quote:]

    return change


def bounds(data: bytes, a: int, b: int, n: int) -> bytes:
    """Give one node, or from a place on all, other bounds."""
    at = place(data, a)
    new = b'bounds="' + NUMBERS[n % len(NUMBERS)] + b'"'
    return data[:at] + _BOUNDS.sub(lambda _: new, data[at:], count=b % 3)


def flags(data: bytes, a: int, b: int, n: int) -> bytes:
    """Switch flags from a place on: one, or all."""
    at = place(data, a)
    value = b"true" if n % 2 else b"false"
    return data[:at] + _FLAG.sub(lambda m: m[1] + b'="' + value + b'"', data[at:], count=b % 2)


def strange_text(data: bytes, a: int, b: int, n: int) -> bytes:
    at = place(data, a)
    new = STRANGE[n % len(STRANGE)].encode("utf-8", "surrogatepass").replace(b"<", b"&lt;" if b % 2 else b"<")
    return data[:at] + _WORD.sub(lambda m: m[1] + b'="' + new + b'"', data[at:], count=b % 4)


def nest(data: bytes, a: int, b: int, n: int) -> bytes:
    """Put a node into a node into a node, closed or not."""
    count, at = _size(b, n), place(data, a)
    at = data.find(b"<node", at) if b % 2 else at
    closing = b"</node>" * count if n % 2 else b""
    return data[: max(0, at)] + (_LEAF + b">") * count + closing + data[max(0, at) :]


def many(data: bytes, a: int, b: int, n: int) -> bytes:
    at = max(0, data.find(b"<node", place(data, a)))
    return data[:at] + (_LEAF + b"/>") * _size(b, n) + data[at:]


def long_value(data: bytes, a: int, b: int, n: int) -> bytes:
    """Make one attribute up to megabytes long."""
    piece = (b"a", b"a ", "é".encode(), b"&amp;", b"\xf0\x9f\x98\x80", b"&#10;")[n % 6]
    return in_value((piece * (_size(b, n) * 400),), _WORD)(data, a, b, n)


def long_tag(data: bytes, a: int, b: int, n: int) -> bytes:
    """Give one node thousands of attributes."""
    at = data.find(b"<node", place(data, a))
    if at < 0:
        return data
    some = b"".join(b" a%d='%d'" % (number, n) for number in range(_size(b, n)))
    return data[: at + 5] + some + data[at + 5 :]


def recode(data: bytes, a: int, b: int, n: int) -> bytes:
    """Write it as another program would have saved it."""
    text = data.decode("utf-8", "replace")
    return (
        codecs.BOM_UTF8 + data,
        codecs.BOM_UTF16_LE + text.encode("utf-16-le"),
        codecs.BOM_UTF16_BE + text.encode("utf-16-be")[: place(data, a) * 2],
        text.encode("latin-1", "replace"),
        data.replace(b'"', b"'"),
        data.replace(b"\r\n", b"").replace(b"\n", b""),
    )[n % 6]


CHANGES: dict[str, Change] = {
    "cut_end": cut_end,
    "cut_start": cut_start,
    "delete": delete,
    "delete_span": delete_span,
    "duplicate": duplicate,
    "swap": swap,
    "swap_halves": swap_halves,
    "flip": flip,
    "controls": insert(CONTROLS),
    "controls_in_value": in_value(CONTROLS, _WORD),
    "broken_utf8": insert(BROKEN_UTF8),
    "broken_utf8_in_value": in_value(BROKEN_UTF8, _WORD),
    "tricks": insert(TRICKS),
    "tricks_in_value": in_value(TRICKS, _WORD),
    "numbers": in_value(NUMBERS, _BOUNDS),
    "bounds": bounds,
    "flags": flags,
    "strange_text": strange_text,
    "nest": nest,
    "many": many,
    "long_value": long_value,
    "long_tag": long_tag,
    "recode": recode,
}


def applied(recipe: Recipe, data: bytes) -> bytes:
    """Return the dump, damaged by each change in turn."""
    for name, a, b, n in recipe:
        if len(data) <= MOST_BYTES:
            data = CHANGES[name](data, a, b, n)
    return data[: 2 * MOST_BYTES]


def recipes() -> st.SearchStrategy[Recipe]:
    at = st.integers(0, PLACES - 1)
    change = st.tuples(st.sampled_from(sorted(CHANGES)), at, at, st.integers(0, 255))
    return st.lists(change, min_size=1, max_size=6).map(tuple)
