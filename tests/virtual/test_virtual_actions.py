"""What can be done to a phone by name: each action does what it says, and nothing else is taken."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand

from droidpilot.core.errors import UsageError
from droidpilot.virtual.actions import ACTIONS, act

CHAT = "com.google.android.apps.messaging"


def did(hand: Hand, line: str) -> dict[str, object]:
    name, *words = line.split(" ")
    act(hand.phone, name, words)
    return hand.phone.state()


def test_each_action_does_what_it_says() -> None:
    hand = Hand.at()
    assert did(hand, "rotate 1")["display"] == {"width": 2340, "height": 1080, "rotation": 1, "folded": False}
    did(hand, "rotate 0")
    assert did(hand, "fold")["display"] == {"width": 904, "height": 2316, "rotation": 0, "folded": True}
    assert did(hand, "unfold")["display"] == {"width": 1080, "height": 2340, "rotation": 0, "folded": False}
    assert did(hand, "size 720x1280")["display"] == {"width": 720, "height": 1280, "rotation": 0, "folded": False}
    did(hand, "size reset")
    assert did(hand, f"start {CHAT}")["package"] == CHAT
    assert did(hand, f"notify {CHAT} Hello there")["notifications"] == [
        {"package": CHAT, "title": "Hello", "text": "there"}
    ]
    assert did(hand, "shade open")["windows"] == [f"{CHAT}/{CHAT}.ui.ConversationListActivity", "NotificationShade"]
    assert hand.phone.shade.is_quick is False
    did(hand, "shade quick")
    assert hand.phone.shade.is_quick is True
    assert did(hand, "shade close")["windows"] == [f"{CHAT}/{CHAT}.ui.ConversationListActivity"]
    assert did(hand, f"bubble {CHAT} 3")["windows"] == [
        f"{CHAT}/{CHAT}.ui.ConversationListActivity",
        f"{CHAT}/{CHAT}.Bubble",
    ]
    assert did(hand, "no-bubbles")["windows"] == [f"{CHAT}/{CHAT}.ui.ConversationListActivity"]
    assert did(hand, f"ask-permission {CHAT} CAMERA")["package"] == "com.android.permissioncontroller"
    assert did(hand, "press BACK")["package"] == CHAT
    did(hand, f"grant {CHAT} CAMERA")
    assert hand.phone.is_granted(CHAT, "CAMERA")
    did(hand, f"revoke {CHAT} CAMERA")
    assert not hand.phone.is_granted(CHAT, "CAMERA")
    assert did(hand, f"hang {CHAT}")["hung"] == [CHAT]
    assert did(hand, f"recover {CHAT}")["hung"] == []
    did(hand, "restless on")
    assert not hand.phone.is_idle
    did(hand, "restless off")
    assert hand.phone.is_idle
    did(hand, "restless 500")
    assert not hand.phone.is_idle
    hand.clock.advance(0.6)
    assert hand.phone.is_idle
    assert did(hand, "toast Saved")["toast"] == "Saved"
    assert did(hand, f"crash {CHAT}")["package"] == "com.android.launcher3"
    did(hand, "obstruct whats-new")
    assert did(hand, f"start {CHAT}")["title"] == "What's new"
    assert did(hand, f"stop {CHAT}")["package"] == "com.android.launcher3"
    did(hand, f"start {CHAT}")
    did(hand, "stale-tree 1")
    assert 'package="com.android.launcher3"' in hand.phone.dump(50)
    assert did(hand, "screen off")["screen_on"] is False
    did(hand, "set-lock pin 1234")
    state = did(hand, "lock")
    assert (state["locked"], state["screen_on"]) == (True, True)
    assert did(hand, "lock dark")["screen_on"] is False
    state = did(hand, "unlock")
    assert (state["locked"], state["screen_on"]) == (False, True)
    did(hand, "set-lock swipe")
    assert hand.phone.keyguard.kind == "swipe"
    did(hand, "set-lock none")
    assert hand.phone.keyguard.kind == "none"


def test_what_a_person_does_stands_in_the_log_as_theirs() -> None:
    hand = Hand.at()
    bounds = hand.node("Settings").bounds
    did(hand, f"tap {bounds.left + 50} {bounds.top + 50}")
    assert hand.phone.front == "com.android.settings"
    did(hand, "press HOME")
    did(hand, "type word")
    hand.touch.tap(1, 1)
    told = [(event["kind"], event.get("by")) for event in hand.phone.inputs.events]
    assert told == [("tap", "person"), ("key", "person"), ("text", "person"), ("tap", None)]


@pytest.mark.parametrize(
    "line",
    [
        "nothing", "rotate", "rotate 4", "rotate x", "rotate 1 2", "fold 1", "size 5x5", "size 10", "lock now",
        "set-lock pin", "set-lock pin 12", "set-lock face", "notify com.none a b", "screen maybe", "shade up",
        "obstruct flood", "crash com.none", "tap 1", "tap -1 5", "tap ¹ 5", "press NOPE", "stale-tree many",
        "restless ever", f"notify {CHAT} " + "x" * 1001 + " y", "start com.none",
    ],
)  # fmt: skip
def test_anything_else_is_refused_with_a_hint_and_changes_nothing(line: str) -> None:
    hand = Hand.at()
    before = hand.phone.state()
    with pytest.raises(UsageError):
        did(hand, line)
    assert hand.phone.state() == before


@given(
    name=st.sampled_from(sorted(ACTIONS)),
    words=st.lists(
        st.one_of(st.text(max_size=12), st.sampled_from(["1", "on", "open", CHAT, "pin", "0x1"])), max_size=4
    ),
)
@settings(max_examples=150)
def test_no_words_from_outside_break_it(name: str, words: list[str]) -> None:
    hand = Hand.at()
    try:
        act(hand.phone, name, words)
    except UsageError as error:
        assert "\n" not in str(error)
    hand.phone.dump(50)
