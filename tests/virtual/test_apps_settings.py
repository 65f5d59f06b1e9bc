"""Settings: Bluetooth, NFC, Display and the search, by the real stack; what they write is what the shell reads."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.settings_search import SEARCH_MS
from droidpilot.virtual.drawing.sketch import sketch


def setting(user: User, namespace: str, key: str) -> str:
    return str(user.d.shell(f"settings get {namespace} {key}").output.strip())


def test_a_device_is_paired_connected_and_forgotten(user: User) -> None:
    user.tap("Settings", "Connected devices", "Bluetooth")
    rows = [node.get_text() for node in user.d(resourceId="android:id/title")]
    paired = user.truth("bluetooth", "paired")
    assert rows[: rows.index("Available devices")] == ["Saved devices", *paired]
    name = rows[rows.index("Available devices") + 1]
    user.tap(name)
    assert user.sees(f"Pair with {name}?")
    user.tap("Pair")
    assert user.sees("Connected")
    assert user.truth("bluetooth") == {"on": True, "paired": [*paired, name], "connected": [name]}
    user.tap(name, "Disconnect")
    assert user.truth("bluetooth", "connected") == []
    user.tap("Forget", "Forget device")
    assert user.truth("bluetooth", "paired") == paired
    user.tap("Use Bluetooth")
    assert user.sees("To see available devices, turn on Bluetooth")
    assert setting(user, "global", "bluetooth_on") == "0"


def test_nfc_is_switched_on_its_page(user: User) -> None:
    user.tap("Settings", "Connected devices", "NFC", "Use NFC")
    assert user.truth("nfc") is True
    user.d.press("back")
    assert user.sees("On")


def test_display_pages_write_the_real_settings(user: User) -> None:
    user.tap("Settings", "Display", "Screen timeout", "5 minutes")
    assert setting(user, "system", "screen_off_timeout") == "300000"
    user.d.press("back")
    assert user.sees("After 5 minutes of inactivity")
    user.tap("Font size", "Large")
    assert setting(user, "system", "font_scale") == "1.15"
    user.d.press("back")
    user.tap("Auto-rotate screen", "Dark theme")
    assert (setting(user, "system", "accelerometer_rotation"), setting(user, "secure", "ui_night_mode")) == ("1", "2")
    user.tap("Brightness level")
    bar = user.d(resourceId="com.android.systemui:id/slider").info["bounds"]
    user.d.click(bar["left"] + (bar["right"] - bar["left"]) * 3 // 4, (bar["top"] + bar["bottom"]) // 2)
    assert 185 <= int(setting(user, "system", "screen_brightness")) <= 195
    user.d.shell("settings put system screen_brightness 255")
    assert user.text_of("com.android.systemui:id/slider") == "100%"


@pytest.mark.parametrize("value", ["", "abc", "-3", "99999999999", "٣"])
def test_a_brightness_that_is_none_shows_something_all_the_same(value: str) -> None:
    hand = Hand.at()
    hand.phone.settings.put("system", "screen_brightness", value, source="shell")
    hand.tap("Settings", "Display")
    assert "0%" in hand.labels()


def test_one_choice_is_checked_at_a_time() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Display", "Screen timeout")
    assert checked(hand) == [False, False, True, False, False, False, False]
    before = sketch(hand.phone)
    hand.tap("15 seconds")
    assert sketch(hand.phone) != before, "the choice can be seen in a picture too"
    assert checked(hand) == [True, False, False, False, False, False, False]


def checked(hand: Hand) -> list[bool]:
    return [n.view.is_checked for n in hand.nodes() if n.view.cls == "android.widget.RadioButton"]


def test_the_search_suggests_as_one_types_and_opens_what_is_found(user: User) -> None:
    user.tap("Settings", "Search settings")
    user.d.send_keys("dark")
    assert user.sees("Dark theme")
    user.tap("Dark theme")
    assert user.truth("title") == "Display"
    user.d.press("back")
    user.fill("android:id/search_src_text", "no such thing")
    assert user.sees("No results")


def test_suggestions_come_late_and_for_the_last_word_only() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Search settings")
    hand.touch.type_text("nf")
    hand.clock.advance((SEARCH_MS - 10) / 1000)
    assert "NFC" not in hand.labels()
    hand.touch.type_text("c")
    hand.clock.advance(0.02)
    assert "NFC" not in hand.labels(), "a later letter has its own turn"
    hand.clock.advance(SEARCH_MS / 1000)
    assert "NFC" in hand.labels()


def test_a_row_with_a_switch_is_the_tree_of_a_preference(user: User) -> None:
    user.tap("Settings", "Display")
    root = ET.fromstring(user.d.dump_hierarchy())
    row = next(
        node
        for node in root.iter("node")
        if node.get("clickable") == "true" and any(n.get("text") == "Dark theme" for n in node.iter("node"))
    )
    inside = [(n.get("class"), n.get("resource-id"), n.get("clickable"), n.get("checkable")) for n in row.iter("node")]
    assert inside == [
        ("android.widget.LinearLayout", "", "true", "false"),
        ("android.widget.RelativeLayout", "", "false", "false"),
        ("android.widget.TextView", "android:id/title", "false", "false"),
        ("android.widget.LinearLayout", "android:id/widget_frame", "false", "false"),
        ("android.widget.Switch", "android:id/switch_widget", "false", "true"),
    ]
