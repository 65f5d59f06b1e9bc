"""The closed list of questions that a doctor asks a phone's shell, each bounded. It must never judge an answer.

The commands are fixed: nothing that a phone said is ever part of one. All of them read, but `settings_write`, which
deletes a setting that nobody has: the right to write is checked before the setting is looked for, so a phone that
forbids it says so, and one that allows it changes nothing. No input is ever sent. Source: SettingsProvider,
`mutateSecureSetting` and SettingsState.deleteSettingLocked of Android 7 to 15.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceTimeout
from droidpilot.device.adb import PhoneLink

#: Where uiautomator2 puts its server. Source: uiautomator2 3.7.1, core.py.
JAR = "/data/local/tmp/u2.jar"
#: What plain adb needs on the phone where the in-phone server cannot run.
PLAIN_TOOLS = ("uiautomator", "input", "screencap")
#: A setting that nobody has.
NO_SETTING = "droidpilot_never_set"
#: Seconds for one question, and for all of them.
EACH_S, ALL_S = 5.0, 25.0
#: So many questions in a row that ran out of time, and the phone is asked no more.
PATIENCE = 2
_ROUND_TRIPS = 3

PROBES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "properties": ("getprop",),
        "global": ("settings", "list", "global"),
        "secure": ("settings", "list", "secure"),
        "keyboards": ("ime", "list", "-s", "-a"),
        "enabled": ("ime", "list", "-s"),
        "input_method": ("dumpsys", "input_method"),
        "window": ("dumpsys", "window"),
        "power": ("dumpsys", "power"),
        "battery": ("dumpsys", "battery"),
        "storage": ("df", "-k", "/data"),
        "time": ("date", "+%s"),
        "jar": ("ls", JAR),
        "tools": ("which", *PLAIN_TOOLS),
        "modules": ("pm", "list", "packages", "--apex-only", "--show-versioncode", "com.android.adbd"),
        "settings_write": ("settings", "delete", "secure", NO_SETTING),
    }
)
#: What the card alone needs: few enough to be asked of every phone in a listing.
CARD_PROBES = ("properties", "global", "secure", "keyboards", "enabled", "input_method", "modules")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command printed, its exit code, and when it was asked and answered by this computer's clock."""

    text: str
    code: int
    asked: datetime
    answered: datetime


@dataclass(frozen=True, slots=True)
class Reading:
    """The answers by question. `unanswered` had none in time; `skipped` were not asked any more after that."""

    answers: Mapping[str, Answer]
    unanswered: tuple[str, ...]
    skipped: tuple[str, ...]
    latency_ms: float | None  # median of a command that does nothing; None where it was not measured

    def text(self, name: str) -> str:
        """Return what was printed by a command that succeeded, else nothing."""
        answer = self.answers.get(name)
        return answer.text.strip() if answer is not None and answer.code == 0 else ""


def read(
    link: PhoneLink,
    clock: Clock,
    names: tuple[str, ...] = tuple(PROBES),
    *,
    each_s: float = EACH_S,
    all_s: float = ALL_S,
    is_timed: bool = True,
) -> Reading:
    """Ask one question after another; one that is not answered in time is left out.

    Raises:
        DeviceError: the first question was not answered, so the phone cannot be reached at all.
    """
    whole = Deadline.after(clock, all_s)
    answers: dict[str, Answer] = {}
    unanswered: list[str] = []
    in_a_row = 0
    for name in names:
        if in_a_row >= PATIENCE or whole.is_over():
            break
        asked = clock.now()
        try:
            told = link.shell(PROBES[name], whole.sooner(each_s))
        except DeviceError as error:
            if not answers:
                raise
            unanswered.append(name)
            in_a_row += isinstance(error, DeviceTimeout)  # a line that breaks costs no time
            continue
        in_a_row = 0
        answers[name] = Answer(told.text, told.code, asked, clock.now())
    skipped = tuple(name for name in names if name not in answers and name not in unanswered)
    latency = _latency_ms(link, clock, whole.sooner(each_s)) if is_timed and not unanswered else None
    return Reading(MappingProxyType(answers), tuple(unanswered), skipped, latency)


def _latency_ms(link: PhoneLink, clock: Clock, deadline: Deadline) -> float | None:
    """Return the median of a few round trips through the phone's shell."""
    times = []
    for _ in range(_ROUND_TRIPS):
        started = clock.monotonic()
        try:
            link.shell(("true",), deadline)
        except DeviceError:
            return None
        times.append((clock.monotonic() - started) * 1000)
    return round(sorted(times)[_ROUND_TRIPS // 2], 1)
