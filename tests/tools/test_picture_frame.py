"""From a place in a picture to the place on the display: whatever the sizes, the node that was meant is hit."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.fakes.driver import dump, node

from droidpilot.core.errors import TargetError
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.screen import Screen, make_screen
from droidpilot.tools.picture_frame import PictureFrame, is_same_shape, no_picture

HIERARCHY = parse_hierarchy(dump(node()))


def screen(width: int = 1080, height: int = 2340, rotation: int = 0) -> Screen:
    return make_screen(
        number=1,
        hierarchy=HIERARCHY,
        foreground_package="com.example",
        activity=None,
        width=width,
        height=height,
        rotation=rotation,
    )


def frame(now: Screen, width: int, height: int, *, is_fitting: bool = True) -> PictureFrame:
    return PictureFrame(number=1, width=width, height=height, screen=now, is_fitting=is_fitting)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_inv_32_the_middle_of_a_node_in_the_picture_is_inside_the_node(data: st.DataObject) -> None:
    """Any display, turned any way, with any size override, and any picture of its shape."""
    wide, high = data.draw(st.integers(320, 3200)), data.draw(st.integers(320, 3200))
    rotation = data.draw(st.integers(0, 3))
    if rotation % 2:
        wide, high = high, wide
    edge = data.draw(st.integers(200, 2000))
    scale = min(1.0, edge / max(wide, high))
    width, height = max(1, round(wide * scale)), max(1, round(high * scale))
    now = screen(wide, high, rotation)
    assume(is_same_shape(width, height, now))
    least = int(2 / scale) + 2  # a node must be as large as a pixel of the picture to be seen on it
    left, top = data.draw(st.integers(0, wide - least)), data.draw(st.integers(0, high - least))
    right, bottom = data.draw(st.integers(left + least, wide)), data.draw(st.integers(top + least, high))
    x = min(width - 1, (left + right) * width // (2 * wide))
    y = min(height - 1, (top + bottom) * height // (2 * high))
    there = frame(now, width, height).on_display(x, y, now)
    assert left <= there[0] < right and top <= there[1] < bottom


@pytest.mark.parametrize(("x", "y", "expected"), [(0, 0, (1, 1)), (507, 1099, (1078, 2338)), (254, 550, (541, 1171))])
def test_corners_and_middle(x: int, y: int, expected: tuple[int, int]) -> None:
    now = screen()
    assert frame(now, 508, 1100).on_display(x, y, now) == expected


@pytest.mark.parametrize(
    ("now", "code"),
    [
        (screen(2340, 1080, 1), "stale_picture"),
        (screen(1080, 2340, 2), "stale_picture"),
        (screen(720, 1560), "stale_picture"),
    ],
)
def test_report_b33_a_screen_that_was_turned_or_resized_since_is_refused(now: Screen, code: str) -> None:
    with pytest.raises(TargetError) as caught:
        frame(screen(), 508, 1100).on_display(10, 10, now)
    assert caught.value.code == code


@pytest.mark.parametrize(("x", "y"), [(508, 0), (0, 1100), (-1, 5)])
def test_a_place_outside_the_picture_is_refused(x: int, y: int) -> None:
    now = screen()
    with pytest.raises(TargetError) as caught:
        frame(now, 508, 1100).on_display(x, y, now)
    assert caught.value.code == "outside_picture"


def test_report_b34_no_place_is_taken_from_a_picture_that_lies_on_its_side() -> None:
    now = screen(2340, 1080, 1)
    assert not is_same_shape(1080, 2340, now)
    with pytest.raises(TargetError) as caught:
        frame(now, 508, 1100, is_fitting=False).on_display(10, 10, now)
    assert caught.value.code == "mismatched_picture"


@pytest.mark.parametrize(
    ("width", "height", "fits"),
    [
        (1080, 2340, True),
        (1440, 3120, True),
        (508, 1100, True),
        (2340, 1080, False),
        (1080, 2208, False),
        (0, 0, False),
    ],
)
def test_shapes_are_compared_not_sizes(width: int, height: int, fits: bool) -> None:
    assert is_same_shape(width, height, screen()) is fits


def test_inv_31_a_picture_that_was_not_given_is_refused() -> None:
    with pytest.raises(TargetError) as caught:
        no_picture(3)
    assert caught.value.code == "no_picture"
