"""Login, Bank, Shop: where a wrong tap would cost something. Their truth says what was really done."""

from __future__ import annotations

import json

from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.bank import MAX_TRIES, PIN
from droidpilot.virtual.apps.login import EMAIL, PASSWORD
from droidpilot.virtual.apps.packages import BANK, LOGIN, SHOP
from droidpilot.virtual.apps.parts import cents_of, money


def test_a_wrong_password_says_so_and_the_right_one_signs_in(user: User) -> None:
    user.tap("Northwind")
    assert not user.d(resourceId=f"{LOGIN}:id/sign_in").info["enabled"]
    user.fill(f"{LOGIN}:id/email", EMAIL)
    user.fill(f"{LOGIN}:id/password", "wrong")
    user.tap_id(f"{LOGIN}:id/sign_in")
    assert user.sees("Wrong email or password. Try again.")
    assert user.truth("login") == {"signed_in": None, "remembered": False, "failures": 1}
    user.fill(f"{LOGIN}:id/password", PASSWORD)
    assert PASSWORD not in user.d.dump_hierarchy()
    assert 'password="true"' in user.d.dump_hierarchy()
    user.tap("Show password")
    assert user.text_of(f"{LOGIN}:id/password") == PASSWORD
    user.tap("Remember me")
    user.tap_id(f"{LOGIN}:id/sign_in")
    assert user.sees("You are signed in")
    assert user.truth("login") == {"signed_in": EMAIL, "remembered": True, "failures": 1}
    assert PASSWORD not in json.dumps(user.phone.state())
    user.tap("Sign out")
    assert user.text_of(f"{LOGIN}:id/email") == EMAIL


def test_five_wrong_passwords_lock_the_account() -> None:
    hand = Hand.at()
    hand.tap("Northwind")
    for _ in range(6):
        hand.touch.set_text(hand.node(f"{LOGIN}:id/email"), EMAIL)
        hand.touch.set_text(hand.node(f"{LOGIN}:id/password"), "guess")
        hand.tap(f"{LOGIN}:id/sign_in")
    login = hand.phone.state()["login"]
    assert isinstance(login, dict) and login["failures"] == 5
    hand.touch.set_text(hand.node(f"{LOGIN}:id/password"), PASSWORD)
    hand.touch.key(66)
    assert "Too many tries. Try again later." in hand.labels()
    login = hand.phone.state()["login"]
    assert isinstance(login, dict) and login["signed_in"] is None


def test_a_transfer_needs_the_pin_a_recipient_and_a_yes(user: User) -> None:
    user.tap("Fern Bank", *"1111", "OK")
    assert user.sees("Wrong PIN. Tries left: 2")
    user.tap(*PIN, "OK", "New transfer")
    user.fill(f"{BANK}:id/recipient", "Mona Costa")
    user.fill(f"{BANK}:id/amount", "9999999")
    assert user.sees("Not enough money in the account")
    assert not user.d(text="Continue").info["enabled"]
    user.fill(f"{BANK}:id/amount", "25.50")
    before = user.truth("bank", "accounts")["Everyday account"]
    user.tap("Continue")
    assert user.truth("bank", "transfers") == []
    user.tap("Send $25.50")
    assert user.sees("Transfer sent")
    assert user.truth("bank", "transfers") == [{"from": "Everyday account", "to": "Mona Costa", "cents": 2550}]
    assert user.truth("bank", "accounts")["Everyday account"] == before - 2550
    user.tap("Done")
    assert user.sees("To Mona Costa")
    assert user.truth("notifications")[0]["title"] == "Transfer sent"


def test_every_window_of_the_bank_is_black_in_a_picture_and_readable_in_the_hierarchy(user: User) -> None:
    user.tap("Fern Bank")
    for steps in ((), (*PIN, "OK"), ("New transfer",)):
        user.tap(*steps)
        assert user.d.screenshot().convert("L").getextrema() == (0, 0)
        assert BANK in user.d.dump_hierarchy()
    assert "SECURE" in user.d.shell("dumpsys window windows").output
    user.d.press("home")
    assert user.d.screenshot().convert("L").getextrema() != (0, 0)


def test_three_wrong_pins_block_the_bank() -> None:
    hand = Hand.at()
    hand.tap("Fern Bank")
    for _ in range(MAX_TRIES):
        hand.tap(*"0000", "OK")
    hand.tap(*PIN, "OK")
    assert "The app is blocked. Call your bank." in hand.labels()
    bank = hand.phone.state()["bank"]
    assert isinstance(bank, dict) and not bank["unlocked"]


def test_the_pin_is_asked_again_when_the_app_was_closed() -> None:
    hand = Hand.at()
    hand.tap("Fern Bank", *PIN, "OK")
    assert "Savings" in hand.labels()
    hand.phone.stop(BANK)
    hand.tap("Fern Bank")
    assert "Enter your PIN" in hand.labels()


def test_an_order_exists_once_its_payment_went_through(user: User) -> None:
    user.tap("Shop")
    user.fill(f"{SHOP}:id/search_src_text", "mug")
    assert user.d(resourceId=f"{SHOP}:id/product_name", textContains="Mug").wait(timeout=5)
    name = user.text_of(f"{SHOP}:id/product_name")
    assert "Mug" in name
    user.tap(name, "Add to cart", "Add to cart", "Cart (2)")
    user.d(description=f"Remove one {name}").click()
    assert user.truth("shop", "cart") == {name: 1}
    user.tap("Check out")
    pay = user.d(resourceId=f"{SHOP}:id/pay")
    price = pay.get_text()
    assert price.startswith("Pay $")
    assert not pay.info["enabled"]
    user.fill(f"{SHOP}:id/full_name", "Ada Holm")
    user.fill(f"{SHOP}:id/address", "Quay 7")
    pay.click()
    pay.click()
    assert user.truth("shop", "orders") == []
    assert user.sees("Thank you for your order")
    orders = user.truth("shop", "orders")
    assert len(orders) == 1
    assert (orders[0]["items"], orders[0]["address"]) == ({name: 1}, "Quay 7")
    assert price == f"Pay {money(orders[0]['cents'])}"
    user.tap("Continue shopping")
    assert user.truth("shop", "cart") == {}


def test_amounts_are_read_as_a_person_writes_them() -> None:
    read = {text: cents_of(text) for text in ("25", "25.5", "25.50", "$1,000", "", "abc", "1.234", "-5", "٣", "2.x")}
    assert read == {
        "25": 2500, "25.5": 2550, "25.50": 2550, "$1,000": 100_000, "": None, "abc": None, "1.234": None, "-5": None,
        "٣": None, "2.x": None,
    }  # fmt: skip


def test_a_payment_on_its_way_is_forgotten_with_the_apps_data() -> None:
    hand = Hand.at()
    hand.tap("Shop")
    name = hand.node(f"{SHOP}:id/product_name").text
    hand.tap(name, "Add to cart", "Cart (1)", "Check out")
    hand.touch.set_text(hand.node(f"{SHOP}:id/full_name"), "Ada")
    hand.touch.set_text(hand.node(f"{SHOP}:id/address"), "Quay 7")
    hand.tap(f"{SHOP}:id/pay")
    assert not hand.phone.is_idle
    hand.phone.stop(SHOP)
    hand.phone.apps[SHOP].clear()
    hand.phone.home()
    hand.tap("Shop", name, "Add to cart")
    hand.clock.advance(5.0)
    assert hand.phone.is_idle
    assert hand.phone.state()["shop"] == {"cart": {name: 1}, "orders": [], "paying": False}
