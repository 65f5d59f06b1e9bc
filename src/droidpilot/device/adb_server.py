"""adb server processes: the user's, started only where none answers, and private ones that are ours alone.

It must never stop or restart a server that it did not start, and never touch one on another port.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, DeviceLost
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_trouble import adb_binary, typeable
from droidpilot.device.wire import LOOPBACK

#: The port of everybody's server, and those where every adb server looks for emulators.
FORBIDDEN_PORTS = frozenset({5037, *range(5554, 5586)})
#: USB drivers make a server's start take 3 s; 20 s is what adbutils allows.
START_S = 20.0
#: No process has a higher number: the kernel's own type for it has 31 bits.
_MOST_PIDS = 2**31
_STOP_S = 2.0
_POLL_S = 0.005
_ANSWER_S = 0.5
_PORT_TRIES = 5
#: What takes over the children of dead processes instead of process 1. Source: prctl(2), PR_SET_CHILD_SUBREAPER.
_REAPERS = frozenset({"init", "systemd", "tini", "docker-init", "catatonit", "dumb-init"})


def process_started(pid: int) -> int | None:
    """Return when a process began, in the kernel's ticks since boot; None where the system does not tell.

    Source: field 22 of /proc/PID/stat, proc(5).
    """
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
        return int(text.rpartition(")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return None


def is_running(pid: int, started: int | None) -> bool:
    """Tell whether a process runs and is the one that began at `started`, as far as the system tells."""
    if not 0 < pid < _MOST_PIDS:
        return False
    if sys.platform == "win32":
        return True  # os.kill would end it there; a name too many in a list harms nobody
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    now = process_started(pid)
    return started is None or now is None or now == started


def is_server_there(server: AdbServer, deadline: Deadline) -> bool:
    """Tell whether an adb server answers on the port; none is started.

    Raises:
        DeviceLost: code `no_adb_server`, something else listens there.
        DeviceTimeout: what listens there does not answer.
    """
    try:
        server.version(deadline)
    except DeviceLost as error:
        if error.code != "no_adb_server" or _listens(server.port):
            raise
        return False
    return True


def ensure_server(server: AdbServer, clock: Clock) -> bool:
    """Start an adb server on the port unless one answers; return whether it was started.

    One that answers is used as it is, whatever its version. One that we start is the user's from then on.

    Raises:
        DeviceLost: code `no_adb_server`, it does not start or is something else.
    """
    if is_server_there(server, Deadline.after(clock, START_S)):
        return False
    try:
        subprocess.run(
            [adb_binary(), "-P", str(server.port), "start-server"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=START_S,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DeviceLost(
            f"the adb server on port {server.port} does not start: {error}",
            hint=typeable(f"run `adb -P {server.port} start-server` to see why"),
            code="no_adb_server",
        ) from error
    server.version(Deadline.after(clock, START_S))
    return True


class PrivateServer:
    """An adb server of our own: own port, own keys and log, no USB, no network discovery, no emulators."""

    def __init__(self, process: subprocess.Popen[bytes], port: int) -> None:
        self._process = process
        self.port = port
        self.pid = process.pid
        self.started = process_started(process.pid)
        self.server = AdbServer(port)

    def stop(self) -> None:
        """End the server's process; never raises."""
        self._process.terminate()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def start_private_server(home: Path, clock: Clock, port: int = 0) -> PrivateServer:
    """Start a private adb server whose keys and log lie in `home`; port 0 is a free one.

    Its process is our child in a group of its own, so that a Ctrl-C ends it only through `stop`. The caller records
    `pid`, `started` and `port` where a later process can reap it.

    Raises:
        DeviceLost: code `no_adb_server`, it does not start.
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    environment = {
        "HOME": str(home),
        "TMPDIR": str(home),
        "ANDROID_ADB_LOG_PATH": str(home / "adb.log"),
        # Without USB a start takes 12 ms instead of 3 s, and no phone of the user is taken away from their server.
        "ADB_USB": "0",
        "ADB_MDNS": "0",
        "ADB_EMU": "0",
        "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
    }
    deadline = Deadline.after(clock, START_S)
    for _ in range(_PORT_TRIES):
        chosen = port or _free_port()
        process = subprocess.Popen(
            [adb_binary(), "-P", str(chosen), "nodaemon", "server"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,
        )
        private = PrivateServer(process, chosen)
        if _comes_up(private, process, clock, deadline):
            return private
        private.stop()
        if port:
            break
    raise DeviceLost("the private adb server does not start", hint=f"see {home / 'adb.log'}", code="no_adb_server")


def reap_private_server(pid: int, started: int | None, port: int) -> bool:
    """End a private server that a killed process of ours left behind; return whether one was ended.

    Nothing is ended unless the process is an adb server on this very port that began when it was recorded.
    """
    if pid <= 1 or port in FORBIDDEN_PORTS:
        return False
    now = process_started(pid)
    if started is not None and now is not None and started != now:
        return False
    if not _is_private_server(_command_line(pid), port):
        return False
    try:
        os.kill(pid, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def private_servers_of(home: Path) -> list[tuple[int, int]]:
    """List (pid, port) of the private adb servers whose keys lie in `home`, as far as the system tells (Linux)."""
    found: list[tuple[int, int]] = []
    proc = Path("/proc")
    for entry in proc.iterdir() if (proc / "self").exists() else ():
        if not entry.name.isdecimal():
            continue
        words = _command_line(int(entry.name))
        if len(words) != 5 or not words[2].isdecimal():
            continue
        port = int(words[2])
        with contextlib.suppress(OSError):
            variables = (entry / "environ").read_bytes().split(b"\0")
            if _is_private_server(words, port) and b"HOME=" + os.fsencode(home) in variables:
                found.append((int(entry.name), port))
    return sorted(found)


def is_orphan(pid: int) -> bool:
    """Tell whether the process that started a private server is gone: only the system's first process is its parent.

    Its age proves nothing. Where the system does not tell (no /proc), it is no orphan.
    """
    try:
        parent = int(
            Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()[1]
        )
        name = Path(f"/proc/{parent}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except (OSError, ValueError, IndexError):
        return False
    return parent == 1 or name in _REAPERS


def _is_private_server(words: list[str], port: int) -> bool:
    is_adb = bool(words) and Path(words[0]).name.removesuffix(".exe") == "adb"
    return is_adb and words[1:] == ["-P", str(port), "nodaemon", "server"]


def _command_line(pid: int) -> list[str]:
    """Return the words a process was started with, an empty list where there is no such process."""
    proc = Path("/proc")
    if (proc / "self").exists():
        try:
            return (proc / str(pid) / "cmdline").read_bytes().decode(errors="replace").rstrip("\0").split("\0")
        except OSError:
            return []
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        listed = subprocess.run(
            ["ps", "-p", str(pid), "-o", "command="], capture_output=True, timeout=_STOP_S, check=False, text=True
        )
        words = listed.stdout.split()
        # A path with spaces comes in pieces; the four words behind it are what counts.
        return [" ".join(words[:-4]), *words[-4:]]
    return []


def _comes_up(private: PrivateServer, process: subprocess.Popen[bytes], clock: Clock, deadline: Deadline) -> bool:
    """Wait until the server answers; false where its process ended, as when another took the port."""
    while process.poll() is None and not deadline.is_over():
        try:
            # Short, so that a port which another program holds is noticed by our process having ended.
            private.server.version(deadline.sooner(_ANSWER_S))
        except DeviceError:
            clock.sleep(_POLL_S)
        else:
            return process.poll() is None
    return False


def _free_port() -> int:
    while True:
        with socket.socket() as probe:
            probe.bind((LOOPBACK, 0))
            port = int(probe.getsockname()[1])
        if port not in FORBIDDEN_PORTS:
            return port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(_STOP_S)
        return probe.connect_ex((LOOPBACK, port)) == 0
