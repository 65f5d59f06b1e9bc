from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.screens.dump_writer import El, write

from droidpilot.screens.labels import Label, clean, fold, id_texts, id_words, label_of, raw_label, shown
from droidpilot.screens.parse import parse_hierarchy

# Text that is unpleasant on purpose: controls, bidi, invisible, combining, compatibility and look-alike characters.
_NASTY = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "\u202e\u202c\u2066\u2069\u200b\u200d\u00ad\u034f\ufeff\ufe0f\u0301\u0307\u0456\u0131\u3164\uffa0"
        ),
        st.sampled_from(" \t\n\x00\x1b\x1f\x85\u2028\u00a0\u3000"),
    ),
    max_size=30,
)


@given(_NASTY)
@settings(max_examples=500, deadline=None)
def test_cleaning_folding_and_showing_are_idempotent(text: str) -> None:
    for form in (clean, fold, shown):
        once = form(text)
        assert form(once) == once
        assert once == once.strip() and "\n" not in once and "  " not in once


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_printable_ascii_is_changed_in_its_white_space_only(text: str) -> None:
    for form in (clean, fold, shown):
        assert form(text) == " ".join(text.split())


@pytest.mark.parametrize(
    "raw",
    [
        "\u0405end",
        "S\u0435nd",
        "Sen\u0501",
        "S\u200bend",
        "S\u00adend",
        "Se\u2060nd",
        "S\ufeffend",
        "S\u034fend",
        "\u202ednes\u202c".replace("dnes", "dneS"),
        "\u2066Send\u2069",
        "\uff33\uff45\uff4e\uff44",
        "\U0001d412\U0001d41e\U0001d427\U0001d41d",
        "\u24c8\u24d4\u24dd\u24d3",
        "Se\u0301nd",
        "Se\u0000nd",
        "\U0001f182end",
        "\u13da\u0435nd",
    ],
)
def test_attack_a18_to_a26_deceiving_forms_of_send_fold_to_it(raw: str) -> None:
    assert fold(raw) == "Send"


def test_attack_a21_small_capitals_fold_to_the_word_but_for_case() -> None:
    assert fold("\ua731end").lower() == fold("\ua731\u1d07\u0274\u1d05").lower() == "send"


def test_attack_a22_a_word_among_signs_stays_a_word() -> None:
    assert fold("\u2709 Send \u27a4") == "\u2709 Send \u27a4"
    assert clean("S\u00a0e\u00a0n\u00a0d") == "S e n d"


def test_attack_a23_case_is_left_alone_and_other_scripts_stay_in_the_cleaned_form() -> None:
    assert clean("S\u0130L") == "S\u0130L" and fold("S\u0130L") == "SIL"
    for word in ("Отправить", "إرسال", "送信", "보내기", "அனுப்பு", "Gönder"):
        assert clean(word) == word
    assert fold("GÖNDER") == "GONDER"


def test_attack_a26_a_long_label_is_kept_whole() -> None:
    assert fold("x" * 5000 + "\u200b Pay").endswith("x Pay")
    assert clean("Send\n(free)") == "Send (free)"


def test_showing_keeps_what_can_be_seen() -> None:
    assert shown("\uff33 \u24c8 \u2764\ufe0f e\u0301 \u2026") == "\uff33 \u24c8 \u2764\ufe0f e\u0301 \u2026"
    assert shown("a\u202eb\u200bc\x1b[31m\ufe0fd") == "abc[31md"


def test_inv_13b_ids_are_split_behind_their_slash() -> None:
    assert id_words("com.chat:id/send_button") == ("send", "button")
    assert id_words("btnSendNow") == ("btn", "send", "now")
    assert id_words("a:id/HTMLView.x-y") == ("html", "view", "x", "y")
    assert id_words("") == ()
    assert id_texts("com.chat:id/send_button") == ("send_button", "send button")
    assert id_texts("com.send:id/title") == ("title",)


def test_a_raw_label_is_text_else_description_else_hint_and_never_a_secret() -> None:
    def label(text: str = "", desc: str = "", hint: str = "", flags: str = "") -> str:
        (node,) = parse_hierarchy(write(El(text=text, desc=desc, flags=flags, more={"hint": hint}))).nodes
        return raw_label(node)

    assert label(text="t", desc="d", hint="h") == "t"
    assert label(desc="d", hint="h") == "d"
    assert label(hint="h") == "h"
    assert label(text="s3cret", flags="password") == ""
    assert label(text="s3cret", hint="PIN", flags="password") == "PIN"


def test_a_container_is_called_by_what_stands_in_it_but_not_by_usable_things() -> None:
    inner = El(flags="clickable", text="Delete", children=[El(text="for ever")])
    row = El(flags="clickable", children=[El(children=[El(text="Ana")]), El(desc="12:05"), inner])
    hierarchy = parse_hierarchy(write(row))
    assert label_of(hierarchy, hierarchy.nodes[0]) == Label("Ana 12:05", "Ana 12:05", "Ana 12:05")
    plain = parse_hierarchy(write(El(children=[El(text="Ana")])))
    assert label_of(plain, plain.nodes[0]).raw == ""


def test_a_container_is_not_called_by_a_secret() -> None:
    hierarchy = parse_hierarchy(write(El(flags="clickable", children=[El(text="s3cret", flags="password")])))
    assert label_of(hierarchy, hierarchy.nodes[0]).raw == ""
