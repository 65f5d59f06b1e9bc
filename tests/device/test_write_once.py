"""A write is sent at most once, wherever the line drops; and `sent` never says less than what happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.fakes.cut_proxy import CutProxy, Direction, cut_proxy

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceError
from droidpilot.device.adb import AdbServer
from droidpilot.device.android import AndroidDriver, connect
from droidpilot.device.attached import connect_tcp
from droidpilot.virtual.server import VirtualPhone, running_phone

Write = Callable[[AndroidDriver, Deadline], None]

# A tap is one stream: OPEN, OKAY, WRTE with the request, OKAY, WRTE with the answer, CLSE. The places lie before,
# inside and behind each of these packets.
PLACES: list[tuple[Direction, int]] = [
    *(("to_phone", after) for after in (0, 1, 33, 34, 58, 200, 330)),
    *(("to_host", after) for after in (1, 24, 47, 48, 72, 150, 230)),
]


@pytest.fixture(scope="module")
def cut_phone(adb: AdbServer) -> Iterator[tuple[VirtualPhone, CutProxy, AndroidDriver]]:
    """A phone behind a proxy, and a driver on it."""
    clock = SystemClock()
    with running_phone(transition_ms=0) as phone, cut_proxy(phone.port) as proxy:
        serial = f"127.0.0.1:{proxy.port}"
        connect_tcp(adb, serial, Deadline.after(clock, 10))
        driver = connect(adb, serial, clock=clock, deadline=Deadline.after(clock, 20))
        yield phone, proxy, driver
        driver.close()
        adb.ask(f"host:disconnect:{serial}", Deadline.after(clock, 10))


def inputs(phone: VirtualPhone) -> int:
    """Count what the phone has really executed."""
    told = phone.phone.state()["inputs"]
    assert isinstance(told, dict)
    return int(told["count"])


def check(cut_phone: tuple[VirtualPhone, CutProxy, AndroidDriver], place: tuple[Direction, int], write: Write) -> str:
    """Cut at `place` during `write`; return what the driver said: ok, no or unknown."""
    phone, proxy, driver = cut_phone
    clock = SystemClock()

    def deadline() -> Deadline:
        return Deadline.after(clock, 10)

    driver.dump(deadline())  # the line is whole again, and the in-phone server answers

    before = inputs(phone)
    proxy.cut(*place)
    said = "ok"
    try:
        write(driver, deadline())
    except DeviceError as error:
        said = error.sent
    proxy.disarm()
    driver.dump(deadline())  # one in-phone server, one loop: what was sent has been worked off before this answer
    happened = inputs(phone) - before
    assert happened <= 1
    assert not (said == "no" and happened), "said that nothing was sent, and it happened"
    assert not (said == "ok" and not happened), "said that it was done, and it was not"
    return said


@pytest.mark.parametrize("place", PLACES)
def test_a_tap_is_sent_at_most_once_wherever_the_line_drops(
    cut_phone: tuple[VirtualPhone, CutProxy, AndroidDriver], place: tuple[Direction, int]
) -> None:
    check(cut_phone, place, lambda driver, deadline: driver.tap(5, 5, deadline))


def test_the_places_reach_every_outcome(cut_phone: tuple[VirtualPhone, CutProxy, AndroidDriver]) -> None:
    def tap(driver: AndroidDriver, deadline: Deadline) -> None:
        driver.tap(5, 5, deadline)

    assert check(cut_phone, ("to_phone", 0), tap) == "no"
    assert check(cut_phone, ("to_host", 60), tap) == "unknown"
    assert check(cut_phone, ("to_host", 100_000), tap) == "ok"


@pytest.mark.parametrize("after", [30, 200])
def test_an_app_is_started_at_most_once(cut_phone: tuple[VirtualPhone, CutProxy, AndroidDriver], after: int) -> None:
    # The read before it may be repeated; only the sending of `am start` may not.
    phone, proxy, driver = cut_phone
    clock = SystemClock()
    driver.dump(Deadline.after(clock, 10))
    proxy.cut("to_phone", after)
    try:
        driver.start_app("com.android.settings", Deadline.after(clock, 10))
    except DeviceError as error:
        assert error.sent in ("no", "unknown")
        if error.sent == "no":
            assert phone.phone.state()["package"] != "com.android.settings"
    proxy.disarm()
    driver.dump(Deadline.after(clock, 10))
    driver.press("home", Deadline.after(clock, 10))
