"""While a scene is set, everything that is seen comes from it and every input goes to it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.drawing.sketch import sketch
from droidpilot.virtual.ui.display import Display
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.hierarchy import SeenNode, see
from droidpilot.virtual.ui.views import TextField, View, place

BYTES = b"<?xml version='1.0'?><hierarchy rotation=\"0\">\x00\xff &#x0;"


@dataclass
class Still:
    """A scene of one field; it writes down what it is given."""

    display: Display = field(default_factory=lambda: Display(natural=(720, 1280), rotation=1))
    package: str = "com.example.report"
    activity: str = "com.example.report.Main"
    is_secure: bool = False
    has_keyboard: bool = False
    got: list[object] = field(default_factory=list)

    def dump(self) -> bytes:
        return BYTES

    def roots(self) -> list[SeenNode]:
        view = View("android.widget.EditText", "a:id/field", edits=TextField("field", hint="Name"))
        place(view, Rect(0, 0, 200, 100), 0)
        seen = see(view, self.package, self.display.rect)
        return [seen] if seen is not None else []

    def tap(self, x: float, y: float) -> str | None:
        self.got.append(("tap", x, y))
        return "field"

    def long_press(self, x: float, y: float, lasts_ms: int) -> str | None:
        self.got.append(("long_press", x, y, lasts_ms))
        return None

    def swipe(self, points: list[tuple[float, float]], lasts_ms: int) -> str | None:
        self.got.append(("swipe", points, lasts_ms))
        return None

    def key(self, code: int) -> None:
        self.got.append(("key", code))

    def type_text(self, text: str) -> bool:
        self.got.append(("type", text))
        return True

    def clear_text(self) -> bool:
        self.got.append("clear")
        return True

    def set_text(self, node: SeenNode, text: str) -> bool:
        self.got.append(("set", node.view.id, text))
        return True

    def state(self) -> dict[str, object]:
        return {"inputs": len(self.got)}


def test_what_is_seen_comes_from_the_scene() -> None:
    hand, scene = Hand.at(), Still()
    before = hand.phone.dump(50)
    hand.phone.scene = scene
    assert hand.phone.dump_bytes(50) == BYTES
    assert hand.phone.dump(50) == BYTES.decode("utf-8", "replace")
    assert hand.node("Name").view.id == "a:id/field"
    state = hand.phone.state()
    assert (state["package"], state["activity"], state["scene"]) == (scene.package, scene.activity, {"inputs": 0})
    assert hand.phone.display.rect == Rect(0, 0, 1280, 720)
    assert sketch(hand.phone)
    hand.phone.scene = None
    assert hand.phone.dump(50) == before


def test_inputs_go_to_the_scene_and_are_logged() -> None:
    hand, scene = Hand.at(), Still()
    hand.phone.scene = scene
    hand.touch.tap(5, 6)
    hand.touch.long_press(5, 6, 700)
    hand.touch.swipe([(10, 10), (300, 10)], 100)
    hand.touch.key(4)
    assert hand.touch.type_text("ab")
    assert hand.touch.clear_focused()
    assert hand.touch.set_text(hand.node("Name"), "cd")
    assert scene.got == [
        ("tap", 5, 6),
        ("long_press", 5, 6, 700),
        ("swipe", [(10, 10), (300, 10)], 100),
        ("key", 4),
        ("type", "ab"),
        "clear",
        ("set", "a:id/field", "cd"),
    ]
    assert hand.phone.inputs.count == 7
    assert hand.phone.inputs.events[0] == {"n": 1, "kind": "tap", "x": 5, "y": 6, "on": "field"}
    assert hand.phone.tasks.front == "com.android.launcher3"


def test_a_dark_screen_gives_the_scene_nothing() -> None:
    hand, scene = Hand.at(), Still()
    hand.phone.scene = scene
    hand.touch.key(26)
    hand.touch.tap(5, 6)
    hand.touch.key(4)
    assert not hand.touch.type_text("x")
    assert scene.got == []
