"""What a session came to: what was checked decides, and the gravest of several things is the exit."""

from __future__ import annotations

from itertools import pairwise

import pytest

from droidpilot.core.errors import EXIT_ORDER, Exit, strictest_exit
from droidpilot.pipeline.outcome import judge_outcome, outcome_name


@pytest.mark.parametrize(
    "how, checks, waived, unknown, code",
    [
        ("done", [], False, 0, Exit.UNCHECKED),
        ("done", [], True, 0, Exit.DONE),
        ("done", [True], False, 0, Exit.DONE),
        ("done", [True, False], False, 0, Exit.FAILED),
        ("done", [True, None], False, 0, Exit.FAILED),  # what could not be judged has not passed
        ("done", [None], True, 0, Exit.FAILED),
        ("done", [True], False, 1, Exit.UNKNOWN),
        ("done", [False], False, 1, Exit.UNKNOWN),
        ("failed", [], True, 0, Exit.FAILED),
        ("budget", [], True, 1, Exit.UNKNOWN),
        ("budget", [], True, 0, Exit.BUDGET),
        ("refused", [], True, 0, Exit.REFUSED),
        ("device", [None], True, 1, Exit.DEVICE),
        ("model", [], True, 1, Exit.MODEL),
        ("stopped", [], True, 1, Exit.INTERRUPTED),
        ("internal", [], True, 1, Exit.INTERNAL),
        ("no such ending", [True], True, 0, Exit.INTERNAL),
    ],
)
def test_the_gravest_decides(how: str, checks: list[bool | None], waived: bool, unknown: int, code: Exit) -> None:
    found, reason = judge_outcome(how, "why", checks=checks, is_check_waived=waived, unknown_writes=unknown)
    assert found is code
    assert reason.startswith(("why", "done and checked"))
    assert ("may or may not have happened" in reason) == bool(unknown)


def test_every_exit_has_its_place_and_its_name() -> None:
    assert set(EXIT_ORDER) == set(Exit) - {Exit.USAGE}
    for code in EXIT_ORDER:
        assert outcome_name(code)
    for graver, lighter in pairwise(EXIT_ORDER):
        assert strictest_exit({graver, lighter}) is graver
    assert strictest_exit(set()) is Exit.INTERNAL
