"""AdbKeyboard: the one route for characters that no key makes, into fields that refuse to be filled.

It is an input method that takes text from a broadcast. It is used only where a person put it on the phone: nothing is
installed here. For each text it is enabled and made the default through the keeper, and switched back at once.
Whether a phone has it is asked each time: an answer of a moment ago proves nothing. It knows no field and no tool.
"""

from __future__ import annotations

import base64
import re

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceRefused
from droidpilot.core.text import one_line, shorten
from droidpilot.device import keystrokes, readings
from droidpilot.device.adb import PhoneLink
from droidpilot.device.keeper import OEM_HINT, Keeper

#: The input method in uiautomator2's app.
ADB_KEYBOARD = "com.github.uiautomator/.AdbKeyboard"
_INPUT = "ADB_KEYBOARD_INPUT_TEXT"
_CLEAR = "ADB_KEYBOARD_CLEAR_TEXT"
#: How long a keyboard that is the default one may take until the phone says that it serves the field.
SERVED_PATIENCE_S = 3.0
#: How long switching back may take, whatever was left of the call.
SWITCH_BACK_S = 8.0
_POLL_S = 0.1
#: The keyboard that is bound, else the one that is chosen. Some vendors print neither. Source: dumpsys input_method of
#: Android 7 to 15.
_SERVING = (re.compile(r"\bmCurId=([^\s,}]+)"), re.compile(r"\bmCurMethodId=([^\s,}]+)"))


class AdbKeyboard:
    """Types through the phone's AdbKeyboard."""

    def __init__(self, link: PhoneLink, keeper: Keeper, clock: Clock) -> None:
        self._link = link
        self._keeper = keeper
        self._clock = clock

    def is_installed(self, deadline: Deadline) -> bool:
        """Ask the phone for its keyboards, enabled or not.

        Raises:
            DeviceRefused: code `keyboards_unknown`: it does not let them be listed, which says nothing about which it
                has.
        """
        answer = self._link.shell(("ime", "list", "-s", "-a"), deadline)
        if answer.code != 0 or "xception" in answer.text:
            raise DeviceRefused(
                f"the phone does not let its keyboards be listed: {shorten(one_line(answer.text), 200)}",
                code="keyboards_unknown",
                hint=OEM_HINT,
            )
        return ADB_KEYBOARD in answer.text.split()

    def type_text(self, text: str, deadline: Deadline, *, is_replacing: bool) -> str:
        """Type into the field that has the focus, once, and switch back; return what could not be switched back.

        Raises:
            DeviceError: sent "no" until the first broadcast was handed over. Codes: `no_keyboard`,
                `keyboard_not_switched`, `keyboard_not_served`, `not_written_down`; `keyboard_silent` (sent "unknown").
        """
        try:
            self._keeper.switch_keyboard(ADB_KEYBOARD, deadline)
            self._wait_until_served(deadline)
            if is_replacing:
                self._broadcast(_CLEAR, deadline)
            else:
                self._go_to_end(deadline)
            self._broadcast(_INPUT, deadline, "--es", "text", base64.b64encode(text.encode()).decode())
        finally:
            back = Deadline.after(self._clock, SWITCH_BACK_S)
            done = self._keeper.restore(back, kinds=("keyboard", "enabled"))
        return "; ".join(one.words for one in done if one.became == "failed")

    def _wait_until_served(self, deadline: Deadline) -> None:
        """Wait until fields are served by it. A phone that does not say which keyboard serves is taken at its word."""
        patience = deadline.sooner(SERVED_PATIENCE_S)
        while (serving := self._serving(deadline)) not in ("", ADB_KEYBOARD):
            if patience.is_over():
                raise DeviceRefused(
                    f"AdbKeyboard is the default keyboard, but {shorten(one_line(serving), 100)} serves the field",
                    code="keyboard_not_served",
                    hint="on some phones, and on Android 16, AdbKeyboard never comes up: type what the keys can make",
                )
            self._clock.sleep(_POLL_S)

    def _serving(self, deadline: Deadline) -> str:
        """Return the id of the keyboard that serves fields now, empty where the phone does not say."""
        text = self._link.shell(("dumpsys", "input_method"), deadline).text
        found = next(filter(None, (pattern.search(text) for pattern in _SERVING)), None)
        return "" if found is None or found[1] == "null" else found[1]

    def _go_to_end(self, deadline: Deadline) -> None:
        """Bring the cursor, which is where the field was tapped, to the end of its line. It changes no text."""
        answer = self._link.shell(("input", "keyevent", str(keystrokes.MOVE_END)), deadline)
        if readings.is_injection_denied(answer.text):
            raise readings.injection_denied("")
        if answer.code != 0 or "Error" in answer.text:
            raise DeviceRefused(
                f"the phone did not take the key for the end: {shorten(one_line(answer.text), 200)}", code="keys_failed"
            )

    def _broadcast(self, action: str, deadline: Deadline, *extras: str) -> None:
        # To this keyboard alone: any app may listen for the action, read along and answer in its place.
        words = ("am", "broadcast", "-a", action, "-p", ADB_KEYBOARD.partition("/")[0], *extras)
        answer = self._link.shell(words, deadline, sent="unknown")
        # The receiver says -1. Anything else: nobody received it, or nobody knows.
        if "result=-1" not in answer.text:
            # Words about a broadcast that carried a text may repeat it, and it may be a secret.
            said = f"exit code {answer.code}" if extras else shorten(one_line(answer.text), 200)
            raise DeviceRefused(
                f"AdbKeyboard did not answer: {said}",
                code="keyboard_silent",
                sent="unknown",
            )
