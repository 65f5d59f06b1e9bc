"""Meals: an app in Chinese, Japanese and Korean, with full-width signs, and orders with a note."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from droidpilot.virtual.apps.packages import MEALS
from droidpilot.virtual.apps.parts import confirmation, edit, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import page, row
from droidpilot.virtual.ui.windows import Window

DISHES = ("宫保鸡丁", "麻婆豆腐", "親子丼", "味噌ラーメン", "비빔밥", "김치찌개", "葱油拌面（小份）", "珍珠奶茶・少糖")
MAX_ORDERS = 200


@dataclass(frozen=True, slots=True)
class Dish:
    name: str
    yuan: int


class Meals:
    """A menu, and what was ordered from it."""

    package = MEALS
    activity = ".menu.MenuActivity"
    label = "点餐"

    def __init__(self, host: Host) -> None:
        self._host = host
        random = host.random("meals")
        self._dishes = [Dish(name, random.randint(12, 68)) for name in DISHES]
        self.clear()

    def clear(self) -> None:
        self._orders: list[dict[str, object]] = []

    def state(self) -> dict[str, object]:
        return {"meals": [dict(order) for order in self._orders]}

    def first(self) -> Window:
        window = Window(MEALS, f"{MEALS}{self.activity}", "点餐", "menu", lambda: self._menu(window))
        return window

    def _menu(self, window: Window) -> View:
        rows = [row(dish.name, f"¥{dish.yuan}", on_click=partial(self._open, dish)) for dish in self._dishes]
        told = f"已下单：{len(self._orders)}份" if self._orders else "还没有订单"
        return page(MEALS, "点餐", scroller(window, [row(told), *rows]), on_up=None)

    def _open(self, dish: Dish) -> None:
        self._host.open(self._page(dish))

    def _page(self, dish: Dish) -> Window:
        note = TextField("note", hint="备注（口味、忌口）")

        def order() -> None:
            self._orders.append({"dish": dish.name, "yuan": dish.yuan, "note": note.text.strip()})
            del self._orders[:-MAX_ORDERS]
            self._host.toast("下单成功")
            self._host.close(window)

        def ask() -> None:
            text = f"{dish.name}，共¥{dish.yuan}。"
            self._host.open(
                confirmation(self._host, window, "确认下单？", text, yes="立即支付", no="取消", on_yes=order)
            )

        def body() -> View:
            parts = [
                row(dish.name, f"¥{dish.yuan}"),
                edit(window, note, f"{MEALS}:id/remark"),
                wide_button(f"下单 ¥{dish.yuan}", id=f"{MEALS}:id/order", on_click=ask),
            ]
            return page(MEALS, "菜品详情", scroller(window, parts), on_up=self._host.back)

        window = Window(MEALS, f"{MEALS}.detail.DishActivity", dish.name, f"dish/{dish.name}", body)
        return window
