"""Bug reports about where a finger lands, B32 to B36, each through the real stack; and rows 12 to 33 of the field.

What was hit is what the virtual phone itself says; nothing is believed that droidpilot says.

Where what users of such tools complain about is proved (rows of the field's list):

    row  what breaks elsewhere                          proved in
    12   emoji make the dump throw                      test_plain.py (illegal_character), tests/screens/test_parse.py
    13   emoji come back as dots                        tests/pipeline/test_fitness.py (lost characters are said once)
    14   never-idle screens make dumps slow             here: test_row_14_..., tests/screens/test_restless.py
    15   the same wait at every look                    here: test_row_14_and_15_...
    16   an idle timeout is a failed dump               tests/device/test_plain.py (never rests)
    17   a dump fails, the compressed one works         tests/device/test_plain.py (never rests)
    18   stalls without end                             here: test_row_18_...; tests/device/test_settle.py
    19   only the outermost element is listed           tests/pipeline/test_fitness.py (next to nothing to use)
    20   icon-only buttons are missing                  tests/screens/test_render.py (things without words)
    21   cut silently                                   tests/screens/test_cut.py
    22   opaque surfaces                                tests/screens/test_screen_value.py
    23   wrong parents                                  tests/screens/test_parse.py, test_hits.py
    24   the same label four times                      tests/screens/test_render.py (nothing is said twice)
    25   a message that does not say the cause          tests/device/test_plain.py (named codes), here: test_row_25_...
    26   screenshot coordinates by the model            tests/e2e/test_pictures_end_to_end.py
    27   a provider that shrinks pictures               tests/model/test_provider.py
    28   landscape uses portrait coordinates            here: B33, test_row_28_...
    29   a foldable was folded                          here: test_row_29_...
    30   unscaled taps                                  tests/tools/test_picture_frame.py
    31   a locked phone "succeeds"                      here: test_row_31_...; tests/pipeline/test_fitness.py
    32   typing into the PIN pad                        here: test_row_31_... (nothing is sent to a locked phone)
    33   black pictures of secure windows               tests/pipeline/test_road_pictures.py
"""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import PIL.Image
import pytest
from tests.e2e.setting import Setting, find, virtual_setting
from tests.fakes.driver import FakeDriver
from tests.fakes.model import Answer, FakeModel, call, reply
from tests.fakes.road import make_road
from tests.reports.real_session import inputs, inputs_since, last_input, look, plan_of, real_session

from droidpilot.core.calls import Status
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import Exit
from droidpilot.core.images import Image
from droidpilot.core.stop import Stop
from droidpilot.device.adb import AdbServer
from droidpilot.device.android import connect
from droidpilot.device.driver import Driver, Picture
from droidpilot.plan import PhoneAddress, prepare
from droidpilot.screens.hierarchy import Node
from droidpilot.session import Session, open_session
from droidpilot.virtual.apps.parts import scroller
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import button, label, page
from droidpilot.virtual.ui.windows import Window

FIELD_APP = "com.google.android.apps.messaging"


@pytest.fixture(scope="module")
def still(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    """A phone without transitions."""
    with virtual_setting(tmp_path_factory.mktemp("still")) as setting:
        yield setting


@pytest.fixture
def setting(still: Setting) -> Iterator[Setting]:
    phone = still.phone.phone
    phone.display.turn(0)
    phone.display.fold(False)
    phone.reset()
    yield still
    still.phone.phone.faults.clear()
    phone.display.turn(0)
    phone.display.fold(False)


@pytest.fixture
def session(setting: Setting, tmp_path: Path) -> Iterator[Session]:
    with real_session(setting, tmp_path) as session:
        yield session


def open_settings(session: Session) -> str:
    result = session.call("open_app", {"app": "com.android.settings"})
    assert result.status is Status.OK, result.text
    return result.text


# B32


def test_b32_the_finger_is_lifted_though_the_phone_turns_in_mid_gesture(setting: Setting, session: Session) -> None:
    ref = find("Battery", open_settings(session))
    phone, before = setting.phone.phone, inputs(setting)
    sent = phone.faults.calls["input"]
    turner = threading.Timer(0.3, lambda: phone.display.turn(1))
    turner.start()
    result = session.call("long_press", {"ref": ref})
    turner.join()
    # One request holds finger down, time and finger up: there is no half of it to lose.
    assert phone.faults.calls["input"] == sent + 1
    assert inputs(setting) == before + 1 and last_input(setting)["kind"] == "long_press"
    # What comes next is judged on the screen as it lies now.
    assert result.status is Status.OK and phone.display.rotation == 1
    screen = look(session)
    assert (screen.width, screen.rotation) == (2340, 1)
    up = find("Navigate up", session.call("ui_tree", {}).text)
    session.call("tap", {"ref": up})
    node = screen.node_of(up)
    assert node is not None and node.bounds.contains(last_input(setting)["x"], last_input(setting)["y"])


# B33


@pytest.mark.parametrize("rotation", [0, 1, 2, 3])
def test_b33_the_middle_of_a_node_at_the_right_edge_is_hit_in_every_rotation(
    setting: Setting, session: Session, rotation: int
) -> None:
    open_settings(session)
    session.call("tap", {"ref": find("Network", session.call("ui_tree", {}).text)})
    setting.phone.phone.display.turn(rotation)
    screen = look(session)
    width, height = (2340, 1080) if rotation % 2 else (1080, 2340)
    assert (screen.width, screen.height, screen.rotation) == (width, height, rotation)
    takers = {ref: node for ref in screen.refs if (node := screen.node_of(ref)) is not None and node.is_tappable}
    ref, node = max(takers.items(), key=lambda pair: pair[1].bounds.right)
    assert node.bounds.right > width * 0.85
    result = session.call("tap", {"ref": ref})
    assert result.status is Status.OK
    hit = last_input(setting)
    assert node.bounds.contains(hit["x"], hit["y"]) and abs(hit["x"] - node.bounds.center[0]) <= node.bounds.width // 2
    assert hit["on"]


def test_row_28_a_place_that_was_chosen_before_the_phone_turned_is_not_tapped(setting: Setting, tmp_path: Path) -> None:
    phone, before = setting.phone.phone, inputs(setting)

    def turn_and_tap(_: Any) -> Any:
        time.sleep(0.06)  # no model answers faster than a look stays fresh
        phone.display.turn(1)
        return reply("", call("tap", x=540, y=900))

    model = FakeModel(
        [reply("", call("open_app", app="com.android.settings")), turn_and_tap, reply("", call("done", summary="."))]
    )
    with goal_session(setting, tmp_path) as session:
        session.run_goal(model)
    assert not inputs_since(setting, before)
    assert "nothing was sent" in str(model.requests[-1].messages[-1])


def test_row_29_a_place_that_was_chosen_before_the_phone_was_folded_is_not_tapped(
    setting: Setting, tmp_path: Path
) -> None:
    phone, before = setting.phone.phone, inputs(setting)

    def fold_and_tap(_: Any) -> Any:
        time.sleep(0.06)
        phone.display.fold(True)
        return reply("", call("tap", x=540, y=900))

    model = FakeModel(
        [reply("", call("open_app", app="com.android.settings")), fold_and_tap, reply("", call("done", summary="."))]
    )
    with goal_session(setting, tmp_path) as session:
        session.run_goal(model)
    assert not inputs_since(setting, before)


# B34


class Sideways:
    """A phone whose screen pictures are upright only where the phone is: the driver of it, but for that."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self._driver, name)

    def screenshot(self, deadline: Deadline) -> Picture:
        picture = self._driver.screenshot(deadline)
        out = io.BytesIO()
        with PIL.Image.open(io.BytesIO(picture.image.data)) as opened:
            opened.convert("RGB").rotate(90, expand=True).save(out, "JPEG")
        image = Image(out.getvalue(), "image/jpeg", picture.image.height, picture.image.width)
        return Picture(image, is_black=picture.is_black, is_secure=picture.is_secure)


def test_b34_no_place_is_taken_from_a_picture_that_lies_sideways(setting: Setting) -> None:
    phone, clock = setting.phone.phone, SystemClock()
    phone.display.turn(1)
    driver = connect(AdbServer(setting.adb_port), setting.phone.serial, clock=clock, deadline=Deadline.after(clock, 20))
    try:
        road = make_road(cast(FakeDriver, Sideways(driver)), rules="allow *")
        road.executor.first_look()
        taken = road.submit("screenshot")
        assert taken.status is Status.OK and "take no places from it" in taken.text
        before = inputs(setting)
        result = road.submit("tap", x=100, y=100, picture=1)
        assert (result.status, result.code) == (Status.LOGIC, "mismatched_picture")
        assert inputs(setting) == before
    finally:
        driver.close()


# B35


def goal_session(setting: Setting, folder: Path) -> Any:
    address = PhoneAddress(serial=setting.phone.serial, adb_port=setting.adb_port, is_virtual=True)
    plan = plan_of(folder, goal="tap it")
    return open_session(prepare(plan), address, clock=SystemClock(), stop=Stop())


def test_b35_a_tap_that_does_nothing_says_so_and_does_not_go_on_for_ever(setting: Setting, tmp_path: Path) -> None:
    setting.phone.phone.faults.set("tap-lost", "always")

    def tap(request: Any) -> Any:
        text = next(str(m["content"]) for m in request.messages if "<screen com" in str(m["content"]))
        return reply("", call("tap", ref=find("Settings", text)))

    with goal_session(setting, tmp_path) as session:
        model = FakeModel([tap] * 20)
        outcome = session.run_goal(model)
    assert outcome.exit is Exit.FAILED and "nothing changed" in outcome.reason
    assert len(model.requests) <= 5
    assert "No change was seen: do not repeat it" in str(model.requests[-1].messages)


def test_b35_back_that_an_app_does_not_hear_is_named(setting: Setting, session: Session) -> None:
    open_settings(session)
    session.call("press", {"key": "home"})
    result = session.call("press", {"key": "back"})
    assert result.status is Status.OK and "did not react to back" in result.text
    open_settings(session)
    assert "No change" not in session.call("press", {"key": "back"}).text


def test_b35_back_on_android_16_is_judged_by_what_changed_and_not_by_its_having_been_sent(
    setting: Setting, session: Session
) -> None:
    phone = setting.phone.phone
    opened = session.call("open_app", {"app": FIELD_APP})
    phone.sdk, phone.top.ignores_back_key = 36, True
    try:
        before = inputs(setting)
        result = session.call("press", {"key": "back"})
    finally:
        phone.sdk = 34
    assert inputs(setting) == before + 1 and setting.phone.phone.package == FIELD_APP, opened.text
    assert result.status is Status.OK and "the app did not react to back" in result.text


# B36


def overlay_at_the_bottom(taps: list[str]) -> Window:
    """A window of another app with a button where a keyboard comes."""

    def body() -> View:
        return button("Pay", id="com.shop:id/pay", on_click=lambda: taps.append("Pay"))

    return Window("com.shop", "com.shop.Bubble", "Bubble", "bubble", body, kind="overlay", box=_bottom)


def _bottom(screen: Rect) -> Rect:
    return Rect(screen.left + 100, screen.bottom - 500, screen.right - 100, screen.bottom - 300)


def open_a_note(session: Session) -> Node:
    """Open a page whose field has the focus, so that the keyboard is there."""
    session.call("open_app", {"app": "Notes"})
    screen = look(session)
    add = next(ref for ref in screen.refs if (screen.node_of(ref) or field_less()).desc == "New note")
    session.call("tap", {"ref": add})
    return next(node for node in look(session).nodes if node.is_editable)


def test_b36_what_the_keyboard_covers_is_not_tapped_and_the_words_say_what_to_do(
    setting: Setting, session: Session
) -> None:
    taps: list[str] = []
    open_a_note(session)
    setting.phone.phone.show_overlay(overlay_at_the_bottom(taps))
    field = next(ref for ref in look(session).refs if (look(session).node_of(ref) or field_less()).is_editable)
    session.call("tap", {"ref": field})
    text = session.call("ui_tree", {}).text
    assert "keyboard open" in text and "inputmethod" not in text  # one word; its keys are nobody's business
    result = session.call("tap", {"ref": find("Pay", text)})
    assert (result.status, result.code) == (Status.LOGIC, "covered")
    assert "covered by the keyboard" in result.text and "press back hides the keyboard" in result.text
    assert not taps
    hidden = session.call("press", {"key": "back"})
    assert "keyboard open" not in session.call("ui_tree", {}).text, hidden.text
    assert session.call("tap", {"ref": find("Pay", text)}).status is Status.OK
    assert taps == ["Pay"]


def test_b36_by_plain_adb_the_keyboard_and_another_apps_window_cover_what_lies_under_them(
    setting: Setting, tmp_path: Path
) -> None:
    taps: list[str] = []
    setting.phone.phone.faults.set("no-helper")
    with real_session(setting, tmp_path) as session:
        open_a_note(session)
        field = next(ref for ref in look(session).refs if (look(session).node_of(ref) or field_less()).is_editable)
        session.call("tap", {"ref": field})
        text = session.call("ui_tree", {}).text
        assert "keyboard open" in text and "by plain ADB" in text
        before = inputs(setting)
        result = session.call("tap", {"x": 540, "y": look(session).height - 300})
        assert (result.status, result.code) == (Status.LOGIC, "covered")
        assert "covered by the keyboard" in result.text and "press back hides the keyboard" in result.text
        assert not inputs_since(setting, before)
        session.call("press", {"key": "back"})
        assert "keyboard open" not in session.call("ui_tree", {}).text
    assert not taps


def test_by_plain_adb_nothing_is_pressed_in_a_window_whose_place_alone_is_known(
    setting: Setting, tmp_path: Path
) -> None:
    taps: list[str] = []
    setting.phone.phone.faults.set("no-helper")
    with real_session(setting, tmp_path) as session:
        text = open_settings(session)
        line = next(
            line for line in text.splitlines() if line.lstrip("+~ ").split(" ")[0].isdigit() and "scroll" not in line
        )
        ref = int(line.lstrip("+~ ").split(" ")[0])
        node = look(session).node_of(ref) or field_less()
        over = Rect(node.bounds.left, node.bounds.top, node.bounds.right, node.bounds.bottom)
        window = overlay_at_the_bottom(taps)
        window.box = lambda screen: over
        setting.phone.phone.show_overlay(window)
        time.sleep(0.06)
        assert "also a window of com.shop" in session.call("ui_tree", {}).text
        before = inputs(setting)
        x, y = node.bounds.center
        for tool, arguments in (
            ("tap", {"ref": ref}),
            ("tap", {"x": x, "y": y}),
            ("long_press", {"x": x, "y": y}),
            ("swipe", {"x1": x - 100, "y1": y, "x2": x + 100, "y2": y}),
        ):
            result = session.call(tool, arguments)
            assert (result.status, result.code) == (Status.LOGIC, "covered"), (tool, result.text)
            assert "com.shop" in result.text
        assert not inputs_since(setting, before) and not taps


def field_less() -> Node:
    raise AssertionError("no such ref")


def test_b36_a_keyboard_on_its_way_is_waited_for(tmp_path: Path) -> None:
    taps: list[str] = []
    with virtual_setting(tmp_path / "phone", transition_ms=200) as moving, real_session(moving, tmp_path) as session:
        phone = moving.phone.phone
        open_a_note(session)
        phone.show_overlay(overlay_at_the_bottom(taps))
        screen = look(session)
        field = next(ref for ref in screen.refs if (screen.node_of(ref) or field_less()).is_editable)
        session.call("tap", {"ref": field})
        text = session.call("ui_tree", {}).text
        assert "keyboard open" in text
        with phone.lock:
            phone.keyboard.hide()
            phone.changed()
        time.sleep(0.06)  # a look younger than that is used again
        ref, before = find("Pay", text), inputs(moving)
        result = session.call("tap", {"ref": ref})
        assert result.status is Status.OK and "keyboard" not in result.text, result.text
        assert taps == ["Pay"]
        with phone.lock:
            phone.keyboard.show(phone.top)  # it begins to slide in within 200 ms, and needs 400
        time.sleep(0.25)
        result = session.call("tap", {"ref": ref})
        assert (result.status, result.code) == (Status.LOGIC, "covered"), result.text
        assert len(inputs_since(moving, before)) == 1
    assert taps == ["Pay"]


# rows


def test_row_14_and_15_a_screen_that_never_rests_costs_its_wait_once_and_is_named_once(
    setting: Setting, session: Session
) -> None:
    open_settings(session)
    phone = setting.phone.phone
    phone.open(restless_window(phone.now_ms))
    took: list[float] = []
    texts: list[str] = []
    for _ in range(3):
        started = time.monotonic()
        texts.append(session.call("ui_tree", {}).text)
        took.append(time.monotonic() - started)
    assert took[0] < 5.0 and max(took[1:]) < took[0] / 2, took
    named = session.call("tap", {"ref": find("Stay", texts[0])}).text
    assert "never idle" in texts[0] and "never idle" not in named


def restless_window(now_ms: Callable[[], int]) -> Window:
    def body() -> View:
        clock = label(f"{now_ms() // 10} ms")
        stay = button("Stay", id="com.android.settings:id/stay", on_click=lambda: None)
        return page("com.android.settings", "Timer", scroller(window, [clock, stay]), on_up=None)

    window = Window("com.android.settings", "com.android.settings.Timer", "Timer", "timer", body)
    window.is_restless = True
    return window


def test_row_18_a_look_has_an_end_whatever_the_phone_says(setting: Setting, session: Session) -> None:
    setting.phone.phone.faults.set("dump-error", "null-root", "always")
    started = time.monotonic()
    result = session.call("ui_tree", {})
    assert time.monotonic() - started < 8.0
    assert (result.status, result.code) == (Status.TRANSIENT, "null_root")


def test_row_25_the_first_line_says_the_cause(setting: Setting, session: Session) -> None:
    setting.phone.phone.faults.set("dump-error", "illegal-character", "always")
    result = session.call("ui_tree", {})
    assert result.code == "illegal_character" and "cannot be read" in result.text.splitlines()[0]


def test_row_31_nothing_is_sent_to_a_locked_or_dark_phone(setting: Setting, session: Session) -> None:
    text, phone = open_settings(session), setting.phone.phone
    with phone.lock:
        phone.keyguard.choose("swipe")
        phone.keyguard.lock()
        phone.changed()
    time.sleep(0.06)  # a look younger than that is used again
    before = inputs(setting)
    for tool, arguments in (("tap", {"ref": find("Battery", text)}), ("press", {"key": "home"})):
        result = session.call(tool, arguments)
        assert (result.status, result.code, result.sent) == (Status.REFUSED, "locked", "no")
    assert session.end_call(result).exit is Exit.REFUSED
    assert inputs(setting) == before


def test_a_dark_phone_is_woken_by_wakeup_alone(setting: Setting, session: Session) -> None:
    open_settings(session)
    assert "display off" in session.call("press", {"key": "power"}).text
    before = inputs(setting)
    assert session.call("press", {"key": "back"}).code == "screen_off"
    assert inputs(setting) == before
    assert session.call("press", {"key": "wakeup"}).sent == "yes"
    assert setting.phone.phone.state()["screen_on"] is True


def test_the_tree_of_one_app_under_the_focus_of_another_is_read_again(setting: Setting, session: Session) -> None:
    open_settings(session)
    setting.phone.phone.stale_tree(2)
    time.sleep(0.06)  # a look this old is not used again
    screen = look(session)
    assert screen.package == "com.android.settings" and not screen.health.is_foreign
    setting.phone.phone.stale_tree(1000)
    time.sleep(0.06)
    before = inputs(setting)
    result = session.call("tap", {"x": 500, "y": 900})
    setting.phone.phone.stale_tree(0)
    assert (result.status, result.code) == (Status.REFUSED, "foreign_tree") and inputs(setting) == before


def test_a_person_who_opens_another_app_is_noticed_and_the_run_goes_on(setting: Setting, tmp_path: Path) -> None:
    phone, before = setting.phone.phone, inputs(setting)

    def person(_: Any) -> Any:
        time.sleep(3.2)  # longer ago than our own write could explain
        with phone.lock:
            phone.start("com.google.android.apps.messaging")
        return reply("", call("press", key="back"))

    answers: list[Answer] = [
        reply("", call("open_app", app="com.android.settings")),
        person,
        reply("", call("press", key="home")),
        reply("", call("done", summary="done")),
    ]
    with goal_session(setting, tmp_path) as session:
        model = FakeModel(answers)
        session.run_goal(model)
        transcript = (session.directory / "transcript.jsonl").read_text()
    said = str(model.requests[2].messages[-1])
    assert "something else than this session" in said and "com.google.android.apps.messaging" in said
    assert transcript.count('"screen_taken"') >= 1
    keys = [event for event in inputs_since(setting, before) if event["kind"] == "key"]
    assert [event["code"] for event in keys] == [3]  # home was sent, back was not
