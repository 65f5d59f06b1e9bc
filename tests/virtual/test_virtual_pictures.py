"""Pictures of the virtual phone: what they show, that equal screens make equal ones; no text makes one fail."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.drawing.marks import Mark, Words
from droidpilot.virtual.drawing.paint import encode, paint
from droidpilot.virtual.drawing.pictures import Camera
from droidpilot.virtual.drawing.sketch import sketch
from droidpilot.virtual.rpc.methods import METHODS
from droidpilot.virtual.rpc.values import BadParams
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.windows import NAVIGATION_BAR, SCREEN, STATUS_BAR
from droidpilot.virtual.wire.services import Services

SIZE = (SCREEN.width, SCREEN.height)


def shown(hand: Hand) -> Image.Image:
    return paint(sketch(hand.phone), *SIZE)


def words(hand: Hand) -> list[str]:
    return [mark.text for mark in sketch(hand.phone) if isinstance(mark, Words)]


def colors(image: Image.Image, box: Rect) -> int:
    """Count the different colours in a box; one is a box with nothing in it."""
    found = image.crop((box.left, box.top, box.right, box.bottom)).getcolors(1 << 20)
    assert found is not None
    return len(found)


def test_every_label_in_the_hierarchy_can_be_read_in_the_picture() -> None:
    hand = Hand.at()
    for app in ("Settings", "Messages", "Contacts"):
        hand.tap(app)
        assert set(hand.labels()) - set(words(hand)) <= {"Navigate up", "Send"}
        hand.phone.home()


def test_a_picture_shows_something_where_there_is_text_and_nothing_where_there_is_nothing() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet")
    image = shown(hand)
    assert colors(image, hand.node("Airplane mode").bounds) > 5
    assert colors(image, Rect(0, 1400, 1000, 2200)) == 1
    assert image.size == SIZE


def test_equal_screens_make_equal_bytes() -> None:
    one, other = Hand.at(seed=7), Hand.at(seed=7)
    for hand in (one, other):
        hand.tap("Messages")
    assert encode(shown(one), "png") == encode(shown(other), "png")


@pytest.mark.parametrize("act", ["switch", "type", "dark", "check"])
def test_what_changes_on_the_phone_changes_in_the_picture(act: str) -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet")
    if act != "switch":
        hand.tap("Wi-Fi", "Use Wi-Fi", next(n.ssid for n in hand.phone.wifi.networks if n.is_secured))
    before = shown(hand)
    if act == "switch":
        hand.tap("Airplane mode")
    elif act == "type":
        hand.touch.type_text("x")
    elif act == "check":
        hand.tap("Show password")
    else:
        hand.phone.settings.put("secure", "ui_night_mode", "2", source="test")
    assert shown(hand).tobytes() != before.tobytes()


def test_a_password_is_bullets_until_it_is_revealed() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi")
    hand.tap(next(n.ssid for n in hand.phone.wifi.networks if n.is_secured))
    hand.touch.type_text("hunter22")
    assert "hunter22" not in words(hand)
    hand.tap("Show password")
    assert "hunter22" in words(hand)


def test_a_row_that_is_half_scrolled_away_does_not_cover_the_bar_above() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    bar = Rect(500, STATUS_BAR, SCREEN.width, STATUS_BAR + 154)
    assert colors(shown(hand), bar) == 1
    hand.touch.swipe([(500, 1500), (500, 1380)], 100)
    assert hand.phone.top.scroll("list").offset == 120
    assert colors(shown(hand), bar) == 1
    assert colors(shown(hand), Rect(0, SCREEN.bottom - NAVIGATION_BAR, 300, SCREEN.bottom)) == 1


def test_a_dialog_lies_over_the_darkened_page() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi")
    page = shown(hand).convert("L").getpixel((20, 1900))
    hand.tap(next(n.ssid for n in hand.phone.wifi.networks if n.is_secured))
    dialog = shown(hand).convert("L")
    darker = dialog.getpixel((20, 1900))
    assert isinstance(page, int) and isinstance(darker, int)
    assert darker < page * 0.7
    assert "Use Wi-Fi" in words(hand)


def test_a_secure_window_and_a_screen_that_is_off_are_black() -> None:
    hand = Hand.at()
    hand.tap("Settings")
    hand.phone.top.is_secure = True
    assert shown(hand).convert("L").getextrema() == (0, 0)
    assert "Settings" in hand.labels(), "accessibility still sees it"
    hand.phone.top.is_secure = False
    hand.touch.power(False)
    assert shown(hand).convert("L").getextrema() == (0, 0)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=80), st.integers(1, 90), st.integers(0, 400), st.integers(1, 5))
def test_no_text_makes_a_picture_fail(text: str, size: int, width: int, lines: int) -> None:
    box = Rect(10, 10, 10 + width, 200)
    marks: list[Mark] = [Words(text, box, (255, 255, 255), Rect(0, 0, 300, 150), size, lines)]
    image = paint(marks, 300, 200)
    assert colors(image, Rect(0, 150, 300, 200)) == 1, "nothing is drawn outside the clip"


def test_what_the_font_cannot_write_becomes_boxes() -> None:
    def inked(text: str) -> int:
        image = paint([Words(text, Rect(0, 0, 400, 80), (255, 255, 255), Rect(0, 0, 400, 80), 44)], 400, 80)
        return sum(image.convert("L").histogram()[128:])

    assert inked("王小明") > 3 * inked(".")
    assert inked("Zoë") == inked("Zoe")
    assert inked("\u202e\u200b") == 0


def camera_run(act: Callable[[Camera], Awaitable[None]], hand: Hand | None = None) -> Camera:
    camera = Camera((hand or Hand.at()).phone)

    async def main() -> None:
        await act(camera)

    asyncio.run(main())
    return camera


def test_a_picture_is_painted_once_while_the_screen_stays_as_it_is() -> None:
    hand = Hand.at()
    taken: list[bytes] = []

    async def act(camera: Camera) -> None:
        taken.append(await camera.png())
        taken.append(await camera.png())
        assert camera.painted == 1
        hand.tap("Settings")
        taken.append(await camera.png())

    assert camera_run(act, hand).painted == 2
    assert taken[0] == taken[1] != taken[2]


def test_the_event_loop_goes_on_while_a_picture_is_painted() -> None:
    ticks = 0

    async def act(camera: Camera) -> None:
        nonlocal ticks
        picture = asyncio.ensure_future(camera.png())
        while not picture.done():
            ticks += 1
            await asyncio.sleep(0.001)
        await picture

    camera_run(act)
    assert ticks > 2


def test_a_jpeg_has_the_scale_that_was_asked_for() -> None:
    async def act(camera: Camera) -> None:
        small = Image.open(io.BytesIO(await camera.jpeg(0.5, 70)))
        assert (small.format, small.size) == ("JPEG", (540, 1170))
        assert len(await camera.jpeg(1.0, 20)) < len(await camera.jpeg(1.0, 95))

    camera_run(act)


@pytest.mark.parametrize("scale", [0, -1, 7.5, "x"])
def test_an_odd_scale_is_refused(scale: object) -> None:
    caller = Services.of(Hand.at().phone).server.caller

    async def ask() -> object:
        return await METHODS["takeScreenshot"](caller, [scale, 80])  # type: ignore[misc]  # this one is a coroutine

    with pytest.raises(BadParams):
        asyncio.run(ask())
