"""AndroidDriver against answers that a healthy phone never gives: what is tried again, what never is, what is said."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from tests.fakes.in_phone import CountingServer, InPhoneLink, error, in_phone, reply, result

from droidpilot.core.clock import Clock, Deadline, ManualClock, SystemClock
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused, DeviceTimeout, ScreenUnreadable
from droidpilot.device.adb import ShellAnswer
from droidpilot.device.android import MAX_DEPTH, MAX_TRIES, AndroidDriver
from droidpilot.device.driver import DeviceFacts
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.selector import Selector

GOOD = '<?xml version=\'1.0\'?><hierarchy rotation="0"><node text="hi" /></hierarchy>'
EMPTY = "<?xml version='1.0'?>\r\n<hierarchy rotation=\"0\" />"
FACTS = DeviceFacts("scripted", "Model", "brand", 34, "14")
ILLEGAL = error(
    "java.lang.IllegalArgumentException", data="java.lang.IllegalArgumentException: Illegal character (d83d)"
)
NOT_CONNECTED = error(
    "java.lang.IllegalStateException", data="java.lang.IllegalStateException: UiAutomation not connected!"
)
WRITES: dict[str, Callable[[AndroidDriver, Deadline], None]] = {
    "click": lambda driver, deadline: driver.tap(1, 2, deadline),
    "long": lambda driver, deadline: driver.long_press(1, 2, deadline),
    "swipe": lambda driver, deadline: driver.swipe(1, 2, 3, 4, 300, deadline),
    "pressKeyCode": lambda driver, deadline: driver.press("back", deadline),
}


def driver_on(link: InPhoneLink, clock: Clock | None = None) -> tuple[AndroidDriver, CountingServer]:
    used = clock or SystemClock()
    server = CountingServer(link, used)
    return AndroidDriver(link, server, used, FACTS), server


def soon(seconds: float = 5.0) -> Deadline:
    return Deadline.after(SystemClock(), seconds)


# the screen


def test_report_b01_one_illegal_character_error_is_tried_again() -> None:
    with in_phone(ILLEGAL, result(GOOD)) as (phone, link):
        assert driver_on(link)[0].dump(soon()) == GOOD.encode()
        assert len(phone.requests) == 2


def test_report_b02_a_phone_that_always_fails_is_a_bounded_typed_error() -> None:
    with in_phone(ILLEGAL) as (phone, link), pytest.raises(ScreenUnreadable) as caught:
        driver_on(link)[0].dump(soon())
    assert caught.value.code == "illegal_character"
    assert len(phone.requests) == MAX_TRIES


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (result("ERROR: could not get idle state."), "never_idle"),
        (result("ERROR: null root node returned by UiTestAutomationBridge."), "null_root"),
        (error("java.lang.Exception", data="No active window or root filtered out"), "null_root"),
        (result(""), "empty"),
        (result(None), "empty"),
        (result({"phone_state": {}}), "unreadable"),
        (result("what is this"), "unreadable"),
        (error("java.lang.StackOverflowError", data="at java..."), "dump_failed"),
        (error("java.lang.Whatever"), "dump_failed"),
    ],
)
def test_report_b06_b07_b08_b12_each_failure_of_a_dump_has_its_code(answer: bytes, code: str) -> None:
    with in_phone(answer) as (_, link), pytest.raises(ScreenUnreadable) as caught:
        driver_on(link)[0].dump(soon())
    assert (caught.value.code, caught.value.sent) == (code, "no")
    assert caught.value.hint


def test_report_b07_b11_a_root_that_is_missing_twice_is_waited_for() -> None:
    with in_phone(result("ERROR: null root node returned"), result(EMPTY), result(GOOD)) as (_, link):
        assert driver_on(link)[0].dump(soon()) == GOOD.encode()


def test_report_b08_a_phone_that_goes_on_showing_nothing_is_an_empty_screen_and_no_error() -> None:
    with in_phone(result(EMPTY)) as (phone, link):
        assert driver_on(link)[0].dump(soon()) == EMPTY.encode()
        assert len(phone.requests) == MAX_TRIES


def test_report_b09_depth_and_compression_are_set_with_every_dump() -> None:
    with in_phone(result(GOOD)) as (phone, link):
        driver = driver_on(link)[0]
        driver.dump(soon())
        driver.dump(soon())
    assert [request["params"] for request in phone.requests] == [[False, MAX_DEPTH]] * 2


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    half = reply(
        b'{"jsonrpc":"2.0","id":1,"result":"<hierarchy><node text=\'a\\ud83d b \\ud83d\\ude00\'/></hierarchy>"}'
    )
    with in_phone(half) as (_, link):
        assert "a\ufffd b \U0001f600" in driver_on(link)[0].dump(soon()).decode()


# the in-phone server


def test_report_b15_a_lost_accessibility_connection_is_reset_once_and_no_more() -> None:
    with in_phone(NOT_CONNECTED) as (phone, link):
        driver, server = driver_on(link)
        with pytest.raises(DeviceRefused) as caught:
            driver.dump(soon())
    assert (caught.value.code, server.restarts, len(phone.requests)) == ("not_connected", 1, 2)


def test_a_reset_that_helps_is_not_noticed() -> None:
    with in_phone(NOT_CONNECTED, result(GOOD)) as (_, link):
        driver, server = driver_on(link)
        assert driver.dump(soon()) == GOOD.encode()
    assert server.restarts == 1


def test_a_reset_that_fails_ends_the_read_with_its_error() -> None:
    class Failing(CountingServer):
        def restart(self, deadline: Deadline) -> None:
            raise DeviceRefused("no memory", code="helper_failed")

    with in_phone(NOT_CONNECTED) as (_, link), pytest.raises(DeviceRefused) as caught:
        AndroidDriver(link, Failing(link, SystemClock()), SystemClock(), FACTS).dump(soon())
    assert caught.value.code == "helper_failed"


# writes


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize(
    ("answer", "code", "sent"),
    [
        (error("method not found", code=-32601), "bad_call", "no"),
        (error("bad params", code=-32602), "bad_call", "no"),
        (error("androidx.test.uiautomator.UiObjectNotFoundException", data="UiSelector[TEXT=x]"), "not_found", "no"),
        (NOT_CONNECTED, "not_connected", "unknown"),
        (error("android.os.DeadObjectException"), "not_connected", "unknown"),
        (error("java.lang.SecurityException", data="INJECT_EVENTS"), "phone_error", "unknown"),
        (result(False), "said_no", "unknown"),
        (result(None), "garbled", "unknown"),
        (result("true"), "garbled", "unknown"),
        (reply(b"Not Found!!!", status="404 Not Found"), "garbled", "unknown"),
        (reply(b"{"), "garbled", "unknown"),
        (reply(b"[1]"), "garbled", "unknown"),
        (reply(b"{}"), "garbled", "unknown"),
        (reply(b"[" * 100_000), "garbled", "unknown"),
        (reply(b'{"error": "text"}'), "phone_error", "unknown"),
        (b"", "device_lost", "unknown"),
        (b"SSH-2.0-OpenSSH\r\n\r\n", "device_lost", "unknown"),
        (reply(b'{"result"', length=100), "device_lost", "unknown"),
        (reply(b'{"result": true}', length=17 * 1024 * 1024), "device_lost", "unknown"),
    ],
)
def test_a_write_is_posted_once_and_says_what_its_answer_proves(name: str, answer: bytes, code: str, sent: str) -> None:
    with in_phone(answer) as (phone, link):
        driver, server = driver_on(link)
        with pytest.raises(DeviceError) as caught:
            WRITES[name](driver, soon())
    assert (caught.value.code, caught.value.sent) == (code, sent)
    assert (len(phone.requests), server.restarts) == (1, 0)


def test_writes_are_the_calls_that_uiautomator_knows() -> None:
    with in_phone(result(True)) as (phone, link):
        driver = driver_on(link)[0]
        for write in WRITES.values():
            write(driver, soon())
    assert [(request["method"], request["params"]) for request in phone.requests] == [
        ("click", [1, 2]),
        ("click", [1, 2, 1000]),
        ("swipe", [1, 2, 3, 4, 60]),
        ("pressKeyCode", [4]),
    ]


def test_set_text_looks_first_and_types_once() -> None:
    where = {"bounds": {"left": 0, "top": 0, "right": 9, "bottom": 9}, "visibleBounds": {}}
    with in_phone(result(where), result(True)) as (phone, link):
        driver_on(link)[0].set_text(Selector(text="", focused=True, instance=2), Bounds(0, 0, 9, 9), "hi", soon())
    selector = {
        "mask": 0x01020001,
        "childOrSibling": [],
        "childOrSiblingSelector": [],
        "text": "",
        "focused": True,
        "instance": 2,
    }
    assert [(request["method"], request["params"]) for request in phone.requests] == [
        ("objInfo", [selector]),
        ("setText", [selector, "hi"]),
    ]


@pytest.mark.parametrize(
    ("answer", "code", "sent"),
    [
        (result(False), "not_editable", "no"),
        (error("androidx.test.uiautomator.UiObjectNotFoundException"), "field_moved", "no"),
        (NOT_CONNECTED, "not_connected", "unknown"),
    ],
)
def test_what_set_text_says_when_the_phone_does_not_type(answer: bytes, code: str, sent: str) -> None:
    where = {"visibleBounds": {"left": 0, "top": 0, "right": 9, "bottom": 9}}
    with in_phone(result(where), answer) as (phone, link), pytest.raises(DeviceRefused) as caught:
        driver_on(link)[0].set_text(Selector(text="x"), Bounds(0, 0, 9, 9), "hunter2", soon())
    assert (caught.value.code, caught.value.sent, len(phone.requests)) == (code, sent, 2)
    assert "hunter2" not in str(caught.value)


# deadlines


@pytest.mark.parametrize("name", WRITES)
def test_a_phone_that_never_answers_a_write_ends_at_the_deadline(name: str) -> None:
    with in_phone(result(True), hangs=True) as (phone, link):
        started = SystemClock().monotonic()
        with pytest.raises(DeviceTimeout) as caught:
            WRITES[name](driver_on(link)[0], soon(0.3))
        assert 0.25 <= SystemClock().monotonic() - started < 1.5
    assert (caught.value.sent, len(phone.requests)) == ("unknown", 1)


def test_a_phone_that_trickles_ends_at_the_deadline() -> None:
    with in_phone(result(GOOD), trickle_s=0.05) as (_, link), pytest.raises(DeviceTimeout):
        driver_on(link)[0].dump(soon(0.4))


# the shell


def test_report_b17_a_line_that_drops_in_a_reading_command_is_a_typed_error_after_patience() -> None:
    clock = ManualClock()
    with in_phone(result(True)) as (_, link):
        link.shell_answers = [DeviceLost("dropped") for _ in range(200)]
        with pytest.raises(DeviceLost):
            driver_on(link, clock)[0].foreground(Deadline.after(clock, 30))
    assert 4.5 <= clock.monotonic() <= 6


def test_a_phone_that_comes_back_within_patience_is_read() -> None:
    clock = ManualClock()
    with in_phone(result(True)) as (_, link):
        link.shell_answers = [DeviceLost("dropped"), DeviceLost("x", code="offline"), ShellAnswer(0, "1\n")]
        assert driver_on(link, clock)[0].read_setting("global", "wifi_on", Deadline.after(clock, 30)) == "1"


def test_a_command_that_fails_is_no_value() -> None:
    with in_phone(result(True)) as (_, link):
        link.shell_answers = [ShellAnswer(255, "Security exception: no\n")]
        with pytest.raises(DeviceRefused) as caught:
            driver_on(link)[0].read_setting("secure", "x", soon())
    assert (caught.value.code, len(link.commands)) == ("command_failed", 1)


def test_an_app_is_started_through_its_launcher_entry_by_one_command() -> None:
    entries = "2 activities found:\n  Activity #0:\n    com.shop/.Main\n  Activity #1:\n    com.shop.two/com.x.Y\n"
    with in_phone(result(True)) as (_, link):
        link.shell_answers = [ShellAnswer(0, entries), ShellAnswer(0, "Starting: Intent { ... }\n")]
        driver_on(link)[0].start_app("com.shop", soon())
    assert link.commands[1][:2] == ["am", "start"] and link.commands[1][-2:] == ["-n", "com.shop/.Main"]
    assert len(link.commands) == 2


@pytest.mark.parametrize(
    ("said", "code", "sent"),
    [
        (ShellAnswer(1, "Error type 3\nError: Activity class {a/b} does not exist.\n"), "no_app", "no"),
        (ShellAnswer(0, "Error: something\n"), "not_started", "unknown"),
        (ShellAnswer(137, ""), "not_started", "unknown"),
        (DeviceLost("dropped", sent="unknown"), "device_lost", "unknown"),
    ],
)
def test_a_start_that_fails_is_not_repeated(said: ShellAnswer | DeviceError, code: str, sent: str) -> None:
    with in_phone(result(True)) as (_, link):
        link.shell_answers = [ShellAnswer(0, "com.shop/.Main\n"), said, ShellAnswer(0, "")]
        with pytest.raises(DeviceError) as caught:
            driver_on(link)[0].start_app("com.shop", soon())
    assert (caught.value.code, caught.value.sent, len(link.commands)) == (code, sent, 2)


DENIED = "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission"


@pytest.mark.parametrize(
    ("name", "code", "sent"),
    [
        ("click", "inject_denied", "no"),
        ("pressKeyCode", "inject_denied", "no"),
        ("long", "phone_error", "unknown"),
        ("swipe", "phone_error", "unknown"),
    ],
)
def test_a_phone_that_may_not_be_touched_proves_it_for_a_single_event(name: str, code: str, sent: str) -> None:
    with in_phone(error("java.lang.SecurityException", data=DENIED)) as (phone, link):
        with pytest.raises(DeviceRefused) as caught:
            WRITES[name](driver_on(link)[0], soon())
        assert len(phone.requests) == 1
    assert (caught.value.code, caught.value.sent) == (code, sent)
    assert "USB debugging (Security settings)" in caught.value.hint
    assert caught.value.message.count("java.lang.SecurityException") <= 1


def test_what_the_phone_says_of_a_text_that_it_did_not_take_is_not_quoted() -> None:
    where = {"visibleBounds": {"left": 0, "top": 0, "right": 9, "bottom": 9}}
    answer = error("java.lang.IllegalStateException", data="java.lang.IllegalStateException: bad text hunter2")
    with in_phone(result(where), answer) as (_, link), pytest.raises(DeviceRefused) as caught:
        driver_on(link)[0].set_text(Selector(text="x"), Bounds(0, 0, 9, 9), "hunter2", soon())
    assert (caught.value.code, caught.value.sent) == ("phone_error", "unknown")
    assert "hunter2" not in str(caught.value) and "java.lang.IllegalStateException" in caught.value.message
