"""What gets in the way: dialogs and spinners that an app shows when it is started next, whether anybody wants them.

This file must never know a concrete app.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.motion import FRAME_MS
from droidpilot.virtual.ui.views import FILL, Painted, View
from droidpilot.virtual.ui.widgets import button, dialog, label
from droidpilot.virtual.ui.windows import Window

WHEEL: Final = 144
SPINNER_MS: Final = 3_000
"""How long a spinner that ends turns."""


def _rate_us(host: Host, package: str, name: str) -> Window:
    def body() -> View:
        stars = View("android.widget.RatingBar", f"{package}:id/rating", desc="0 of 5 stars", height=120)
        never = button("No, thanks", id="android:id/button2", on_click=lambda: host.close(window))
        later = button("Later", id="android:id/button3", on_click=lambda: host.close(window))
        rate = button("Rate now", id="android:id/button1", on_click=lambda: host.close(window))
        return dialog(f"Enjoying {name}?", [label("Take a moment to rate us."), stars], [never, later, rate])

    window = Window(package, f"{package}.RateUsActivity", "Rate us", "rate us", body, is_dialog=True)
    return window


def _whats_new(host: Host, package: str, name: str) -> Window:
    def body() -> View:
        lines = [label("- Faster start"), label("- New colors"), label("- Fixes")]
        okay = button("Got it", id="android:id/button1", on_click=lambda: host.close(window))
        return dialog(f"What's new in {name}", lines, [okay])

    window = Window(package, f"{package}.WhatsNewActivity", "What's new", "whats new", body, is_dialog=True)
    return window


def _spinner(host: Host, package: str, _: str, *, is_endless: bool = False) -> Window:
    def body() -> View:
        wheel = View("android.widget.ProgressBar", f"{package}:id/progress", width=WHEEL, height=WHEEL)
        # It turns in every picture, and its node stays as it is.
        x = host.now_ms() // FRAME_MS * 4 % (WHEEL - 40)
        wheel.paints = (Painted(Rect(x, 52, x + 40, 92), is_lit=True),)
        words = View("android.widget.TextView", f"{package}:id/message", "Loading...", size=48)
        column = View("android.widget.LinearLayout", height=FILL, centered=True, pad=(300, 700, 300, 0))
        column.children = [wheel, words]
        return column

    window = Window(package, f"{package}.LoadingActivity", "Loading", "spinner", body)
    window.is_restless = True
    window.on_back = lambda: None
    if not is_endless:
        host.after(SPINNER_MS, lambda: host.close(window))
    return window


def _endless(host: Host, package: str, name: str) -> Window:
    return _spinner(host, package, name, is_endless=True)


KINDS: Final[dict[str, Callable[[Host, str, str], Window]]] = {
    "rate-us": _rate_us,
    "whats-new": _whats_new,
    "spinner": _spinner,
    "endless-spinner": _endless,
}
"""Kind to who makes its window: from the host, the package and the app's label."""
