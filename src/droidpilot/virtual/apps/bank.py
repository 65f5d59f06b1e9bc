"""Fern Bank: a PIN page with a keypad, accounts, and transfers that are confirmed. All its windows are secure.

The app's PIN is the same on every phone. Amounts are kept in cents.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.virtual.apps.packages import BANK
from droidpilot.virtual.apps.parts import MARGIN, cents_of, edit, message, money, padded, scroller, wide_button
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import TextField, View
from droidpilot.virtual.ui.widgets import button, label, page, row
from droidpilot.virtual.ui.windows import Window

PIN = "2580"
MAX_TRIES = 3
MAX_TRANSFERS = 500
KEYS = (("1", "2", "3"), ("4", "5", "6"), ("7", "8", "9"), ("Delete", "0", "OK"))


@dataclass(slots=True, eq=False)
class Account:
    name: str
    number: str
    cents: int


class Bank:
    """A bank's app: its windows may not be captured, and three wrong PINs block it."""

    package = BANK
    activity = ".ui.MainActivity"
    label = "Fern Bank"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        random = self._host.random("bank")
        digits = [str(random.randint(10_000_000, 99_999_999)) for _ in range(2)]
        self._accounts = [
            Account("Everyday account", f"FB {digits[0]}", random.randint(80_000, 400_000)),
            Account("Savings", f"FB {digits[1]}", random.randint(500_000, 2_000_000)),
        ]
        self._transfers: list[dict[str, object]] = []
        self._typed = ""
        self._wrong = 0
        self._is_open = False

    def state(self) -> dict[str, object]:
        return {
            "bank": {
                "unlocked": self._is_open,
                "wrong_pins": self._wrong,
                "accounts": {account.name: account.cents for account in self._accounts},
                "transfers": [dict(transfer) for transfer in self._transfers],
            }
        }

    def first(self) -> Window:
        self._is_open, self._typed = False, ""
        window = self._window("PIN", "main")
        window.body = lambda: self._overview(window) if self._is_open else self._keypad(window)
        return window

    def _window(self, title: str, key: str) -> Window:
        made = Window(BANK, f"{BANK}{self.activity}", title, key, View)
        made.is_secure = True
        return made

    def _keypad(self, window: Window) -> View:
        is_blocked = self._wrong >= MAX_TRIES
        told = "Enter your PIN"
        if is_blocked:
            told = "The app is blocked. Call your bank."
        elif self._wrong:
            told = f"Wrong PIN. Tries left: {MAX_TRIES - self._wrong}"
        dots = label("●" * len(self._typed) + "○" * (len(PIN) - len(self._typed)), id=f"{BANK}:id/pin_dots", size=60)
        dots.desc = f"{len(self._typed)} of {len(PIN)} digits entered"
        lines: list[View] = [message(told, id=f"{BANK}:id/pin_message", size=46), padded(dots)]
        for keys in KEYS:
            line = View("android.widget.LinearLayout", layout="row", pad=(66, 20, 66, 20))
            line.children = [self._key(key, window, is_enabled=not is_blocked) for key in keys]
            lines.append(line)
        return page(BANK, "Fern Bank", View("android.widget.LinearLayout", children=lines), on_up=None)

    def _key(self, name: str, window: Window, *, is_enabled: bool) -> View:
        made = button(
            name,
            id=f"{BANK}:id/key_{name.lower()}",
            is_enabled=is_enabled and (name != "OK" or len(self._typed) == len(PIN)),
            on_click=lambda: self._host.later(lambda: self._press(name, window)),
        )
        made.weight, made.height = 1, 180
        return made

    def _press(self, name: str, window: Window) -> None:
        if name == "Delete":
            self._typed = self._typed[:-1]
        elif name != "OK":
            self._typed = (self._typed + name)[: len(PIN)]
        elif len(self._typed) == len(PIN) and self._wrong < MAX_TRIES:
            self._is_open = self._typed == PIN
            self._wrong = 0 if self._is_open else self._wrong + 1
            self._typed = ""
            window.title = "Accounts" if self._is_open else "PIN"

    def _overview(self, window: Window) -> View:
        accounts = [row(account.name, f"{account.number}  ·  {money(account.cents)}") for account in self._accounts]
        last = [
            row(f"To {sent['to']}", f"-{money(int(str(sent['cents'])))}") for sent in reversed(self._transfers[-5:])
        ]
        send = wide_button("New transfer", id=f"{BANK}:id/new_transfer", on_click=lambda: self._host.open(self._form()))
        heading = [label("Recent transfers", id=f"{BANK}:id/recent", size=40, pad=MARGIN)] if last else []
        return page(BANK, "Accounts", scroller(window, [*accounts, send, *heading, *last]), on_up=None)

    def _form(self) -> Window:
        recipient, amount = TextField("recipient", hint="Recipient"), TextField("amount", hint="Amount")
        source = self._accounts[0]
        window = self._window("Transfer", "transfer")

        def problem() -> str:
            cents = cents_of(amount.text)
            if amount.text and not cents:
                return "Enter an amount such as 25.50"
            return "Not enough money in the account" if cents and cents > source.cents else ""

        def go_on() -> None:
            cents = cents_of(amount.text)
            if recipient.text.strip() and cents and cents <= source.cents:
                self._host.open(self._review(window, source, recipient.text.strip(), cents))

        def body() -> View:
            is_ready = bool(recipient.text.strip() and cents_of(amount.text)) and not problem()
            parts = [
                row("From", f"{source.name}  ·  {money(source.cents)}"),
                edit(window, recipient, f"{BANK}:id/recipient"),
                edit(window, amount, f"{BANK}:id/amount"),
            ]
            if problem():
                parts.append(message(problem(), id=f"{BANK}:id/error"))
            parts.append(wide_button("Continue", id=f"{BANK}:id/continue", is_enabled=is_ready, on_click=go_on))
            return page(BANK, "Transfer", scroller(window, parts), on_up=self._host.back)

        window.body, window.focus = body, recipient
        return window

    def _review(self, form: Window, source: Account, recipient: str, cents: int) -> Window:
        window = self._window("Confirm transfer", "review")

        def send() -> None:
            if cents > source.cents or window.title == "Transfer sent":
                return
            source.cents -= cents
            self._transfers.append({"from": source.name, "to": recipient, "cents": cents})
            del self._transfers[:-MAX_TRANSFERS]
            window.title = "Transfer sent"
            self._host.notify("Transfer sent", f"{money(cents)} to {recipient}", package=BANK)

        def body() -> View:
            facts = [row("To", recipient), row("Amount", money(cents)), row("From", source.name)]
            if window.title == "Transfer sent":
                done = wide_button("Done", id=f"{BANK}:id/done", on_click=lambda: self._host.close(form))
                parts = [label("Transfer sent", id=f"{BANK}:id/headline", size=64, pad=MARGIN), *facts, done]
                return page(BANK, "Transfer sent", scroller(window, parts), on_up=None)
            sure = wide_button(f"Send {money(cents)}", id=f"{BANK}:id/confirm", on_click=lambda: self._host.later(send))
            return page(BANK, "Confirm transfer", scroller(window, [*facts, sure]), on_up=self._host.back)

        window.body = body
        return window
