"""Shop: search, products, a page for each, a cart, and a checkout whose button says what it will cost.

Prices are kept in cents. An order exists from the moment its payment went through, not before.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from droidpilot.virtual.apps.packages import SHOP
from droidpilot.virtual.apps.parts import (
    MARGIN,
    edit,
    message,
    money,
    padded,
    recycler,
    scroller,
    wide_button,
    with_menu,
)
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import button, check_box, label, page, row
from droidpilot.virtual.ui.windows import Window

KINDS = ("Mug", "Kettle", "Lamp", "Notebook", "Backpack", "Umbrella", "Headphones", "Blanket")
LOOKS = ("Blue", "Green", "Ceramic", "Linen", "Steel")
PRODUCTS = 30
PAYING_MS = 1_200
MOST_OF_ONE = 9


@dataclass(frozen=True, slots=True)
class Product:
    number: int
    name: str
    cents: int


class Shop:
    """A shop with thirty products of the seed and one cart."""

    package = SHOP
    activity = ".HomeActivity"
    label = "Shop"

    def __init__(self, host: Host) -> None:
        self._host = host
        random = host.random("shop")
        names = random.sample([f"{look} {kind}" for look in LOOKS for kind in KINDS], PRODUCTS)
        self._products = [Product(n, name, random.randint(4, 180) * 100 - 1) for n, name in enumerate(sorted(names), 1)]
        self.clear()

    def clear(self) -> None:
        self._search = TextField("search", hint="Search products")
        self._cart: dict[Product, int] = {}
        self._orders: list[dict[str, object]] = []
        self._is_paying = False

    def state(self) -> dict[str, object]:
        return {
            "shop": {
                "cart": {product.name: count for product, count in self._cart.items()},
                "orders": [dict(order) for order in self._orders],
                "paying": self._is_paying,
            }
        }

    def first(self) -> Window:
        window = Window(SHOP, f"{SHOP}{self.activity}", "Shop", "products", lambda: self._home(window))
        return window

    def _page(self, window: Window, title: str, content: View) -> View:
        count = sum(self._cart.values())
        cart = button(f"Cart ({count})", id=f"{SHOP}:id/cart", on_click=lambda: self._host.open(self._cart_page()))
        return with_menu(page(SHOP, title, content, on_up=self._host.back if window.key != "products" else None), cart)

    def _home(self, window: Window) -> View:
        wanted = self._search.text.strip().lower()
        found = [product for product in self._products if wanted in product.name.lower()]
        rows = recycler(window, len(found), lambda n: self._row(found[n]), id=f"{SHOP}:id/product_list")
        if not found:
            rows = scroller(window, [message("No products found", id=f"{SHOP}:id/empty")], name="none")
        rows.weight = 1
        content = View(
            "android.widget.LinearLayout", children=[edit(window, self._search, f"{SHOP}:id/search_src_text"), rows]
        )
        return self._page(window, "Shop", content)

    def _row(self, product: Product) -> View:
        made = row(product.name, money(product.cents), on_click=lambda: self._host.open(self._product_page(product)))
        made.id = f"{SHOP}:id/product_card"
        words = made.children[0].children
        words[0].id, words[1].id = f"{SHOP}:id/product_name", f"{SHOP}:id/product_price"
        return made

    def _product_page(self, product: Product) -> Window:
        def add() -> None:
            self._cart[product] = min(MOST_OF_ONE, self._cart.get(product, 0) + 1)
            self._host.toast(f"{product.name} added")

        def body() -> View:
            parts = [
                label(product.name, id=f"{SHOP}:id/title", size=64, pad=MARGIN),
                label(money(product.cents), id=f"{SHOP}:id/price", size=54, pad=MARGIN),
                message("Ships in 2 to 4 days. Free returns within 30 days.", id=f"{SHOP}:id/description"),
                wide_button("Add to cart", id=f"{SHOP}:id/add_to_cart", on_click=lambda: self._host.later(add)),
            ]
            return self._page(window, "Product", scroller(window, parts))

        window = Window(SHOP, f"{SHOP}.ProductActivity", product.name, f"product/{product.number}", body)
        return window

    def _total(self) -> int:
        return sum(product.cents * count for product, count in self._cart.items())

    def _cart_page(self) -> Window:
        def body() -> View:
            lines = [self._cart_line(product, count) for product, count in self._cart.items()]
            if not lines:
                lines = [message("Your cart is empty", id=f"{SHOP}:id/empty", size=46)]
            total = row("Total", money(self._total()))
            check_out = wide_button(
                "Check out",
                id=f"{SHOP}:id/checkout",
                is_enabled=bool(self._cart),
                on_click=lambda: self._host.open(self._checkout(window)),
            )
            return page(SHOP, "Cart", scroller(window, [*lines, total, check_out]), on_up=self._host.back)

        window = Window(SHOP, f"{SHOP}.CartActivity", "Cart", "cart", body)
        return window

    def _cart_line(self, product: Product, count: int) -> View:
        def change(by: int) -> None:
            left = min(MOST_OF_ONE, self._cart.get(product, 0) + by)
            self._cart[product] = left
            if left <= 0:
                del self._cart[product]

        made = row(product.name, f"{count} x {money(product.cents)}")
        for sign, name, by in (("-", "less", -1), ("+", "more", 1)):
            step = button(
                sign, id=f"{SHOP}:id/{name}", width=130, on_click=partial(self._host.later, partial(change, by))
            )
            step.desc = f"{'Remove' if by < 0 else 'Add'} one {product.name}"
            made.children.append(step)
        return made

    def _checkout(self, cart: Window) -> Window:
        name, address = TextField("name", hint="Full name"), TextField("address", hint="Delivery address")
        is_gift = [False]

        def turn() -> None:
            is_gift[0] = not is_gift[0]

        def pay() -> None:
            if not self._is_paying and self._cart and name.text.strip() and address.text.strip():
                self._is_paying = window.is_restless = True
                self._host.after(PAYING_MS, partial(paid, self._cart))

        def paid(bought: dict[Product, int]) -> None:
            self._is_paying = window.is_restless = False
            # Data that were cleared meanwhile have another cart.
            if not bought or bought is not self._cart:
                return
            order: dict[str, object] = {
                "number": len(self._orders) + 1,
                "items": {product.name: count for product, count in self._cart.items()},
                "cents": self._total(),
                "name": name.text.strip(),
                "address": address.text.strip(),
                "gift": is_gift[0],
            }
            self._orders.append(order)
            self._cart.clear()
            self._host.open(self._thanks(order, cart))
            self._host.notify("Order placed", f"Order {order['number']} is on its way", package=SHOP)

        def body() -> View:
            is_ready = bool(self._cart and name.text.strip() and address.text.strip()) and not self._is_paying
            gift = check_box(
                "This is a gift",
                id=f"{SHOP}:id/gift",
                is_checked=is_gift[0],
                on_click=lambda: self._host.later(turn),
            )
            parts = [
                *[row(product.name, f"{count} x {money(product.cents)}") for product, count in self._cart.items()],
                edit(window, name, f"{SHOP}:id/full_name"),
                edit(window, address, f"{SHOP}:id/address"),
                padded(gift),
                row("Pay with", "Card ending in 4242"),
                wide_button(
                    "Paying..." if self._is_paying else f"Pay {money(self._total())}",
                    id=f"{SHOP}:id/pay",
                    is_enabled=is_ready,
                    on_click=lambda: self._host.later(pay),
                ),
            ]
            return page(SHOP, "Checkout", scroller(window, parts), on_up=self._host.back)

        window = Window(SHOP, f"{SHOP}.CheckoutActivity", "Checkout", "checkout", body)
        return window

    def _thanks(self, order: dict[str, object], cart: Window) -> Window:
        def body() -> View:
            parts = [
                label("Thank you for your order", id=f"{SHOP}:id/headline", size=60, pad=MARGIN),
                row("Order number", str(order["number"])),
                row("Paid", money(int(str(order["cents"])))),
                wide_button("Continue shopping", id=f"{SHOP}:id/done", on_click=lambda: self._host.close(cart)),
            ]
            return page(SHOP, "Order placed", scroller(window, parts), on_up=None)

        window = Window(SHOP, f"{SHOP}.DoneActivity", "Order placed", f"order/{order['number']}", body)
        return window
