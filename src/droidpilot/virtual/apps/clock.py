"""Clock: alarms that are switched, made and deleted, and a stopwatch that moves in every frame while it runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from droidpilot.virtual.apps.packages import CLOCK
from droidpilot.virtual.apps.parts import MARGIN, action, confirmation, scroller, with_action
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import button, dialog, label, page, switch_row, text_field
from droidpilot.virtual.ui.windows import Window

MAX_ALARMS = 50
TABS = ("Alarm", "Stopwatch")


@dataclass(slots=True, eq=False)
class Alarm:
    hour: int
    minute: int
    is_on: bool

    @property
    def time(self) -> str:
        return f"{self.hour:02d}:{self.minute:02d}"


class Clock:
    """Two tabs. The stopwatch goes on counting while another tab or app is shown."""

    package = CLOCK
    activity = "com.android.deskclock.DeskClock"
    label = "Clock"

    def __init__(self, host: Host) -> None:
        self._host = host
        self._window: Window | None = None
        self.clear()

    def clear(self) -> None:
        random = self._host.random("clock")
        self._alarms = [Alarm(random.randint(5, 8), random.choice((0, 15, 30, 45)), False), Alarm(9, 0, True)]
        self._tab = TABS[0]
        self._since: int | None = None
        self._kept_ms = 0
        self._laps: list[int] = []

    def state(self) -> dict[str, object]:
        return {
            "clock": {
                "alarms": [{"time": alarm.time, "on": alarm.is_on} for alarm in self._in_order()],
                "stopwatch": {
                    "running": self._since is not None,
                    "elapsed_ms": self._elapsed(),
                    "laps_ms": list(self._laps),
                },
            }
        }

    def first(self) -> Window:
        window = self._window = Window(CLOCK, self.activity, "Clock", "clock", lambda: self._body(window))
        self._mark()
        return window

    def _mark(self) -> None:
        if self._window is not None:
            self._window.is_restless = self._since is not None and self._tab == "Stopwatch"

    def _in_order(self) -> list[Alarm]:
        return sorted(self._alarms, key=lambda alarm: alarm.time)

    def _elapsed(self) -> int:
        return self._kept_ms + (self._host.now_ms() - self._since if self._since is not None else 0)

    def _body(self, window: Window) -> View:
        content = self._alarm_page(window) if self._tab == "Alarm" else self._stopwatch()
        content.weight = 1
        tabs = View("android.widget.LinearLayout", f"{CLOCK}:id/bottom_view", layout="row", height=180)
        tabs.children = [self._tab_button(name) for name in TABS]
        return page(CLOCK, self._tab, View("android.widget.LinearLayout", children=[content, tabs]), on_up=None)

    def _tab_button(self, name: str) -> View:
        def choose() -> None:
            self._tab = name
            self._mark()

        made = View(
            "android.widget.FrameLayout",
            f"{CLOCK}:id/tab_menu_{name.lower()}",
            desc=name,
            layout="frame",
            centered=True,
            weight=1,
            height=180,
            on_click=lambda: self._host.later(choose),
        )
        made.is_selected = name == self._tab
        made.children = [label(name, id=f"{CLOCK}:id/navigation_bar_item_small_label_view", size=38)]
        made.children[0].width = 300
        return made

    def _alarm_page(self, window: Window) -> View:
        rows = [self._alarm_row(alarm, window) for alarm in self._in_order()]
        add = action("Add alarm", id=f"{CLOCK}:id/fab", on_click=lambda: self._host.open(self._new_alarm()))
        return with_action(scroller(window, rows, name="alarms", id=f"{CLOCK}:id/alarm_recycler_view"), add)

    def _alarm_row(self, alarm: Alarm, window: Window) -> View:
        def turn() -> None:
            alarm.is_on = not alarm.is_on

        def delete() -> None:
            if alarm in self._alarms:
                self._alarms.remove(alarm)

        def ask() -> None:
            text = f"The alarm at {alarm.time} will be deleted."
            self._host.open(confirmation(self._host, window, "Delete alarm?", text, yes="Delete", on_yes=delete))

        made = switch_row(alarm.time, "Every day", is_on=alarm.is_on, on_click=lambda: self._host.later(turn))
        made.on_long_click = ask
        made.children[0].children[0].id = f"{CLOCK}:id/digital_clock"
        made.children[1].children[0].id = f"{CLOCK}:id/onoff"
        return made

    def _new_alarm(self) -> Window:
        hour = TextField("hour", hint="Hour", filter=partial(_digits, most=2))
        minute = TextField("minute", hint="Minute", filter=partial(_digits, most=2))

        def is_time() -> bool:
            return bool(hour.text and minute.text) and int(hour.text) < 24 and int(minute.text) < 60

        def save() -> None:
            if is_time() and len(self._alarms) < MAX_ALARMS:
                self._alarms.append(Alarm(int(hour.text), int(minute.text), True))
                self._host.close(window)

        def body() -> View:
            fields = View("android.widget.LinearLayout", layout="row")
            fields.children = [
                text_field(
                    field, id=f"{CLOCK}:id/material_{field.name}_text_input", is_focused=window.focus is field, weight=1
                )
                for field in (hour, minute)
            ]
            cancel = button("Cancel", id=f"{CLOCK}:id/cancel_button", on_click=lambda: self._host.close(window))
            okay = button(
                "OK",
                id=f"{CLOCK}:id/material_timepicker_ok_button",
                is_enabled=is_time(),
                on_click=lambda: self._host.later(save),
            )
            return dialog("Enter time", [fields], [cancel, okay])

        window = Window(CLOCK, self.activity, "Enter time", "new alarm", body, is_dialog=True)
        window.focus = hour
        return window

    def _stopwatch(self) -> View:
        elapsed = self._elapsed()
        shown = f"{elapsed // 60_000:02d}:{elapsed // 1000 % 60:02d}.{elapsed // 10 % 100:02d}"
        time = label(shown, id=f"{CLOCK}:id/stopwatch_time_text", size=120, pad=(66, 200, 66, 100))
        start = button(
            "Pause" if self._since is not None else "Start",
            id=f"{CLOCK}:id/fab",
            on_click=lambda: self._host.later(self._start_or_pause),
        )
        lap = button("Lap", id=f"{CLOCK}:id/lap", on_click=self._lap, is_enabled=self._since is not None)
        reset = button(
            "Reset", id=f"{CLOCK}:id/reset", on_click=lambda: self._host.later(self._reset), is_enabled=elapsed > 0
        )
        bar = View("android.widget.LinearLayout", layout="row", pad=MARGIN, children=[reset, lap, start])
        laps = [
            label(f"Lap {number}: {lap_ms / 1000:.2f} s", id=f"{CLOCK}:id/lap_time", pad=MARGIN)
            for number, lap_ms in enumerate(self._laps[-5:], max(1, len(self._laps) - 4))
        ]
        return View("android.widget.LinearLayout", children=[time, bar, *laps])

    def _start_or_pause(self) -> None:
        if self._since is None:
            self._since = self._host.now_ms()
        else:
            self._kept_ms, self._since = self._elapsed(), None
        self._mark()

    def _lap(self) -> None:
        self._laps.append(self._elapsed())
        del self._laps[:-100]

    def _reset(self) -> None:
        self._since, self._kept_ms, self._laps = None, 0, []
        self._mark()


def _digits(text: str, most: int) -> str:
    return "".join(sign for sign in text if sign in "0123456789")[:most]
