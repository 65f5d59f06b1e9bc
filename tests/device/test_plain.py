"""PlainDriver and the choice of it: answers of a shell that a healthy phone does not give, and the choice made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import pytest

from droidpilot.core.clock import Deadline, ManualClock, SystemClock
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused, ScreenUnreadable, Sent
from droidpilot.device import displays
from droidpilot.device.adb import AdbServer, PhoneLink, ShellAnswer
from droidpilot.device.android import AndroidDriver
from droidpilot.device.driver import DeviceFacts, Display
from droidpilot.device.fallback import FallbackDriver
from droidpilot.device.inphone import PhoneServer
from droidpilot.device.plain import PlainDriver
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.selector import Selector

FACTS = DeviceFacts("s", "m", "Redmi", 34, "14")
FIELD = Selector(cls="android.widget.EditText", instance=0)
AT = Bounds(0, 0, 100, 50)


def tree(text: str = "", *, package: str = "com.a", hint: str = "", focused: bool = True) -> bytes:
    return (
        f'<hierarchy rotation="0"><node class="android.widget.EditText" package="{package}" text="{text}" hint="{hint}"'
        f' focused="{str(focused).lower()}" bounds="[0,0][100,50]" /></hierarchy>'
    ).encode()


@dataclass
class Shell:
    """What the phone's shell holds: a script of dump results by call, and files that stay until they are removed."""

    dumps: list[bytes | str] = field(default_factory=lambda: [tree()])
    said: str = ""
    code: int = 0
    files: dict[str, bytes] = field(default_factory=dict)
    lines: list[list[list[str]]] = field(default_factory=list)

    def run(self, words: Sequence[str]) -> ShellAnswer:
        if words[0] == "uiautomator":
            answer = self.dumps.pop(0) if len(self.dumps) > 1 else self.dumps[0]
            if isinstance(answer, str):
                return ShellAnswer(0, answer)
            self.files[words[-1]] = answer
            return ShellAnswer(0, f"UI hierchary dumped to: {words[-1]}\n")
        if words[0] == "rm":
            self.files.pop(words[-1], None)
            return ShellAnswer(0, "")
        return ShellAnswer(self.code, self.said)

    @property
    def asked(self) -> list[list[str]]:
        return [words for line in self.lines for words in line]


class ShellLink(PhoneLink):
    def __init__(self, shell: Shell) -> None:
        super().__init__(AdbServer(1), "s")
        self._shell_of_phone = shell

    def script(self, commands: Sequence[Sequence[str]], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        self._shell_of_phone.lines.append([list(words) for words in commands])
        return [self._shell_of_phone.run(words) for words in commands][-1]

    def output(self, argv: Sequence[str], deadline: Deadline, *, most_bytes: int) -> bytes:
        return self._shell_of_phone.files.get(argv[-1], b"cat: No such file or directory")


@pytest.fixture
def shell() -> Shell:
    return Shell()


@pytest.fixture
def driver(shell: Shell) -> PlainDriver:
    return PlainDriver(ShellLink(shell), ManualClock(), FACTS)


@pytest.fixture
def soon(driver: PlainDriver) -> Deadline:
    return Deadline.after(driver._clock, 30)


IDLE = "ERROR: could not get idle state.\n"


def test_no_two_dumps_have_one_name_and_none_stays_on_the_phone(
    shell: Shell, driver: PlainDriver, soon: Deadline
) -> None:
    shell.dumps = [tree("one"), tree("two")]
    assert [b"one" in driver.dump(soon), b"two" in driver.dump(soon)] == [True, True]
    paths = [words[-1] for words in shell.asked if words[0] == "uiautomator"]
    assert len(set(paths)) == 2 and not shell.files


def test_an_error_with_exit_code_0_is_an_error_and_a_stale_file_is_never_read(
    shell: Shell, driver: PlainDriver, soon: Deadline
) -> None:
    shell.files = {f"/data/local/tmp/{name}.xml": tree("stale") for name in ("window_dump", "droidpilot")}
    shell.dumps = [IDLE]
    with pytest.raises(ScreenUnreadable) as caught:
        driver.dump(soon)
    assert caught.value.code == "never_idle"
    asked = [words for words in shell.asked if words[0] == "uiautomator"]
    assert [("--compressed" in words) for words in asked] == [False, True]  # each way once, and no more


def test_a_screen_that_never_rests_is_read_compressed_and_known_again(
    shell: Shell, driver: PlainDriver, soon: Deadline
) -> None:
    shell.dumps = [
        IDLE,
        tree("short"),
        tree("again"),
        tree("elsewhere", package="com.b"),
        tree("full", package="com.b"),
    ]
    assert b"short" in driver.dump(soon)
    assert b"again" in driver.dump(soon)
    assert b"full" in driver.dump(soon)
    ways = ["--compressed" in words for words in shell.asked if words[0] == "uiautomator"]
    assert ways == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("answers", "code"),
    [
        (["ERROR: null root node returned by UiTestAutomationBridge.\n"], "null_root"),
        (["java.lang.IllegalArgumentException: Illegal character (d83d)\n"], "illegal_character"),
        (["Killed\n"], "dump_failed"),
        ([b""], "empty"),
        ([b"\0\0\0"], "empty"),
        ([b"<html>"], "unreadable"),
    ],
)
def test_what_is_no_hierarchy_is_called_what_it_is(
    shell: Shell, driver: PlainDriver, soon: Deadline, answers: list[bytes | str], code: str
) -> None:
    shell.dumps = answers
    with pytest.raises(ScreenUnreadable) as caught:
        driver.dump(soon)
    assert caught.value.code == code


def test_null_root_is_asked_again(shell: Shell, driver: PlainDriver, soon: Deadline) -> None:
    shell.dumps = ["ERROR: null root node\n", b"<hierarchy rotation='0'/>", tree("good")]
    assert b"good" in driver.dump(soon)


def test_a_tail_of_nuls_and_words_does_no_harm(shell: Shell, driver: PlainDriver, soon: Deadline) -> None:
    shell.dumps = [tree("x") + b"UI hierchary dumped to: /dev/tty\n\0\0\0"]
    assert [node.text for node in parse_hierarchy(driver.dump(soon)).nodes] == ["x"]


@pytest.mark.parametrize(
    ("text", "typed"),
    [
        ("a b", [["a%sb"]]),
        ("100%s", [["100%"], ["s"]]),
        ("%s%s", [["%"], ["s%"], ["s"]]),
        ("a; input keyevent 3", [["a;%sinput%skeyevent%s3"]]),
        ("", []),
    ],
)
def test_text_is_one_line_to_the_shell(
    shell: Shell, driver: PlainDriver, soon: Deadline, text: str, typed: list[list[str]]
) -> None:
    shell.dumps = [tree("", hint="")]
    driver.set_text(FIELD, AT, text, soon)
    lines = [line for line in shell.lines if line[0][0] == "input"]
    assert [[words[2:] for words in line] for line in lines] == ([typed] if typed else [])


def test_what_stands_in_the_field_is_deleted_in_the_same_line(
    shell: Shell, driver: PlainDriver, soon: Deadline
) -> None:
    shell.dumps = [tree("old")]
    driver.set_text(FIELD, AT, "new", soon)
    assert shell.lines[-1] == [["input", "keyevent", "123", "67", "67", "67"], ["input", "text", "new"]]
    shell.dumps = [tree("Name", hint="Name")]  # a hint is no content
    driver.set_text(FIELD, AT, "new", soon)
    assert shell.lines[-1] == [["input", "text", "new"]]


@pytest.mark.parametrize(
    ("content", "text", "code", "words"),
    [
        (tree(), "Wünder", "untypable", "ü"),
        (tree(), "two\nlines", "untypable", "line break"),
        (tree(focused=False), "x", "not_focused", "tap the field first"),
        (tree("y" * 600), "x", "too_long", "600"),
    ],
)
def test_what_cannot_be_typed_is_refused_before_anything_is_sent(
    shell: Shell, driver: PlainDriver, soon: Deadline, content: bytes, text: str, code: str, words: str
) -> None:
    shell.dumps = [content]
    with pytest.raises(DeviceRefused) as caught:
        driver.set_text(FIELD, AT, text, soon)
    assert (caught.value.code, caught.value.sent) == (code, "no") and words in str(caught.value)
    assert not [words for words in shell.asked if words[0] == "input"]


def test_a_phone_that_may_not_be_touched_names_the_makers_switch(
    shell: Shell, driver: PlainDriver, soon: Deadline
) -> None:
    shell.said = "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission\n"
    shell.code = 255
    with pytest.raises(DeviceRefused) as caught:
        driver.tap(1, 2, soon)
    assert (caught.value.code, caught.value.sent) == ("inject_denied", "no")
    assert "USB debugging (Security settings)" in caught.value.hint


def test_another_failure_of_input_may_have_done_something(shell: Shell, driver: PlainDriver, soon: Deadline) -> None:
    shell.said, shell.code = "Killed\n", 137
    with pytest.raises(DeviceRefused) as caught:
        driver.swipe(1, 2, 3, 4, 100, soon)
    assert (caught.value.code, caught.value.sent) == ("phone_error", "unknown")


def test_what_only_the_helper_can_do_is_refused(driver: PlainDriver, soon: Deadline) -> None:
    with pytest.raises(DeviceRefused) as caught:
        driver._write("anything", (), soon)
    assert (caught.value.code, caught.value.sent) == ("no_helper", "no")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "mViewports=[DisplayViewport{type=INTERNAL, valid=true, isActive=true, displayId=0, uniqueId='local:0', "
            "physicalPort=0, orientation=1, logicalFrame=Rect(0, 0 - 2340, 1080), physicalFrame=...",
            Display(2340, 1080, 1),
        ),
        (
            "  init=1080x2340 440dpi cur=2340x1080 app=2250x1080\n  mCurrentRotation=ROTATION_270\n",
            Display(2340, 1080, 3),
        ),
        ("mRotation=0\nPhysical size: 1080x2340\nOverride size: 720x1560\n", Display(720, 1560, 0)),
        ("mRotation=1\nPhysical size: 1080x2340\n", Display(2340, 1080, 1)),
        ("Physical size: 1080x2340\n", None),
        ("", None),
    ],
)
def test_the_display_is_read_as_it_is_turned(text: str, found: Display | None) -> None:
    assert displays.display(text) == found


# the choice


class Mortal(AndroidDriver):
    """A helper whose dumps go as told: bytes, an error, or None for "it died, and came up again"."""

    def __init__(self, answers: list[bytes | DeviceError | None]) -> None:
        clock = ManualClock()
        self._ends = PhoneServer(PhoneLink(AdbServer(1), "s"), clock)
        super().__init__(PhoneLink(AdbServer(1), "s"), self._ends, clock, FACTS)
        self._answers = answers

    def dump(self, deadline: Deadline) -> bytes:
        answer = self._answers.pop(0)
        if isinstance(answer, DeviceError):
            raise answer
        if answer is None:
            self.deaths += 1
            return tree("helper")
        return answer


Choice = Callable[[list[bytes | DeviceError | None]], tuple[FallbackDriver, list[str]]]


@pytest.fixture
def choice(shell: Shell, driver: PlainDriver) -> Iterator[Choice]:
    shell.dumps = [tree("plain")]

    def make(answers: list[bytes | DeviceError | None]) -> tuple[FallbackDriver, list[str]]:
        said: list[str] = []
        return FallbackDriver(Mortal(answers), lambda: driver, said.append), said

    yield make


def test_a_helper_that_dies_twice_on_one_screen_is_given_up_once(choice: Choice, soon: Deadline) -> None:
    chosen, said = choice([None, tree("helper"), None, tree("never asked")])
    dumps = [chosen.dump(soon) for _ in range(4)]
    assert ["helper" in str(dump) for dump in dumps] == [True, True, True, False]
    assert chosen.facts.is_plain and len(said) == 1 and "plain ADB" in said[0] and "com.a" in said[0]


def test_deaths_on_different_screens_do_not_add_up(choice: Choice, soon: Deadline) -> None:
    driver, said = choice([None, tree(package="com.b"), tree(package="com.b")])
    for _ in range(3):
        driver.dump(soon)
    assert not driver.facts.is_plain and not said


def test_a_helper_that_does_not_come_up_again_is_given_up_at_once(choice: Choice, soon: Deadline) -> None:
    driver, said = choice([DeviceRefused("it quit", code="helper_failed")])
    assert b"plain" in driver.dump(soon)
    assert driver.facts.is_plain and len(said) == 1


@pytest.mark.parametrize(
    "error",
    [
        DeviceLost("unplugged"),
        DeviceRefused("another tool", code="helper_blocked"),
        ScreenUnreadable("x", code="illegal_character"),
    ],
)
def test_other_trouble_is_no_reason_to_switch(choice: Choice, soon: Deadline, error: DeviceError) -> None:
    driver, said = choice([error])
    with pytest.raises(type(error)):
        driver.dump(soon)
    assert not driver.facts.is_plain and not said


def test_where_plain_adb_works_no_better_nothing_is_switched(shell: Shell, choice: Choice, soon: Deadline) -> None:
    driver, said = choice([DeviceRefused("it quit", code="helper_failed")])

    def lost(words: Sequence[str]) -> ShellAnswer:
        raise DeviceLost("unplugged")

    shell.run = lost  # type: ignore[method-assign]  # a shell that went away
    with pytest.raises(DeviceRefused) as caught:
        driver.dump(soon)
    assert caught.value.code == "helper_failed" and not said and not driver.facts.is_plain


def test_where_the_windows_are_not_told_no_app_is_in_front(shell: Shell, driver: PlainDriver, soon: Deadline) -> None:
    shell.said = "  mCurrentFocus=Window{1 u0 com.a/com.a.Main}\n"
    assert driver.dump(soon) == tree()
    assert driver.foreground(soon).package is None  # what lies over it is not known, nor whose a touch is
    shell.said += "  Window #0 Window{1 u0 com.a/com.a.Main}:\n    package=com.a\n"
    assert driver.dump(soon) == tree()
    assert driver.foreground(soon).package == "com.a"


def test_plain_dumps_leave_no_file_on_the_phone(plain_driver: PlainDriver) -> None:
    before = plain_driver._shell("ls", "/data/local/tmp", deadline=Deadline.after(SystemClock(), 10))
    plain_driver.dump(Deadline.after(SystemClock(), 10))
    assert plain_driver._shell("ls", "/data/local/tmp", deadline=Deadline.after(SystemClock(), 10)) == before


def test_a_phone_that_repeats_what_was_typed_is_not_quoted(shell: Shell, driver: PlainDriver, soon: Deadline) -> None:
    shell.dumps = [tree()]
    shell.said, shell.code = "Error: Invalid arguments for command: text my%ssecret%spass\n", 255
    with pytest.raises(DeviceRefused) as caught:
        driver.set_text(FIELD, AT, "my secret pass", soon)
    assert (caught.value.code, caught.value.sent) == ("phone_error", "unknown")
    assert "secret" not in str(caught.value) and "255" in caught.value.message
