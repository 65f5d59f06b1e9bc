"""Typing and leaving the phone as it was: one test per report (B..) and per row of the field's list (row ..).

Each goes through a whole session, the real adb server and the virtual phone, and is held against the phone's own truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e.setting import Setting, virtual_setting
from tests.reports.typed import open_form, open_phone

from droidpilot.core.calls import Status
from droidpilot.core.events import ToolReturned
from droidpilot.device.keystrokes import DELETE, MOVE_END
from droidpilot.transcript.files import TRANSCRIPT
from droidpilot.virtual.apps.packages import FIELDS
from droidpilot.virtual.store import ADB_KEYBOARD, LATIN_IME

HEBREW = "שלום!"
ANIMATIONS = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def keyboards(setting: Setting) -> tuple[str | None, str | None]:
    """What is true: the default keyboard and the enabled ones."""
    settings = setting.phone.phone.settings
    return settings.get("secure", "default_input_method"), settings.get("secure", "enabled_input_methods")


def inputs(setting: Setting, since: int = 0) -> list[dict[str, object]]:
    """What the phone executed after input number `since`."""
    found = setting.truth("inputs")["events"]
    return [one for one in found if one["n"] > since]


def now(setting: Setting) -> int:
    """The number of the last input that the phone executed."""
    return int(setting.truth("inputs")["count"])


# -- B22: what cannot be typed is refused before anything is sent


def test_b22_hebrew_goes_in_by_the_field_itself(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        result = typing.type("plain", HEBREW)
        assert (result.status, result.read_back) == (Status.OK, "exact")
        assert typing.holds("plain") == HEBREW
    assert typing.changes == [], "no keyboard is switched for it"


def test_b22_what_no_route_can_carry_is_refused_by_name_before_anything_is_sent(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        result = typing.type("ink", HEBREW)
        assert (result.status, result.sent, result.code) == (Status.LOGIC, "no", "no_route")
        assert all(letter in result.text for letter in "שלום") and "keyboard" in result.text
        assert typing.holds("ink") == ""
    assert setting.truth("fields")["submitted"] == []


def test_b22_a_secret_that_cannot_be_typed_is_not_spelled_out(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        typing.field("secret").refuses_set_text = True
        result = typing.type("secret", "pässwört")
        assert result.code == "no_route" and "ä" not in result.text and "ö" not in result.text
        transcript = (typing.session.directory / TRANSCRIPT).read_text(encoding="utf-8")
        assert "pässw" not in transcript and "\\u00e4" not in transcript


# -- B23, B24: every character is itself

LITERAL = [
    "#",
    "$",
    "a$a",
    "a\\$a",
    "%s",
    "100%",
    "%%s%s %s",
    "quote ' and \"",
    "back\\slash \\n",
    "  two  spaces ",
    "a; input keyevent 3",
    "$(touch /sdcard/x)",
    "`touch /sdcard/x`",
    "| & < > * ? ~ ! { } [ ]",
    "-n -d 0",
]


@pytest.mark.parametrize("name", ["plain", "ink"])
def test_b24_exactly_the_same_characters(setting: Setting, home: Path, name: str) -> None:
    """By the field's own setText, and by keys where it refuses that."""
    with open_form(setting, home) as typing:
        for text in LITERAL:
            result = typing.type(name, text)
            assert (result.status, result.read_back) == (Status.OK, "exact"), f"{text!r}: {result.text}"
            assert typing.holds(name) == text
            assert ("key presses" in result.text) == (name == "ink"), "another route is said"


def test_b23_a_text_never_runs_on_the_phone(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        before = now(setting)
        for text in ("a; input keyevent 3", "$(touch /sdcard/x)", "`touch /sdcard/x`", "x\\'; touch /sdcard/x; '"):
            assert typing.type("ink", text).read_back == "exact"
            assert typing.holds("ink") == text
        assert setting.phone.phone.state()["package"] == FIELDS, "no HOME key"
    assert setting.phone.phone.files.read("/sdcard/x") is None
    keys = {one["code"] for one in inputs(setting, before) if one["kind"] == "key"}
    assert keys <= {MOVE_END, DELETE}


# -- B25: a hint is no content


def test_b25_a_hint_is_never_counted_as_content(setting: Setting, home: Path) -> None:
    for name in ("plain", "username"):
        with open_form(setting, home) as typing:
            assert typing.type(name, "wünder", mode="append").read_back == "exact"
            assert typing.type(name, "bar", mode="append").read_back == "exact"
            assert typing.holds(name) == "wünderbar"


def test_b25_by_keys_a_hint_is_not_deleted_and_content_is(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        typing.type("ink", "Wunder")
        typing.type("ink", "bar", mode="append")
        assert typing.holds("ink") == "Wunderbar"
        assert typing.type("ink", "other").read_back == "exact"
        assert typing.holds("ink") == "other"


# -- B27: a keyboard is judged by what is enabled and default


def test_b27_the_keyboard_is_switched_for_the_text_and_back(setting: Setting, home: Path) -> None:
    before = keyboards(setting)
    with open_form(setting, home, keyboard="switch") as typing:
        result = typing.type("ink", f"{HEBREW} 王 🎉 $(x)")
        assert (result.status, result.read_back) == (Status.OK, "exact"), result.text
        assert "AdbKeyboard" in result.text
        assert typing.holds("ink") == f"{HEBREW} 王 🎉 $(x)"
        assert keyboards(setting) == before, "back at once, not only at the end"
    assert [(one.what, one.became) for one in typing.changes] == [
        ("secure/enabled_input_methods", "switched"),
        ("secure/default_input_method", "switched"),
        ("secure/default_input_method", "restored"),
        ("secure/enabled_input_methods", "restored"),
    ]
    truth = [
        one["value"]
        for one in setting.phone.phone.state()["settings_changed"]  # type: ignore[attr-defined]  # a list of dicts
        if one["key"] == "default_input_method"
    ]
    assert truth[-2:] == [ADB_KEYBOARD, LATIN_IME]


# -- B30: a helper that fails ends nothing


def test_b30_a_route_that_is_not_there_ends_no_session(setting: Setting, home: Path) -> None:
    """Chinese into a field that takes keys only: refused by name, and the session goes on."""
    with open_form(setting, home) as typing:
        assert typing.type("ink", "工具").code == "no_route"
        assert typing.type("plain", "工具").read_back == "exact"
        assert typing.holds("plain") == "工具"


# -- the rows of the field's list


def test_row_1_every_script_on_the_first_run(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        for text in ("Wünderbar", "去哪里吃饭呀？", "สวัสดี", "مرحبا", "é vs é", "👩‍👩‍👧 🎉"):
            result = typing.type("plain", text)
            assert (result.status, typing.holds("plain")) == (Status.OK, text)


def test_row_4_typing_that_leaves_the_field_empty_is_a_failure(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        typing.field("plain").filter = lambda text: ""
        result = typing.type("plain", "hello")
        assert (result.status, result.code, result.read_back) == (Status.LOGIC, "text_changed", "changed")
        assert "the field is empty" in result.text and "do not just type it again" in result.text
    returned = [event for event in typing.events if isinstance(event, ToolReturned) and event.tool == "type_text"]
    assert [(event.status, event.sent, event.read_back) for event in returned] == [("logic", "yes", "changed")]


def test_row_6_after_the_session_no_keyboard_of_ours_is_left(setting: Setting, home: Path) -> None:
    before = keyboards(setting)
    with pytest.raises(ZeroDivisionError), open_form(setting, home, keyboard="switch") as typing:
        typing.type("ink", HEBREW)
        raise ZeroDivisionError
    assert keyboards(setting) == before


def test_row_8_nothing_dismisses_the_keyboard(setting: Setting, home: Path) -> None:
    before = now(setting)
    with open_form(setting, home) as typing:
        typing.type("plain", "hello")
    assert [one["kind"] for one in inputs(setting, before)] == ["tap", "set_text"], "neither back nor escape"


def test_row_9_what_autocorrect_makes_of_it_is_seen(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        typing.field("ink").filter = lambda text: text.replace("teh", "the")
        result = typing.type("ink", "teh cat")
        assert (result.status, result.read_back) == (Status.LOGIC, "changed")
        assert '"the cat"' in result.text


def test_row_10_the_keyboard_stays_unless_a_person_says_otherwise(setting: Setting, home: Path) -> None:
    changed = len(setting.phone.phone.settings.changes)
    with open_form(setting, home) as typing:
        assert typing.type("ink", HEBREW).code == "no_route"
    assert len(setting.phone.phone.settings.changes) == changed


def test_row_11_an_id_with_a_dollar_and_other_services_come_through(setting: Setting, home: Path) -> None:
    settings = setting.phone.phone.settings
    services = "com.example/.Reader$Inner:com.other/.Filler"
    settings.put("secure", "enabled_accessibility_services", services, source="person")
    other = "com.example.keys/.Outer$Inner"
    settings.put("secure", "enabled_input_methods", f"{LATIN_IME}:{other}", source="person")
    try:
        with open_form(setting, home, keyboard="switch", animations="off") as typing:
            assert typing.type("ink", HEBREW).read_back == "exact"
        assert keyboards(setting) == (LATIN_IME, f"{LATIN_IME}:{other}")
        assert settings.get("secure", "enabled_accessibility_services") == services
    finally:
        settings.put("secure", "enabled_input_methods", LATIN_IME, source="person")
        settings.delete("secure", "enabled_accessibility_services", source="person")


# -- outcomes


def test_reformatted_by_the_app_is_no_failure(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        result = typing.type("phone", "0123456789")
        assert (result.status, result.read_back) == (Status.OK, "reformatted")
        assert '"(012) 345-6789"' in result.text and "Do not type it again" in result.text
        assert typing.type("username", "Ann Lee").read_back == "reformatted"


def test_cut_is_a_failure_that_says_what_stands_there(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        result = typing.type("code", "ABCDEFGHIJ")
        assert (result.status, result.code, result.read_back) == (Status.LOGIC, "text_cut", "cut")
        assert '"ABCDEFGH"' in result.text and "8 of 10" in result.text
        assert typing.type("phone", "012345678901234").read_back == "cut"


def test_a_password_is_unreadable_and_no_failure(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        result = typing.type("secret", "hunter2hunter2")
        assert (result.status, result.read_back) == (Status.OK, "unreadable")
        assert typing.holds("secret") == "hunter2hunter2"
        assert "hunter2" not in (typing.session.directory / TRANSCRIPT).read_text(encoding="utf-8")


def test_late_is_no_failure(setting: Setting, home: Path) -> None:
    """The text comes after the screen was still for a while: waited for once, never typed again."""
    with open_form(setting, home) as typing:
        field = typing.field("plain")
        host = setting.phone.phone

        def later(text: str) -> str:
            def come() -> None:
                field.filter = None
                field.put(text)
                host.changed()

            host.after(1_200, come)
            return ""

        field.filter = later
        before = now(setting)
        result = typing.type("plain", "hello")
        assert (result.status, result.read_back) == (Status.OK, "late"), result.text
        assert typing.holds("plain") == "hello"
        assert [one["kind"] for one in inputs(setting, before)] == ["tap", "set_text"]


def test_b40_a_line_break_presses_nothing(setting: Setting, home: Path) -> None:
    text = '去哪里"吃饭"呀？\n\n• a\n• b'
    with open_form(setting, home) as typing:
        result = typing.type("plain", text)
        assert (result.status, typing.holds("plain")) == (Status.OK, text)
        refused = typing.type("ink", "one\ntwo")
        assert refused.code == "no_route" and "U+000A" in refused.text
        assert typing.holds("ink") == ""
    assert setting.truth("fields")["submitted"] == []


# -- what is switched for a session


def test_animations_and_rotation_are_held_and_put_back(setting: Setting, home: Path) -> None:
    settings = setting.phone.phone.settings
    settings.put("system", "accelerometer_rotation", "1", source="person")
    with open_phone(setting, home, animations="off", rotation="0"):
        assert [settings.get("global", key) for key in ANIMATIONS] == ["0", "0", "0"]
        assert settings.get("system", "accelerometer_rotation") == "0"
    assert [settings.get("global", key) for key in ANIMATIONS] == ["1.0", "1.0", "1.0"]
    assert settings.get("system", "accelerometer_rotation") == "1"


def test_what_a_person_sets_during_a_session_stays(setting: Setting, home: Path) -> None:
    settings = setting.phone.phone.settings
    with open_phone(setting, home, animations="off") as typing:
        settings.put("global", ANIMATIONS[0], "0.5", source="person")
    assert [settings.get("global", key) for key in ANIMATIONS] == ["0.5", "1.0", "1.0"]
    assert [one.became for one in typing.changes][-3:] == ["restored", "restored", "kept"]
    settings.put("global", ANIMATIONS[0], "1.0", source="person")
