"""AdbKeyboard on a real virtual phone, with single answers of the phone's shell replaced by those of odd phones."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceRefused, Sent
from droidpilot.device.adb import AdbServer, PhoneLink, ShellAnswer
from droidpilot.device.android import AndroidDriver
from droidpilot.device.driver import DeviceFacts
from droidpilot.device.inphone import PhoneServer
from droidpilot.device.keeper import Keeper, left_behind
from droidpilot.device.keyboard import ADB_KEYBOARD, AdbKeyboard
from droidpilot.virtual.apps.packages import FIELDS
from droidpilot.virtual.server import VirtualPhone
from droidpilot.virtual.store import LATIN_IME


class OddLink(PhoneLink):
    """A link to a phone that answers one command its own way."""

    def __init__(self, server: AdbServer, serial: str, begins: Sequence[str], answer: ShellAnswer) -> None:
        super().__init__(server, serial)
        self._begins = tuple(begins)
        self._answer = answer
        self.asked: list[tuple[str, ...]] = []

    def shell(self, argv: Sequence[str], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        self.asked.append(tuple(argv))
        if tuple(argv)[: len(self._begins)] == self._begins:
            return self._answer
        return super().shell(argv, deadline, sent=sent)


class Odd:
    def __init__(self, adb: AdbServer, phone: VirtualPhone, home: Path) -> None:
        self.adb, self.phone, self.home = adb, phone, home
        phone.phone.start(FIELDS)
        field = phone.phone.apps[FIELDS]._fields[0]  # type: ignore[attr-defined]  # the app's own
        phone.phone.top.focus = field
        self.field = field

    def keyboard(self, begins: Sequence[str], said: str, code: int = 0) -> AdbKeyboard:
        self.link = OddLink(self.adb, self.phone.serial, begins, ShellAnswer(code, said))
        clock = SystemClock()
        return AdbKeyboard(self.link, Keeper(self.home, self.link, clock), clock)

    def assert_as_found(self) -> None:
        settings = self.phone.phone.settings
        assert settings.get("secure", "default_input_method") == LATIN_IME
        assert settings.get("secure", "enabled_input_methods") == LATIN_IME
        assert left_behind(self.home) == []


@pytest.fixture
def odd(adb: AdbServer, phone: VirtualPhone, home: Path) -> Odd:
    return Odd(adb, phone, home)


def test_a_phone_that_does_not_say_what_serves_is_taken_at_its_word(
    odd: Odd, within: Callable[[float], Deadline]
) -> None:
    keyboard = odd.keyboard(("dumpsys", "input_method"), "Current Input Method Manager state:\n")
    assert keyboard.type_text("שלום", within(20), is_replacing=True) == ""
    assert odd.field.text == "שלום"
    odd.assert_as_found()


def test_a_keyboard_that_is_default_and_does_not_serve_types_nothing(
    odd: Odd, within: Callable[[float], Deadline]
) -> None:
    said = f"  mCurMethodId={ADB_KEYBOARD}\n  mCurId={LATIN_IME} mHaveConnection=true\n"
    keyboard = odd.keyboard(("dumpsys", "input_method"), said)
    with pytest.raises(DeviceRefused) as caught:
        keyboard.type_text("שלום", within(20), is_replacing=True)
    assert (caught.value.code, caught.value.sent) == ("keyboard_not_served", "no")
    assert odd.field.text == ""
    odd.assert_as_found()


def test_a_keyboard_that_does_not_answer_is_asked_once(odd: Odd, within: Callable[[float], Deadline]) -> None:
    keyboard = odd.keyboard(("am", "broadcast"), "Broadcasting: Intent { }\nBroadcast completed: result=0\n")
    with pytest.raises(DeviceRefused) as caught:
        keyboard.type_text("שלום", within(20), is_replacing=False)
    assert (caught.value.code, caught.value.sent) == ("keyboard_silent", "unknown")
    assert sum(words[:2] == ("am", "broadcast") for words in odd.link.asked) == 1
    odd.assert_as_found()


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("java.lang.SecurityException: Not allowed to access: requires WRITE_SECURE_SETTINGS\n", 255),
        ("Exception occurred while executing list\n", 0),
    ],
)
def test_row_2_a_list_that_is_forbidden_is_no_absence(
    odd: Odd, within: Callable[[float], Deadline], said: str, code: int
) -> None:
    with pytest.raises(DeviceRefused) as caught:
        odd.keyboard(("ime", "list"), said, code).is_installed(within(10))
    assert caught.value.code == "keyboards_unknown" and "Security settings" in caught.value.hint
    assert not odd.keyboard(("ime", "list"), f"{LATIN_IME}\n").is_installed(within(10))


def test_a_phone_that_stays_with_our_keyboard_says_so_and_keeps_it_listed(
    odd: Odd, within: Callable[[float], Deadline]
) -> None:
    """Switching back fails: the text is typed all the same, and the next run tries again."""
    keyboard = odd.keyboard(("ime", "set", LATIN_IME), "Input method selected\n")
    problem = keyboard.type_text("שלום", within(30), is_replacing=False)
    assert f"could not be put back to {LATIN_IME}" in problem
    settings = odd.phone.phone.settings
    enabled = str(settings.get("secure", "enabled_input_methods"))
    assert ADB_KEYBOARD in enabled, "not disabled while it is the default: the phone would choose one itself"
    assert {one.what for one in left_behind(odd.home)} == {
        "secure/default_input_method",
        "secure/enabled_input_methods",
    }
    clock = SystemClock()
    done = Keeper(odd.home, PhoneLink(odd.adb, odd.phone.serial), clock).restore(within(20))
    assert [one.became for one in done] == ["restored", "restored"]
    odd.assert_as_found()


class EchoLink(PhoneLink):
    """A link to a phone whose `input` repeats what it was asked for in its error."""

    def script(self, commands: Sequence[Sequence[str]], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        return ShellAnswer(255, "Error: Invalid arguments: " + " ".join(" ".join(words) for words in commands))


def test_a_phone_that_repeats_what_was_typed_is_not_quoted(
    adb: AdbServer, phone: VirtualPhone, within: Callable[[float], Deadline]
) -> None:
    link, clock = EchoLink(adb, phone.serial), SystemClock()
    driver = AndroidDriver(link, PhoneServer(link, clock), clock, DeviceFacts(phone.serial, "", "", 34, "14"))
    with pytest.raises(DeviceRefused) as caught:
        driver.type_keys("hunter2 100%s", within(5), erase=2)
    assert (caught.value.code, caught.value.sent) == ("keys_failed", "unknown")
    assert "hunter2" not in caught.value.message and "[text]" in caught.value.message


def test_what_is_typed_goes_to_the_keyboard_alone_and_its_answer_is_not_quoted(
    odd: Odd, within: Callable[[float], Deadline]
) -> None:
    text = base64.b64encode(b"hunter2").decode()
    said = f"Error: Unknown option: --es text {text}\n"
    with pytest.raises(DeviceRefused) as caught:
        odd.keyboard(("am", "broadcast"), said, 255).type_text("hunter2", within(20), is_replacing=False)
    assert text not in str(caught.value) and "hunter2" not in str(caught.value)
    (sent,) = [words for words in odd.link.asked if words[:2] == ("am", "broadcast")]
    assert sent[sent.index("-p") + 1] == ADB_KEYBOARD.partition("/")[0]


def test_what_is_added_goes_to_the_end_first(odd: Odd, within: Callable[[float], Deadline]) -> None:
    odd.keyboard(("nothing",), "").type_text("a", within(20), is_replacing=False)
    asked = [words[0] for words in odd.link.asked if words[0] == "am" or words[:2] == ("input", "keyevent")]
    assert asked == ["input", "am"]


class KeysLink(PhoneLink):
    """A link that keeps what is sent as one line."""

    def script(self, commands: Sequence[Sequence[str]], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        self.sent = [list(words) for words in commands]
        return ShellAnswer(0, "")


def test_keys_add_at_the_end_and_delete_several_lines_from_both_sides(
    adb: AdbServer, phone: VirtualPhone, within: Callable[[float], Deadline]
) -> None:
    link, clock = KeysLink(adb, phone.serial), SystemClock()
    driver = AndroidDriver(link, PhoneServer(link, clock), clock, DeviceFacts(phone.serial, "", "", 34, "14"))
    driver.type_keys("x", within(5), erase=0, at_end=True)
    assert link.sent == [["input", "keyevent", "123"], ["input", "text", "x"]]
    driver.type_keys("x", within(5), erase=2, several_lines=True)
    assert link.sent == [["input", "keyevent", "123", "67", "67", "112", "112"], ["input", "text", "x"]]
    with pytest.raises(DeviceRefused) as caught:
        driver.type_keys("x", within(5), erase=501)
    assert (caught.value.code, caught.value.sent) == ("too_long", "no")
