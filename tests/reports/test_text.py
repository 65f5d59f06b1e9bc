"""Typing and leaving the phone as it was: one test per report (B..) and per row of the field's list (row ..).

Each goes through a whole session, the real adb server and the virtual phone, and is held against the phone's own truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e.setting import Setting, virtual_setting
from tests.reports.typed import open_form, open_phone

from droidpilot.core.calls import Status
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.events import Noted, ToolReturned
from droidpilot.device.adb import AdbServer, PhoneLink
from droidpilot.device.keeper import Keeper, left_behind
from droidpilot.device.keystrokes import DELETE, MOVE_END
from droidpilot.transcript.files import TRANSCRIPT
from droidpilot.virtual.apps.packages import FIELDS, Package
from droidpilot.virtual.store import ADB_KEYBOARD, LATIN_IME, NESTED_IME

HEBREW = "שלום!"
ANIMATIONS = ("window_animation_scale", "transition_animation_scale", "animator_duration_scale")


@pytest.fixture(scope="module")
def setting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Setting]:
    with virtual_setting(tmp_path_factory.mktemp("phone")) as one:
        yield one


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@contextmanager
def broken(setting: Setting, name: str, *args: object) -> Iterator[None]:
    """Break the phone for a while."""
    setting.phone.phone.faults.set(name, *args)
    try:
        yield
    finally:
        setting.phone.phone.faults.clear(name)


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


def test_b27_a_keyboard_that_does_not_come_is_given_up_and_the_old_one_is_there(setting: Setting, home: Path) -> None:
    """The phone says that it chose it, and did not: nothing is typed blindly, and nothing of ours is left."""
    before = keyboards(setting)
    with open_form(setting, home, keyboard="switch") as typing, broken(setting, "ime-stuck"):
        result = typing.type("ink", HEBREW)
        assert (result.status, result.sent, result.code) == (Status.LOGIC, "no", "keyboard_not_switched")
        assert typing.holds("ink") == ""
    assert keyboards(setting) == before


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


def test_row_2_a_phone_that_forbids_settings_is_called_that(setting: Setting, home: Path) -> None:
    """Forbidden is not "not installed": the switch in Developer options is named."""
    with broken(setting, "settings-denied"), open_phone(setting, home, animations="off") as typing:
        pass
    notes = [event.text for event in typing.events if isinstance(event, Noted)]
    assert any("does not let global/window_animation_scale be set" in note for note in notes)
    assert any("USB debugging (Security settings)" in note for note in notes)
    assert [setting.phone.phone.settings.get("global", key) for key in ANIMATIONS] == ["1.0", "1.0", "1.0"]
    assert left_behind(home) == []


def test_row_3_a_keyboard_that_is_installed_and_not_enabled_is_enabled_first(setting: Setting, home: Path) -> None:
    assert ADB_KEYBOARD not in (keyboards(setting)[1] or "")
    with open_form(setting, home, keyboard="switch") as typing:
        typing.type("ink", HEBREW)
    switched = [one.what for one in typing.changes if one.became == "switched"]
    assert switched == ["secure/enabled_input_methods", "secure/default_input_method"]


def test_row_4_typing_that_leaves_the_field_empty_is_a_failure(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        typing.field("plain").filter = lambda text: ""
        result = typing.type("plain", "hello")
        assert (result.status, result.code, result.read_back) == (Status.LOGIC, "text_changed", "changed")
        assert "the field is empty" in result.text and "do not just type it again" in result.text
    returned = [event for event in typing.events if isinstance(event, ToolReturned) and event.tool == "type_text"]
    assert [(event.status, event.sent, event.read_back) for event in returned] == [("logic", "yes", "changed")]


def test_row_5_absence_is_not_remembered(setting: Setting, home: Path) -> None:
    with open_form(setting, home, keyboard="switch") as typing:
        with broken(setting, "ime-unknown"):
            result = typing.type("ink", HEBREW)
            assert (result.code, result.sent) == ("no_route", "no") and "install AdbKeyboard" in result.text
        assert typing.type("ink", HEBREW).read_back == "exact"


def test_row_6_after_the_session_no_keyboard_of_ours_is_left(setting: Setting, home: Path) -> None:
    before = keyboards(setting)
    with pytest.raises(ZeroDivisionError), open_form(setting, home, keyboard="switch") as typing:
        typing.type("ink", HEBREW)
        raise ZeroDivisionError
    assert keyboards(setting) == before


def test_row_7_what_a_killed_run_left_is_said_by_the_next_one(setting: Setting, home: Path) -> None:
    """The kill itself, at any moment, is tests/e2e/test_kept.py."""
    before = keyboards(setting)
    clock = SystemClock()
    link = PhoneLink(AdbServer(setting.adb_port), setting.phone.serial)
    Keeper(home, link, clock).switch_keyboard(ADB_KEYBOARD, Deadline.after(clock, 10))
    assert keyboards(setting) != before
    with open_phone(setting, home) as typing:
        assert keyboards(setting) == before
    assert [one.became for one in typing.changes] == ["restored", "restored"]
    kinds = [event.kind for event in typing.events]
    assert kinds.index("phone_changed") < kinds.index("device_connected"), "before anything else"


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
    """The keyboard that was there has a nested class, whose `$` a shell would expand; services of others stay."""
    phone = setting.phone.phone
    package = NESTED_IME.partition("/")[0]
    phone.install(Package(package, "Keys", "1", 1, 10_999, is_system=False, megabytes=1))
    services = "com.example/.Reader$Inner:com.other/.Filler"
    phone.settings.put("secure", "enabled_accessibility_services", services, source="person")
    phone.settings.put("secure", "enabled_input_methods", f"{LATIN_IME}:{NESTED_IME}", source="person")
    phone.settings.put("secure", "default_input_method", NESTED_IME, source="person")
    try:
        with open_form(setting, home, keyboard="switch", animations="off") as typing:
            assert typing.type("ink", HEBREW).read_back == "exact"
        assert keyboards(setting) == (NESTED_IME, f"{LATIN_IME}:{NESTED_IME}")
        assert phone.settings.get("secure", "enabled_accessibility_services") == services
    finally:
        phone.settings.put("secure", "default_input_method", LATIN_IME, source="person")
        phone.settings.put("secure", "enabled_input_methods", LATIN_IME, source="person")
        phone.settings.delete("secure", "enabled_accessibility_services", source="person")
        phone.uninstall(package)


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


def test_without_the_helper_keys_are_the_first_route_and_read_back_too(setting: Setting, home: Path) -> None:
    with broken(setting, "no-helper"):
        with open_form(setting, home) as typing:
            assert typing.type("plain", "a$a %s '").read_back == "exact"
            assert typing.holds("plain") == "a$a %s '"
            assert typing.type("code", "ABCDEFGHIJ").read_back == "cut"
            refused = typing.type("plain", HEBREW)
            assert (refused.sent, refused.code) == ("no", "no_route")
            assert typing.holds("plain") == "a$a %s '"
        with open_form(setting, home, keyboard="switch") as typing:
            assert typing.type("plain", HEBREW).read_back == "exact"
            assert typing.type("plain", HEBREW, mode="append").read_back == "exact"
            assert typing.holds("plain") == HEBREW * 2
    assert keyboards(setting) == (LATIN_IME, LATIN_IME)


def test_b40_a_line_break_presses_nothing(setting: Setting, home: Path) -> None:
    text = '去哪里"吃饭"呀？\n\n• a\n• b'
    with open_form(setting, home) as typing:
        result = typing.type("plain", text)
        assert (result.status, typing.holds("plain")) == (Status.OK, text)
        refused = typing.type("ink", "one\ntwo")
        assert refused.code == "no_route" and "U+000A" in refused.text
        assert typing.holds("ink") == ""
    assert setting.truth("fields")["submitted"] == []


# -- an answer that does not come


def test_a_text_whose_answer_is_lost_is_looked_for(setting: Setting, home: Path) -> None:
    """The text stands in the field: that is what was asked for, and nobody types it again."""
    with open_form(setting, home) as typing:
        ref = typing.ref("Anything")
        before = now(setting)
        setting.phone.phone.faults.set("reply-lost", "close")
        result = typing.call("type_text", ref=ref, text="hello")
        assert (result.status, result.sent, result.read_back) == (Status.OK, "yes", "exact"), result.text
        assert [one["kind"] for one in inputs(setting, before)] == ["set_text"]


def test_keys_whose_answer_is_lost_are_looked_for(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        ref = typing.ref("Signature")
        typing.call("tap", ref=ref)
        before = now(setting)
        setting.phone.phone.faults.schedule(
            "reply-lost", "input:+2", "close"
        )  # the first one is the setText it refuses
        result = typing.call("type_text", ref=ref, text="hello")
        assert (result.status, result.read_back) == (Status.OK, "exact"), result.text
        assert sum(one["kind"] == "text" for one in inputs(setting, before)) == 1


def test_a_text_whose_answer_is_lost_and_that_is_not_seen_is_unknown(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        ref = typing.ref("Secret word")
        setting.phone.phone.faults.set("reply-lost", "close")
        result = typing.call("type_text", ref=ref, text="hunter2hunter2")
        assert (result.status, result.sent) == (Status.UNKNOWN, "unknown")
        assert "do not simply repeat it" in result.text


def test_a_text_that_is_lost_is_seen_to_be_missing(setting: Setting, home: Path) -> None:
    """The phone says that it typed, and did not (field row 4)."""
    with open_form(setting, home) as typing:
        ref = typing.ref("Anything")
        setting.phone.phone.faults.set("tap-lost")
        result = typing.call("type_text", ref=ref, text="hello")
        assert (result.status, result.code) == (Status.LOGIC, "text_changed")
        assert typing.holds("plain") == ""


def test_a_phone_that_takes_no_keys_says_which_switch(setting: Setting, home: Path) -> None:
    with open_form(setting, home) as typing:
        ref = typing.ref("Signature")
        typing.call("tap", ref=ref)
        setting.phone.phone.faults.schedule("inject-denied", "input:+2")  # the first one is the setText it refuses
        result = typing.call("type_text", ref=ref, text="hello")
        setting.phone.phone.faults.clear("inject-denied")
        assert (result.status, result.sent, result.code) == (Status.LOGIC, "no", "inject_denied"), result.text
        assert "Developer options" in result.text and typing.holds("ink") == ""


def test_a_field_that_takes_keys_only_must_have_the_focus(setting: Setting, home: Path) -> None:
    """Keys go to what has the focus; giving it would be a tap that nobody asked for."""
    with open_form(setting, home) as typing:
        typing.call("tap", ref=typing.ref("Anything"))
        result = typing.call("type_text", ref=typing.ref("Signature"), text="hello")
        assert (result.status, result.sent, result.code) == (Status.LOGIC, "no", "not_focused")
        assert "tap it first" in result.text
        assert (typing.holds("ink"), typing.holds("plain")) == ("", "")


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
