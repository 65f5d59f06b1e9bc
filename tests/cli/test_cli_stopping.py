"""Signals become requests to stop, only while a session is open, and only those that anybody wants heard."""

from __future__ import annotations

import os
import signal

import pytest

from droidpilot.cli.stopping import stop_on_signals
from droidpilot.core.errors import Interrupted
from droidpilot.core.stop import Stop


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_first_signal_asks_and_the_second_stops_now(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    stop = Stop()
    with pytest.raises(Interrupted), stop_on_signals(stop):
        os.kill(os.getpid(), number)
        assert stop.is_requested
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_a_signal_cuts_what_may_be_cut_at_once() -> None:
    stop = Stop()
    with stop_on_signals(stop), pytest.raises(Interrupted), stop.interruptible():
        os.kill(os.getpid(), signal.SIGINT)
    assert stop.is_requested


def test_an_ignored_signal_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stop = Stop()
        with stop_on_signals(stop):
            os.kill(os.getpid(), signal.SIGHUP)
        assert not stop.is_requested
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
