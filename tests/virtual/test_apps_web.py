"""Browser, game, Courier and Meals: screens that are not made of ordinary rows, or not in Latin letters."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from PIL import Image
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.browser import START
from droidpilot.virtual.apps.game import WINS_AT, cell_box
from droidpilot.virtual.apps.packages import BROWSER, COURIER, GAME, MEALS


def test_links_and_the_address_bar_open_pages_and_back_goes_back(user: User) -> None:
    user.tap("Browser")
    assert user.text_of(f"{BROWSER}:id/url_bar") == START
    user.d(description="All news").click()
    assert user.d(className="android.webkit.WebView", text="All news").wait(timeout=5)
    user.d(className="android.webkit.WebView").scroll.to(text="18 March: first swallows")
    assert user.d(text="18 March: first swallows").exists
    user.d.press("back")
    assert user.text_of(f"{BROWSER}:id/url_bar") == START
    user.fill(f"{BROWSER}:id/url_bar", "https://Sky.example/")
    user.d.press("enter")
    assert user.sees("Sunny, 14 degrees")
    user.fill(f"{BROWSER}:id/url_bar", "nowhere.example")
    user.d.press("enter")
    assert user.sees("This site can't be reached")
    assert user.truth("browser", "visits") == [START, f"{START}/news", "sky.example", "nowhere.example"]


def test_a_form_in_a_page_is_sent_once(user: User) -> None:
    user.tap("Browser")
    user.d(description="Write to us").click()
    user.fill("name", "Ada")
    user.fill("message", "Hello 👋")
    user.tap("Send me a copy", "Send")
    assert user.sees("Thank you, your letter has arrived.")
    assert user.truth("browser", "letters") == [{"name": "Ada", "text": "Hello 👋", "copy": True}]


def test_a_web_page_is_a_tree_of_silent_boxes_under_one_web_view(user: User) -> None:
    user.tap("Browser")
    root = ET.fromstring(user.d.dump_hierarchy())
    web = next(node for node in root.iter("node") if node.get("class") == "android.webkit.WebView")
    assert web.get("text") == "Village news"
    inside = list(web.iter("node"))
    silent = [n for n in inside if not (n.get("text") or n.get("content-desc") or n.get("resource-id"))]
    assert len(silent) >= 4
    assert not any(":id/" in (n.get("resource-id") or "") for n in inside), "ids of a page are its own"


def test_a_canvas_is_one_node_and_a_tap_on_it_plays_by_its_place(user: User) -> None:
    user.tap("Pebbles")
    root = ET.fromstring(user.d.dump_hierarchy())
    surface = next(n for n in root.iter("node") if n.get("resource-id") == f"{GAME}:id/surface")
    assert list(surface) == [] and not (surface.get("text") or surface.get("content-desc"))
    assert surface.get("clickable") == "false"
    left, top = (int(n) for n in surface.get("bounds", "").strip("[").split("]")[0].split(","))
    for score in range(WINS_AT):
        assert user.truth("game", "score") == score
        lit = user.truth("game", "lit")
        box = cell_box(lit)
        if score == 0:
            wrong = cell_box((lit + 1) % 9)
            before = user.d.screenshot()
            assert color(before, box, left, top) != color(before, wrong, left, top), "the lit one can be seen"
            user.d.click(left + wrong.left + 9, top + wrong.top + 9)
            assert user.truth("game") == {"score": 0, "misses": 1, "lit": lit, "won": False}
        user.d.click(left + box.left + 9, top + box.top + 9)
    assert user.truth("game", "won")


def color(picture: Image.Image, box: object, left: int, top: int) -> object:
    from droidpilot.virtual.ui.geometry import Rect

    assert isinstance(box, Rect)
    return picture.getpixel((left + (box.left + box.right) // 2, top + (box.top + box.bottom) // 2))


def test_the_whole_board_is_there_when_the_screen_lies() -> None:
    hand = Hand.at()
    hand.phone.display.turn(1)
    hand.tap("Pebbles")
    surface = hand.node(f"{GAME}:id/surface").bounds
    last = cell_box(8)
    assert surface.width > surface.height
    assert surface.has(surface.left + last.right - 1, surface.top + last.bottom - 1)


def test_a_tap_between_the_pebbles_is_nothing() -> None:
    hand = Hand.at()
    hand.tap("Pebbles")
    node = hand.node(f"{GAME}:id/surface")
    hand.touch.tap(node.bounds.left + 3, node.bounds.top + 3)
    game = hand.phone.state()["game"]
    assert isinstance(game, dict) and (game["score"], game["misses"]) == (0, 0)


def test_an_app_in_hebrew_is_laid_out_from_right_to_left(user: User) -> None:
    user.tap("משלוחים")
    switch = user.d(className="android.widget.Switch").info["bounds"]
    title = user.d(text="התראות").info["bounds"]
    assert switch["right"] < title["left"] + 66, "the switch stands at the left"
    user.tap("התראות")
    assert user.truth("courier", "notified") is False
    row = user.d(textContains="חבילה")
    number = row.get_text().split()[1]
    row.click()
    up = user.d(description="Navigate up").info["bounds"]
    assert up["right"] == 1080
    assert "\u200f" in user.text_of(f"{COURIER}:id/amount")
    user.fill(f"{COURIER}:id/note", "ليس في البيت 3א")
    user.tap("אישור מסירה")
    assert user.sees("נמסר")
    assert user.truth("courier", "delivered") == [{"number": number, "note": "ليس في البيت 3א"}]


def test_the_order_of_a_mirrored_row_in_the_tree_is_the_order_of_reading() -> None:
    hand = Hand.at()
    hand.tap("משלוחים")
    switch = next(n for n in hand.nodes() if n.view.cls.endswith("Switch"))
    title = hand.node("התראות")
    nodes = hand.nodes()
    assert nodes.index(title) < nodes.index(switch)
    assert title.bounds.left > switch.bounds.left


def test_a_meal_is_ordered_with_a_note_in_any_script(user: User) -> None:
    user.tap("点餐", "麻婆豆腐")
    user.fill(f"{MEALS}:id/remark", "不要辣、ねぎ抜き、매운맛 빼고")
    user.tap_id(f"{MEALS}:id/order")
    assert user.sees("确认下单？")
    user.tap("取消")
    assert user.truth("meals") == []
    user.tap_id(f"{MEALS}:id/order")
    user.tap("立即支付")
    assert user.sees("已下单：1份")
    order = user.truth("meals")[0]
    assert (order["dish"], order["note"]) == ("麻婆豆腐", "不要辣、ねぎ抜き、매운맛 빼고")
