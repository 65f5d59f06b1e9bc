"""A line that drops: what is waited for, what is done to get it back, and that only the same phone is taken back."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.fakes.cut_proxy import CutProxy, cut_proxy
from tests.fakes.stand_in_adb import StandInAdb, served

from droidpilot.core.clock import Deadline, ManualClock, SystemClock
from droidpilot.core.errors import DeviceBusy, DeviceError, DeviceLost, DeviceUnavailable, Interrupted
from droidpilot.core.events import LinkLost, LinkRestored
from droidpilot.core.stop import Stop
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.adb_server import PrivateServer, ensure_server, start_private_server
from droidpilot.device.adb_trouble import adb_binary
from droidpilot.device.android import AndroidDriver, connect, reach
from droidpilot.device.attached import connect_tcp, list_devices
from droidpilot.device.driver import Foreground
from droidpilot.device.keeper import Keeper, left_behind
from droidpilot.device.keyboard import AdbKeyboard
from droidpilot.device.lifeline import MAX_BREAKS, Keep, Lifeline, phone_id
from droidpilot.device.plain import PlainDriver
from droidpilot.virtual.apps.packages import FIELDS
from droidpilot.virtual.server import VirtualPhone, running_phone

Within = Callable[[float], Deadline]
Told = list[LinkLost | LinkRestored]


@pytest.fixture
def own_adb(home: Path) -> Iterator[PrivateServer]:
    """An adb server of this test alone, which it may end."""
    private = start_private_server(home / "adb", SystemClock())
    yield private
    private.stop()


@pytest.fixture
def told() -> Told:
    return []


def driver_on(adb: AdbServer, serial: str, told: Told, **keep: object) -> AndroidDriver:
    clock = SystemClock()
    kept = Keep(tell=told.append, **{"patience_s": 20.0, **keep})  # type: ignore[arg-type]  # by name, as given
    return connect(adb, serial, clock=clock, deadline=Deadline.after(clock, 30), keep=kept)


def inputs(phone: VirtualPhone) -> int:
    told = phone.phone.state()["inputs"]
    assert isinstance(told, dict)
    return int(told["count"])


def kill_server(port: int, home: Path) -> None:
    """End an adb server as another tool on the machine does."""
    subprocess.run(
        [adb_binary(), "-P", str(port), "kill-server"], check=True, timeout=10, capture_output=True, env=_env(home)
    )


def _env(home: Path) -> dict[str, str]:
    return {"HOME": str(home), "ADB_USB": "0", "ADB_MDNS": "0", "ADB_EMU": "0", "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553"}


# reads survive


def test_a_phone_that_is_away_for_a_while_is_waited_for_and_that_is_said_once(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    driver = driver_on(adb, phone.serial, told)
    try:
        phone.phone.faults.set("offline", 1.5)
        assert b"<hierarchy" in driver.dump(within(40))
    finally:
        driver.close()
    assert [type(one) for one in told] == [LinkLost, LinkRestored]
    lost, back = told
    assert isinstance(lost, LinkLost) and lost.code in ("offline", "device_lost") and lost.patience_s == 20
    assert isinstance(back, LinkRestored) and back.ms >= 1_000


def test_a_break_that_is_over_at_once_is_no_outage(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    driver = driver_on(adb, phone.serial, told)
    try:
        phone.phone.faults.schedule("dumpsys-cut", "+1")
        assert driver.foreground(within(20)).package
    finally:
        driver.close()
    assert told == []


def test_report_b17_a_query_that_breaks_every_time_over_a_line_that_works_is_unknown_and_no_outage(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    driver = driver_on(adb, phone.serial, told)
    before = phone.phone.faults.calls["dumpsys"]
    try:
        phone.phone.faults.set("dumpsys-cut", "always")
        assert driver.foreground(within(20)) == Foreground(None, None)
    finally:
        driver.close()
    assert told == []
    assert phone.phone.faults.calls["dumpsys"] - before == MAX_BREAKS + 1


def test_field_34_an_adb_server_that_was_killed_is_started_again_and_the_phone_connected(
    own_adb: PrivateServer, phone: VirtualPhone, told: Told, within: Within, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in _env(home).items():
        monkeypatch.setenv(name, value)
    connect_tcp(own_adb.server, phone.serial, within(10))
    starts: list[bool] = []

    def start() -> bool:
        starts.append(ensure_server(own_adb.server, SystemClock()))
        return starts[-1]

    driver = driver_on(own_adb.server, phone.serial, told, start_server=start)
    try:
        kill_server(own_adb.port, home)
        assert b"<hierarchy" in driver.dump(within(40))
        driver.tap(5, 5, within(10))
    finally:
        driver.close()
        kill_server(own_adb.port, home)
    assert starts == [True] and inputs(phone) == 1
    lost, back = told
    assert isinstance(lost, LinkLost) and lost.code == "no_adb_server"
    assert isinstance(back, LinkRestored) and back.did == ["adb_server_started", "connected"]


def test_field_38_a_server_that_is_not_ours_to_start_is_waited_for_and_not_started(
    own_adb: PrivateServer, phone: VirtualPhone, told: Told, within: Within, home: Path
) -> None:
    connect_tcp(own_adb.server, phone.serial, within(10))
    driver = driver_on(own_adb.server, phone.serial, told, patience_s=1.0)
    kill_server(own_adb.port, home)
    with pytest.raises(DeviceLost) as caught:
        driver.dump(within(30))
    driver.close()
    assert caught.value.code == "no_adb_server" and "did not come back in 1 s" in caught.value.message
    with pytest.raises(DeviceLost):
        own_adb.server.version(within(5))
    assert [type(one) for one in told] == [LinkLost]


def test_field_38_a_server_that_is_killed_again_is_not_started_twice_for_one_outage() -> None:
    starts: list[int] = []
    clock = ManualClock()

    def start() -> bool:
        starts.append(1)
        return True

    line = Lifeline(PhoneLink(AdbServer(1), "R5AA"), clock, keep=Keep(patience_s=10, start_server=start))
    outage = line.outage(Deadline.after(clock, 60))
    with pytest.raises(DeviceLost):
        while True:
            outage.wait(DeviceLost("nobody answers", code="no_adb_server"))
    assert starts == [1]


def test_a_phone_that_adb_forgot_is_connected_again(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    driver = driver_on(adb, phone.serial, told)
    try:
        adb.ask(f"host:disconnect:{phone.serial}", within(5))
        assert b"<hierarchy" in driver.dump(within(40))
    finally:
        driver.close()
    assert isinstance(told[0], LinkLost) and told[0].code == "not_found_by_adb"
    assert isinstance(told[1], LinkRestored) and told[1].did == ["connected"]


def test_field_39_a_phone_whose_port_changed_is_followed_by_its_own_id(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    with served(StandInAdb(), behind=adb.port) as front, cut_proxy(phone.port) as new:
        with cut_proxy(phone.port) as old:
            serial = f"127.0.0.1:{old.port}"
            connect_tcp(AdbServer(front.port), serial, within(10))
            driver = driver_on(AdbServer(front.port), serial, told, patience_s=30.0)
        # The old port is closed now; the phone says where it listens.
        front.announce("adb-SOMEBODYELSE-q", "connect", "127.0.0.1:9")
        front.announce("adb-VIRTUAL00000000-x1Y2z3", "connect", f"127.0.0.1:{new.port}")
        assert b"<hierarchy" in driver.dump(within(50))
        driver.tap(5, 5, within(10))
        driver.close()
        adb.ask(f"host:disconnect:127.0.0.1:{new.port}", within(5))
        assert serial not in [one.serial for one in list_devices(adb, within(5)) if one.is_ready]
    assert inputs(phone) == 1
    assert isinstance(told[1], LinkRestored)
    assert told[1].did[-1] == "moved" and told[1].serial == f"127.0.0.1:{new.port}"


def test_a_phone_that_lost_its_trust_is_an_error_with_the_exact_next_step(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    driver = driver_on(adb, phone.serial, told, patience_s=1.5)
    phone.phone.faults.set("unauthorized")
    with pytest.raises(DeviceError) as caught:
        while True:
            driver.dump(within(20))
    phone.phone.faults.clear()
    driver.close()
    assert caught.value.code in ("unauthorized", "offline") and caught.value.hint
    assert isinstance(told[0], LinkLost) and told[0].hint


# the same phone, or nothing


@pytest.fixture
def swapped(adb: AdbServer, within: Within) -> Iterator[tuple[VirtualPhone, VirtualPhone, CutProxy, str]]:
    """Two phones, one address: `proxy.lead_to` makes it lead to the other."""
    with (
        running_phone(seed=1, transition_ms=0) as first,
        running_phone(seed=2, transition_ms=0) as second,
        cut_proxy(first.port) as proxy,
    ):
        serial = f"127.0.0.1:{proxy.port}"
        connect_tcp(adb, serial, within(10))
        yield first, second, proxy, serial
        adb.ask(f"host:disconnect:{serial}", within(10))


def test_field_35_another_phone_at_the_same_address_ends_the_session_and_gets_nothing(
    adb: AdbServer,
    swapped: tuple[VirtualPhone, VirtualPhone, CutProxy, str],
    told: Told,
    within: Within,
) -> None:
    first, second, proxy, serial = swapped
    driver = driver_on(adb, serial, told)
    proxy.lead_to(second.port)
    with pytest.raises(DeviceUnavailable) as caught:
        driver.dump(within(40))
    assert caught.value.code == "other_phone"
    assert "VIRTUAL00000002" in caught.value.message and "VIRTUAL00000001" in caught.value.message
    for again in (driver.dump, lambda deadline: driver.tap(5, 5, deadline)):
        with pytest.raises(DeviceError):
            again(within(10))
    driver.close()
    assert inputs(first) == inputs(second) == 0


def test_field_35_a_swap_that_nobody_noticed_is_noticed_before_the_first_byte_of_a_write(
    adb: AdbServer,
    swapped: tuple[VirtualPhone, VirtualPhone, CutProxy, str],
    told: Told,
    within: Within,
) -> None:
    first, second, proxy, serial = swapped
    driver = driver_on(adb, serial, told)
    # Somebody else's in-phone server runs on the other phone, so that a tap would be taken there.
    connect_tcp(adb, second.serial, within(10))
    others = driver_on(adb, second.serial, [])
    proxy.lead_to(second.port)
    deadline = within(20)
    while not is_ready(adb, serial, deadline):  # adb has the other phone under the old serial, and nobody was told
        SystemClock().sleep(0.05)
    with pytest.raises(DeviceError) as caught:
        driver.tap(5, 5, within(10))
    assert (caught.value.code, caught.value.sent) == ("other_phone", "no")
    driver.close()
    others.close()
    adb.ask(f"host:disconnect:{second.serial}", within(10))
    assert inputs(first) == inputs(second) == 0


@pytest.fixture
def swap(
    adb: AdbServer, swapped: tuple[VirtualPhone, VirtualPhone, CutProxy, str], within: Within
) -> Callable[[], None]:
    """Put the other phone to the address, with the same app in front, and let adb take it for the old one."""
    first, second, proxy, serial = swapped

    def swap() -> None:
        for one in (first, second):
            one.phone.start(FIELDS)
        proxy.lead_to(second.port)
        deadline = within(20)
        while is_ready(adb, serial, deadline):
            SystemClock().sleep(0.02)
        while not is_ready(adb, serial, deadline):
            SystemClock().sleep(0.02)

    return swap


def test_plain_adb_reads_and_does_nothing_on_another_phone(
    adb: AdbServer,
    swapped: tuple[VirtualPhone, VirtualPhone, CutProxy, str],
    swap: Callable[[], None],
    within: Within,
) -> None:
    _, second, _, serial = swapped
    clock = SystemClock()
    reached = reach(adb, serial, clock=clock, deadline=within(10))
    driver = PlainDriver(reached.link, clock, reached.facts, reached.line)
    assert b"<hierarchy" in driver.dump(within(10)) and driver.screenshot(within(10)).image is not None
    swap()
    calls: list[Callable[[], object]] = [
        lambda: driver.dump(within(10)),
        lambda: driver.foreground(within(10)),
        lambda: driver.screenshot(within(10)),
        lambda: driver.tap(5, 5, within(10)),
        lambda: driver.type_keys("abc", within(10), erase=0),
        # without the check before it: the line itself proves where it runs
        lambda: reached.link.script([["input", "tap", "5", "5"]], within(10), sent="unknown"),
        lambda: reached.link.output(["getprop"], within(10), most_bytes=10_000),
    ]
    for call in calls:
        with pytest.raises(DeviceUnavailable) as caught:
            call()
        assert (caught.value.code, caught.value.sent) == ("other_phone", "no")
        assert "VIRTUAL00000002" in caught.value.message
    assert inputs(second) == 0


def test_somebody_elses_helper_on_another_phone_is_not_read(
    adb: AdbServer,
    swapped: tuple[VirtualPhone, VirtualPhone, CutProxy, str],
    swap: Callable[[], None],
    within: Within,
) -> None:
    first, second, _, serial = swapped
    others = []
    for one in (first, second):
        connect_tcp(adb, one.serial, within(10))
        others.append(driver_on(adb, one.serial, []))
    driver = driver_on(adb, serial, [])
    assert b"<hierarchy" in driver.dump(within(10))
    swap()
    for call in (driver.dump, driver.display, driver.foreground, lambda deadline: driver.tap(5, 5, deadline)):
        with pytest.raises(DeviceUnavailable) as caught:
            call(within(10))
        assert caught.value.code == "other_phone"
    for opened in (driver, *others):
        opened.close()
    for phone in (first, second):
        adb.ask(f"host:disconnect:{phone.serial}", within(10))
    assert inputs(first) == inputs(second) == 0


def test_keyboard_and_keeper_leave_another_phone_alone_and_the_list_as_it_is(
    adb: AdbServer,
    swapped: tuple[VirtualPhone, VirtualPhone, CutProxy, str],
    swap: Callable[[], None],
    home: Path,
    within: Within,
) -> None:
    _, second, _, serial = swapped
    clock = SystemClock()
    link = PhoneLink(adb, serial)
    keeper = Keeper(home, link, clock)
    keeper.put_setting("global", "window_animation_scale", "0", within(10))
    # The other phone has the value that would be put back.
    second.phone.settings.put("global", "window_animation_scale", "0", source="person")
    swap()
    before = (len(second.phone.settings.changes), inputs(second))
    with pytest.raises(DeviceUnavailable) as caught:
        keeper.put_setting("system", "user_rotation", "1", within(10))
    assert caught.value.code == "other_phone"
    with pytest.raises(DeviceUnavailable) as caught:
        AdbKeyboard(link, keeper, clock).type_text("x", within(10), is_replacing=True)
    assert (caught.value.code, caught.value.sent) == ("other_phone", "no")
    (done,) = keeper.restore(within(10))
    assert done.became == "failed" and "another phone answers" in done.words
    assert [one.what for one in left_behind(home)] == ["global/window_animation_scale"]
    assert (len(second.phone.settings.changes), inputs(second)) == before


def test_a_link_that_is_held_to_one_phone_is_not_held_to_another(adb: AdbServer) -> None:
    link = PhoneLink(adb, "s")
    link.pin("A")
    link.pin("A")
    with pytest.raises(DeviceUnavailable) as caught:
        link.pin("B")
    assert caught.value.code == "other_phone"


def test_a_write_whose_line_drops_before_its_first_byte_says_so_when_the_phone_is_back(
    adb: AdbServer, phone: VirtualPhone, told: Told, within: Within
) -> None:
    driver = driver_on(adb, phone.serial, told)
    phone.phone.faults.set("offline", 1.0)
    with pytest.raises(DeviceError) as caught:
        driver.tap(5, 5, within(40))
    assert (caught.value.code, caught.value.sent) == ("link_dropped", "no")
    assert type(caught.value) is DeviceError, "it is not gone, so the session goes on"
    assert b"<hierarchy" in driver.dump(within(40))
    driver.tap(5, 5, within(40))
    driver.close()
    assert inputs(phone) == 1


def test_a_phone_that_somebody_holds_under_another_serial_is_refused_before_anything_is_started(
    adb: AdbServer, phone: VirtualPhone, within: Within
) -> None:
    def refuse(found: str) -> None:
        assert found == "VIRTUAL00000000"
        raise DeviceBusy("the phone is in use under another serial")

    before = phone.phone.faults.calls["sync"]
    with pytest.raises(DeviceBusy):
        driver_on(adb, phone.serial, [], identified=refuse)
    assert phone.phone.faults.calls["sync"] == before


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        ({"ro.serialno": "R5AA"}, "R5AA"),
        ({"ro.serialno": "unknown"}, ""),
        ({"ro.serialno": "0123456789ABCDEF"}, ""),
        ({"ro.serialno": "00000000"}, ""),
        ({"ro.serialno": "EMULATOR34X1X19X0", "ro.kernel.qemu": "1"}, ""),
        ({}, ""),
    ],
)
def test_an_id_that_phones_share_is_no_id(properties: dict[str, str], expected: str) -> None:
    assert phone_id(properties) == expected


def is_ready(adb: AdbServer, serial: str, deadline: Deadline) -> bool:
    return any(one.serial == serial and one.is_ready for one in list_devices(adb, deadline))


def test_who_does_not_want_to_wait_any_longer_is_heard_at_once() -> None:
    stop, clock = Stop(), ManualClock()
    line = Lifeline(PhoneLink(AdbServer(1), "R5AA"), clock, keep=Keep(patience_s=50, check_stop=stop.check))
    outage = line.outage(Deadline.after(clock, 60))
    outage.wait(DeviceLost("gone"))
    stop.request()
    with pytest.raises(Interrupted):
        outage.wait(DeviceLost("gone"))
    assert clock.monotonic() < 1
