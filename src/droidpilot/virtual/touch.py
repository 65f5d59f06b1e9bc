"""Fingers and keys: gives each input to what is really there at that moment.

Every method returns how many ms the input takes on a phone; the caller waits so long before it answers. This file must
never know who sent the input or how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from droidpilot.virtual.ui.hierarchy import SeenNode, under
from droidpilot.virtual.ui.views import TextField
from droidpilot.virtual.ui.windows import NAVIGATION_BAR, STATUS_BAR, Window

if TYPE_CHECKING:
    from droidpilot.virtual.phone import Phone

SLOP = 24
"""A finger that moves less than this (px) does not scroll."""
LONG_PRESS_MS = 500
HOME_GESTURE = 300
"""A swipe up from the bottom edge that is longer (px) goes home."""
MAX_POINTS = 200
SHADE_GESTURE = 300
"""A swipe down from the status bar that is longer (px) opens the shade; one up on the lock screen opens that."""
BACK_EDGE, BACK_GESTURE = 40, 150
"""A swipe inward from a side edge goes back. Both in px."""
KEY_HOME, KEY_BACK, KEY_POWER = 3, 4, 26
KEY_ESCAPE, KEY_RECENTS, KEY_SLEEP, KEY_WAKEUP = 111, 187, 223, 224
FIRST_SDK_WITHOUT_BACK_KEY = 36
"""From Android 16 on an app that targets it hears of back only as a gesture. Source: predictive back, Android 16."""


class Touch:
    """Executes inputs on one phone, or on the scene it shows."""

    def __init__(self, phone: Phone, *, by: str | None = None) -> None:
        self._phone = phone
        self._by = by
        """Whose fingers these are, where they are not those of the program over ADB."""
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
            self._note("tap", x=int(x), y=int(y), on=on)
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
            self._note("long_press", x=int(x), y=int(y), ms=lasts_ms, on=on)
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
            self._note(kind, **facts)
        return took

    def _drag(self, begin: tuple[float, float], end: tuple[float, float], took: int) -> str | None:
        """Do what a swipe does: a gesture of the system at an edge, else it scrolls."""
        phone = self._phone
        _, chain = self._hit(*begin)
        up = begin[1] - end[1]
        screen, top = phone.display.rect, phone.top
        if not phone.screen_on:
            return None
        if top.kind == "keyguard":
            if up > SHADE_GESTURE:
                phone.later(phone.keyguard.swiped_up)
            return "lock screen"
        if begin[1] >= screen.bottom - NAVIGATION_BAR and up > HOME_GESTURE:
            phone.home()
            return "home gesture"
        if begin[1] < STATUS_BAR and -up > SHADE_GESTURE:
            phone.later(phone.shade.open)
            return "notification shade"
        across = end[0] - begin[0]
        is_from_left = begin[0] < BACK_EDGE and across > BACK_GESTURE
        if (is_from_left or (begin[0] >= screen.right - BACK_EDGE and -across > BACK_GESTURE)) and abs(across) > abs(
            up
        ):
            phone.back()
            return "back gesture"
        if top.kind == "shade" and up > SHADE_GESTURE and not any(node.is_scrollable for node in chain):
            phone.later(phone.shade.close)
            return "notification shade"
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
                self._note("move", x=int(x), y=int(y), on=on)
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
            self._note("key", code=code, long=is_long)
            if code in (KEY_POWER, KEY_SLEEP, KEY_WAKEUP):
                self.power(code == KEY_WAKEUP or (code == KEY_POWER and not phone.screen_on))
            elif not phone.screen_on:
                return 0
            elif phone.scene is not None:
                phone.scene.key(code)
                phone.changed()
            elif code == KEY_HOME:
                phone.home()
            elif code == KEY_RECENTS:
                phone.show_recents()
            elif phone.top.package in phone.failing.hung:
                phone.failing.ignored(phone.top.package)
            elif code in (KEY_BACK, KEY_ESCAPE):
                self._back_key()
            else:
                phone.edit_key(code)
        return 0

    def _back_key(self) -> None:
        phone = self._phone
        is_deaf = phone.top.ignores_back_key and phone.sdk >= FIRST_SDK_WITHOUT_BACK_KEY
        if phone.stack.has_keyboard or not is_deaf:
            phone.back()

    def power(self, is_on: bool) -> None:
        """Switch the screen on or off; a phone with a lock is locked then."""
        with self._phone.lock:
            if not is_on and self._phone.screen_on:
                self._phone.keyguard.lock()
            self._phone.screen_on = is_on
            self._phone.changed()

    def type_text(self, text: str, *, kind: str = "text") -> bool:
        """Add text at the cursor of the focused field; tell whether there is one."""
        with self._phone.lock:
            scene = self._phone.scene
            if scene is not None:
                self._note(kind, chars=len(text), on="scene")
                is_done = self._phone.screen_on and scene.type_text(text)
                self._phone.changed()
                return is_done
            self._phone.look()
            field = self._phone.top.focus
            self._note(kind, chars=len(text), on=field.name if field is not None else None)
            # The lock's field knows keys only: no keyboard serves it, and nothing is pasted into it.
            is_deaf = self._phone.top.kind == "keyguard" and kind != "text"
            if (
                field is None
                or is_deaf
                or not self._phone.screen_on
                or self._phone.top.package in self._phone.failing.hung
            ):
                return False
            field.put(field.text + text)
            self._phone.changed()
            return True

    def clear_focused(self) -> bool:
        """Empty the focused field; tell whether there is one."""
        with self._phone.lock:
            scene = self._phone.scene
            if scene is not None:
                self._note("clear_text", on="scene")
                is_done = self._phone.screen_on and scene.clear_text()
                self._phone.changed()
                return is_done
            self._phone.look()
            field = self._phone.top.focus
            if field is None or self._phone.top.kind == "keyguard":
                return False
            self._note("clear_text", on=field.name)
            field.put("")
            self._phone.changed()
            return True

    def set_text(self, node: SeenNode, text: str) -> bool:
        """Replace the text of a field, as the accessibility action does; tell whether it can be edited."""
        scene = self._phone.scene
        if scene is not None:
            with self._phone.lock:
                self._note("set_text", chars=len(text), on=name_of(node))
                is_done = scene.set_text(node, text)
                self._phone.changed()
            return is_done
        field = node.view.edits
        if field is None or field.refuses_set_text or not node.view.is_enabled:
            return False
        with self._phone.lock:
            field.put(text)
            self._phone.top.focus = field
            self._note("set_text", chars=len(text), on=name_of(node))
            self._phone.changed()
        return True

    def _note(self, kind: str, **facts: object) -> None:
        who: dict[str, object] = {} if self._by is None else {"by": self._by}
        self._phone.inputs.note(kind, **facts, **who)

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
                if shown.window.package in self._phone.failing.hung:
                    self._phone.failing.ignored(shown.window.package)
                    return None, []
                return shown.window, chain
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
                phone.keyboard.show(window)
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
