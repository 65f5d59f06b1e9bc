"""Risk signals: words, apps, fields and system dialogs; and the harmless things that look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.calls import Effect
from droidpilot.policy.lexicon import AppTier, id_words_of, is_sensitive_app, lexicon, tier_of, words_of
from droidpilot.policy.risk import RiskInput, assess, is_always_asked
from droidpilot.policy.rules import QueryLabel


def signals(
    text: str = "",
    *,
    cleaned: str | None = None,
    folded: str | None = None,
    tool: str = "tap",
    ids: tuple[str, ...] = (),
    packages: tuple[str | None, ...] = ("com.example.app",),
    is_password_field: bool = False,
    key: str = "",
    effect: Effect = Effect.WRITE,
) -> set[str]:
    cleaned = text if cleaned is None else cleaned
    labels = (QueryLabel(text, cleaned, cleaned if folded is None else folded),) if text else ()
    given_input = RiskInput(
        tool=tool,
        effect=effect,
        packages=packages,
        labels=labels,
        ids=ids,
        is_password_field=is_password_field,
        key=key,
    )
    return {signal.name for signal in assess(given_input)}


@pytest.mark.parametrize(
    "text",
    """Send|Sending|SEND!|Pay|Paying|Pay £40|Payment|Buy|Purchase|Order|Order now|Place order|Checkout|Transfer|
    Withdraw|Delete|Remove|Erase|Wipe|Uninstall|Confirm|Submit|Publish|Post|Share|Call|Call Mum|Dial|Block|Unfriend|
    Unfollow|Sign out|Log out|LOG  OUT|Factory reset|Accept|Agree|I agree|Send it to Dan now please|S e n d|S.e.n.d|
    ✉ Send ➤|Senden|Löschen|LÖSCHEN|Loschen|Envoyer|Supprimer|Enviar|Eliminar|Invia|Elimina|Excluir|Bestätigen|
    Delete call history|Confirm payment""".replace("\n    ", "").split("|"),
)
def test_a_risky_word_is_a_signal(text: str) -> None:
    assert signals(text) == {"risky_word"}


@pytest.mark.parametrize(
    "text",
    """Sendai|Sender|Payload|Shareholder|Resend code|Séndero|Paypal is great|Calling all fans|Blocked|Postcode|Reorder|
    Order history|Payment methods|Call log|Post office|Share price|Shopping|Totally|Sent|Deleted items|Confirmed|
    We will call you back tomorrow morning|Your last order was shipped|A call from Anna|In alphabetical order|
    Alle Zahlen und Texte|Call me when you are home|OK|Wi-Fi|100%|$5|日本語""".replace("\n    ", "").split("|"),
)
def test_inv_13_a_harmless_word_is_none(text: str) -> None:
    assert signals(text) == set()


#: One line a language: words of a Send, a Pay, a Buy, a Delete and a Log out, and what only looks like one.
LANGUAGES = {
    "nl": ("Verzenden|Nu betalen|Koop nu|Verwijderen|Uitloggen", "Betaalmethode|Verzonden|Instellingen"),
    "pl": ("Wyślij|Zapłać|Kup teraz|USUŃ|Wyloguj", "Wysłane|Kupon|Ustawienia"),
    "ru": ("Отправить|Оплатить|Купить|Удалить|Выйти из аккаунта", "Отправлено|Не удалять|Настройки"),
    "uk": ("Надіслати|Сплатити|Купити|Видалити|Вийти", "Надіслано|Налаштування"),
    "tr": ("Gönder|GÖNDER|Ödeme yap|Satın al|SİL|sil|Çıkış yap", "Gönderen|Ödeme yöntemleri|Silgi|Ayarlar"),
    "ar": ("إرسال|ادفع|شراء|حذف|تسجيل الخروج", "طرق الدفع|الإعدادات|مرسل"),
    "he": ("שלח|שלם|קנה עכשיו|מחק|התנתק", "אמצעי תשלום|הגדרות|נשלח"),
    "hi": ("भेजें|भुगतान करें|खरीदें|हटाएं|लॉग आउट करें", "भेजा गया|सेटिंग"),
    "id": ("Kirim|Bayar sekarang|Beli|Hapus|Keluar dari akun", "Terima kasih|Pengirim|Metode pembayaran"),
    "vi": ("Gửi|Thanh toán|Mua ngay|Xóa|Đăng xuất", "Phương thức thanh toán|Cài đặt"),
    "th": ("ส่ง|ส่งข้อความ|ชำระเงิน|ซื้อ|ลบ|ออกจากระบบ", "ขนส่ง|สงคราม|วิธีชำระเงิน|โทรทัศน์|การตั้งค่า"),
    "ja": ("送信|送信する|支払う|購入|削除|ログアウト", "送信済み|購入履歴|お支払い方法|設定|日本語"),
    "ko": ("보내기|결제하기|구매하기|삭제|로그아웃", "결제 수단|보낸 사람|설정"),
    "zh": (
        "发送|發送|立即支付|购买|删除联系人|退出登录|同意并继续",
        "已发送|支付宝|支付方式|最近删除|不同意|设置|中文",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_attack_a23_a_risky_word_is_known_in_each_language(language: str) -> None:
    risky, harmless = (words.split("|") for words in LANGUAGES[language])
    assert {text for text in risky if signals(text) != {"risky_word"}} == set()
    assert {text for text in harmless if signals(text)} == set()


def test_a_noun_of_a_script_without_spaces_is_a_verb_on_a_short_button_only() -> None:
    assert signals("分享给朋友") == {"risky_word"}
    assert signals("他们昨天分享了很多照片给大家看") == set()


def test_the_word_that_fired_is_told_as_it_is_written() -> None:
    label = QueryLabel.plain("发送给小明")
    (signal,) = assess(RiskInput(tool="tap", labels=(label,)))
    assert signal.detail == 'the risky word "发送" in "发送给小明"'


#: CON-9, one row a kind of word: in which tiers it is a signal.
MATRIX = {
    "Pay": "LOW MEDIUM HIGH", "Checkout": "LOW MEDIUM HIGH", "Transfer": "LOW MEDIUM HIGH", "Order": "LOW MEDIUM HIGH",
    "Uninstall": "LOW MEDIUM HIGH", "Send": "MEDIUM HIGH", "Delete": "MEDIUM HIGH", "Submit": "MEDIUM HIGH",
    "Share": "MEDIUM HIGH", "Post": "MEDIUM HIGH", "Publish": "MEDIUM HIGH", "Sign out": "MEDIUM HIGH", "Save": "HIGH",
}  # fmt: skip
APPS = {
    "LOW": "com.spotify.music",
    "MEDIUM": "com.example.app",
    "HIGH": "com.whatsapp",
}


@pytest.mark.parametrize("word", MATRIX)
def test_con_9_the_tier_of_an_app_decides_which_words_count(word: str) -> None:
    assert {tier for tier, app in APPS.items() if signals(word, packages=(app,))} == set(MATRIX[word].split())
    button = (f"a:id/btn_{word.lower().replace(' ', '_')}",)
    assert {tier for tier, app in APPS.items() if signals("x", ids=button, packages=(app,))} == set(
        MATRIX[word].split()
    )


def test_con_9_an_unknown_app_is_medium_and_the_highest_of_several_counts() -> None:
    assert tier_of(None) is tier_of("com.example.app") is AppTier.MEDIUM
    assert signals("Save", packages=(None,)) == signals("Save", packages=("com.spotify.music",)) == set()
    assert signals("Save", packages=("com.spotify.music", "com.whatsapp")) == {"risky_word"}
    assert tier_of("com.whatsapp.w4b") is AppTier.HIGH and tier_of("com.whatsappish") is AppTier.MEDIUM
    assert tier_of("com.paypal.android.p2pmobile") is AppTier.HIGH


def test_a_money_word_behind_one_that_does_not_count_here_is_found() -> None:
    assert signals("Share and pay", packages=("com.spotify.music",)) == {"risky_word"}


@pytest.mark.parametrize("app", ["com.android.settings", "com.android.vending"])
def test_what_deletes_for_all_of_the_phone_is_two_signals(app: str) -> None:
    assert signals("Uninstall", packages=(app,)) == {"risky_word", "elevated_app"}
    assert signals("Remove", packages=(app,)) == {"risky_word", "elevated_app"}
    assert signals("Send", packages=(app,)) == {"risky_word"}
    assert signals("Wi-Fi", packages=(app,)) == set()
    assert signals("Remove", packages=("com.example.app",)) == {"risky_word"}


def test_every_kind_of_word_has_its_tier() -> None:
    known = lexicon()
    meanings = {*known.verbs.by_words.values(), *known.button_verbs.by_words.values()}
    assert meanings == set(known.levels)


def test_inv_13_a_package_is_not_searched_for_words() -> None:
    assert signals("Next", packages=("com.post.office", "com.send.share")) == set()


@pytest.mark.parametrize(
    "name", ["com.x:id/send_button", "a:id/btnSendNow", "a:id/send", "a:id/SEND", "a:id/fab-share"]
)
def test_inv_13b_ids_are_read_word_by_word(name: str) -> None:
    assert signals("Suivant", ids=(name,)) == {"risky_word"}


@pytest.mark.parametrize(
    "name", ["a:id/post_title", "a:id/call_log_list", "a:id/sender", "a:id/content_block", "send:id/row", ""]
)
def test_ids_that_only_look_risky_are_not(name: str) -> None:
    assert signals("Next", ids=(name,)) == set()


def test_inv_13c_a_label_in_another_language_fires_by_its_id() -> None:
    assert signals("إرسال", ids=("com.chat:id/send_button",)) == {"risky_word"}


def test_every_form_of_a_label_is_read() -> None:
    assert signals("S\u200bend", cleaned="Send") == {"risky_word"}
    assert signals("\u0405end", folded="Send") == {"risky_word"}
    assert signals("Löschen", folded="Xoschen") == {"risky_word"}


@pytest.mark.parametrize(
    "package",
    ["com.bank.app", "com.paypal.android.p2pmobile", "com.wise", "com.transferwise.android", "com.chase.sig.android",
     "com.x8bit.bitwarden", "com.google.android.apps.authenticator2", "co.uk.getmondo", "com.squareup.cash",
     "com.eg.android.alipaygphone", "COM.BANK"],
)  # fmt: skip
def test_a_write_in_a_money_or_password_app_is_one_signal(package: str) -> None:
    for tool in ("tap", "scroll", "type_text", "press", "open_app", "mcp__x__y"):
        assert "sensitive_app" in signals("Next", tool=tool, packages=(package,))
    assert signals("Next", packages=("com.example", package)) == {"sensitive_app"}


@pytest.mark.parametrize(
    "package",
    ["com.otherwise.app", "com.purchase.game", "com.example.embankment", "com.payload", "org.keepassion",
     "com.squareup.cashier",     "com.example"],
)  # fmt: skip
def test_an_app_whose_name_only_contains_such_a_word_is_not_one(package: str) -> None:
    assert not is_sensitive_app(package)


def test_inv_14_open_app_is_judged_by_its_target() -> None:
    assert signals("PayPal", tool="open_app", packages=("com.paypal.android.p2pmobile",)) == {"sensitive_app"}
    assert signals("Send Anywhere", tool="open_app", packages=("com.sendanywhere",)) == set()


def test_inv_17_a_word_in_a_money_app_is_two_signals_and_two_words_are_one() -> None:
    assert signals("Send", packages=("com.bank",)) == {"risky_word", "sensitive_app"}
    two = RiskInput(tool="tap", labels=(QueryLabel.plain("Send"), QueryLabel.plain("Pay")), ids=("a:id/delete",))
    assert len(assess(two)) == 1


def test_typing_into_a_password_field_is_a_signal() -> None:
    assert signals("Wi-Fi", tool="type_text", is_password_field=True) == {"sensitive_field"}


@pytest.mark.parametrize("text", ["PIN", "Enter your PIN", "CVV", "Card number", "One-time code", "Passwort", "Senha"])
def test_inv_18_a_field_that_asks_for_a_secret_is_a_signal(text: str) -> None:
    assert signals(text, tool="type_text") == {"sensitive_field"}


@pytest.mark.parametrize(
    "text", ["Shopping list", "Totally", "Spinner", "Amount", "Send a message", "Delete this text"]
)
def test_inv_18_other_fields_are_not(text: str) -> None:
    assert signals(text, tool="type_text") == set()


def test_a_secret_field_is_a_signal_for_typing_only() -> None:
    assert signals("PIN", is_password_field=True) == set()


@pytest.mark.parametrize("tool", ["tap", "long_press", "press"])
def test_answering_a_permission_dialog_always_asks(tool: str) -> None:
    for package in ("com.android.permissioncontroller", "com.google.android.permissioncontroller"):
        given_input = RiskInput(tool=tool, key="enter", packages=(package,), labels=(QueryLabel.plain("Don't allow"),))
        assert is_always_asked(assess(given_input))
    assert not is_always_asked(
        assess(RiskInput(tool="tap", packages=("com.evil",), labels=(QueryLabel.plain("Allow"),)))
    )


def test_moving_about_a_permission_dialog_does_not_answer_it() -> None:
    package = ("com.android.permissioncontroller",)
    for tool, key in (("scroll", ""), ("press", "home"), ("press", "dpad_down"), ("press", "tab")):
        assert signals("Allow", tool=tool, key=key, packages=package) == set()


def test_of_an_installers_dialog_only_its_button_asks() -> None:
    package = ("com.google.android.packageinstaller",)
    assert signals("Install", packages=package) == {"package_install"}
    assert signals("Installieren", packages=package) == {"package_install"}
    assert signals("Do you want to install this app?", packages=package) == set()
    assert signals("Cancel", packages=package) == set()
    assert signals("Erlauben", packages=package, ids=("a:id/permission_allow_button",)) == {"permission_dialog"}


def test_a_key_on_the_default_button_is_judged_like_a_tap() -> None:
    assert signals("Send", tool="press", key="enter") == {"risky_word"}
    assert signals("Send", tool="press", key="dpad_left") == set()


def test_a_tool_of_another_server_is_always_a_signal() -> None:
    assert signals(tool="mcp__mail__list") == {"foreign_tool"}


def test_a_read_has_no_signals() -> None:
    assert signals("Send", packages=("com.bank",), effect=Effect.READ) == set()


def test_a_signal_says_in_words_what_was_seen() -> None:
    (signal,) = assess(RiskInput(tool="tap", labels=(QueryLabel.plain("Send\n\x1b[31m now"),)))
    assert signal.detail == 'the risky word "send" in "Send [31m now"'
    (signal,) = assess(RiskInput(tool="tap", labels=(QueryLabel.plain("Send"),)))
    assert signal.detail == 'the risky word "send"'
    (signal,) = assess(RiskInput(tool="tap", ids=("com.x:id/btn_pay",)))
    assert signal.detail == 'the risky word "pay" in the id com.x:id/btn_pay'


@given(st.text(max_size=80), st.text(max_size=40), st.text(max_size=40))
def test_any_text_from_a_phone_is_judged_without_trouble(text: str, name: str, package: str) -> None:
    signals(text, ids=(name,), packages=(package, None))
    signals(text, tool="type_text", ids=(name,), packages=(package,))


@given(st.text(max_size=40))
def test_a_risky_word_stays_one_whatever_stands_round_it(around: str) -> None:
    assert "risky_word" in signals(f"{around} | delete | {around}") or "delete key" in " ".join(
        words_of(f"delete {around}")
    )


def test_words_are_told_apart() -> None:
    assert words_of("GÖNDER SİL ISI") == ("gonder", "sil", "isi")
    assert words_of("Straße 5") == ("strasse", "5")
    assert id_words_of("com.a:id/btnSend_now2HTTPServer") == ("btn", "send", "now2", "http", "server")
