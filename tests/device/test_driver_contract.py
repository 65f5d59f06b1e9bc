"""What every Driver promises, on the real one over a virtual phone and on the fake that the road tests stand on."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from tests.fakes.driver import Call, FakeDriver, State, dump, node

from droidpilot.core.clock import Deadline, ManualClock, SystemClock
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused, DeviceTimeout
from droidpilot.device.android import AndroidDriver
from droidpilot.device.driver import App, Display, Driver, Foreground
from droidpilot.device.fallback import FallbackDriver
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.selector import Selector

MESSAGES = "com.google.android.apps.messaging"
FIELD = Selector(resource_id=f"{MESSAGES}:id/compose_message_text", cls="android.widget.EditText", instance=0)


@dataclass
class Subject:
    """A driver that shows a text field, what it did so far, and how to get more time."""

    driver: Driver
    executed: Callable[[], int]
    deadline: Callable[[], Deadline]
    text: str = "grüße 👋 '$(x)'"  # what it can type
    text_shown: str = "zweite ✓ &lt;&amp;&gt;"

    @property
    def bounds(self) -> Bounds:
        """Read where the field lies now."""
        text = self.driver.dump(self.deadline()).decode()
        found = re.search(r'<node[^>]*android.widget.EditText[^>]*bounds="\[(\d+),(\d+)\]\[(\d+),(\d+)\]"', text)
        assert found is not None
        return Bounds(*(int(side) for side in found.groups()))


def fake_subject() -> Subject:
    clock = ManualClock()
    field = node(
        cls="android.widget.EditText", resource_id=FIELD.resource_id or "", bounds=(30, 2000, 900, 2100), clickable=True
    )

    def react(fake: FakeDriver, call: Call) -> None:
        done.append(call)
        if call.name == "start_app":
            fake.show(str(call.args[0]))

    done: list[Call] = []
    fake = FakeDriver(
        {
            MESSAGES: State([dump(node(field, package=MESSAGES))], MESSAGES, f"{MESSAGES}.Main"),
            "com.android.settings": State([dump(node())], "com.android.settings", "com.android.settings.Settings"),
        },
        MESSAGES,
        react,
        launchable=(App("com.android.settings", "Settings"), App(MESSAGES, "Messages")),
        settings={("global", "wifi_on"): "0"},
    )
    return Subject(fake, lambda: len(done), lambda: Deadline.after(clock, 10))


@pytest.fixture(params=["android", "plain", "fallen", "fake"])
def subject(request: pytest.FixtureRequest) -> Iterator[Subject]:
    if request.param == "fake":
        yield fake_subject()
        return
    phone = request.getfixturevalue("phone")
    driver: Driver
    if request.param == "android":
        driver = request.getfixturevalue("driver")
    else:
        driver = request.getfixturevalue("plain_driver")
        if request.param == "fallen":
            driver = fallen_back(request.getfixturevalue("driver"), driver)

    def deadline() -> Deadline:
        return Deadline.after(SystemClock(), 10)

    driver.start_app(MESSAGES, deadline())
    driver.tap(540, 337, deadline())
    made = Subject(driver, lambda: int(phone.phone.state()["inputs"]["count"]), deadline)
    if request.param != "android":
        driver.tap(*made.bounds.center, deadline())  # it types into what has the focus
        made.text, made.text_shown = "a% b '$(x)' \\ #; &|", "second %s &lt;&amp;&gt;"
    yield made


def fallen_back(helper: AndroidDriver, plain: Driver) -> Driver:
    """A driver whose helper died for good."""
    said: list[str] = []
    driver = FallbackDriver(helper, lambda: plain, said.append)
    driver._switch(plain, "it died")
    assert len(said) == 1
    return driver


WRITES: dict[str, Callable[[Driver, Subject, Deadline], None]] = {
    "tap": lambda driver, subject, deadline: driver.tap(5, 5, deadline),
    "long_press": lambda driver, subject, deadline: driver.long_press(5, 5, deadline),
    "swipe": lambda driver, subject, deadline: driver.swipe(500, 1500, 500, 900, 200, deadline),
    "press": lambda driver, subject, deadline: driver.press("volume_up", deadline),
    "set_text": lambda driver, subject, deadline: driver.set_text(FIELD, subject.bounds, subject.text, deadline),
}

READS: dict[str, Callable[[Driver, Deadline], object]] = {
    "dump": lambda driver, deadline: driver.dump(deadline),
    "foreground": lambda driver, deadline: driver.foreground(deadline),
    "display": lambda driver, deadline: driver.display(deadline),
    "screenshot": lambda driver, deadline: driver.screenshot(deadline),
    "apps": lambda driver, deadline: driver.apps(deadline),
    "read_setting": lambda driver, deadline: driver.read_setting("global", "wifi_on", deadline),
}


def test_reads_answer_in_the_words_of_the_port(subject: Subject) -> None:
    driver = subject.driver
    assert b"<hierarchy" in driver.dump(subject.deadline())
    front = driver.foreground(subject.deadline())
    assert isinstance(front, Foreground) and front.package == MESSAGES
    assert front.activity is not None and front.activity.startswith("com.")
    assert driver.display(subject.deadline()) == Display(1080, 2340, 0)
    picture = driver.screenshot(subject.deadline())
    assert (picture.image.width, picture.image.height, picture.is_black, picture.is_secure) == (
        1080,
        2340,
        False,
        False,
    )
    assert driver.read_setting("global", "wifi_on", subject.deadline()) == "0"
    assert driver.facts.serial and driver.facts.model and driver.facts.sdk == 34


def test_apps_are_sorted_by_label_and_can_be_started(subject: Subject) -> None:
    apps = subject.driver.apps(subject.deadline())
    assert [app.label for app in apps] == sorted(app.label for app in apps)
    assert App("com.android.settings", "Settings") in apps
    subject.driver.start_app("com.android.settings", subject.deadline())
    assert subject.driver.foreground(subject.deadline()).package == "com.android.settings"


def test_a_setting_that_is_not_set_is_none(subject: Subject) -> None:
    assert subject.driver.read_setting("global", "no_such_key", subject.deadline()) is None


def test_settings_outside_the_three_namespaces_are_refused(subject: Subject) -> None:
    with pytest.raises(DeviceRefused) as caught:
        subject.driver.read_setting("config", "x", subject.deadline())
    assert (caught.value.code, caught.value.sent) == ("bad_setting", "no")


@pytest.mark.parametrize("name", WRITES)
def test_a_write_happens_exactly_once(subject: Subject, name: str) -> None:
    before = subject.executed()
    WRITES[name](subject.driver, subject, subject.deadline())
    assert subject.executed() == before + 1


@pytest.mark.parametrize("name", WRITES)
def test_a_write_without_time_left_is_not_sent(subject: Subject, name: str) -> None:
    before = subject.executed()
    with pytest.raises(DeviceTimeout) as caught:
        WRITES[name](subject.driver, subject, Deadline(subject.deadline().clock, 0.0))
    assert caught.value.sent == "no"
    assert subject.executed() == before


@pytest.mark.parametrize("name", READS)
def test_a_read_without_time_left_is_a_timeout(subject: Subject, name: str) -> None:
    with pytest.raises(DeviceTimeout):
        READS[name](subject.driver, Deadline(subject.deadline().clock, 0.0))


def test_set_text_replaces_what_was_there(subject: Subject) -> None:
    second = html.unescape(subject.text_shown)
    for text in ("first", f"{second} \"'"):
        subject.driver.set_text(FIELD, subject.bounds, text, subject.deadline())
    shown = subject.driver.dump(subject.deadline()).decode()
    assert "first" not in shown
    assert subject.text_shown in shown


def test_a_field_that_moved_is_not_filled(subject: Subject) -> None:
    before = subject.executed()
    for field, bounds in (
        (FIELD, Bounds(1, 2, 3, 4)),
        (Selector(resource_id="com.example:id/gone"), subject.bounds),
        (Selector(resource_id=FIELD.resource_id, instance=7), subject.bounds),
    ):
        with pytest.raises(DeviceRefused) as caught:
            subject.driver.set_text(field, bounds, "secret", subject.deadline())
        assert (caught.value.code, caught.value.sent) == ("field_moved", "no")
        assert "secret" not in str(caught.value)
    assert subject.executed() == before


@pytest.mark.parametrize(
    "package", ["com.example.absent", "com.android.settings; reboot", "-a", "", "com.android.settings\n"]
)
def test_an_app_without_launcher_entry_is_not_started(subject: Subject, package: str) -> None:
    before, front = subject.executed(), subject.driver.foreground(subject.deadline())
    with pytest.raises(DeviceRefused) as caught:
        subject.driver.start_app(package, subject.deadline())
    assert (caught.value.code, caught.value.sent) == ("no_app", "no")
    assert (subject.executed(), subject.driver.foreground(subject.deadline())) == (before, front)


def test_an_unknown_key_is_not_pressed(subject: Subject) -> None:
    before = subject.executed()
    with pytest.raises(DeviceRefused) as caught:
        subject.driver.press("KEYCODE_BACK", subject.deadline())
    assert (caught.value.code, caught.value.sent) == ("no_key", "no")
    assert subject.executed() == before


def test_a_closed_driver_touches_nothing(subject: Subject) -> None:
    before = subject.executed()
    subject.driver.close()
    subject.driver.close()
    bounds = Bounds(0, 0, 1, 1)
    calls: dict[str, Callable[[Driver, Deadline], object]] = {
        **READS,
        "tap": lambda driver, deadline: driver.tap(1, 1, deadline),
        "long_press": lambda driver, deadline: driver.long_press(1, 1, deadline),
        "swipe": lambda driver, deadline: driver.swipe(1, 1, 2, 2, 100, deadline),
        "set_text": lambda driver, deadline: driver.set_text(FIELD, bounds, "x", deadline),
        "press": lambda driver, deadline: driver.press("back", deadline),
        "start_app": lambda driver, deadline: driver.start_app("com.android.settings", deadline),
    }
    for call in calls.values():
        with pytest.raises(DeviceLost) as caught:
            call(subject.driver, subject.deadline())
        assert (caught.value.code, caught.value.sent) == ("closed", "no")
    assert subject.executed() == before


def test_every_error_is_one_of_ours(subject: Subject) -> None:
    hostile = "\0\n\ud800" * 3
    calls: list[Callable[[], object]] = [
        lambda: subject.driver.read_setting("global", hostile, subject.deadline()),
        lambda: subject.driver.start_app(hostile, subject.deadline()),
        lambda: subject.driver.press(hostile, subject.deadline()),
    ]
    for call in calls:
        with pytest.raises(DeviceError) as caught:
            call()
        assert "\n" not in str(caught.value) and "\0" not in str(caught.value)
