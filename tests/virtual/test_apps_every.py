"""What holds for every app: it opens from its icon, is the same from the same seed, and no tap can break the phone."""

from __future__ import annotations

import json
from random import Random

import pytest
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.more import APPS
from droidpilot.virtual.apps.packages import GAME
from droidpilot.virtual.drawing.sketch import sketch

PACKAGES = [app(Hand.at().phone).package for app in APPS]
TEXTS = ("", "7", "12:30", "Ada 🎉", "שלום", "x" * 300, "25.50", "\u200b")


@pytest.mark.parametrize("package", PACKAGES)
def test_an_app_opens_from_its_icon_and_is_known_to_the_package_manager(package: str) -> None:
    hand = Hand.at(seed=3)
    app = hand.phone.apps[package]
    assert hand.phone.packages[package].label == app.label
    hand.tap(app.label)
    assert hand.phone.top.package == package
    assert len(hand.labels()) > 1 or package == GAME
    hand.phone.home()
    hand.tap(app.label)
    other = Hand.at(seed=3)
    other.tap(app.label)
    assert hand.phone.dump(50) == other.phone.dump(50), "the same seed shows the same"


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("rotation", [0, 1])
def test_no_tap_breaks_an_app_and_clearing_its_data_brings_the_beginning_back(package: str, rotation: int) -> None:
    hand = Hand.at(seed=9)
    app = hand.phone.apps[package]
    before = json.dumps(app.state())
    hand.phone.display.turn(rotation)
    random = Random(f"{package}/{rotation}")
    seen = set()
    for _ in range(150):
        if hand.phone.top.package != package or random.random() < 0.03:
            # A crash, a hang and Back lead out of the app: begin again.
            hand.phone.stop(hand.phone.top.package)
            hand.phone.home()
            hand.phone.start(package)
        step(hand, random)
        hand.clock.advance(random.choice((0.0, 0.1, 1.5)))
        seen.add(hash((hand.phone.dump(50), sketch(hand.phone))))
        check(hand)
    assert len(seen) > (1 if package == GAME else 3)
    hand.phone.stop(package)
    app.clear()
    assert json.dumps(app.state()) == before


def step(hand: Hand, random: Random) -> None:
    """Do one thing that a person could do with what is on the screen."""
    nodes = hand.nodes()
    takers = [n for n in nodes if n.view.is_clickable or n.view.on_touch is not None]
    fields = [n for n in nodes if n.view.edits is not None]
    choice = random.random()
    if fields and choice < 0.3:
        hand.touch.set_text(random.choice(fields), random.choice(TEXTS))
    elif choice < 0.36:
        hand.touch.key(random.choice((4, 61, 66, 67)))
    elif choice < 0.45:
        hand.touch.swipe([(500, 800), (500, 300)], 200)
    elif takers:
        b = random.choice(takers).bounds
        x, y = random.randrange(b.left, b.right), random.randrange(b.top, b.bottom)
        if choice < 0.9:
            hand.touch.tap(x, y)
        else:
            hand.touch.long_press(x, y, 600)


def check(hand: Hand) -> None:
    for node in hand.nodes():
        assert not node.bounds.is_empty
        if node.parent is not None:
            assert node.bounds.clip(node.parent.bounds) == node.bounds
    assert sketch(hand.phone)
    assert json.dumps(hand.phone.state())
