"""The look after a write: what changed, what stands in the field, and what may have happened where the answer was lost.

It never sends anything. What a tool can read off the screen is the tool's to say.
"""

from __future__ import annotations

from droidpilot.core.calls import Status
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, Interrupted
from droidpilot.core.stop import Stop
from droidpilot.pipeline.answers import Answered, is_gone
from droidpilot.pipeline.approval import ApprovalGate
from droidpilot.pipeline.case import Case
from droidpilot.pipeline.late import finding_of
from droidpilot.pipeline.observer import Observer
from droidpilot.pipeline.presence import Presence
from droidpilot.pipeline.telling import Teller
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Done, Finding, ReadsBack

#: What is said of a write that changed nothing (B35).
UNCHANGED = "No change was seen: do not repeat it, look for another way."
#: The same of the key back: an app made for Android 16 is not given it any more. Source: Android 16 behaviour changes.
BACK_UNHEARD = "No change was seen: the app did not react to back. Do not repeat it, look for a button on the screen."


class Aftermath:
    """Looks after each write of one session."""

    def __init__(
        self, observer: Observer, presence: Presence, teller: Teller, approval: ApprovalGate, clock: Clock, stop: Stop
    ) -> None:
        self._observer = observer
        self._presence = presence
        self._teller = teller
        self._approval = approval
        self._clock = clock
        self._stop = stop

    def of_done(self, case: Case, done: Done, before: Screen | None, deadline: Deadline) -> Answered:
        """Look what came of a write that the phone took."""
        try:
            after = self._observer.settled("after_write", deadline, before=before)
        except DeviceError as error:
            ends = "device" if is_gone(error) else ""
            text = f"Done, but the screen could not be read afterwards: {error}."
            unread = "unreadable" if isinstance(case.tool, ReadsBack) else ""
            return Answered(Status.OK, text, error.code, ends=ends, sent="yes", read_back=unread)
        except Interrupted:
            return Answered(Status.OK, "Done; stopped before the look after it.", ends="stopped", sent="yes")
        finding, after = self._found(case, after, deadline)
        is_changed = before is None or self._observer.is_changed(before, after)
        self._presence.account(after, has_result=is_changed)
        text = "Done." if is_changed else f"Done. {BACK_UNHEARD if _is_back(case) else UNCHANGED}"
        status, code = Status.OK, ""
        if finding is not None and finding.is_failure:
            # The phone took it, and it is not what was asked for: doing it again is no use before somebody looked.
            status, code, text = Status.LOGIC, f"text_{finding.name}", "Typed, but not as asked for."
        told = [text, done.text, self._words(finding, after)]
        if not after.health.is_settled:
            told.append("The screen is still moving.")
        text = f"{' '.join(filter(None, told))}\n{self._teller.news(after)}".rstrip()
        name = finding.name if finding is not None else ""
        return Answered(status, text, code, screen=after.number, sent="yes", read_back=name)

    def _found(self, case: Case, after: Screen, deadline: Deadline) -> tuple[Finding | None, Screen]:
        return finding_of(
            case,
            after,
            look=lambda: self._observer.glance("after_write", deadline, anew=True),
            clock=self._clock,
            deadline=deadline,
            stop=self._stop,
        )

    def _words(self, finding: Finding | None, after: Screen) -> str:
        """Return what a finding says; of a screen that must not be told, only its name."""
        if finding is None or not finding.words:
            return ""
        return f"Read back: {finding.name}." if self._teller.hidden(after) else finding.words

    def of_failure(self, case: Case, error: DeviceError, before: Screen | None, deadline: Deadline) -> Answered:
        """Look what became of a write whose answer was lost. It is unknown unless the screen itself shows it."""
        self._approval.note_unknown(case)
        text = f"{error}. It may have happened: look for its effect, and do not simply repeat it."
        try:
            after = self._observer.settled("after_write", deadline, before=before)
        except DeviceError as again:
            ends = "device" if is_gone(again) or is_gone(error) else ""
            return Answered(Status.UNKNOWN, text, error.code, ends=ends, sent="unknown")
        except Interrupted:
            return Answered(Status.UNKNOWN, text, error.code, ends="stopped", sent="unknown")
        finding, after = self._found(case, after, deadline)
        if self._has_happened(case, before, after):
            self._approval.note_resolved(case)
            case.is_resolved = True
            text = f"Done. {error.message}, but the screen shows that it happened.\n{self._teller.news(after)}"
            name = finding.name if finding is not None else ""
            return Answered(Status.OK, text, screen=after.number, sent="yes", read_back=name)
        return Answered(
            Status.UNKNOWN, f"{text}\n{self._teller.news(after)}", error.code, screen=after.number, sent="unknown"
        )

    def _has_happened(self, case: Case, before: Screen | None, after: Screen) -> bool:
        assert case.tool is not None and case.aim is not None
        return before is not None and case.tool.look_after(case.arguments, case.aim, before, after) is True


def _is_back(case: Case) -> bool:
    return case.call.tool == "press" and getattr(case.arguments, "key", None) == "back"
