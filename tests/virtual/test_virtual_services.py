"""What adb's own command asks of a phone beside a shell: raw input, tunnels, the log, pulls, and services refused."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.virtual.virtual_rig import Rig, adb_server, attached_rig


@pytest.fixture(scope="module")
def adb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port:
        yield port


@pytest.fixture(scope="module")
def rig(adb_port: int) -> Iterator[Rig]:
    with attached_rig(adb_port) as made:
        yield made


@pytest.mark.parametrize("size", [0, 1, 65_536, 3_000_000])
def test_exec_in_takes_what_it_is_given(rig: Rig, size: int) -> None:
    data = bytes(n % 251 for n in range(size))
    assert rig.cli("exec-in", "cat > /sdcard/given.bin", given=data).returncode == 0
    end = time.monotonic() + 5
    kept = rig.vp.phone.files.read("/sdcard/given.bin")
    while time.monotonic() < end and (kept is None or len(kept.data) != size):
        time.sleep(0.01)  # the host says nothing when its input is over, it closes
        kept = rig.vp.phone.files.read("/sdcard/given.bin")
    assert kept is not None and kept.data == data
    assert rig.cli("exec-out", "cat /sdcard/given.bin").stdout == data


@pytest.mark.parametrize(
    ("line", "given", "out"),
    [
        ("cat", b"a\nb\n", b"a\nb\n"),
        ("exec cat | head -n 1", b"a\nb\n", b"a\n"),
        ("grep b", b"a\nb\n", b"b\n"),
        ("wc -c", b"12345", b"5\n"),
        ("sort -r; echo done", b"a\nc\nb\n", b"c\nb\na\ndone\n"),
        ("tee /sdcard/t | md5sum", b"x", b"9dd4e461268c8034f5c8564e155c67a6  -\n"),
        ("tail -n 1", b"a\nb\n", b"b\n"),
        ("echo nothing is read", b"ignored", b"nothing is read\n"),
    ],
)
def test_a_command_reads_what_its_client_sends(rig: Rig, line: str, given: bytes, out: bytes) -> None:
    assert rig.cli("shell", line, given=given).stdout == out


def test_a_terminal_for_one_command_ends_its_lines_as_a_terminal_does(rig: Rig) -> None:
    done = rig.cli("shell", "-tt", "echo a; ls /nowhere; exit 3")
    assert done.stdout == b"a\r\nls: /nowhere: No such file or directory\r\n" and done.returncode == 3


def test_push_and_pull_of_folders_by_the_second_protocol(rig: Rig, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    (tree / "deep" / "er").mkdir(parents=True)
    for number, name in enumerate(("one", "deep/two words", "deep/er/три")):
        (tree / name).write_bytes(bytes([number]) * (70_000 * number + 3))
    assert rig.cli("push", str(tree), "/sdcard/").returncode == 0
    back = tmp_path / "back"
    assert rig.cli("pull", "/sdcard/tree", str(back)).returncode == 0
    for name in ("one", "deep/two words", "deep/er/три"):
        assert (back / name).read_bytes() == (tree / name).read_bytes()
    assert b"two words" in rig.cli("ls", "/sdcard/tree/deep").stdout
    assert rig.cli("push", "--sync", str(tree), "/sdcard/").returncode == 0


def test_a_recording_is_refused_and_there_is_nothing_to_pull(rig: Rig, tmp_path: Path) -> None:
    done = rig.cli("shell", "screenrecord --time-limit 1 /sdcard/movie.mp4")
    assert done.returncode != 0 and b"records no video" in done.stderr
    pulled = rig.cli("pull", "/sdcard/movie.mp4", str(tmp_path / "movie.mp4"))
    assert pulled.returncode == 1 and b"No such file" in pulled.stderr + pulled.stdout
    assert not (tmp_path / "movie.mp4").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("root",), b"cannot run as root in production builds"),
        (("remount",), b"Not running as root"),
        (("tcpip", "5555"), b"keeps its port"),
        (("unroot",), b"not running as root"),
    ],
)
def test_services_that_only_say_a_line(rig: Rig, words: tuple[str, ...], said: bytes) -> None:
    done = rig.cli(*words)
    assert said in done.stdout + done.stderr


def test_a_frame_buffer_is_refused(rig: Rig) -> None:
    import adbutils

    with pytest.raises((adbutils.AdbError, NotImplementedError)):
        rig.adb.framebuffer()
    assert rig.adb.shell("echo well") == "well"


@contextlib.contextmanager
def answering(reply: bytes) -> Iterator[int]:
    """Listen on a port of this machine, answer one line with another and hang up."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection:
                        connection.sendall(reply + connection.recv(65536))

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def test_a_reverse_tunnel_leads_from_the_phone_to_this_machine(rig: Rig) -> None:
    with answering(b"heard: ") as port:
        assert rig.cli("reverse", "tcp:7000", f"tcp:{port}").returncode == 0
        assert f"tcp:7000 tcp:{port}".encode() in rig.cli("reverse", "--list").stdout
        assert rig.cli("shell", "nc 127.0.0.1 7000", given=b"hello").stdout == b"heard: hello"
        assert b"cannot rebind" in rig.cli("reverse", "--no-rebind", "tcp:7000", "tcp:1").stderr
        assert rig.cli("reverse", "--remove", "tcp:7000").returncode == 0
    refused = rig.cli("shell", "nc 127.0.0.1 7000", given=b"hello")
    assert refused.returncode == 1 and b"Connection refused" in refused.stderr
    assert rig.cli("reverse", "--remove", "tcp:7000").returncode == 1


def test_a_tunnel_whose_other_end_is_closed_is_refused(rig: Rig) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        closed = probe.getsockname()[1]
    assert rig.cli("reverse", "tcp:7001", f"tcp:{closed}").returncode == 0
    assert rig.cli("shell", "nc -w 2 localhost 7001", given=b"x").stdout == b""
    assert rig.cli("reverse", "--remove-all").returncode == 0
    assert rig.cli("reverse", "--list").stdout.strip() == b""
    shown = rig.cli("reverse", "tcp:0", "tcp:1").stdout.strip()
    assert shown.isdigit() and int(shown) >= 1024
    assert rig.cli("reverse", "--remove-all").returncode == 0


def test_adbutils_reverses_and_forwards_too(rig: Rig) -> None:
    rig.adb.reverse("tcp:7002", "tcp:9")
    assert [(one.remote, one.local) for one in rig.adb.reverse_list()] == [("tcp:7002", "tcp:9")]
    port = rig.adb.forward_port(9008)
    assert rig.u2.info["screenOn"] is True
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"GET /ping HTTP/1.1\r\nConnection: close\r\n\r\n")
        assert b"pong" in connection.recv(65536)
    rig.cli("reverse", "--remove-all")


def test_the_log_by_tag_level_buffer_pattern_and_count(rig: Rig) -> None:
    phone = rig.vp.phone
    phone.log("Shop", "cart is full", level="I")
    phone.log("Shop", "cart is lost", level="E")
    phone.log("Mail", "one new message", level="W")
    phone.crash("com.google.android.apps.messaging", "java.lang.IllegalStateException: no cart")

    def lines(*words: str) -> list[str]:
        out = rig.cli("logcat", "-d", *words).stdout.decode().splitlines()
        return [line for line in out if not line.startswith("---------")]

    assert len(lines("Shop:E", "*:S")) == 1 and lines("-s", "Mail")[0].endswith("one new message")
    assert lines("-v", "raw", "-s", "Shop") == ["cart is full", "cart is lost"]
    assert lines("-v", "brief", "Shop:E", "*:S")[0].startswith("E/Shop")
    assert "FATAL EXCEPTION" in lines("-b", "crash")[0]
    assert all("cart" in line for line in lines("-e", "cart"))
    assert len(lines("-t", "2")) == 2
    assert lines("-v", "time", "-s", "Shop:E")[0][5] == " ", "MM-DD hh:mm:ss.mmm"
    assert rig.cli("logcat", "-d", "-v", "nonsense").returncode == 1
    assert rig.cli("logcat", "-b", "all", "-c").returncode == 0
    assert lines("-b", "all") == []


def test_the_log_as_it_is_written(rig: Rig) -> None:
    import adbutils

    command = [adbutils.adb_path(), "-P", str(rig.adb_port), "-s", rig.vp.serial, "logcat", "-v", "raw", "-m", "2"]
    with subprocess.Popen([*command, "-s", "Live"], stdout=subprocess.PIPE) as following:
        assert following.stdout is not None
        assert b"beginning of" in following.stdout.readline()
        rig.vp.phone.log("Live", "first")
        assert following.stdout.readline() == b"first\n"
        rig.vp.phone.log("Live", "second")
        assert following.stdout.readline() == b"second\n"
        assert following.wait(10) == 0


def test_services_of_cmd(rig: Rig) -> None:
    rig.adb.shell("cmd statusbar expand-notifications")
    assert rig.vp.phone.shade.is_open
    rig.adb.shell("cmd statusbar collapse")
    assert not rig.vp.phone.shade.is_open
    rig.adb.shell("cmd notification post -t Hello tag 'some text'")
    assert [(n.title, n.text) for n in rig.vp.phone.notifications.shown][:1] == [("Hello", "some text")]
    assert rig.adb.shell("cmd uimode night yes") == "Night mode: yes"
    rig.adb.shell("cmd connectivity airplane-mode enable")
    assert rig.adb.shell("cmd connectivity airplane-mode") == "enabled"
    rig.adb.shell("cmd connectivity airplane-mode disable")
    assert rig.adb.shell2("cmd nothing", v2=True).returncode == 20


def test_inputs_that_are_made_of_others(rig: Rig) -> None:
    before = rig.inputs
    for line in ("input roll 0 1", "input press", "input keycombination 113 50", "input motionevent DOWN 5 5"):
        assert rig.adb.shell2(line, v2=True).returncode == 0, line
    rig.adb.shell("input motionevent UP 5 5")
    assert rig.inputs > before
    assert rig.adb.shell2("input keycombination 113", v2=True).returncode == 255
