"""A run that types through the phone's AdbKeyboard again and again, until test_kept.py kills it at some moment."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.e2e.setting import SHIPPED

from droidpilot.core.calls import Origin
from droidpilot.core.clock import SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.stop import Stop
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.session import open_session

#: Far more than the test lets it type.
TEXTS = 1_000


def main(home: Path, serial: str, adb_port: int) -> None:
    flags = {"ask": "never", "keyboard": "switch", "animations": "off", "max_actions": 10_000}
    plan = SessionPlan(
        home=home,
        origin=Origin.HUMAN,
        settings=load_settings(flags, cwd=home, env={}).settings,
        user_policies=home / "policies",
        shipped_policies=SHIPPED,
        title="typing",
    )
    address = PhoneAddress(serial=serial, adb_port=adb_port, is_virtual=True)
    with open_session(prepare(plan), address, clock=SystemClock(), stop=Stop()) as session:
        # Signature is the field that takes keys only; the test has opened the form and given it the focus.
        for number in range(TEXTS):
            result = session.call("type_text", {"text": f"שלום {number}"})
            assert result.status == "ok", result.text


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
