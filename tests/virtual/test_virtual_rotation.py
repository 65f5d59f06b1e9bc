"""A display that turns, folds and takes another size: everything that tells its size tells the same."""

from __future__ import annotations

import re

import pytest
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.core.errors import UsageError
from droidpilot.virtual.ui.display import FOLDED, Display
from droidpilot.virtual.ui.geometry import Rect

UPRIGHT, LYING = (1080, 2340), (2340, 1080)


def agree(user: User, size: tuple[int, int], rotation: int) -> None:
    """Check every way to ask for size and rotation."""
    info = user.d.info
    assert (info["displayWidth"], info["displayHeight"], info["displayRotation"]) == (*size, rotation)
    assert info["naturalOrientation"] is (rotation % 2 == 0)
    assert user.d.window_size() == size
    assert f"orientation={rotation}," in user.d.shell("dumpsys display").output
    assert user.d.screenshot().size == size
    dump = user.d.dump_hierarchy()
    assert f'<hierarchy rotation="{rotation}"' in dump
    assert f'bounds="[0,0][{size[0]},{size[1]}]"' in dump
    assert (user.truth("display", "width"), user.truth("display", "height")) == size
    right, bottom = re.findall(r'bounds="\[\d+,\d+\]\[(\d+),(\d+)\]"', dump)[0]
    assert (int(right), int(bottom)) == size


@pytest.mark.parametrize(("name", "rotation"), [("left", 1), ("upsidedown", 2), ("right", 3), ("natural", 0)])
def test_a_program_turns_the_display_and_everything_agrees(user: User, name: str, rotation: int) -> None:
    user.d.orientation = name
    agree(user, LYING if rotation % 2 else UPRIGHT, rotation)
    # wm size tells the panel, which does not turn.
    assert "Physical size: 1080x2340" in user.d.shell("wm size").output
    assert user.d.shell("settings get system user_rotation").output.strip() == str(rotation)
    assert user.d.shell("settings get system accelerometer_rotation").output.strip() == "0"


def test_what_lies_on_a_turned_screen_is_where_it_says(user: User) -> None:
    user.d.orientation = "left"
    user.tap("Contacts")
    assert user.truth("title") == "Contacts"
    user.d.press("home")
    user.d.orientation = "right"
    user.tap("Settings", "Connected devices")
    assert user.truth("title") == "Connected devices"
    assert all(node.bounds.right <= 2340 for root in user.phone.look().roots for node in root.walk())


def test_the_settings_turn_it_and_a_hand_only_where_it_turns_by_itself() -> None:
    hand = Hand.at()
    settings = hand.phone.settings
    settings.put("system", "user_rotation", "3", source="shell")
    assert hand.phone.display.rotation == 3
    settings.put("system", "accelerometer_rotation", "1", source="shell")
    assert hand.phone.display.rotation == 0
    hand.phone.person.rotate(1)
    assert hand.phone.display.rotation == 1
    hand.phone.orientation.freeze()
    hand.phone.orientation.held = 2
    hand.phone.orientation.follow()
    assert hand.phone.display.rotation == 1
    assert (settings.get("system", "user_rotation"), settings.get("system", "accelerometer_rotation")) == ("1", "0")
    with pytest.raises(UsageError):
        hand.phone.person.rotate(4)


@pytest.mark.parametrize(("rotation", "is_folded"), [(0, False), (1, False), (0, True), (3, True)])
def test_every_app_of_the_launcher_can_be_seen_and_started_however_the_display_is(
    rotation: int, is_folded: bool
) -> None:
    hand = Hand.at()
    hand.phone.person.fold(is_folded)
    hand.phone.person.rotate(rotation)
    for package, label in hand.phone.launchable_apps():
        hand.touch.key(3)
        hand.tap(label)
        assert hand.phone.front == package


@pytest.mark.parametrize("value", ["7", "", "-1", "sideways"])
def test_a_rotation_that_is_none_turns_nothing(value: str) -> None:
    hand = Hand.at()
    hand.phone.settings.put("system", "user_rotation", value, source="shell")
    assert hand.phone.display.rotation == 0


def test_freeze_rotation_over_the_wire(user: User) -> None:
    user.d.orientation = "left"
    user.d.freeze_rotation(False)
    assert user.d.info["displayRotation"] == 0
    user.d.freeze_rotation()
    assert user.d.shell("settings get system accelerometer_rotation").output.strip() == "0"


def test_folding_shows_another_display_and_unfolding_the_first(user: User) -> None:
    user.phone.person.fold()
    agree(user, FOLDED, 0)
    assert "Physical size: {}x{}".format(*FOLDED) in user.d.shell("wm size").output
    user.phone.person.fold(False)
    agree(user, UPRIGHT, 0)


def test_wm_puts_another_size_and_density_over_the_panel(user: User) -> None:
    user.d.shell("wm size 720x1600")
    assert user.d.shell("wm size").output.split("\n")[:2] == ["Physical size: 1080x2340", "Override size: 720x1600"]
    agree(user, (720, 1600), 0)
    user.d.shell("wm density 320")
    assert "Override density: 320" in user.d.shell("wm density").output
    assert user.d.info["displaySizeDpX"] == 360
    assert user.d.shell("wm size 5x5").exit_code != 0
    user.d.shell("wm size reset")
    user.d.shell("wm density reset")
    agree(user, UPRIGHT, 0)


def test_a_turn_takes_its_time_and_the_setting_none() -> None:
    hand = Hand.at(transition_ms=280)
    hand.phone.person.rotate(1)
    assert hand.phone.settings.get("system", "user_rotation") == "1"
    assert hand.phone.display.rotation == 0
    hand.settle()
    assert hand.phone.display.rotation == 1


def test_a_display_knows_its_sizes() -> None:
    changes: list[int] = []
    display = Display(on_change=lambda: changes.append(1))
    display.turn(1)
    display.turn(1)
    assert (display.rect, len(changes)) == (Rect(0, 0, 2340, 1080), 1)
    display.fold(True)
    assert display.rect == Rect(0, 0, FOLDED[1], FOLDED[0])
    display.resize((500, 900))
    assert (display.rect, display.physical) == (Rect(0, 0, 900, 500), FOLDED)
    display.resize(FOLDED)
    assert display.override is None
    with pytest.raises(ValueError, match="no rotation"):
        display.turn(5)
    with pytest.raises(ValueError, match="density"):
        display.set_density(5)
