"""The keyboard on the screen: when it comes and goes, what it covers, and that it types."""

from __future__ import annotations

import re

import pytest
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.store import ADB_KEYBOARD
from droidpilot.virtual.ui.keyboard import PACKAGE, SLIDE_MS

NAME_ID = "com.google.android.apps.messaging:id/conversation_name"
FIELD_ID = "com.google.android.apps.messaging:id/compose_message_text"


def open_conversation(user: User) -> None:
    user.tap("Messages")
    user.d(resourceId=NAME_ID).click(timeout=5)
    assert user.d(resourceId=FIELD_ID).wait(timeout=5)


def hand_at_field(*, transition_ms: int = 0) -> Hand:
    hand = Hand.at(transition_ms=transition_ms)
    for label in ("Messages", NAME_ID, FIELD_ID):
        hand.tap(label)
        if label != FIELD_ID:
            hand.settle()
    return hand


def keyboard_top(hand: Hand) -> int | None:
    roots = [root for root in hand.phone.look().roots if root.package == PACKAGE]
    return roots[0].view.bounds.top if roots else None


def test_a_tap_on_a_field_brings_it_and_back_hides_it_before_it_leaves_the_page(user: User) -> None:
    open_conversation(user)
    low = user.d(resourceId=FIELD_ID).info["bounds"]["bottom"]
    assert "mInputShown=false" in user.d.shell("dumpsys input_method").output
    user.tap_id(FIELD_ID)
    keyboard = user.d(resourceId=f"{PACKAGE}:id/main_keyboard_frame").info["bounds"]
    assert keyboard["bottom"] == 2340
    # The page made room: its lowest field stands just above the keys, where it can be touched.
    assert user.d(resourceId=FIELD_ID).info["bounds"]["bottom"] <= keyboard["top"] < low
    told = user.d.shell("dumpsys input_method").output
    assert re.search(r"mInputShown=true\n", told)
    assert "mServedView=android.widget.EditText" in told
    focus = re.search(r"mCurrentFocus=(.*)", user.d.shell("dumpsys window").output)
    assert focus is not None
    assert "com.google.android.apps.messaging/" in focus[1]
    user.d.press("back")
    assert not user.d(packageName=PACKAGE).exists
    assert user.d(resourceId=FIELD_ID).exists
    user.d.press("back")
    assert not user.d(resourceId=FIELD_ID).exists


def test_its_keys_type_and_delete_and_a_key_takes_the_touch_that_lies_on_it(user: User) -> None:
    open_conversation(user)
    user.tap_id(FIELD_ID)
    for key in ("h", "i", "Space", "Shift", "B", "Symbols", "7", "Letters", "x", "Delete"):
        user.d(description=key, packageName=PACKAGE).click(timeout=5)
    assert user.text_of(FIELD_ID) == "hi B7"
    last = user.phone.inputs.events[-1]
    assert (last["kind"], last["on"]) == ("tap", "Delete")


def test_setting_a_text_by_accessibility_brings_no_keyboard(user: User) -> None:
    open_conversation(user)
    assert user.fill(FIELD_ID, "words")
    assert not user.d(packageName=PACKAGE).exists


def test_the_keyboard_for_adb_has_no_window(user: User) -> None:
    user.d.shell(f"ime enable {ADB_KEYBOARD}")
    user.d.shell(f"ime set {ADB_KEYBOARD}")
    open_conversation(user)
    user.tap_id(FIELD_ID)
    assert not user.d(packageName=PACKAGE).exists
    assert "mInputShown=false" in user.d.shell("dumpsys input_method").output
    assert user.truth("focus") == "compose_message_text"


def test_it_slides_in_over_several_frames_and_the_page_makes_room_at_once() -> None:
    hand = hand_at_field(transition_ms=280)
    tops: list[int] = []
    for _ in range(80):
        hand.clock.advance(0.01)
        top = keyboard_top(hand)
        if top is not None:
            tops.append(top)
            assert hand.node(FIELD_ID).view.bounds.bottom <= 2340 - hand.phone.keyboard.height(hand.phone.display.rect)
    moving = [top for top in tops if top != tops[-1]]
    assert tops == sorted(tops, reverse=True)
    assert len(set(moving)) > 15
    assert 380 <= len(moving) * 10 <= SLIDE_MS + 20
    assert hand.phone.is_idle


def test_a_dialog_moves_up_and_a_touch_beside_both_closes_the_dialog() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi", hand.phone.wifi.networks[0].ssid)
    field = "com.android.settings:id/password"
    before = hand.node(field).bounds
    hand.tap(field)
    top = keyboard_top(hand)
    assert top is not None
    assert hand.node(field).bounds.top < before.top
    dialog = next(root for root in hand.phone.look().roots if root.package != PACKAGE)
    assert dialog.bounds.bottom <= top
    # Top to bottom, and the page below a modal dialog is not reported.
    assert [root.package for root in hand.phone.look().roots] == [PACKAGE, "com.android.settings"]
    hand.touch.tap(540, 20)
    assert (hand.phone.state()["dialog"], keyboard_top(hand)) == (False, None)


@pytest.mark.parametrize("away", ["home", "another window"])
def test_it_goes_with_the_window_it_serves(away: str) -> None:
    hand = hand_at_field()
    assert keyboard_top(hand) is not None
    if away == "home":
        hand.touch.key(3)
    else:
        hand.phone.shade.open()
        hand.phone.changed()
    assert keyboard_top(hand) is None
    assert hand.phone.state()["keyboard"] is False


def test_the_bytes_of_a_dump_with_keyboard_are_the_same_for_the_same_inputs() -> None:
    assert hand_at_field().phone.dump(50) == hand_at_field().phone.dump(50)
