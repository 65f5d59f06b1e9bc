"""What real tools and people type at a phone's shell, through the real adb: told as a phone does, or refused."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.virtual.virtual_hand import Hand
from tests.virtual.virtual_rig import Rig, adb_server, attached_rig


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port, attached_rig(port) as made:
        yield made


def said(rig: Rig, line: str) -> tuple[str, str, int]:
    done = rig.cli("shell", line)
    return done.stdout.decode(), done.stderr.decode(), done.returncode


@pytest.mark.parametrize("path", ["/dev/tty", "/proc/self/fd/1", "/dev/stdout"])
@pytest.mark.parametrize("way", ["shell", "exec-out"])
def test_a_dump_to_the_output_prints_the_tree_and_the_line(rig: Rig, way: str, path: str) -> None:
    out = rig.cli(way, f"uiautomator dump {path}").stdout.decode()
    assert out.startswith("<?xml")
    assert out.endswith(f"</hierarchy>UI hierchary dumped to: {path}\n")
    assert rig.vp.phone.files.read(path) is None


def test_a_dump_to_nowhere_and_pictures_to_the_output(rig: Rig) -> None:
    assert said(rig, "uiautomator dump /dev/null") == ("UI hierchary dumped to: /dev/null\n", "", 0)
    assert rig.cli("exec-out", "screencap -p /dev/stdout").stdout.startswith(b"\x89PNG")
    assert said(rig, "cat /dev/null; cat < /dev/null; echo over") == ("over\n", "", 0)


def test_an_apk_is_installed_without_streaming(rig: Rig, tmp_path: Path) -> None:
    apk = tmp_path / "com.example.plain.apk"
    with zipfile.ZipFile(apk, "w") as archive:
        archive.writestr("classes.dex", b"dex")
    done = rig.cli("install", "--no-streaming", str(apk))
    assert (done.returncode, b"Success" in done.stdout) == (0, True), done
    assert "com.example.plain" in rig.vp.phone.packages


@pytest.mark.parametrize(
    ("line", "out"),
    [
        ("echo $(echo a; echo b) \"$(printf 'c\\nd\\n\\n')\"", "a b c\nd\n"),
        ("echo $(echo $(echo deep))", "deep\n"),
        ("A=$(false); echo $?; X=${A}y; echo $X", "1\ny\n"),
        ("X='a b'; set=1; [ $X = a ] 2>/dev/null; echo $?; [ \"$X\" = 'a b' ]; echo $?", "2\n0\n"),
        ("[ -f /sdcard/none ] || echo none; test -d /sdcard && echo there", "none\nthere\n"),
        ("if [ 2 -gt 1 ]; then echo yes; else echo no; fi", "yes\n"),
        ("if false; then echo a; elif true; then echo b; fi; echo $?", "b\n0\n"),
        ("if false; then echo a; fi; echo $?", "0\n"),
        ("if false\nthen echo a\nelse echo b\nfi", "b\n"),
        ("sh -c 'echo in; exit 3'; echo $?", "in\n3\n"),
        ("echo 'echo from a file; exit 4' > /sdcard/s.sh; sh /sdcard/s.sh; echo $?", "from a file\n4\n"),
        ("echo 'echo piped' | sh", "piped\n"),
        ("cat /none 2>&1 >/dev/null | wc -l", "1\n"),
        ("cat /none >/dev/null 2>&1; echo $?", "1\n"),
        ("echo no >&2 2>/dev/null; echo yes 2>/dev/null", "yes\n"),
        ("echo a 1>/sdcard/r; cat /none 2>>/sdcard/r; grep -c . /sdcard/r", "2\n"),
        ("printf '%s=%03d;' a 7 b 12; printf '%5s|%-3s|%%\\n' x y", "a=007;b=012;    x|y  |%\n"),
        ("echo -e 'a\\tb'; echo -n x; echo", "a\tb\nx\n"),
        ("seq 3; seq 2 4; seq 5 -2 1", "1\n2\n3\n2\n3\n4\n5\n3\n1\n"),
        ("printf 'b\\na\\nb\\nb\\n' | uniq -c", "      1 b\n      1 a\n      2 b\n"),
        ("printf 'b\\na\\nb\\n' | sort -u", "a\nb\n"),
        ("echo a:b:c | cut -d: -f2; echo a:b:c | cut -d : -f 1,3; echo abcd | cut -c2-3", "b\na:c\nbc\n"),
        ("echo Hello | tr a-z A-Z; echo hello | tr -d l; printf 'a\\r\\n' | tr -d '\\r'", "HELLO\nheo\na\n"),
        ("basename /a/b.txt .txt; dirname /a/b.txt", "b\n/a\n"),
        ("printf hi | base64; printf aGk= | base64 -d", "aGk=\nhi"),
        ("printf abc | sha1sum", "a9993e364706816aba3e25717850c26c9cd0d89d  -\n"),
        ("printf abc | sha256sum", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  -\n"),
        ("printf 'a b\\nc\\n' | wc; printf 'a b\\nc\\n' | wc -l; printf 'a b\\nc\\n' | wc -w",
         "      2       3       6\n2\n3\n"),
        ("printf 'a b\\nc\\n' > /sdcard/w; wc -c /sdcard/w; wc /sdcard/w",
         "6 /sdcard/w\n      2       3       6 /sdcard/w\n"),
        ("printf 'x\\nay\\nb\\n' | grep -n y", "2:ay\n"),
        ("printf 'a(b\\nab\\n' | grep 'a(b'; printf 'a(b\\nab\\n' | grep -E '(a)b'", "a(b\nab\n"),
        ("printf 'a.b\\nacb\\n' | grep -F a.b", "a.b\n"),
        ("which ls; command -v sh; which nothing || echo none", "/system/bin/ls\n/system/bin/sh\nnone\n"),
        ("setprop debug.x 5; getprop debug.x", "5\n"),
        ("wm user-rotation lock 1; wm user-rotation; wm user-rotation lock 0", "lock 1\n"),
        ("pm list users", "Users:\n\tUserInfo{0:Owner:4c13} running\n"),
    ],
)  # fmt: skip
def test_a_line_of_a_script_does_what_it_does_on_a_phone(rig: Rig, line: str, out: str) -> None:
    assert said(rig, line)[0] == out


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("echo $$", r"\d+\n"),
        ("date", r"[A-Z]\w\w [A-Z]\w\w [ \d]\d \d\d:\d\d:\d\d UTC 20\d\d\n"),
        ("date +%Y-%m-%dT%H:%M:%S", r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\n"),
        ("date +%s", r"\d{10}\n"),
        ("uptime", r" \d\d:\d\d:\d\d up \d+ min,  0 users,  load average: .*\n"),
        ("printf hello > /sdcard/Download/l.txt; ls -l /sdcard/Download",
         r"total 4\n-rw-r--r-- 1 shell shell +5 20\d\d-\d\d-\d\d \d\d:\d\d l\.txt\n"),
        ("ls -la /sdcard/Download", r"total \d+\nd\S+ 2 .* \.\nd\S+ 2 .* \.\.\n-rw.* l\.txt\n"),
        ("df -h", r"Filesystem +Size +Used +Avail Use% Mounted on\n\S+ +4\.2G +4\.0G +\S+ +\d+% /data\n"),
        ("env", r"(?s).*PATH=/system/bin\n.*"),
        ("getprop ro.build.fingerprint", r"droidpilot/virtual_phone/virtual:14/\S+:user/release-keys\n"),
        ("getprop ro.build.version.security_patch", r"\d{4}-\d\d-\d\d\n"),
        ("pm list permissions", r"(?s)All Permissions:\n\n(permission:\S+\n)+"),
        ("logcat -g", r"(?s)(\w+: ring buffer is 256 KiB .*\n)+"),
        ("logcat -S", r"(?s)size/num .* Total\nNow .*\n"),
        ("am start -W com.android.settings/.Settings",
         r"(?s)Starting: .*\nStatus: ok\nLaunchState: .*\nActivity: com\.android\.settings/\S+\n"
         r"TotalTime: \d+\nWaitTime: \d+\nComplete\n"),
        ("dumpsys activity services", r"ACTIVITY MANAGER SERVICES .*\n  \(nothing\)\n"),
        ("monkey -p com.android.settings 1 >/dev/null; dumpsys activity recents",
         r"(?s)ACTIVITY MANAGER RECENT TASKS .*A=\d+:com\.android\.settings .*"),
        ("dumpsys activity processes", r"(?s)ACTIVITY MANAGER RUNNING PROCESSES .*:com\.android\.settings/u0a\d+}.*"),
        ("dumpsys input", r"(?s).*SurfaceOrientation: 0\n"),
    ],
)  # fmt: skip
def test_a_command_tells_what_it_is_asked(rig: Rig, line: str, pattern: str) -> None:
    out, errors, code = said(rig, line)
    assert re.fullmatch(pattern, out), out
    assert (errors, code) == ("", 0)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("sleep 1 &", "'&' is not known to this shell"),
        ("(echo a)", "'(' is not known to this shell"),
        ("for i in 1 2; do echo $i; done", "'for' is not known to this shell"),
        ("while true; do echo; done", "'while' is not known to this shell"),
        ("echo $((1+1))", "'$((' is not known to this shell"),
        ("echo ${X:-1}", "'${' is not known to this shell"),
        ("cat << END", "'<<' is not known to this shell"),
        ("if true; then echo a", "unexpected end"),
        ("fi", "unexpected 'fi'"),
        ("if true; then echo a; fi | cat", "'if' in a pipe is not known to this shell"),
        ("echo $(echo 'a)", "no closing"),
        ("[ a", "missing ]"),
        ("[ 1 -foo 2 ]", "does not know"),
        ("ls -Z /sdcard", "Unknown option 'Z'"),
        ("grep -A2 x /dev/null", "Unknown option 'A'"),
        ("wc -L", "Unknown option 'L'"),
        ("date -s 1", "date:"),
        ("date +%Q", "unknown format"),
        ("head -n x", "bad number"),
        ("printf %q a", "bad format"),
        ("monkey -p com.android.settings 5", "no random events"),
        ("dumpsys activity intents", "does not tell"),
        ("setprop ro.secure 0", "failed to set property"),
        ("kill 1", "No such process"),
        ("wm user-rotation lock 7", "usage"),
        ("input tap inf 1", "Error"),
        ("exec sh -x", "unknown option"),
        ("seq 1 999999999", "too many"),
    ],
)
def test_what_is_not_there_is_refused_aloud(rig: Rig, line: str, why: str) -> None:
    out, errors, code = said(rig, line)
    assert why in errors
    assert (out, code != 0) == ("", True)


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("echo 'sh /sdcard/me.sh' > /sdcard/me.sh; sh /sdcard/me.sh", "too deep"),
        ("echo 'sh /sdcard/two.sh; sh /sdcard/two.sh; sh /sdcard/two.sh; sh /sdcard/two.sh' > /sdcard/four.sh; "
         "cat /sdcard/four.sh > /sdcard/two.sh; sh /sdcard/two.sh; sh /sdcard/two.sh", "too many commands"),
        ("A=" + "x" * 1000 + "; " + "A=$A$A; " * 30 + "echo $A", "Argument list too long"),
        ("echo " + "$(seq 99999) " * 9, "Argument list too long"),
        ("echo " + "$(" * 50 + ")" * 50, "too deep"),
        ("echo " + '"$(' * 50 + ')"' * 50, "nested too deeply"),
        ("if true; then " * 50 + "echo" + "; fi" * 50, "nested too deeply"),
    ],
)  # fmt: skip
def test_a_line_that_would_never_end_or_fit_is_ended(rig: Rig, line: str, why: str) -> None:
    out, errors, _ = said(rig, line)
    assert why in errors
    assert len(out) + len(errors) < 4_000_000
    assert said(rig, "echo alive")[0] == "alive\n"


def test_a_line_for_sh_does_not_wait_for_an_input_it_does_not_read(rig: Rig) -> None:
    assert rig.adb.shell("sh -c 'echo hi'", timeout=5) == "hi"
    assert rig.cli("shell", "sh -c cat", given=b"given").stdout == b"given"


def ask(rig: Rig, method: str, *params: object) -> Any:
    rig.u2.info  # noqa: B018  # starts the server in the phone
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}
    local = rig.adb.forward_port(9008)
    return json.loads(httpx2.post(f"http://127.0.0.1:{local}/jsonrpc/0", json=body, timeout=20).content)


def test_a_shell_command_over_the_server_in_the_phone(rig: Rig) -> None:
    told = ask(rig, "executeShellCommand", "echo $(echo a); cat /none; exit 5", 5000)["result"]
    assert told["stdout"] == "a\n"
    assert "No such file" in told["stderr"]
    assert told["returnCode"] == 5
    assert ask(rig, "executeShellCommand", "sleep 60", 100)["result"]["returnCode"] == 124
    assert ask(rig, "executeShellCommand", "id", 0)["error"]["code"] == -32602


def test_the_lock_screen_shows_the_phones_time_where_the_clock_may_be_seen() -> None:
    hand = Hand.at(transition_ms=280)
    hand.phone.keyguard.choose("swipe")
    hand.phone.keyguard.lock()
    hand.phone.changed()
    assert "00:00" in hand.labels()
    hand.clock.advance(61)
    assert "00:01" in hand.labels()
    hand.clock.advance(3600)
    assert "01:01" in hand.labels()
    still = Hand.at()
    still.phone.keyguard.choose("swipe")
    still.phone.keyguard.lock()
    still.clock.advance(3600)
    assert "12:00" in still.labels()
