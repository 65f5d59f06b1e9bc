"""Fingers and keys: gives each input to what is really there at that moment.

Every method returns how many ms the input takes on a phone; the caller waits so long before it answers. This file must
never know who sent the input or how.
"""

from __future__ import annotations

from droidpilot.virtual.hierarchy import SeenNode, under
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.views import TextField
from droidpilot.virtual.windows import NAVIGATION_BAR, Window

SLOP = 24
"""A finger that moves less than this (px) does not scroll."""
LONG_PRESS_MS = 500
HOME_GESTURE = 300
"""A swipe up from the bottom edge that is longer (px) goes home."""
MAX_POINTS = 200
DIGITS = {code: str(code - 7) for code in range(7, 17)}
LETTERS = {code: chr(ord("a") + code - 29) for code in range(29, 55)}
SIGNS = {55: ",", 56: ".", 62: " ", 69: "-", 70: "=", 76: "/", 77: "@", 81: "+"}
CHARACTERS = DIGITS | LETTERS | SIGNS
KEY_HOME, KEY_BACK, KEY_POWER, KEY_TAB, KEY_ENTER, KEY_DELETE = 3, 4, 26, 61, 66, 67
KEY_ESCAPE, KEY_RECENTS, KEY_SLEEP, KEY_WAKEUP, KEY_PASTE = 111, 187, 223, 224, 279


class Touch:
    """Executes inputs on one phone, or on the scene it shows."""

    def __init__(self, phone: Phone) -> None:
        self._phone = phone
        self._down: tuple[float, float, int] | None = None
        self._last: tuple[float, float] = (0.0, 0.0)

    def tap(self, x: float, y: float) -> int:
        """Tap a point."""
        with self._phone.lock:
            scene = self._phone.scene
            if scene is not None:
                on = scene.tap(x, y) if self._phone.screen_on else None
                self._phone.changed()
            else:
                on = self._click(x, y)
            self._phone.inputs.note("tap", x=int(x), y=int(y), on=on)
        return 0

    def long_press(self, x: float, y: float, lasts_ms: int) -> int:
        """Hold a point; from half a second on it is a long press."""
        if lasts_ms < LONG_PRESS_MS:
            return self.tap(x, y)
        with self._phone.lock:
            scene = self._phone.scene
            if scene is not None:
                on = scene.long_press(x, y, lasts_ms) if self._phone.screen_on else None
                self._phone.changed()
            else:
                on = self._hold(x, y)
            self._phone.inputs.note("long_press", x=int(x), y=int(y), ms=lasts_ms, on=on)
        return self._time(lasts_ms)

    def _hold(self, x: float, y: float) -> str | None:
        _, chain = self._hit(x, y)
        node = next((n for n in chain if n.view.is_clickable or n.view.on_long_click is not None), None)
        if node is None or not node.view.is_enabled or node.view.on_long_click is None:
            # A view without a long press listener clicks when the finger goes up.
            return self._click(x, y)
        node.view.on_long_click()
        self._phone.changed()
        return name_of(node)

    def swipe(self, points: list[tuple[float, float]], lasts_ms: int, *, kind: str = "swipe") -> int:
        """Move a finger along points, evenly; what scrolls under the first point follows it."""
        (x1, y1), (x2, y2) = points[0], points[-1]
        if len(points) == 1 or max(abs(x - x1) + abs(y - y1) for x, y in points) < SLOP:
            return self.long_press(x1, y1, lasts_ms)
        with self._phone.lock:
            took = self._time(lasts_ms)
            scene = self._phone.scene
            if scene is not None:
                on = scene.swipe(points, lasts_ms) if self._phone.screen_on else None
                self._phone.changed()
            else:
                on = self._drag((x1, y1), (x2, y2), took)
            facts = {"x1": int(x1), "y1": int(y1), "x2": int(x2), "y2": int(y2), "ms": lasts_ms, "on": on}
            self._phone.inputs.note(kind, **facts)
        return took

    def _drag(self, begin: tuple[float, float], end: tuple[float, float], took: int) -> str | None:
        """Do what a swipe does: a gesture of the system at an edge, else it scrolls."""
        phone = self._phone
        _, chain = self._hit(*begin)
        up = begin[1] - end[1]
        if begin[1] >= phone.display.rect.bottom - NAVIGATION_BAR and up > HOME_GESTURE:
            phone.home()
            return "home gesture"
        return self._scroll(chain, int(up), phone.now_ms(), took)

    def finger(self, action: int, x: float, y: float) -> bool:
        """Take one raw event: 0 down, 1 up, 2 move. A move scrolls at once; an up without one is a tap."""
        with self._phone.lock:
            now = self._phone.now_ms()
            if action == 0:
                self._down, self._last = (x, y, now), (x, y)
                return True
            if self._down is None or action not in (1, 2):
                return False
            x0, y0, since = self._down
            moved = abs(x - x0) + abs(y - y0) >= SLOP or self._last != (x0, y0)
            if moved and self._last != (x, y) and self._phone.scene is None:
                on = self._scroll(self._hit(x0, y0)[1], int(self._last[1] - y), now, 0)
                self._phone.inputs.note("move", x=int(x), y=int(y), on=on)
                self._last = (x, y)
            if action == 1:
                self._down = None
                if moved and self._phone.scene is not None:
                    self.swipe([(x0, y0), (x, y)], now - since, kind="move")
                if not moved:
                    held = now - since
                    self.long_press(x0, y0, held) if held >= LONG_PRESS_MS else self.tap(x0, y0)
            return True

    def key(self, code: int, *, is_long: bool = False) -> int:
        """Press a key by its Android key code."""
        phone = self._phone
        with phone.lock:
            phone.look()
            phone.inputs.note("key", code=code, long=is_long)
            if code in (KEY_POWER, KEY_SLEEP, KEY_WAKEUP):
                self.power(code == KEY_WAKEUP or (code == KEY_POWER and not phone.screen_on))
            elif not phone.screen_on:
                return 0
            elif phone.scene is not None:
                phone.scene.key(code)
                phone.changed()
            elif code == KEY_HOME:
                phone.home()
            elif code in (KEY_BACK, KEY_ESCAPE):
                phone.back()
            elif code == KEY_RECENTS:
                phone.show_recents()
            else:
                self._edit_key(code)
        return 0

    def power(self, is_on: bool) -> None:
        """Switch the screen on or off."""
        self._phone.screen_on = is_on
        self._phone.changed()

    def _edit_key(self, code: int) -> None:
        window = self._phone.top
        field = window.focus
        if code == KEY_TAB:
            fields = [
                n.view.edits for root in self._phone.look().roots for n in root.walk() if n.view.edits is not None
            ]
            if fields:
                window.focus = fields[(fields.index(field) + 1) % len(fields)] if field in fields else fields[0]
        elif code == KEY_ENTER and window.on_enter is not None:
            window.on_enter()
        elif field is not None and code == KEY_DELETE:
            field.put(field.text[:-1])
        elif field is not None and code == KEY_PASTE:
            field.put(field.text + self._phone.clipboard)
        elif field is not None and code in CHARACTERS:
            field.put(field.text + CHARACTERS[code])
        self._phone.changed()

    def type_text(self, text: str, *, kind: str = "text") -> bool:
        """Add text at the cursor of the focused field; tell whether there is one."""
        with self._phone.lock:
            scene = self._phone.scene
            if scene is not None:
                self._phone.inputs.note(kind, chars=len(text), on="scene")
                is_done = self._phone.screen_on and scene.type_text(text)
                self._phone.changed()
                return is_done
            self._phone.look()
            field = self._phone.top.focus
            self._phone.inputs.note(kind, chars=len(text), on=field.name if field is not None else None)
            if field is None or not self._phone.screen_on:
                return False
            field.put(field.text + text)
            self._phone.changed()
            return True

    def clear_focused(self) -> bool:
        """Empty the focused field; tell whether there is one."""
        with self._phone.lock:
            scene = self._phone.scene
            if scene is not None:
                self._phone.inputs.note("clear_text", on="scene")
                is_done = self._phone.screen_on and scene.clear_text()
                self._phone.changed()
                return is_done
            self._phone.look()
            field = self._phone.top.focus
            if field is None:
                return False
            self._phone.inputs.note("clear_text", on=field.name)
            field.put("")
            self._phone.changed()
            return True

    def set_text(self, node: SeenNode, text: str) -> bool:
        """Replace the text of a field, as the accessibility action does; tell whether it can be edited."""
        scene = self._phone.scene
        if scene is not None:
            with self._phone.lock:
                self._phone.inputs.note("set_text", chars=len(text), on=name_of(node))
                is_done = scene.set_text(node, text)
                self._phone.changed()
            return is_done
        field = node.view.edits
        if field is None or field.refuses_set_text or not node.view.is_enabled:
            return False
        with self._phone.lock:
            field.put(text)
            self._phone.top.focus = field
            self._phone.inputs.note("set_text", chars=len(text), on=name_of(node))
            self._phone.changed()
        return True

    def _time(self, lasts_ms: int) -> int:
        return lasts_ms if self._phone.transition_ms > 0 else 0

    def _hit(self, x: float, y: float) -> tuple[Window | None, list[SeenNode]]:
        """Return the topmost window that takes a touch at the point and its nodes there, topmost first."""
        look = self._phone.look()
        if not self._phone.screen_on:
            return None, []
        for shown in look.windows:
            chain = under(shown.root, x, y)
            if chain or shown.window.is_modal:
                # A main thread that stands still takes nothing.
                return (None, []) if shown.window.package in self._phone.hung else (shown.window, chain)
        return None, []

    def _click(self, x: float, y: float) -> str | None:
        """Click the topmost node that takes touches; a disabled one takes them and does nothing."""
        phone = self._phone
        window, chain = self._hit(x, y)
        if window is None:
            return None
        if not chain:
            if window.is_dialog and window.closes_outside:
                phone.close(window)
                return "outside the dialog"
            return None
        node = next((n for n in chain if n.view.is_clickable or n.view.on_touch is not None), None)
        if node is None:
            return None
        if node.view.is_enabled:
            if node.view.edits is not None:
                window.focus = node.view.edits
            if node.view.on_click is not None:
                node.view.on_click()
            if node.view.on_touch is not None:
                node.view.on_touch(int(x) - node.view.bounds.left, int(y) - node.view.bounds.top)
            phone.changed()
        return name_of(node)

    def _scroll(self, chain: list[SeenNode], delta: int, now: int, took: int) -> str | None:
        node = next((n for n in chain if n.is_scrollable), None)
        if node is None or node.view.scroll is None or delta == 0:
            return None
        node.view.scroll.move(delta, now_ms=now, lasts_ms=took)
        self._phone.moving_until(now + took)
        self._phone.changed()
        return name_of(node)


def name_of(node: SeenNode) -> str:
    """Return a short name of a node for the input log: its id and label, never what was typed."""
    words = next((n.view.text or n.view.desc for n in node.walk() if n.view.text or n.view.desc), "")
    return f"{node.view.id} {words}".strip()[:120]


def focused_field(phone: Phone) -> TextField | None:
    """Return the field that has focus."""
    with phone.lock:
        phone.look()
        return phone.top.focus
