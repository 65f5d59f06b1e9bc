"""The phone as a whole: the same from the same seed, transitions, apps, and the truth it tells."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.ui.views import BULLET

SETTINGS = "com.android.settings"
PASSWORD = "correct horse"


def story(seed: int, transition_ms: int) -> list[str]:
    hand = Hand.at(seed=seed, transition_ms=transition_ms)
    dumps = []
    for label in ("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi"):
        hand.tap(label)
        for _ in range(40):
            hand.clock.advance(0.011)
            dumps.append(hand.phone.dump(50))
        hand.settle()
    hand.tap(hand.phone.wifi.networks[0].ssid)
    hand.settle()
    return [*dumps, hand.phone.dump(50), json.dumps(hand.phone.state(), sort_keys=True)]


@pytest.mark.parametrize("transition_ms", [0, 280])
def test_the_same_seed_and_inputs_give_the_same_dumps_byte_for_byte(transition_ms: int) -> None:
    assert story(3, transition_ms) == story(3, transition_ms)
    assert story(3, transition_ms) != story(4, transition_ms)


@given(seed=st.integers(0, 1_000), label=st.sampled_from(["Settings", "Messages", "Contacts"]))
@settings(max_examples=25)
def test_a_transition_begins_in_300_ms_and_then_changes_every_frame_until_it_rests(seed: int, label: str) -> None:
    hand = Hand.at(seed=seed, transition_ms=280)
    before = hand.phone.dump(50)
    hand.tap(label)
    seen = []
    for _ in range(70):
        hand.clock.advance(0.016)
        seen.append(hand.phone.dump(50))
    began = next(at for at, dump in enumerate(seen) if dump != before)
    assert began * 16 <= 300
    rests = seen.index(seen[-1])
    moving = seen[began : rests + 1]
    assert len(moving) >= 14
    assert len(set(moving)) == len(moving)
    assert set(seen[rests:]) == {seen[-1]}


@given(seed=st.integers(0, 10_000))
def test_changes_come_in_the_order_of_their_inputs(seed: int) -> None:
    hand = Hand.at(seed=seed, transition_ms=280)
    done: list[int] = []
    for number in range(10):
        hand.phone.later(lambda number=number: done.append(number))  # type: ignore[misc] # a bound default
        hand.clock.advance(0.01)
        hand.phone.advance()
    hand.settle()
    assert done == list(range(10))


def test_input_during_a_transition_goes_to_what_is_really_there() -> None:
    hand = Hand.at(transition_ms=280)
    hand.tap("Settings")
    assert "Messages" in hand.labels()
    hand.tap("Messages")
    hand.settle()
    assert hand.phone.state()["package"] == "com.google.android.apps.messaging"


def test_a_second_tap_on_a_row_does_not_open_its_page_twice() -> None:
    hand = Hand.at(transition_ms=280)
    hand.tap("Settings")
    hand.settle()
    hand.tap("Display", "Display")
    hand.settle()
    hand.phone.back()
    hand.settle()
    assert hand.phone.state()["title"] == "Settings"


def test_wifi_is_off_at_first_and_connects_with_a_password_of_eight() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi")
    assert hand.phone.state()["wifi"] == {"on": False, "connected": None, "saved": {}}
    hand.tap("Use Wi-Fi")
    ssid = hand.phone.wifi.networks[0].ssid
    hand.tap(ssid)
    field, connect = hand.node("com.android.settings:id/password"), hand.node("CONNECT")
    assert not connect.view.is_enabled
    hand.tap("CONNECT")
    assert hand.phone.state()["dialog"] is True
    hand.touch.set_text(field, PASSWORD)
    assert hand.node("com.android.settings:id/password").text == BULLET * len(PASSWORD)
    assert 'password="true"' in hand.phone.dump(50)
    hand.tap("CONNECT")
    state = hand.phone.state()
    wifi = state["wifi"]
    assert isinstance(wifi, dict)
    assert (wifi["on"], wifi["connected"], state["dialog"]) == (True, ssid, False)
    assert "Connected" in hand.labels()
    assert PASSWORD not in json.dumps(state) + hand.phone.dump(50)


def test_show_password_shows_it_and_is_no_password_field_any_more() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi", hand.phone.wifi.networks[0].ssid)
    hand.touch.set_text(hand.node("com.android.settings:id/password"), PASSWORD)
    hand.tap("Show password")
    node = hand.node("com.android.settings:id/password")
    assert (node.text, node.is_password) == (PASSWORD, False)


def test_an_open_network_connects_without_a_dialog() -> None:
    hand = Hand.at()
    name = next(network.ssid for network in hand.phone.wifi.networks if not network.is_secured)
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi", name)
    assert hand.phone.wifi.connected == name


def test_airplane_mode_switches_wifi_off() -> None:
    hand = Hand.at()
    hand.phone.settings.put("global", "wifi_on", "1", source="shell")
    assert hand.phone.wifi.is_on
    hand.tap("Settings", "Network & internet", "Airplane mode")
    assert not hand.phone.wifi.is_on


def test_a_setting_changed_by_the_shell_shows_on_the_page_in_front() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi")
    assert "Saved networks" not in hand.labels()
    hand.phone.settings.put("global", "wifi_on", "1", source="shell")
    assert "Saved networks" in hand.labels()
    assert hand.phone.state()["settings_changed"] == [
        {"namespace": "global", "key": "wifi_on", "value": "1", "source": "shell"}
    ]


@pytest.mark.parametrize(
    ("path", "namespace", "key", "values"),
    [
        (["Network & internet", "Airplane mode"], "global", "airplane_mode_on", ["0", "1", "0"]),
        (["Display", "Dark theme"], "secure", "ui_night_mode", ["1", "2", "1"]),
        (["Connected devices", "Use Bluetooth"], "global", "bluetooth_on", ["1", "0", "1"]),
    ],
)
def test_switches_are_bound_to_real_settings(path: list[str], namespace: str, key: str, values: list[str]) -> None:
    hand = Hand.at()
    hand.tap("Settings", path[0])
    got = [hand.phone.settings.get(namespace, key)]
    for _ in range(2):
        hand.tap(path[1])
        got.append(hand.phone.settings.get(namespace, key))
    assert got == values


def test_all_apps_scrolls_to_its_last_row_and_a_tap_opens_it() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Apps", "All apps")
    seen: set[str] = set()
    for _ in range(200):
        titles = [n.text for n in hand.nodes() if n.view.id == "android:id/title"]
        assert len(titles) < 14
        if not set(titles) - seen:
            break
        seen |= set(titles)
        hand.touch.swipe([(540, 1900), (540, 500)], 200)
    assert seen == {package.label for package in hand.phone.packages.values()}
    assert len(seen) >= 300
    last = max(hand.phone.packages.values(), key=lambda package: package.label)
    hand.tap(last.label)
    assert last.name in hand.labels()
    hand.phone.back()
    assert last.label in hand.labels()


def test_a_message_is_sent_once_and_stands_at_the_end() -> None:
    hand = Hand.at()
    hand.tap("Messages")
    name = next(n.text for n in hand.nodes() if n.view.id.endswith("/conversation_name"))
    hand.tap(name)
    assert not hand.node("Send").view.is_enabled
    assert hand.node("Text message").view.edits is not None
    hand.touch.set_text(hand.node("Text message"), "Über 王 🎉 <&>")
    hand.tap("Send", "Send")
    assert hand.phone.state()["outbox"] == [{"to": name, "text": "Über 王 🎉 <&>"}]
    assert "Über 王 🎉 <&>" in hand.labels()
    assert hand.node("Text message").text == "Text message"
    hand.phone.back()
    assert hand.labels()[1] == name


def test_awkward_names_are_among_the_conversations() -> None:
    hand = Hand.at(seed=5)
    hand.tap("Messages")
    seen = set(hand.labels())
    hand.touch.swipe([(540, 1900), (540, 300)], 200)
    seen |= set(hand.labels())
    assert {"Zoë 🎉 Party", "王小明", "דנה לוי (Dana)", "محمد علي"} <= seen


def test_back_home_and_recents_go_where_they_should() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Display")
    hand.touch.key(4)
    assert hand.phone.state()["title"] == "Settings"
    hand.touch.key(3)
    hand.tap("Messages")
    hand.touch.key(187)
    assert hand.phone.state()["title"] == "Recent apps"
    assert next(label for label in hand.labels() if label in ("Messages", "Settings")) == "Messages"
    hand.tap("Settings")
    assert hand.phone.state()["package"] == SETTINGS
    hand.touch.key(4)
    assert hand.phone.state()["title"] == "Home"
    hand.touch.key(187)
    hand.tap("Clear all")
    assert (hand.phone.state()["title"], hand.phone.recents) == ("Home", [])


def test_the_factory_reset_needs_two_buttons_and_erases() -> None:
    hand = Hand.at()
    hand.phone.settings.put("global", "wifi_on", "1", source="shell")
    hand.tap("Settings")
    hand.touch.swipe([(540, 2000), (540, 300)], 200)
    hand.tap("System", "Reset options", "Erase all data (factory reset)")
    button = next(n for n in hand.nodes() if n.view.cls == "android.widget.Button")
    assert button.text == "Erase all data"
    hand.touch.tap(button.bounds.left + 9, button.bounds.top + 9)
    assert hand.phone.state()["factory_resets"] == 0
    hand.tap("ERASE")
    state = hand.phone.state()
    assert (state["factory_resets"], state["title"], hand.phone.wifi.is_on) == (1, "Home", False)


def test_a_tap_outside_a_dialog_closes_it() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi", hand.phone.wifi.networks[0].ssid)
    hand.touch.tap(540, 200)
    assert hand.phone.state()["dialog"] is False
