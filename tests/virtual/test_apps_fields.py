"""Text fields that do something to a text: by the accessibility action, by keys, and by the keyboard of the tools."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.virtual.conftest import User
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.apps.fields import LATE_MS, MOST_CODE, phone_mask
from droidpilot.virtual.apps.packages import FIELDS
from droidpilot.virtual.ui.views import TextField

IME = "com.github.uiautomator/.AdbKeyboard"


@pytest.mark.parametrize(
    ("field", "typed", "holds"),
    [
        ("plain", "As it IS 🎉", "As it IS 🎉"),
        ("phone", "0123456789", "(012) 345-6789"),
        ("phone", "+1 (555) 12", "(155) 512"),
        ("code", "0123456789", "01234567"),
        ("username", "Ada.Holm", "ada.holm"),
    ],
)
def test_what_a_field_makes_of_a_text_is_what_is_read_and_what_is_true(
    user: User, field: str, typed: str, holds: str
) -> None:
    user.tap("Fields")
    assert user.fill(f"{FIELDS}:id/{field}", typed)
    assert user.text_of(f"{FIELDS}:id/{field}") == holds
    assert user.truth("fields", "values", field) == holds


def test_keys_and_the_keyboard_go_through_the_same_mask(user: User) -> None:
    user.tap("Fields")
    user.tap_id(f"{FIELDS}:id/phone")
    user.d.shell("input text 01234")
    assert user.text_of(f"{FIELDS}:id/phone") == "(012) 34"
    user.d.shell(f"ime enable {IME}; ime set {IME}")
    text = base64.b64encode(b"56789").decode()
    assert "result=-1" in user.d.shell(f"am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text {text}").output
    assert user.truth("fields", "values", "phone") == "(012) 345-6789"


def test_a_field_that_refuses_the_action_takes_keys(user: User) -> None:
    user.tap("Fields")
    before = user.phone.inputs.count
    assert not user.fill(f"{FIELDS}:id/ink", "by action")
    assert user.truth("fields", "values", "ink") == ""
    assert user.phone.inputs.count == before, "nothing was executed"
    user.tap_id(f"{FIELDS}:id/ink")
    user.d.shell("input text by%skeys")
    assert user.truth("fields", "values", "ink") == "by keys"


def test_a_text_is_changed_half_a_second_after_it_was_typed() -> None:
    hand = Hand.at()
    hand.tap("Fields")
    hand.touch.set_text(hand.node(f"{FIELDS}:id/nickname"), " ada  lovelace")
    hand.clock.advance((LATE_MS - 1) / 1000)
    assert hand.node(f"{FIELDS}:id/nickname").text == " ada  lovelace"
    assert hand.phone.is_idle, "nothing tells that it will change"
    hand.clock.advance(0.002)
    assert hand.node(f"{FIELDS}:id/nickname").text == "Ada Lovelace"
    hand.clock.advance(5.0)
    assert hand.node(f"{FIELDS}:id/nickname").text == "Ada Lovelace"


def test_what_is_typed_on_is_not_tidied_up_too_early() -> None:
    hand = Hand.at()
    hand.tap("Fields")
    hand.touch.set_text(hand.node(f"{FIELDS}:id/nickname"), "ada")
    hand.clock.advance(0.4)
    hand.touch.type_text(" l")
    hand.clock.advance(0.2)
    assert hand.node(f"{FIELDS}:id/nickname").text == "ada l"
    hand.clock.advance(0.4)
    assert hand.node(f"{FIELDS}:id/nickname").text == "Ada L"


def test_a_form_is_submitted_as_it_is_then_and_no_secret_is_in_the_truth(user: User) -> None:
    user.tap("Fields")
    user.fill(f"{FIELDS}:id/secret", "hush-hush")
    user.fill(f"{FIELDS}:id/code", "abc")
    user.tap("Submit")
    assert user.sees("Submitted 1 times")
    assert user.truth("fields", "submitted")[0]["code"] == "abc"
    assert "hush-hush" not in str(user.phone.state()) + user.d.dump_hierarchy()


def test_backspace_in_a_masked_field_takes_a_digit() -> None:
    hand = Hand.at()
    hand.tap("Fields")
    hand.touch.set_text(hand.node(f"{FIELDS}:id/phone"), "0123456")
    hand.touch.key(67)
    assert hand.node(f"{FIELDS}:id/phone").text == "(012) 345"


@given(st.text())
def test_a_mask_keeps_the_digits_and_is_stable(text: str) -> None:
    once = phone_mask(text)
    assert phone_mask(once) == once
    assert [c for c in once if c.isdigit()] == [c for c in text if c in "0123456789"][:10]


@given(st.lists(st.text(max_size=4), max_size=6))
def test_a_filter_sees_the_whole_text_every_time(parts: list[str]) -> None:
    field = TextField("code", filter=lambda text: text[:MOST_CODE])
    for part in parts:
        field.put(field.text + part)
    assert field.text == "".join(parts)[:MOST_CODE]
