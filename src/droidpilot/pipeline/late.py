"""What a look shows of a write that the phone took, where its tool can read that off the screen.

Some apps are late: what is not there yet, or not whole, gets a few further looks. Nothing is ever sent again here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, Interrupted
from droidpilot.core.stop import Stop
from droidpilot.pipeline.case import Case
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Finding, ReadsBack

#: Seconds between the further looks.
LATE_WAITS_S = (0.25, 0.5, 1.0)


def finding_of(
    case: Case, after: Screen, *, look: Callable[[], Screen], clock: Clock, deadline: Deadline, stop: Stop
) -> tuple[Finding | None, Screen]:
    """Return what became of the write, None where its tool cannot tell, and the newest look."""
    tool = case.tool
    if not isinstance(tool, ReadsBack) or case.aim is None:
        return None, after
    finding = tool.read_back(case.arguments, case.aim, after)
    for wait_s in LATE_WAITS_S:
        if finding is None or not finding.is_failure or deadline.left_s() <= wait_s or stop.is_requested:
            break
        clock.sleep(wait_s)
        try:
            after = look()
        except (DeviceError, Interrupted):
            break
        finding = tool.read_back(case.arguments, case.aim, after)
        if finding is not None and not finding.is_failure and finding.name != "unreadable":
            finding = replace(finding, name="late", words=f"It came late. {finding.words}".rstrip())
    return finding, after
