"""Scrolling a list of 300 rows to its end: what the diffs cost, and what whole screens would have cost."""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.clock import ManualClock
from droidpilot.screens.diff import diff_of
from droidpilot.screens.refs import RefBook
from droidpilot.screens.render import frame_news, framed
from droidpilot.screens.screen import Screen
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.touch import Touch
from tests.bench.token_count import tokens
from tests.screens.dump_writer import El, write
from tests.screens.screen_maker import screen_of

ROWS = 300
#: Rows in sight, on a display of 2,400 px: a list of names and numbers.
IN_SIGHT = 20


@dataclass(frozen=True, slots=True)
class Scrolled:
    """What whoever asks was told after the first screen, in tokens."""

    steps: int
    diffs: int
    wholes: int

    @property
    def share(self) -> float:
        return self.diffs / self.wholes


def scrolled(step: int) -> Scrolled:
    """Scroll `step` rows at a time to the end of the list; a diff that is no better is sent as the whole screen."""
    book = RefBook()
    before = screen_of(_look(0), book=book)
    steps = diffs = wholes = 0
    first = 0
    while first < ROWS - IN_SIGHT:
        first = min(first + step, ROWS - IN_SIGHT)
        after = screen_of(_look(first), book=book)
        cost = _cost(before, after)
        steps, diffs, wholes = steps + 1, diffs + cost[0], wholes + cost[1]
        before = after
    return Scrolled(steps, diffs, wholes)


def _cost(before: Screen, after: Screen) -> tuple[int, int]:
    """Return the tokens of what is told of `after`, and of the whole of it."""
    whole = framed(after).text
    diff = diff_of(before, after)
    return tokens(whole if diff is None else frame_news(diff.text)), tokens(whole)


def _look(first: int) -> bytes:
    rows = []
    for place in range(IN_SIGHT):
        number, top = first + place, 300 + place * 100
        rows.append(
            El(
                cls="android.widget.LinearLayout",
                bounds=(0, top, 1080, top + 100),
                flags="clickable",
                children=[
                    El(text=f"Contact {number}", bounds=(100, top, 900, top + 50)),
                    El(text=f"+49 30 {7000 + number * 37 % 1000}", bounds=(100, top + 50, 900, top + 100)),
                ],
            )
        )
    bar = [
        El(desc="Navigate up", flags="clickable", bounds=(0, 60, 140, 240)),
        El(text="Contacts", bounds=(160, 60, 700, 240)),
        El(desc="Search", flags="clickable", bounds=(800, 60, 940, 240)),
        El(desc="More options", flags="clickable", bounds=(940, 60, 1080, 240)),
    ]
    sheet = El(
        cls="androidx.recyclerview.widget.RecyclerView",
        bounds=(0, 300, 1080, 2300),
        flags="scrollable",
        children=rows,
    )
    return write(El(children=[*bar, sheet]))


def scrolled_on_phone(share: float) -> Scrolled:
    """Scroll all apps in the virtual phone's Settings to the end; the finger moves `share` of the list's height."""
    phone = Phone(transition_ms=0, clock=ManualClock())
    touch, book = Touch(phone), RefBook()

    def look() -> Screen:
        return screen_of(phone.dump(50).encode(), book=book)

    phone.start("com.android.settings")
    for label in ("Apps", "All apps"):
        touch.tap(*next(node for node in look().nodes if node.text == label).bounds.center)
    before = look()
    area = next(node for node in before.nodes if node.scrollable).bounds
    x, bottom = area.center[0], area.bottom - area.height // 8
    steps = diffs = wholes = 0
    while True:
        touch.swipe([(x, bottom), (x, bottom - int(area.height * share))], 300)
        after = look()
        if after.fingerprint == before.fingerprint:
            return Scrolled(steps, diffs, wholes)
        cost = _cost(before, after)
        steps, diffs, wholes = steps + 1, diffs + cost[0], wholes + cost[1]
        before = after
