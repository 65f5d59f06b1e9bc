from __future__ import annotations

from tests.screens.dump_writer import El, write

from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.selector import Selector

TREE = parse_hierarchy(
    write(
        El(
            children=[
                El("a.Button", text="OK", desc="d", id="a:id/ok", flags="focused"),
                El("a.Button", text="OK", package="com.b"),
                El("a.Text", text="No"),
            ]
        )
    )
)


def test_a_selector_finds_by_every_field_that_is_given() -> None:
    def found(selector: Selector) -> list[int]:
        return [node.index for node in selector.find(TREE)]

    assert found(Selector(text="OK")) == [1, 2]
    assert found(Selector(text="OK", instance=1)) == [2]
    assert found(Selector(text="OK", instance=2)) == []
    assert found(Selector(desc="d")) == found(Selector(resource_id="a:id/ok")) == found(Selector(focused=True)) == [1]
    assert found(Selector(cls="a.Text")) == [3]
    assert found(Selector(package="com.b")) == [2]
    assert found(Selector()) == [0, 1, 2, 3]
