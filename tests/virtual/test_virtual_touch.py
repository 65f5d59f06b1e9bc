"""Fingers and keys, and the log that proves what was executed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.ui.keys import key_code
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.windows import Window


def test_every_input_is_counted_once_and_numbered() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    hand.touch.swipe([(540, 1900), (540, 900)], 300)
    hand.touch.key(4)
    log = hand.phone.state()["inputs"]
    assert isinstance(log, dict)
    assert log["count"] == 3
    assert [(event["n"], event["kind"]) for event in log["events"]] == [(1, "tap"), (2, "swipe"), (3, "key")]


def test_typed_text_is_never_in_the_log() -> None:
    hand = Hand.at()
    hand.tap("Messages")
    hand.tap(next(n.text for n in hand.nodes() if n.view.id.endswith("conversation_name")))
    hand.tap("Text message")
    hand.touch.type_text("secret words")
    assert hand.phone.inputs.events[-1] == {"n": 4, "kind": "text", "chars": 12, "on": "compose_message_text"}
    assert "secret" not in str(list(hand.phone.inputs.events))


def test_a_finger_that_hardly_moves_is_a_tap() -> None:
    hand = Hand.at()
    bounds = hand.node("Settings").bounds
    x, y = bounds.left + 50, bounds.top + 50
    hand.touch.swipe([(x, y), (x + 5, y + 5)], 100)
    assert hand.phone.state()["title"] == "Settings"


def test_a_swipe_moves_the_list_by_what_the_finger_moves() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    hand.touch.swipe([(540, 1500), (540, 1200)], 300)
    assert hand.phone.state()["scroll"] == {"list": 300}
    hand.touch.swipe([(540, 1000), (540, 2000)], 300)
    assert hand.phone.state()["scroll"] == {"list": 0}


def test_a_list_moves_while_the_finger_does() -> None:
    hand = Hand.at(transition_ms=280)
    hand.tap("Settings")
    hand.settle()
    tops = []
    assert hand.touch.swipe([(540, 1500), (540, 1100)], 400) == 400
    for _ in range(5):
        tops.append(hand.node("Display").view.bounds.top)
        hand.clock.advance(0.101)
    assert tops == sorted(tops, reverse=True)
    assert len(set(tops)) == 5
    assert tops[0] - tops[-1] == 400


def test_raw_touch_events_tap_and_scroll() -> None:
    hand = Hand.at()
    bounds = hand.node("Settings").bounds
    x, y = bounds.left + 50, bounds.top + 50
    assert hand.touch.finger(0, x, y)
    assert hand.touch.finger(1, x, y)
    assert hand.phone.state()["title"] == "Settings"
    hand.touch.finger(0, 540, 1500)
    hand.touch.finger(2, 540, 1400)
    hand.touch.finger(2, 540, 1300)
    hand.touch.finger(1, 540, 1300)
    assert hand.phone.state()["scroll"] == {"list": 200}
    assert not hand.touch.finger(2, 1, 1)


def test_a_long_press_fires_only_after_half_a_second() -> None:
    hand = Hand.at()
    bounds = hand.node("Contacts").bounds
    hand.touch.long_press(bounds.left + 9, bounds.top + 9, 600)
    assert (hand.phone.last_toast, hand.phone.state()["title"]) == ("Contacts", "Home")
    hand.touch.long_press(bounds.left + 9, bounds.top + 9, 100)
    assert hand.phone.state()["title"] == "Contacts"


def test_a_disabled_button_takes_the_tap_and_does_nothing() -> None:
    hand = Hand.at()
    hand.tap("Messages")
    hand.tap(next(n.text for n in hand.nodes() if n.view.id.endswith("conversation_name")))
    hand.tap("Send")
    assert hand.phone.state()["outbox"] == []
    assert hand.phone.inputs.events[-1]["on"] == "com.google.android.apps.messaging:id/send_message_button_icon Send"


def test_no_disabled_view_is_ever_clicked() -> None:
    hand = Hand.at()
    clicks: list[str] = []
    body = View(text="press", height=200, on_click=lambda: clicks.append("clicked"))
    window = Window("com.android.launcher3", "a", "t", "k", lambda: body)
    hand.phone.open(window)
    hand.tap("press")
    assert clicks == ["clicked"]
    body.is_enabled = False
    hand.tap("press")
    assert clicks == ["clicked"]


def test_keys_type_delete_paste_and_enter() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi", hand.phone.wifi.networks[0].ssid)
    field = hand.phone.top.focus
    assert field is not None
    for name in ("A", "KEYCODE_B", "7", "SPACE", "DEL"):
        hand.touch.key(key_code(name))
    assert field.text == "ab0"
    hand.phone.clipboard = "cdefgh"
    hand.touch.key(279)
    hand.touch.key(66)
    assert hand.phone.wifi.connected == hand.phone.wifi.networks[0].ssid


def test_a_dark_screen_takes_no_touches_until_it_wakes() -> None:
    hand = Hand.at()
    bounds = hand.node("Settings").bounds
    hand.touch.key(26)
    hand.touch.tap(bounds.left + 9, bounds.top + 9)
    assert (hand.phone.state()["title"], hand.phone.state()["screen_on"]) == ("Home", False)
    hand.touch.key(224)
    hand.tap("Settings")
    assert hand.phone.state()["title"] == "Settings"


def test_a_swipe_up_from_the_bottom_edge_goes_home() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    hand.touch.swipe([(540, 2330), (540, 1500)], 200)
    assert hand.phone.state()["title"] == "Home"


@pytest.mark.parametrize("name", ["NOPE", "-1", "999", "", "KEYCODE_", "1.5"])
def test_an_unknown_key_is_an_error(name: str) -> None:
    with pytest.raises(ValueError, match="Unknown keycode"):
        key_code(name)


@given(st.lists(st.tuples(st.integers(-50, 1200), st.integers(-50, 2500), st.integers(0, 8)), max_size=40))
@settings(max_examples=40)
def test_no_sequence_of_inputs_breaks_the_phone(inputs: list[tuple[int, int, int]]) -> None:
    hand = Hand.at(transition_ms=280)
    for x, y, kind in inputs:
        match kind:
            case 0:
                hand.touch.key(4)
            case 1:
                hand.touch.swipe([(x, y), (y % 1080, x * 2)], 50)
            case 2:
                hand.touch.long_press(x, y, 700)
            case 3:
                hand.touch.key(187)
            case 4:
                hand.touch.type_text("some text here")
            case _:
                hand.touch.tap(x, y)
        hand.clock.advance(0.05)
        hand.phone.dump(50)
    hand.settle()
    assert hand.phone.is_idle
    assert hand.phone.look().root is not None
