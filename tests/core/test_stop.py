"""The stop signal: once lets the present call finish, twice is now, and neither cuts a line from its head."""

from __future__ import annotations

import pytest

from droidpilot.core.errors import Interrupted
from droidpilot.core.stop import Stop


def test_the_first_request_is_only_noted() -> None:
    stop = Stop()
    stop.request()
    assert stop.is_requested
    with pytest.raises(Interrupted):
        stop.check()


def test_the_second_request_is_raised_anywhere() -> None:
    stop = Stop()
    stop.request()
    with pytest.raises(Interrupted):
        stop.request()


def test_what_may_be_cut_is_cut_by_the_first_request() -> None:
    stop = Stop()
    with pytest.raises(Interrupted), stop.interruptible():
        stop.request()
    with pytest.raises(Interrupted), stop.interruptible():
        raise AssertionError("nothing that may be cut begins after a request")


def test_what_must_not_be_cut_is_finished_first() -> None:
    stop = Stop()
    done = []
    stop.request()
    with pytest.raises(Interrupted), stop.shielded():
        stop.request()
        done.append("the line and its head")
    assert done
    with stop.shielded():
        done.append("closing lines")
    assert len(done) == 2
