"""Public bug reports about reading the screen, each by its number, through the real stack.

The phone is a scene or a broken one; from the adb server to the transcript everything is real, but for the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import uiautomator2
from tests.conftest import cases_folder
from tests.fakes.model import call, last_text, reply
from tests.reports.reading_stage import OWN_DUMPS, Stage, stage_in

from droidpilot.core.errors import DeviceError, Exit, ScreenUnreadable
from droidpilot.core.events import ScreenObserved, ToolReturned
from droidpilot.device.driver import Driver
from droidpilot.model.client import ModelReply, ModelRequest
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.virtual.store import File

LOOK = reply("", call("ui_tree", id="look"))
PICTURE = reply("", call("screenshot", id="picture"))


def first(act: Callable[[], object], answer: ModelReply) -> Callable[[ModelRequest], ModelReply]:
    """Make a step of the model before which something happens to the phone."""

    def step(_: ModelRequest) -> ModelReply:
        act()
        return answer

    return step


@pytest.fixture(scope="module")
def whole_stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with stage_in(tmp_path_factory.mktemp("stage")) as stage:
        yield stage


@pytest.fixture
def stage(whole_stage: Stage) -> Iterator[Stage]:
    whole_stage.show("settings_rows.xml")
    yield whole_stage
    whole_stage.phone.faults.clear()


def nodes(data: bytes) -> list[object]:
    return list(parse_hierarchy(data).nodes)


def code_of_dump(stage: Stage, *, is_plain: bool = False) -> str:
    """Read the phone once by a driver; return the code of what went wrong, empty where nothing did."""
    with stage.plain_driver() if is_plain else stage.driver() as driver:
        try:
            parse_hierarchy(driver.dump(stage.within(20)))
        except ScreenUnreadable as error:
            return error.code
    return ""


# every dump there is


def test_every_dump_is_read_through_the_stack_as_from_its_file(stage: Stage) -> None:
    with stage.driver() as driver:
        _read_all(stage, driver)


def test_every_dump_is_read_by_plain_adb_as_from_its_file(stage: Stage) -> None:
    with stage.plain_driver() as driver:
        _read_all(stage, driver)


def _read_all(stage: Stage, driver: Driver) -> None:
    folder = cases_folder()
    paths = sorted(OWN_DUMPS.glob("*.xml"))
    if folder is not None:
        paths += sorted((folder / "dumps").glob("*.xml"))
    for path in paths:
        data = stage.show(path.read_bytes())
        expected = nodes_or_code(lambda data=data: data)  # type: ignore[misc]  # mypy infers no lambda with a default
        read = nodes_or_code(lambda: driver.dump(stage.within(30)))
        assert read == expected, path.name
        if isinstance(expected, list):
            display, scene = driver.display(stage.within(10)), stage.phone.display
            shown = (scene.rect.right, scene.rect.bottom, scene.rotation)
            assert (display.width, display.height, display.rotation) == shown, path.name
    assert len(paths) >= 30


def nodes_or_code(read: Callable[[], bytes]) -> list[object] | str:
    try:
        return list(parse_hierarchy(read()).nodes)
    except ScreenUnreadable as error:
        return error.code


# reading the screen


def test_b01_an_illegal_character_once_is_a_retry(stage: Stage) -> None:
    run = stage.run(first(lambda: stage.fault("dump-error", "illegal-character"), LOOK))
    assert [(view.tool, view.state) for view in run.calls] == [("ui_tree", "ok"), ("done", "ok")]
    assert "Network & internet" in run.told[0]


def test_b01_an_illegal_character_always_is_said_and_a_picture_still_works(stage: Stage) -> None:
    broken = lambda: stage.fault("dump-error", "illegal-character", "always")  # noqa: E731 # named for the line below
    tap = reply("", call("tap", id="tap", x=540, y=1200))
    run = stage.run(first(broken, LOOK), PICTURE, tap)
    looked, pictured, tapped, _ = run.calls
    assert (looked.state, looked.code) == ("transient", "illegal_character")
    assert "cannot be read" in looked.text and "no nodes" not in looked.text and "screenshot" in looked.text
    assert pictured.state == "ok" and pictured.picture and "cannot be read" in pictured.text
    assert tapped.state == "transient", "no blind tap, though there is a picture"
    assert not any(event["kind"] == "tap" for event in stage.phone.inputs.events)


def test_b01_no_picture_of_an_unreadable_screen_where_some_app_may_not_be_read(stage: Stage) -> None:
    """Nobody knows whose windows lie on it."""
    broken = lambda: stage.fault("dump-error", "illegal-character", "always")  # noqa: E731 # named for the line below
    run = stage.run(first(broken, PICTURE), rules="deny ui_tree in com.example.bank\nallow *")
    assert run.calls[0].state == "refused" and not run.calls[0].picture


def test_b02_an_emoji_in_two_halves_spoils_nothing_else(stage: Stage) -> None:
    data = stage.show("lone_surrogates.xml")
    run = stage.run(LOOK)
    assert b"&#55357;&#56832;" in data and "\U0001f600" in run.told[0]
    assert sum(line[:1].isdigit() for line in run.told[0].splitlines()) >= 3, "the other nodes stay usable"


def test_b02_a_phone_that_never_writes_an_emoji_can_still_be_looked_at(stage: Stage) -> None:
    stage.show(b"java.lang.IllegalArgumentException: Illegal character (d83d)\n\tat org.kxml2.io.KXmlSerializer")
    with stage.driver() as driver:
        assert nodes_or_code(lambda: driver.dump(stage.within(20))) == "illegal_character"
        assert driver.screenshot(stage.within(20)).image.width > 0
    with stage.plain_driver() as driver:
        assert nodes_or_code(lambda: driver.dump(stage.within(20))) == "illegal_character"


@pytest.mark.parametrize("tail", [b"UI hierchary dumped to: /dev/tty\n", b"UI hierchary dumped to: /dev/tty\n\0\0\0"])
def test_b04_what_stands_behind_the_hierarchy_changes_nothing(stage: Stage, tail: bytes) -> None:
    data = (OWN_DUMPS / "settings_rows.xml").read_bytes()
    stage.show(data + tail)
    with stage.driver() as driver, stage.plain_driver() as plain:
        assert list(parse_hierarchy(driver.dump(stage.within(20))).nodes) == list(parse_hierarchy(data).nodes)
        assert list(parse_hierarchy(plain.dump(stage.within(20))).nodes) == list(parse_hierarchy(data).nodes)


def test_b06_an_idle_error_with_exit_code_0_is_one_and_the_stale_file_is_never_read(stage: Stage) -> None:
    with stage.plain_driver() as driver:
        assert b"Bluetooth" in driver.dump(stage.within(20))
        stage.show("compose_list.xml")
        assert b"Bluetooth" not in driver.dump(stage.within(20)), "each dump has a file of its own"
        stale = File((OWN_DUMPS / "settings_rows.xml").read_bytes(), 0o100660, 0)
        for path in [*stage.phone.files.files, "/sdcard/window_dump.xml", "/data/local/tmp/window_dump.xml"]:
            if path.endswith(".xml"):
                stage.phone.files.write(path, stale)
        stage.show(b"ERROR: could not get idle state.\n")
        printed = stage.adb_device().shell("uiautomator dump /sdcard/window_dump.xml; echo rc=$?")
        assert printed.split() == ["ERROR:", "could", "not", "get", "idle", "state.", "rc=0"]
        assert nodes_or_code(lambda: driver.dump(stage.within(20))) == "never_idle"
    with stage.driver() as driver:
        assert nodes_or_code(lambda: driver.dump(stage.within(20))) == "never_idle"


def test_b07_two_null_roots_cost_no_turn(stage: Stage) -> None:
    run = stage.run(first(lambda: stage.fault("dump-error", "null-root", "times=2"), LOOK))
    assert run.calls[0].state == "ok" and "Bluetooth" in run.told[0]
    assert (run.outcome.turns, run.outcome.actions) == (2, 0), "the look and done"


def test_b08_broken_blank_and_nothing_are_three_things(stage: Stage) -> None:
    """For the model (what it is told) and in the transcript (code, and whether there was a look)."""
    run = stage.run(
        first(lambda: stage.show("null_root.xml"), LOOK),
        first(lambda: stage.show("no_nodes.xml"), LOOK),
        first(lambda: stage.show("empty.xml"), LOOK),
    )
    stage.show("settings_rows.xml")
    garbled = stage.run(first(lambda: stage.show("not_xml.xml"), LOOK))
    returned = [
        event for event in [*run.events, *garbled.events] if isinstance(event, ToolReturned) and event.tool == "ui_tree"
    ]
    assert [(event.status, event.code) for event in returned] == [
        ("transient", "null_root"),
        ("ok", ""),
        ("transient", "empty"),
        ("transient", "unreadable"),
    ]
    told = [event.text for event in returned]
    assert len(set(told)) == 4
    assert "no nodes" in told[1] and all("no nodes" not in told[at] for at in (0, 2, 3))
    blank = [event for event in run.events if isinstance(event, ScreenObserved) and event.nodes == 0]
    assert blank and all(event.is_complete for event in blank)


def test_b09_somebody_s_compressed_dump_does_not_shorten_ours(stage: Stage) -> None:
    """The mode sticks on the phone for who does not say which one; we say it with every read."""
    stage.phone.scene = None
    stage.phone.home()
    other = uiautomator2.connect(stage.adb_device())
    with stage.driver() as driver:
        whole = len(parse_hierarchy(driver.dump(stage.within(20))).nodes)
        stage.fault("dump-error", "sticky-compressed")
        short = parse_hierarchy(other.jsonrpc.dumpWindowHierarchy(True, 50).encode()).nodes
        assert len(short) < whole
        assert len(parse_hierarchy(other.jsonrpc.dumpWindowHierarchy().encode()).nodes) == len(short), "it sticks"
        assert len(parse_hierarchy(driver.dump(stage.within(20))).nodes) == whole
    other.stop_uiautomator(wait=False)


def test_b11_an_error_every_other_time_is_no_end(stage: Stage) -> None:
    def flap() -> None:
        for number in range(1, 24, 2):
            stage.phone.faults.schedule("dump-error", f"dump:+{number}", "no-window")

    run = stage.run(first(flap, LOOK), LOOK)
    assert [view.state for view in run.calls] == ["ok"] * 3
    assert run.outcome.exit is Exit.DONE
    stage.phone.faults.clear()
    stage.fault("dump-error", "no-window", "always")
    with stage.driver() as driver:
        assert nodes_or_code(lambda: driver.dump(stage.within(20))) == "null_root", "several in a row end it"
        stage.phone.faults.clear()
        assert nodes_or_code(lambda: driver.dump(stage.within(20))) != "null_root", "the count begins anew"


@pytest.mark.parametrize("said", ['{"phone_state":{"package":"com.a"}}', '{"status":"error","error":"no such method"}'])
def test_b12_an_answer_without_a_tree_is_told_as_it_is(stage: Stage, said: str) -> None:
    run = stage.run(first(lambda: stage.show(said.encode()), LOOK))
    assert (run.calls[0].state, run.calls[0].code) == ("transient", "unreadable")
    assert "no hierarchy" in run.told[0] and said[2:10] in run.told[0]


def test_b15_a_server_that_stays_unconnected_is_started_anew_once_and_given_up(stage: Stage) -> None:
    with stage.driver() as driver:
        starts = stage.phone.faults.calls["shell"]
        stage.fault("not-connected", "even-after-restart")
        began = time.monotonic()
        with pytest.raises(DeviceError) as failed:
            driver.dump(stage.within(25))
        assert failed.value.code == "not_connected"
        assert time.monotonic() - began < 25
        assert stage.phone.faults.calls["shell"] - starts < 8, "one restart, not a loop of them"
        stage.phone.faults.clear()
        assert b"Bluetooth" in driver.dump(stage.within(20)), "and it works again when the phone does"


@pytest.mark.parametrize("trouble", ["none", "cut", "unknown"])
def test_b17_where_the_app_in_front_is_not_known_a_payment_waits(stage: Stage, trouble: str) -> None:
    """The rule is another app's: it holds for any app that may be that one."""
    data = (OWN_DUMPS / "flutter_payment.xml").read_bytes()
    # The phone tells this one's name in a form that is no package name.
    stage.show(data.replace(b"com.example.booking", b"booking") if trouble == "unknown" else data)
    pay, before = "Continue payment", stage.phone.inputs.count

    def tap(request: ModelRequest) -> ModelReply:
        if trouble == "cut":
            stage.fault("dumpsys-cut", "always")
        line = next(line for line in last_text(request).splitlines() if pay in line and line[:1].isdigit())
        # The wait makes the look too old to act on, so that the phone is asked anew.
        return reply("", call("wait", id="wait", ms=100), call("tap", id="pay", ref=int(line.split()[0])))

    run = stage.run(LOOK, tap, rules="ask tap in com.other.bank\nallow *")
    tapped = next(view for view in run.calls if view.tool == "tap")
    if trouble == "none":
        assert tapped.state == "ok" and stage.phone.inputs.count == before + 1
        return
    assert stage.phone.inputs.count == before
    assert tapped.state == "refused"
    assert "package_unknown" in [verdict.code for verdict in tapped.verdicts]


def test_b21_a_picture_that_was_never_written_is_no_old_picture(stage: Stage) -> None:
    def broken() -> None:
        stage.show("compose_list.xml")
        stage.fault("screencap-fails", "no-file")

    run = stage.run(PICTURE, first(broken, PICTURE))
    good, failed = run.calls[:2]
    assert good.state == "ok" and good.picture
    assert failed.state != "ok" and not failed.picture and failed.code == "capture_failed"
    assert "picture" in failed.text
