"""The mini shell: its grammar, its commands, and the truth that settings tell."""

from __future__ import annotations

import asyncio
import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.shell.commands import COMMANDS
from droidpilot.virtual.shell.shell import Context, Shell
from droidpilot.virtual.shell.syntax import SyntaxProblem, parse
from droidpilot.virtual.store import LATIN_IME
from droidpilot.virtual.wire.services import Services


def run(*lines: str, hand: Hand | None = None) -> tuple[str, int]:
    """Run lines in one shell; return everything written and the last exit code."""
    hand = hand if hand is not None else Hand.at()
    services = Services.of(hand.phone)
    written: list[bytes] = []

    async def emit(_: int, data: bytes) -> None:
        written.append(data)

    async def main() -> int:
        caller = services.server.caller
        context = Context(
            hand.phone,
            services.touch,
            services.server,
            caller.pause,
            asyncio.Event().wait,
            caller.camera,
            asyncio.Lock(),
            services.trouble,
            services.tunnels,
        )
        shell = Shell(context, COMMANDS, emit)
        for line in lines:
            await shell.run(line)
        return shell.status

    code = asyncio.run(main())
    return b"".join(written).decode(), code


@pytest.mark.parametrize(
    ("line", "output", "code"),
    [
        ("echo a b", "a b\n", 0),
        ("echo 'a  b' \"c d\" e\\ f", "a  b c d e f\n", 0),
        ("false; echo X4EXIT:$?", "X4EXIT:1\n", 0),
        ("false && echo no || echo yes", "yes\n", 0),
        ("true && echo yes || echo no", "yes\n", 0),
        ("echo -n a | cat; echo b", "ab\n", 0),
        ("A=1; B='2 3' ; echo $A\"$B\"", "12 3\n", 0),
        ("X=5 echo done$X", "done\n", 0),
        ("export A=q; exec echo $A", "q\n", 0),
        ("echo one > /sdcard/f; echo two >> /sdcard/f; cat /sdcard/f; cat < /sdcard/f", "one\ntwo\none\ntwo\n", 0),
        ("cat /nope 2>/dev/null; echo $?", "1\n", 0),
        ("cat /nope 2>&1 | grep -c 'No such'", "1\n", 0),
        ("exit 7; echo never", "", 7),
        ("nope", "/system/bin/sh: nope: inaccessible or not found\n", 127),
        ("echo 'open", "/system/bin/sh: syntax error: no closing quote\n", 2),
        ("echo $(id)", "uid=2000(shell) gid=2000(shell) groups=2000(shell) context=u:r:shell:s0\n", 0),
        ('[ "$(getprop ro.serialno 2>/dev/null)" = VIRTUAL00000000 ] && echo same', "same\n", 0),
        ('[ "$(getprop ro.serialno)" = other ] && echo same; echo $?', "1\n", 0),
        ('echo "a$(echo \'b\')"', "ab\n", 0),
        ('A="$(nope 2>/dev/null)"; [ -z "$A" ] && echo empty', "empty\n", 0),
        ("[ a = a", "[: missing ]\n", 2),
        ("test a != b && echo differs", "differs\n", 0),
        ("echo a # b", "a\n", 0),
        ("echo x | grep -E 'a|x'", "x\n", 0),
        ("echo x > /system/f", "/system/bin/sh: couldn't create file: Permission denied: /system/f\n", 1),
        ("rm -f /sdcard/none; rm /sdcard/none", "rm: /sdcard/none: No such file or directory\n", 1),
        ("getprop ro.build.version.sdk", "34\n", 0),
        ("getprop nothing", "\n", 0),
        ("wm size", "Physical size: 1080x2340\n", 0),
        ("pm list packages messaging", "package:com.google.android.apps.messaging\n", 0),
        ("pm clear com.nothing", "Failed\n", 1),
        ("monkey -p com.nothing -c android.intent.category.LAUNCHER 1",
         "** No activities found to run, monkey aborted.\n", 252),
        ("settings get global wifi_on", "0\n", 0),
        ("settings get secure nothing", "null\n", 0),
        ("settings get nothing x", "Invalid namespace 'nothing'\n", 255),
        ("settings put system a 0; settings get system a", "0\n", 0),
        ("settings --user 0 put system a 'b c'; settings get --user 0 system a", "b c\n", 0),
        ("settings put system a 1; settings delete system a; settings get system a", "Deleted 1 rows\nnull\n", 0),
        ("svc wifi enable; settings get global wifi_on", "1\n", 0),
        ("ime list -s -a", "com.android.inputmethod.latin/.LatinIME\ncom.github.uiautomator/.AdbKeyboard\n", 0),
        ("ime list -s", "com.android.inputmethod.latin/.LatinIME\n", 0),
        ("am force-stop com.nothing", "", 0),
        ("input tap 1", "Error: Invalid arguments for command: tap 1\n", 255),
        ("input keyevent NOPE", "Error: Unknown keycode: NOPE\n", 255),
        ("pm list packages -3 | wc -l", "300\n", 0),
        ("cmd package query-activities --components -a android.intent.action.MAIN | head -1",
         "com.google.android.contacts/com.android.contacts.activities.PeopleActivity\n", 0),
    ],
)  # fmt: skip
def test_a_line_writes_and_exits_as_on_a_phone(line: str, output: str, code: int) -> None:
    assert run(line) == (output, code)


@pytest.mark.parametrize("line", ["a &&", "| a", "a | | b", "&& a", "a >", "a > ;", "( a )", "a &", "`a`", "a ;; && b"])
def test_lines_that_are_none_are_refused(line: str) -> None:
    with pytest.raises(SyntaxProblem):
        parse(line)


@given(st.text(max_size=60))
def test_any_line_is_read_or_refused(line: str) -> None:
    try:
        parse(line)
    except SyntaxProblem:
        return


@given(st.text(alphabet=st.characters(exclude_characters="'", exclude_categories=["Cs"]), max_size=40))
def test_a_single_quoted_word_arrives_as_it_is(text: str) -> None:
    (step,) = parse(f"echo '{text}'")
    (word,) = step.pipeline[0].words[1:]
    assert "".join(part.text for part in word) == text


def test_settings_put_changes_the_phone_and_get_tells_the_truth() -> None:
    hand = Hand.at()
    hand.tap("Settings", "Network & internet", "Wi-Fi", "Use Wi-Fi")
    assert run("settings get global wifi_on", hand=hand) == ("1\n", 0)
    run("settings put global wifi_on 0", hand=hand)
    assert "To see available networks, turn on Wi-Fi" in hand.labels()
    assert hand.phone.settings.changes[-1].source == "shell"


def test_input_commands_are_executed_and_counted() -> None:
    hand = Hand.at()
    bounds = hand.node("Messages").bounds
    run(f"input tap {bounds.left + 20} {bounds.top + 20}", hand=hand)
    hand.tap(next(n.text for n in hand.nodes() if n.view.id.endswith("conversation_name")))
    hand.tap("Text message")
    run("input text 'hello%sthere'", "input keyevent KEYCODE_DEL 62", hand=hand)
    field = hand.phone.top.focus
    assert field is not None
    assert field.text == "hello ther "
    assert [event["kind"] for event in hand.phone.inputs.events] == ["tap", "tap", "tap", "text", "key", "key"]


def test_the_keyboard_is_switched_only_by_command_and_the_state_shows_it() -> None:
    hand = Hand.at()
    assert hand.phone.state()["ime_default"] == LATIN_IME
    run("am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text aGk=", hand=hand)
    assert hand.phone.inputs.count == 0
    run("ime enable com.github.uiautomator/.AdbKeyboard; ime set com.github.uiautomator/.AdbKeyboard", hand=hand)
    assert hand.phone.state()["ime_default"] == "com.github.uiautomator/.AdbKeyboard"
    assert 'result=-1, data="success"' in run("am broadcast -a ADB_KEYBOARD_INPUT_TEXT --es text aGk=", hand=hand)[0]
    count = hand.phone.inputs.count
    to = "am broadcast -a ADB_KEYBOARD_INPUT_TEXT -p {} --es text aGk="
    assert "result=0" in run(to.format("com.other"), hand=hand)[0] and hand.phone.inputs.count == count
    assert "result=-1" in run(to.format("com.github.uiautomator"), hand=hand)[0]


def test_apps_start_stop_and_show_in_dumpsys() -> None:
    hand = Hand.at()
    assert (
        "Events injected: 1"
        in run("monkey -p com.android.settings -c android.intent.category.LAUNCHER 1", hand=hand)[0]
    )
    printed = run("dumpsys window windows", hand=hand)[0]
    page = "com.android.settings/com.android.settings.homepage.SettingsHomepageActivity"
    focus = re.search(rf"mCurrentFocus=(Window\{{[0-9a-f]{{7}} u0 {page}\}})", printed)
    assert focus is not None
    assert f"  Window #0 {focus[1]}:\n" in printed
    assert "com.android.settings" in run("ps -A", hand=hand)[0]
    run("am force-stop com.android.settings", hand=hand)
    for name in (".Settings", ".homepage.SettingsHomepageActivity", "com.android.settings.Settings"):
        run(f"am start -W -S -n com.android.settings/{name}", hand=hand)
        assert hand.phone.state()["package"] == "com.android.settings"
        run("am force-stop com.android.settings", hand=hand)
    assert "Error type 3" in run("am start -n com.android.settings/.Nothing", hand=hand)[0]
    assert hand.phone.state()["package"] == "com.android.launcher3"
    assert "com.android.settings" not in run("ps -A", hand=hand)[0]
    assert "Error type 3" in run("am start -n com.nothing/.Main", hand=hand)[0]


def test_pm_clear_forgets_what_an_app_kept() -> None:
    hand = Hand.at()
    hand.tap("Messages")
    hand.tap(next(n.text for n in hand.nodes() if n.view.id.endswith("conversation_name")))
    hand.touch.set_text(hand.node("Text message"), "gone soon")
    hand.tap("Send")
    assert run("pm clear com.google.android.apps.messaging", hand=hand) == ("Success\n", 0)
    assert hand.phone.state()["outbox"] == []


def test_md5sum_is_that_of_the_file() -> None:
    digest = hashlib.md5(b"abc\n", usedforsecurity=False).hexdigest()
    assert run("echo abc > /data/local/tmp/x; toybox md5sum /data/local/tmp/x") == (f"{digest}  /data/local/tmp/x\n", 0)
    assert run("toybox md5sum /data/local/tmp/x")[1] == 1


def test_a_shell_that_writes_too_much_is_cut() -> None:
    line = "echo " + "x" * 100_000 + " > /sdcard/f; " + "cat " + "/sdcard/f " * 200
    output, code = run(line)
    assert len(output) < 17 * 1024 * 1024
    assert code == 1
