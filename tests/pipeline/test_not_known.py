"""What a phone does not say, and what an app says of itself, loosens nothing. On the whole road."""

from __future__ import annotations

from typing import Any

import pytest
from tests.fakes.driver import FakeDriver, State, dump, node, plain_picture
from tests.fakes.road import Person, Road, chat, make_road
from tests.pipeline.test_fitness import ASK, WRITES, foreign

from droidpilot.core.calls import Origin, Status
from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceLost, DeviceTimeout
from droidpilot.device.driver import Foreground, LockState
from droidpilot.pipeline.approval import AskMode


class Mute(FakeDriver):
    """A phone that does not say whether it is locked or off: not at once, and later only what `later` holds."""

    later: LockState = LockState()

    def foreground(self, deadline: Deadline) -> Foreground:
        found = super().foreground(deadline)
        return Foreground(found.package, found.activity)

    def lock_state(self, deadline: Deadline) -> LockState:
        super().lock_state(deadline)
        return self.later


def mute(**options: Any) -> Road:
    return make_road(Mute({"chat": State([chat()], "com.chat", "com.chat.Main")}, "chat"), **options)


@pytest.mark.parametrize(("tool", "arguments"), WRITES)
def test_nothing_is_sent_to_a_phone_that_may_be_locked(tool: str, arguments: dict[str, Any]) -> None:
    person = Person()
    road = mute(rules=ASK, approver=person)
    result = road.submit(tool, origin=Origin.HUMAN, **arguments)
    assert (result.status, result.code, result.sent) == (Status.REFUSED, "state_unknown", "no")
    assert not road.writes and not person.asked
    assert "does not say whether it is locked or off" in result.text


def test_a_phone_that_may_be_dark_can_be_woken_and_read() -> None:
    road = mute()
    assert road.submit("ui_tree").status is Status.OK
    assert road.submit("press", key="wakeup").sent == "yes"


@pytest.mark.parametrize(
    ("later", "code"),
    [(LockState(True, False), "locked"), (LockState(False, True), "screen_off"), (LockState(False, False), "")],
)
def test_another_service_may_know(later: LockState, code: str) -> None:
    road = mute()
    assert isinstance(road.driver, Mute)
    road.driver.later = later
    assert road.submit("press", key="back").code == code


def test_what_fails_to_answer_refuses_too() -> None:
    road = make_road(FakeDriver({"chat": State([chat()], "com.chat", None)}, "chat"))
    for nth in range(1, 9):
        road.driver.fail("foreground", DeviceTimeout("no answer in time"), nth=nth)
        road.driver.fail("lock_state", DeviceTimeout("no answer in time"), nth=nth)
    assert road.submit("press", key="back").code == "state_unknown" and not road.writes


def test_a_phone_that_says_all_of_it_at_once_is_asked_nothing_more() -> None:
    road = make_road(FakeDriver({"chat": State([chat()], "com.chat", None)}, "chat"))
    assert road.submit("press", key="back").sent == "yes"
    assert not [call for call in road.driver.calls if call.name == "lock_state"]


def test_a_picture_of_what_may_be_secure_is_not_given() -> None:
    picture = plain_picture(1080, 2340)
    unknown = type(picture)(picture.image, is_black=False, is_secure=None)
    road = make_road(FakeDriver({"chat": State([chat()], "com.chat", None, unknown)}, "chat"), ask=AskMode.NEVER)
    result = road.submit("screenshot")
    assert (result.code, result.image) == ("secure_unknown", None)
    assert "forbids pictures" in result.text


@pytest.mark.parametrize(
    ("tool", "arguments"), [*(one for one in WRITES if one[1] != {"key": "back"}), ("press", {"key": "volume_up"})]
)
def test_of_a_tree_of_another_app_nothing_is_pressed(tool: str, arguments: dict[str, Any]) -> None:
    road = make_road(foreign("com.old", "com.new"))
    assert road.submit(tool, origin=Origin.HUMAN, **arguments).code == "foreign_tree" and not road.writes


@pytest.mark.parametrize("key", ["home", "back", "recents", "power", "wakeup"])
def test_keys_that_need_no_tree_are_pressed_all_the_same(key: str) -> None:
    assert make_road(foreign("com.old", "com.new")).submit("press", key=key).sent == "yes"


def spoofed(root: str, button: str, *, said: str = "Total 5", by: str = "com.evil") -> FakeDriver:
    screen = dump(
        node(
            node(text=said, bounds=(100, 300, 900, 400), package=by),
            node(
                text="Go on", cls="android.widget.Button", bounds=(100, 500, 900, 700), clickable=True, package=button
            ),
            node(text="Other", bounds=(100, 900, 900, 1000), package="com.evil"),
            cls="android.widget.FrameLayout",
            package=root,
        )
    )
    return FakeDriver({"s": State([screen], "com.evil", None)}, "s")


@pytest.mark.parametrize(
    "rules", ["deny tap in com.evil", "deny tap in com.evil\nallow tap in com.safe", "deny * in *"]
)
@pytest.mark.parametrize("root", ["com.evil", "com.safe"])
def test_a_node_that_says_that_it_is_another_apps_is_judged_by_its_window_too(root: str, rules: str) -> None:
    road = make_road(spoofed(root, "com.safe"), rules=rules, ask=AskMode.NEVER)
    result = road.submit("tap", origin=Origin.HUMAN, x=500, y=600)
    assert (result.status, result.code) == (Status.REFUSED, "rule") and not road.writes


def test_the_rules_of_the_app_that_a_node_names_hold_as_well() -> None:
    road = make_road(spoofed("com.evil", "com.safe"), rules="deny tap in com.safe\nallow *", ask=AskMode.NEVER)
    assert road.submit("tap", origin=Origin.HUMAN, x=500, y=600).code == "rule"


def test_a_person_is_told_the_app_that_is_really_in_front() -> None:
    person = Person("no")
    road = make_road(spoofed("com.evil", "com.safe"), rules="ask tap", approver=person)
    road.submit("tap", origin=Origin.HUMAN, x=500, y=600)
    assert person.asked[0].package == "com.evil" and person.asked[0].sentence.endswith("in com.evil")


@pytest.mark.parametrize("by", ["com.evil", "com.android.systemui", "com.google.android.inputmethod.latin"])
def test_what_was_decided_on_holds_whatever_package_it_claims(by: str) -> None:
    driver = spoofed("com.evil", "com.evil", by=by)
    driver.states["later"] = spoofed("com.evil", "com.evil", said="Total 5000", by=by).states["s"]
    road = make_road(driver, rules="ask tap", approver=Person("yes", think=lambda: driver.show("later")))
    assert road.submit("tap", origin=Origin.HUMAN, x=500, y=600).code == "stale" and not road.writes


@pytest.mark.parametrize(
    ("key", "package", "activity", "is_proof"),
    [
        ("back", "com.other", "com.other.Main", False),
        ("back", "com.android.launcher3", None, False),
        ("back", "com.chat", "com.chat.Other", True),
        ("home", "com.other", "com.other.Main", False),
        ("home", "com.android.launcher3", None, True),
        ("recents", "com.other", None, False),
    ],
)
def test_a_key_whose_answer_was_lost_is_not_proved_by_an_app_that_came_by_itself(
    key: str, package: str, activity: str | None, is_proof: bool
) -> None:
    driver = FakeDriver({"chat": State([chat()], "com.chat", "com.chat.Main")}, "chat")
    driver.states["later"] = State([chat(package=package)], package, activity)
    driver.react = lambda fake, call: fake.show("later")
    driver.fail("write", DeviceLost("the connection broke", sent="unknown"), has_happened=True)
    road = make_road(driver)
    assert ("the screen shows that it happened" in road.submit("press", key=key).text) is is_proof


@pytest.mark.parametrize("tool", ["done", "wait"])
@pytest.mark.parametrize("rules", ["ask * in com.bank.*", "deny * in com.bank", "deny * in *\ndeny * in com.x"])
def test_a_tool_that_touches_no_app_is_no_business_of_lines_that_name_one(tool: str, rules: str) -> None:
    road = make_road(FakeDriver({"chat": State([chat()], "com.chat", None)}, "chat"), rules=rules)
    given: dict[str, Any] = {"summary": "all well"} if tool == "done" else {"ms": 100}
    assert road.submit(tool, **given).status is Status.OK
    denied = make_road(FakeDriver({"c": State([chat()], "com.chat", None)}, "c"), rules=f"allow * in *\ndeny {tool}")
    assert denied.submit(tool, **given).code == "rule"  # and no line that names one allows it


def test_a_tool_that_touches_an_app_that_is_not_known_still_waits() -> None:
    road = make_road(FakeDriver({"chat": State([chat()], None, None)}, "chat"), rules="deny * in com.bank")
    assert road.submit("tap", origin=Origin.HUMAN, x=70, y=150).code == "package_unknown"
