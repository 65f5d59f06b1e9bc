"""The small drawings: icons of the apps, of the status bar and on buttons, as marks. Only looks.

This file must never know a view or a window.
"""

from __future__ import annotations

from math import cos, pi, sin

from droidpilot.virtual.drawing.marks import WHITE, Color, Fill, Mark, Outline, Stroke, Words
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.windows import STATUS_BAR

APP_COLORS: tuple[Color, ...] = ((58, 91, 169), (28, 124, 108), (164, 78, 46), (118, 72, 154), (150, 58, 92))
SETTINGS_COLOR: Color = (92, 98, 112)
MESSAGES_COLOR: Color = (30, 110, 220)
CONTACTS_COLOR: Color = (20, 128, 96)


def disc(x: int, y: int, radius: int, color: Color, clip: Rect) -> Fill:
    """Make a disc around a point."""
    return Fill(Rect(x - radius, y - radius, x + radius, y + radius), color, clip, radius)


def arrow_left(box: Rect, color: Color, clip: Rect) -> list[Mark]:
    """Make the arrow of "Navigate up"."""
    x, y = (box.left + box.right) // 2, (box.top + box.bottom) // 2
    return [
        Stroke(((x - 26, y), (x + 28, y)), color, clip, 7),
        Stroke(((x, y - 28), (x - 28, y), (x, y + 28)), color, clip, 7),
    ]


def arrow_send(box: Rect, color: Color, clip: Rect) -> list[Mark]:
    """Make the arrow of a Send button."""
    x, y = (box.left + box.right) // 2, (box.top + box.bottom) // 2
    return [
        Stroke(((x, y + 28), (x, y - 26)), color, clip, 8),
        Stroke(((x - 26, y - 2), (x, y - 28), (x + 26, y - 2)), color, clip, 8),
    ]


def round_button(box: Rect, desc: str, ground: Color, ink: Color, clip: Rect) -> list[Mark]:
    """Make a round button: with a plus where it adds something, else with the first letter of what it does."""
    x, y = (box.left + box.right) // 2, (box.top + box.bottom) // 2
    made: list[Mark] = [disc(x, y, 70, ground, clip)]
    if desc.startswith(("Add", "Create", "New")):
        made.append(Stroke(((x - 28, y), (x + 28, y)), ink, clip, 8))
        made.append(Stroke(((x, y - 28), (x, y + 28)), ink, clip, 8))
    else:
        made.append(Words(desc[:1], box, ink, clip, 60, 1, "center", is_middle=True))
    return made


def radio(box: Rect, color: Color, clip: Rect, *, is_on: bool) -> list[Mark]:
    """Make a radio button: a ring, with a dot in it where it is chosen."""
    x, y = (box.left + box.right) // 2, (box.top + box.bottom) // 2
    ring = Outline(Rect(x - 28, y - 28, x + 28, y + 28), color, clip, 28, 5)
    return [ring, disc(x, y, 15, color, clip)] if is_on else [ring]


def painted_box(inner: Rect, words: str, origin: Rect, ground: Color, ink: Color, clip: Rect) -> list[Mark]:
    """Make what a canvas at `origin` paints into one of its boxes, whose place in the canvas is given."""
    box = Rect(inner.left + origin.left, inner.top + origin.top, inner.right + origin.left, inner.bottom + origin.top)
    made: list[Mark] = [Fill(box, ground, clip, min(30, box.height // 2))]
    if words:
        made.append(Words(words, box, ink, clip, 60, 1, "center", is_middle=True))
    return made


def tick(box: Rect, color: Color, clip: Rect) -> list[Mark]:
    """Make the tick of a checked box."""
    points = ((box.left + 11, box.top + 26), (box.left + 21, box.top + 36), (box.left + 40, box.top + 14))
    return [Stroke(points, color, clip, 6)]


def app_icon(label: str, box: Rect, clip: Rect) -> list[Mark]:
    """Make the icon of an app: a round ground with a sign, or with its first letter."""
    x, y, r = (box.left + box.right) // 2, (box.top + box.bottom) // 2, box.width // 2
    known = {"Settings": _gear, "Messages": _speech, "Contacts": _person}.get(label)
    if known is not None:
        return known(x, y, r, clip)
    color = APP_COLORS[sum(map(ord, label)) % len(APP_COLORS)]
    letter = Words(label[:1].upper(), box, WHITE, clip, r, 1, "center", is_middle=True)
    return [disc(x, y, r, color, clip), letter]


def _gear(x: int, y: int, r: int, clip: Rect) -> list[Mark]:
    marks: list[Mark] = [disc(x, y, r, SETTINGS_COLOR, clip)]
    inner, outer = r * 34 // 100, r * 56 // 100
    for number in range(8):
        angle = number * pi / 4 + pi / 8
        begin = (x + round(inner * cos(angle)), y + round(inner * sin(angle)))
        end = (x + round(outer * cos(angle)), y + round(outer * sin(angle)))
        marks.append(Stroke((begin, end), WHITE, clip, r * 22 // 100))
    return [*marks, disc(x, y, r * 42 // 100, WHITE, clip), disc(x, y, r * 19 // 100, SETTINGS_COLOR, clip)]


def _speech(x: int, y: int, r: int, clip: Rect) -> list[Mark]:
    w, h = r * 52 // 100, r * 38 // 100
    marks: list[Mark] = [disc(x, y, r, MESSAGES_COLOR, clip)]
    marks.append(Fill(Rect(x - w, y - h - r // 10, x + w, y + h - r // 10), WHITE, clip, r * 16 // 100))
    marks.append(Stroke(((x - w + r // 5, y + h - r // 5), (x - w + r // 5, y + h + r // 12)), WHITE, clip, r // 6))
    for dy in (-r // 4, 0):
        marks.append(Stroke(((x - w // 2, y + dy), (x + w // 2, y + dy)), MESSAGES_COLOR, clip, max(4, r // 12)))
    return marks


def _person(x: int, y: int, r: int, clip: Rect) -> list[Mark]:
    w = r * 50 // 100
    body = Rect(x - w, y + r * 12 // 100, x + w, y + r * 58 // 100)
    return [
        disc(x, y, r, CONTACTS_COLOR, clip),
        disc(x, y - r * 22 // 100, r * 26 // 100, WHITE, clip),
        Fill(body, WHITE, clip, r * 22 // 100),
    ]


def status_icons(color: Color, screen: Rect, *, has_wifi: bool, is_airplane: bool) -> list[Mark]:
    """Make the icons at the right end of the status bar: network, then the battery."""
    middle = STATUS_BAR // 2
    right = screen.right - 66
    battery = Rect(right - 28, middle - 22, right, middle + 22)
    marks: list[Mark] = [
        Outline(battery, color, screen, 7, 4),
        Fill(Rect(battery.left + 8, battery.top - 6, battery.right - 8, battery.top), color, screen, 2),
        Fill(Rect(battery.left + 7, battery.top + 12, battery.right - 7, battery.bottom - 7), color, screen, 2),
    ]
    x = battery.left - 24
    if is_airplane:
        marks += [
            Stroke(((x - 44, middle), (x, middle)), color, screen, 6),
            Stroke(((x - 30, middle - 20), (x - 14, middle), (x - 30, middle + 20)), color, screen, 6),
        ]
    else:
        for bar in range(4):
            left = x - 44 + bar * 12
            marks.append(Fill(Rect(left, middle + 16 - bar * 9, left + 8, middle + 22), color, screen, 3))
    if has_wifi:
        x -= 96
        for radius in (34, 22):
            points = tuple(
                (x + round(radius * cos(angle)), middle + 18 - round(radius * sin(angle)))
                for angle in (pi / 4 + step * pi / 16 for step in range(9))
            )
            marks.append(Stroke(points, color, screen, 6))
        marks.append(disc(x, middle + 14, 6, color, screen))
    return marks
