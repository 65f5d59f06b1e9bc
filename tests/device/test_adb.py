"""The adb server and one phone behind it: shell, ports, errors, and that no server is ever started by the way."""

from __future__ import annotations

import contextlib
import http.client
import inspect
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import adbutils.errors
import pytest
import uiautomator2.exceptions
from tests.fakes.cut_proxy import cut_proxy

from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import (
    DeviceError,
    DeviceLost,
    DeviceNotChosen,
    DeviceRefused,
    DeviceTimeout,
    DeviceUnavailable,
    ScreenUnreadable,
)
from droidpilot.device import adb_trouble, inphone
from droidpilot.device.adb import MAX_SHELL_BYTES, AdbServer, PhoneLink
from droidpilot.device.attached import connect_tcp
from droidpilot.virtual.server import VirtualPhone

Within = Callable[[float], Deadline]

NO_SERVER = """
from droidpilot.core.clock import Deadline, SystemClock
from droidpilot.core.errors import DeviceLost
from droidpilot.device.adb import AdbServer, PhoneLink
import sys
server = AdbServer(int(sys.argv[1]))
for ask in (server.version, lambda deadline: PhoneLink(server, "x").shell(["id"], deadline)):
    try:
        ask(Deadline.after(SystemClock(), 5))
    except DeviceLost as error:
        print(error.code)
"""


@contextmanager
def fake_server(*answers: bytes) -> Iterator[AdbServer]:
    """Listen like an adb server and give every connection the same answers, one per thing it sends.

    Where there are several answers, a question for the version is answered as adb 36 does.
    """
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(connection: socket.socket) -> None:
        with contextlib.suppress(OSError), connection:
            for one in answers:
                asked = connection.recv(65536)
                if asked == b"000chost:version" and len(answers) > 1:
                    connection.sendall(b"OKAY00040029")
                    return
                mark = re.search(rb"echo ([0-9a-f]+:)", asked)
                connection.sendall(one.replace(b"MARK", mark[1] if mark else b""))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=answer, args=listener.accept()[:1], daemon=True).start()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield AdbServer(int(listener.getsockname()[1]))
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    thread.join(5)


# the shell


def test_the_shell_returns_output_and_exit_code(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    link = PhoneLink(adb, phone.serial)
    answer = link.shell(["settings", "get", "global", "wifi_on"], within(5))
    assert (answer.code, answer.text) == (0, "0\n")
    assert link.shell(["no-such-command"], within(5)).code == 127


@pytest.mark.parametrize("word", ["a b", "$(reboot)", "`id`", "a;b", "a'b\"c", "$?", "ünï 👋", "a\nb", "-n", "*", ""])
def test_every_argument_reaches_the_phone_as_it_is(
    adb: AdbServer, phone: VirtualPhone, within: Within, word: str
) -> None:
    answer = PhoneLink(adb, phone.serial).shell(["echo", "<", word, ">"], within(5))
    assert answer.text == f"< {word} >\n"


def test_what_looks_like_an_exit_code_in_the_output_is_output(
    adb: AdbServer, phone: VirtualPhone, within: Within
) -> None:
    answer = PhoneLink(adb, phone.serial).shell(["echo", "X4EXIT:0 0123456789ab:0"], within(5))
    assert (answer.code, answer.text) == (0, "X4EXIT:0 0123456789ab:0\n")


@pytest.mark.parametrize("argv", [["echo", "a\0b"], ["echo", "x" * 70_000], ["echo", "\ud83d"]])
def test_a_command_that_cannot_be_sent_is_refused_before_it_is(
    adb: AdbServer, phone: VirtualPhone, within: Within, argv: list[str]
) -> None:
    with pytest.raises(DeviceRefused) as caught:
        PhoneLink(adb, phone.serial).shell(argv, within(5), sent="unknown")
    assert (caught.value.code, caught.value.sent) == ("bad_command", "no")


@pytest.mark.parametrize("said", [b"", b"half of the ans", b"12345\n0123456789ab:", b"MARK", b"MARK12", b"MARK0 \n"])
def test_a_line_that_drops_in_an_answer_is_an_error_and_never_an_empty_success(said: bytes, within: Within) -> None:
    with fake_server(b"OKAY" + b"\0" * 8, b"OKAY" + said) as server:
        with pytest.raises(DeviceLost) as caught:
            PhoneLink(server, "x").shell(["dumpsys", "window"], within(5), sent="unknown")
        assert caught.value.sent == "unknown"


def test_a_flood_of_output_is_cut_off(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    link = PhoneLink(adb, phone.serial)
    device = link.device(within(20))
    device.sync.push(b"x" * (MAX_SHELL_BYTES + 1), "/data/local/tmp/flood")
    with pytest.raises(DeviceRefused) as caught:
        link.shell(["cat", "/data/local/tmp/flood"], within(20))
    assert caught.value.code == "too_much_output"


def test_a_push_arrives_whole_under_a_deadline(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    # adbutils ignores partial sends, which sockets with a timeout make.
    data = os.urandom(3_000_000)
    device = PhoneLink(adb, phone.serial).device(within(20))
    device.sync.push(data, "/data/local/tmp/whole", check=True)
    assert device.sync.read_bytes("/data/local/tmp/whole") == data


def test_the_mark_and_a_whole_exit_code_end_an_answer(within: Within) -> None:
    with fake_server(b"OKAY" + b"\0" * 8, b"OKAYout\r\nMARK12\r\n") as server:
        answer = PhoneLink(server, "x").shell(["id"], within(5))
    assert (answer.text, answer.code) == ("out\n", 12)


# errors


@pytest.mark.parametrize(
    ("said", "kind", "code"),
    [
        ("device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set", DeviceUnavailable, "unauthorized"),
        ("device still authorizing", DeviceUnavailable, "unauthorized"),
        ("device offline", DeviceUnavailable, "offline"),
        ("device 'x' not found", DeviceUnavailable, "not_found_by_adb"),
        ("insufficient permissions for device: user in plugdev group", DeviceUnavailable, "no_permissions"),
        ("more than one device/emulator", DeviceNotChosen, "device_not_chosen"),
        ("protocol fault", DeviceLost, "device_lost"),
        ("closed", DeviceLost, "device_lost"),
    ],
)
def test_what_adb_says_of_a_phone_becomes_a_code_and_a_next_step(
    said: str, kind: type[DeviceError], code: str, within: Within
) -> None:
    with fake_server(f"FAIL{len(said):04x}{said}".encode(), b"") as server, pytest.raises(kind) as caught:
        PhoneLink(server, "x").shell(["id"], within(5))
    assert (caught.value.code, caught.value.sent) == (code, "no")
    assert caught.value.hint and "\n" not in str(caught.value)


@pytest.mark.parametrize("answer", [b"", b"HTTP", b"OKAY", b"OKAYzzzz", b"OKAY00ff3", b"OKAY0004zzzz"])
def test_something_else_on_the_port_is_a_typed_error(answer: bytes, within: Within) -> None:
    with fake_server(answer) as server, pytest.raises(DeviceLost):
        server.version(within(5))


ADB_ERRORS: dict[str, type[DeviceError]] = {
    "AdbError": DeviceLost,
    "AdbTimeout": DeviceTimeout,
    "AdbConnectionError": DeviceLost,
    "AdbInstallError": DeviceRefused,
    "AdbSyncError": DeviceRefused,
}

U2_ERRORS: dict[str, type[DeviceError]] = {
    "BaseException": DeviceRefused,
    "DeviceError": DeviceRefused,
    "AdbShellError": DeviceLost,
    "ConnectError": DeviceUnavailable,
    "HTTPError": DeviceLost,
    "HTTPTimeoutError": DeviceTimeout,
    "AdbBroadcastError": DeviceLost,
    "UiAutomationError": DeviceRefused,
    "InputIMEError": DeviceRefused,
    "UiAutomationNotConnectedError": DeviceRefused,
    "InjectPermissionError": DeviceRefused,
    "APKSignatureError": DeviceRefused,
    "LaunchUiAutomationError": DeviceRefused,
    "AccessibilityServiceAlreadyRegisteredError": DeviceRefused,
    "RPCError": DeviceRefused,
    "RPCUnknownError": DeviceRefused,
    "RPCInvalidError": DeviceRefused,
    "HierarchyEmptyError": ScreenUnreadable,
    "RPCStackOverflowError": DeviceRefused,
    "NormalError": DeviceRefused,
    "XPathElementNotFoundError": DeviceRefused,
    "SessionBrokenError": DeviceRefused,
    "UiObjectNotFoundError": DeviceRefused,
    "AppNotFoundError": DeviceRefused,
}


def errors_of(module: object) -> dict[str, type[Exception]]:
    found = inspect.getmembers(module, lambda one: inspect.isclass(one) and issubclass(one, Exception))
    return dict(found)


def test_every_error_of_adbutils_is_translated() -> None:
    classes = errors_of(adbutils.errors)
    assert set(classes) == set(ADB_ERRORS)
    for name, kind in classes.items():
        error = adb_trouble.translate(kind("boom\nboom"), "doing x", sent="unknown")
        assert (type(error), error.sent) == (ADB_ERRORS[name], "unknown"), name
        assert str(error).startswith("doing x: ") and "\n" not in str(error)


def test_every_error_of_uiautomator2_is_translated() -> None:
    classes = errors_of(uiautomator2.exceptions)
    assert set(classes) == set(U2_ERRORS)
    for name, kind in classes.items():
        with pytest.raises(DeviceError) as caught, inphone._translated("doing x"):
            raise kind("boom\nboom")
        assert type(caught.value) is U2_ERRORS[name], name
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (TimeoutError("timed out"), DeviceTimeout),
        (ConnectionRefusedError("refused"), DeviceLost),
        (BrokenPipeError("pipe"), DeviceLost),
        (EOFError("Expected 4 bytes, got 0"), DeviceLost),
        (http.client.RemoteDisconnected("gone"), DeviceLost),
        (http.client.BadStatusLine("?"), DeviceLost),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"), DeviceLost),
        (OSError(), DeviceLost),
    ],
)
def test_errors_of_the_wire_are_translated(error: Exception, kind: type[DeviceError]) -> None:
    with pytest.raises(kind), adb_trouble.translated("doing x"):
        raise error


# servers


def test_field_38_no_server_is_started_where_none_answers(tmp_path: Path) -> None:
    marker = tmp_path / "adb-was-run"
    binary = tmp_path / "adb"
    binary.write_text(f"#!/bin/sh\ntouch {marker}\n")
    binary.chmod(0o755)
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = int(probe.getsockname()[1])
    done = subprocess.run(
        [sys.executable, "-c", NO_SERVER, str(port)],
        env={**os.environ, "ADBUTILS_ADB_PATH": str(binary), "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.stdout.split(), done.stderr) == (["no_adb_server"] * 2, "")
    assert not marker.exists()


def test_a_phone_that_is_lost_comes_back_by_itself(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    with cut_proxy(phone.port) as proxy:
        serial = f"127.0.0.1:{proxy.port}"
        connect_tcp(adb, serial, within(10))
        link = PhoneLink(adb, serial)
        proxy.cut("to_phone", 0)
        deadline = within(10)
        while True:
            try:
                assert link.shell(["echo", "back"], deadline).text == "back\n"
                break
            except DeviceError as error:
                assert not deadline.is_over(), error
                SystemClock().sleep(0.02)
        adb.ask(f"host:disconnect:{serial}", within(10))
