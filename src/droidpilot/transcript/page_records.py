"""The lines of a transcript that tell of one call, gathered by the call's id. It judges nothing: projections do."""

from __future__ import annotations

from collections.abc import Iterable

from droidpilot.core.events import ApprovalAnswered, ApprovalAsked, ModelReplied, ToolCalled, ToolReturned
from droidpilot.transcript.reader import Line


class Records:
    """The lines that tell of each call, by its id."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.called: dict[str, tuple[int, ToolCalled]] = {}
        self.returned: dict[str, ToolReturned] = {}
        self.questions: dict[str, list[ApprovalAsked]] = {}
        self.answers: dict[str, ApprovalAnswered] = {}  # by the question's id
        self.malformed: dict[str, str] = {}
        for line in lines:
            match line.event:
                case ToolCalled() as event:
                    self.called[event.call_id] = (line.seq, event)
                case ToolReturned() as event:
                    self.returned[event.call_id] = event
                case ApprovalAsked() as event:
                    self.questions.setdefault(event.call_id, []).append(event)
                case ApprovalAnswered() as event:
                    self.answers[event.prompt_id] = event
                case ModelReplied() as event:
                    self.malformed.update({call.call_id: call.malformed for call in event.calls if call.malformed})
                case _:
                    pass
