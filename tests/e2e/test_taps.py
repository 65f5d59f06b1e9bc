"""A rendered ref taps its node: a seeded random walk over the virtual phone, through the whole stack and real ADB.

What was hit is what the phone itself says; nothing is believed that droidpilot says.
"""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

from tests.e2e.setting import SHIPPED, Setting, virtual_setting

from droidpilot.core.calls import Origin, Status
from droidpilot.core.clock import SystemClock
from droidpilot.core.config import load_settings
from droidpilot.core.stop import Stop
from droidpilot.plan import PhoneAddress, SessionPlan, prepare
from droidpilot.screens.hierarchy import Hierarchy, Node
from droidpilot.screens.render import lines_of
from droidpilot.screens.screen import Screen
from droidpilot.session import Session, open_session

STATES = 200
APPS = ("Settings", "Messages", "Contacts")
FAULTY = "com.quicksand.faulty"


def test_a_rendered_ref_taps_its_node_in_two_hundred_states_of_the_phone(tmp_path: Path) -> None:
    with virtual_setting(tmp_path / "phone", seed=11) as setting:
        (tmp_path / "open.rules").write_text("allow *\n")
        flags = {"ask": "never", "max_actions": 10_000, "policy": str(tmp_path / "open.rules")}
        settings = load_settings(flags, cwd=tmp_path, env={}).settings
        plan = SessionPlan(
            home=tmp_path / "home",
            origin=Origin.HUMAN,
            settings=settings,
            user_policies=tmp_path / "policies",
            shipped_policies=SHIPPED,
        )
        address = PhoneAddress(serial=setting.phone.serial, adb_port=setting.adb_port, is_virtual=True)
        with open_session(prepare(plan), address, clock=SystemClock(), stop=Stop()) as session:
            tapped, screens = walk(session, setting, Random(7))
    assert tapped == STATES
    assert len(screens) >= 25, "the walk must see many different screens"


def walk(session: Session, setting: Setting, random: Random) -> tuple[int, set[str]]:
    """Tap printed refs at random; return how many taps were proved right, and the screens they were made on."""
    tapped, screens = 0, set()
    for _ in range(3 * STATES):
        if tapped == STATES:
            break
        screen = session.call("ui_tree", {}).value
        assert isinstance(screen, Screen)
        refs = [line.ref for line in lines_of(screen) if line.ref is not None and "covered" not in line.text]
        usable = [ref for ref in refs if (node := screen.node_of(ref)) and node.is_tappable and node.enabled]
        # An app whose main thread was stopped takes no taps at all: that has tests of its own.
        if not usable or screen.package == FAULTY or random.random() < 0.15:
            session.call(*_elsewhere(random))
            continue
        ref = random.choice(usable)
        before = _inputs(setting)
        result = session.call("tap", {"ref": ref})
        after = _inputs(setting)
        if result.status is Status.REFUSED:
            # A button that pays or deletes needs a yes, and nobody is there: nothing may have been touched.
            assert "approval gate" in result.text and after["count"] == before["count"], result.text
            continue
        assert result.status is Status.OK, result.text
        assert after["count"] == before["count"] + 1
        event = after["events"][-1]
        node = screen.node_of(ref)
        assert node is not None and event["kind"] == "tap"
        assert node.bounds.contains(event["x"], event["y"]), (ref, event)
        assert event["on"] in _names(screen.hierarchy, node), (ref, node, event)
        tapped += 1
        screens.add(screen.fingerprint)
    return tapped, screens


def _elsewhere(random: Random) -> tuple[str, dict[str, Any]]:
    return random.choice(
        [
            ("press", {"key": "back"}),
            ("press", {"key": "home"}),
            ("scroll", {"direction": random.choice(["down", "up"])}),
            ("open_app", {"app": random.choice(APPS)}),
        ]
    )


def _inputs(setting: Setting) -> dict[str, Any]:
    return setting.truth("inputs")


def _names(hierarchy: Hierarchy, node: Node) -> set[str]:
    """Return what the phone may call the node: its own name, or that of the row that takes the taps of a switch."""
    takers = [node] if node.clickable or node.is_editable else []
    takers += [above for above in hierarchy.ancestors(node) if above.clickable][:1] if not takers else []
    return {_name(hierarchy, taker) for taker in takers}


def _name(hierarchy: Hierarchy, node: Node) -> str:
    if node.is_editable:
        return node.resource_id
    subtree = (node, *hierarchy.subtree(node))
    words = next((one.text or one.desc for one in subtree if one.text or one.desc), "")
    return f"{node.resource_id} {words}".strip()[:120]
