"""The adb server and one phone behind it: questions to the server, shell, and a port of the phone.

The only file that names adbutils, whose errors are translated here. It must never start, restart or stop a server
(adb_server.py does, where that is allowed), and never goes through a host shell. It knows nothing of screens.
"""

from __future__ import annotations

import functools
import http.client
import logging
import re
import secrets
import shlex
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import (
    DeviceError,
    DeviceLost,
    DeviceNotChosen,
    DeviceRefused,
    DeviceTimeout,
    DeviceUnavailable,
    Sent,
)
from droidpilot.core.text import one_line, shorten
from droidpilot.device.wire import LOOPBACK, DeadlineSocket

#: More than this from one shell command is no answer but a flood.
MAX_SHELL_BYTES = 8 * 1024 * 1024
#: adb's own limit for one service string is 4 hex digits; ours leaves room for what is wrapped around a command.
MAX_COMMAND_BYTES = 60_000

_READ_BYTES = 65_536
_EXIT_CODE = re.compile(r"\d{1,3}\n", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")

#: What adb says in words about a phone it cannot reach: part of its message, our code, our sentence, the next step.
_REASONS: tuple[tuple[str, str, str, str], ...] = (
    (
        "unauthorized",
        "unauthorized",
        "the phone does not trust this computer yet",
        "unlock the phone and accept 'Allow USB debugging'; if nothing is asked, revoke USB debugging authorizations "
        "in Developer options and plug it in again",
    ),
    (
        "still authorizing",
        "unauthorized",
        "the phone is still deciding whether to trust this computer",
        "unlock the phone and accept 'Allow USB debugging'",
    ),
    ("offline", "offline", "the phone is offline", "unplug it and plug it in again, or run `adb reconnect offline`"),
    (
        "permissions",
        "no_permissions",
        "this computer may not open the phone's USB port",
        "add a udev rule for the vendor or join the group plugdev, then plug the phone in again",
    ),
    (
        "not found",
        "not_found_by_adb",
        "adb does not know this phone",
        "see `droidpilot devices`; for a phone on the network run `adb connect HOST:PORT` first",
    ),
)


def reason_of(text: str) -> tuple[str, str, str] | None:
    """Find code, sentence and next step for a state or message of adb; None where we know no better than adb."""
    found = next(((code, words, hint) for part, code, words, hint in _REASONS if part in text.lower()), None)
    return found and (found[0], found[1], typeable(found[2]))


def typeable(hint: str) -> str:
    """Return a hint whose `adb ...` can be typed as it stands: with our program's path where PATH has none."""
    if "`adb " not in hint or shutil.which("adb"):
        return hint
    return hint.replace("`adb ", f"`{adb_command()} ")


def adb_command() -> str:
    """Return what to type for adb in a shell: its name, or the path of the program we use where PATH has none."""
    if shutil.which("adb"):
        return "adb"
    try:
        return shlex.quote(adb_binary())
    except DeviceError:  # there is none at all, and somebody has to install it
        return "adb"


@dataclass(frozen=True, slots=True)
class ShellAnswer:
    """What a command printed (stdout and stderr merged) and its exit code."""

    code: int
    text: str


class AdbServer:
    """An adb server on a port of this machine. Nothing is asked or started before a method is called."""

    def __init__(self, port: int) -> None:
        self.port = port

    def version(self, deadline: Deadline) -> int:
        """Ask for the server's internal version, 41 for 1.0.41.

        Raises:
            DeviceLost: code `no_adb_server` where nobody answers on the port.
        """
        answer = self.ask("host:version", deadline)
        try:
            return int(answer, 16)
        except ValueError as error:
            raise DeviceLost(
                f"what listens on port {self.port} is no adb server", code="no_adb_server", hint=typeable(_SERVER_HINT)
            ) from error

    def ask(self, command: str, deadline: Deadline) -> str:
        """Send one `host:` command and return its whole answer."""
        client = _library().client(self.port, deadline)
        with translated(f"asking the adb server on port {self.port}"), client.make_connection() as connection:
            connection.send_command(command)
            connection.check_okay()
            size = int(connection.read_exact(4), 16)
            return str(connection.read_exact(size).decode("utf-8", errors="replace"))


class PhoneLink:
    """One phone behind an adb server: its shell and its ports. Every call names the serial and has a deadline."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self.server = server
        self.serial = serial
        self._device: Any = None

    def device(self, deadline: Deadline, *, progress: Callable[[str], None] | None = None) -> Any:
        """Return the adbutils device that uiautomator2 works with; what it does from now on ends at `deadline`."""
        if self._device is None:
            client = _library().client(self.server.port, deadline)
            with translated(f"reaching {self.serial}"):
                self._device = _library().device_class(client, serial=self.serial)
        self._device.client.deadline = deadline
        if progress is not None:
            self._device.progress = progress
        return self._device

    def open_port(self, port: int, deadline: Deadline) -> DeadlineSocket:
        """Connect to a TCP port on the phone.

        Raises:
            DeviceRefused: code `no_listener` where the phone answers that nobody listens there.
        """
        return self._open(f"tcp:{port}", deadline)

    def shell(self, argv: Sequence[str], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        """Run one command on the phone, each argument quoted for the phone's shell.

        `sent` is what an error after the command was handed over says: "unknown" for a write.

        Raises:
            DeviceLost: the line dropped before the exit code came, whatever was read until then.
        """
        return self.script([argv], deadline, sent=sent)

    def script(self, commands: Sequence[Sequence[str]], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        """Run commands one after another as one sending, each only if the one before it went well.

        Raises:
            DeviceError: as `shell` does.
        """
        argv = commands[0]
        command = " && ".join(shlex.join(words) for words in commands)
        size = len(command.encode("utf-8", errors="replace"))
        if "\0" in command or _SURROGATES.search(command) or size > MAX_COMMAND_BYTES:
            raise DeviceRefused("the command cannot be sent to the phone's shell", code="bad_command")
        # The exit code comes in band, behind a mark that no output holds by chance.
        mark = f"{secrets.token_hex(6)}:"
        sock = self._open(f"shell:{command}; echo {mark}$?", deadline, sent=sent)
        output = bytearray()
        try:
            with translated(f"running {argv[0]} on {self.serial}", sent=sent):
                while chunk := sock.recv(_READ_BYTES):
                    output += chunk
                    if len(output) > MAX_SHELL_BYTES:
                        raise DeviceRefused(
                            f"{argv[0]} on {self.serial} printed more than {MAX_SHELL_BYTES} bytes",
                            code="too_much_output",
                            sent=sent,
                        )
        finally:
            sock.hang_up()
        text, found, code = output.decode("utf-8", errors="replace").replace("\r\n", "\n").rpartition(mark)
        if not found or not _EXIT_CODE.fullmatch(code):
            raise DeviceLost(
                f"the line to {self.serial} dropped while {argv[0]} ran", hint="check the cable or network", sent=sent
            )
        return ShellAnswer(int(code), text)

    def output(self, argv: Sequence[str], deadline: Deadline, *, most_bytes: int) -> bytes:
        """Run one reading command and return every byte that it printed, as it came.

        There is no exit code, and nothing says that the line did not drop: what comes must prove itself.
        """
        sock = self._open(f"exec:{shlex.join(argv)}", deadline)
        output = bytearray()
        try:
            with translated(f"running {argv[0]} on {self.serial}"):
                while chunk := sock.recv(_READ_BYTES):
                    output += chunk
                    if len(output) > most_bytes:
                        raise DeviceRefused(
                            f"{argv[0]} on {self.serial} printed more than {most_bytes} bytes", code="too_much_output"
                        )
        finally:
            sock.hang_up()
        return bytes(output)

    @property
    def has_streams(self) -> bool:
        """Whether uiautomator2 started something on the phone that lives as long as its stream."""
        return self._device is not None and bool(self._device.streams)

    def close_streams(self) -> None:
        """Close every stream that uiautomator2 left open on the phone."""
        if self._device is not None:
            self._device.close_streams()

    def _open(self, service: str, deadline: Deadline, *, sent: Sent = "no") -> DeadlineSocket:
        """Open a service of the phone. Errors up to the transport are "no", behind it `sent`."""
        device = self.device(deadline)
        with translated(f"reaching {self.serial}"):
            connection = device.open_transport()
        try:
            with translated(f"reaching {self.serial}", sent=sent):
                connection.send_command(service)
                status = connection.read_exact(4)
                if status == b"FAIL":
                    size = int(connection.read_exact(4), 16)
                    raise _refusal(connection.read_exact(size).decode("utf-8", errors="replace"), service, sent)
                if status != b"OKAY":
                    raise DeviceLost("the adb server does not speak the adb protocol", code="no_adb_server", sent=sent)
        except DeviceError:
            connection.close()
            raise
        sock: DeadlineSocket = connection.conn
        return sock


def _refusal(text: str, service: str, sent: Sent) -> DeviceError:
    """Turn adb's FAIL for a service into an error: "closed" means that the phone refused to open it."""
    if text == "closed":
        if service.startswith("tcp:"):
            return DeviceRefused(f"nobody listens on the phone's {service}", code="no_listener", sent=sent)
        return DeviceLost("the phone did not open a shell", sent=sent)
    return _from_words(text, f"opening {service.partition(':')[0]}", sent)


_SERVER_HINT = "start it with `adb start-server`, or name its port in ANDROID_ADB_SERVER_PORT"


def _from_words(text: str, doing: str, sent: Sent) -> DeviceError:
    """Classify a message of the adb server."""
    said = shorten(one_line(text), 200)
    if "more than one" in text:
        return DeviceNotChosen(f"{doing}: {said}", hint="name one with --device SERIAL", sent=sent)
    reason = reason_of(text)
    if reason is None:
        return DeviceLost(f"{doing}: {said}", hint="see `droidpilot devices`", sent=sent)
    code, words, hint = reason
    return DeviceUnavailable(f"{doing}: {words} (adb: {said})", hint=hint, code=code, sent=sent)


def translate(error: Exception, doing: str, *, sent: Sent = "no") -> DeviceError:
    """Turn an error of adbutils, a socket or the HTTP reader into one of ours; `doing` opens the message."""
    from adbutils import errors as adb_errors

    if isinstance(error, DeviceError):
        return error
    said = shorten(one_line(str(error)), 200) or type(error).__name__
    if isinstance(error, adb_errors.AdbTimeout | TimeoutError):
        return DeviceTimeout(
            f"{doing}: no answer in time", hint="is the phone frozen? see `droidpilot devices`", sent=sent
        )
    if isinstance(error, adb_errors.AdbConnectionError | ConnectionRefusedError):
        return DeviceLost(
            f"{doing}: no adb server answers", hint=typeable(_SERVER_HINT), code="no_adb_server", sent=sent
        )
    if isinstance(error, adb_errors.AdbInstallError | adb_errors.AdbSyncError):
        return DeviceRefused(f"{doing}: {said}", code="sync_failed", hint="is the phone's storage full?", sent=sent)
    if isinstance(error, adb_errors.AdbError):
        return _from_words(str(error), doing, sent)
    if isinstance(error, ValueError):
        return DeviceLost(f"{doing}: the answer is garbled ({said})", code="garbled", sent=sent)
    return DeviceLost(f"{doing}: the connection broke ({said})", hint="check the cable or network", sent=sent)


#: What the libraries below raise that is no bug of ours; AdbError is added where adbutils is loaded.
WIRE_ERRORS: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, http.client.HTTPException)


@contextmanager
def translated(doing: str, *, sent: Sent = "no") -> Iterator[None]:
    """Translate whatever adbutils or a socket raises in the body."""
    from adbutils.errors import AdbError

    try:
        yield
    except (*WIRE_ERRORS, AdbError) as error:
        raise translate(error, doing, sent=sent) from error


def adb_binary() -> str:
    """Find the adb program as adbutils does: $ADBUTILS_ADB_PATH, then PATH, then the one in its wheel."""
    import adbutils

    with translated("looking for the adb program"):
        return str(adbutils.adb_path())


@functools.cache
def _library() -> Any:
    """Load adbutils and derive the classes that keep our deadlines and never start a server by themselves."""
    import adbutils

    logging.getLogger("adbutils").addHandler(logging.NullHandler())

    class Connection(adbutils.AdbConnection):  # type: ignore[misc]  # adbutils ships no types
        """A connection that is made once and closed without adbutils' pause of 10 ms."""

        def __init__(self, port: int, deadline: Deadline | None) -> None:
            self._port = port
            self._deadline = deadline
            super().__init__(LOOPBACK, port)

        def _safe_connect(self) -> DeadlineSocket:
            # adbutils' own version runs `adb start-server` where nobody answers, on a port that need not be this one.
            return DeadlineSocket.connect_to(self._port, self._deadline)

        def close(self) -> None:
            if not self.closed:
                self.conn.hang_up()
                super().close()

    class Client(adbutils.AdbClient):  # type: ignore[misc]  # adbutils ships no types
        """A client of one server; `deadline` bounds the connections made from now on."""

        def __init__(self, port: int, deadline: Deadline | None) -> None:
            super().__init__(host=LOOPBACK, port=port)
            self.deadline = deadline
            self._version: int | None = None

        def make_connection(self, timeout: float | None = None) -> Connection:
            return Connection(self.port, self.deadline)

        def server_version(self) -> int:
            if self._version is None:
                self._version = int(super().server_version())
            return self._version

    class Sync(adbutils.Sync):  # type: ignore[misc]  # adbutils ships no types
        def push(self, src: Any, dst: Any, mode: int = 0o755, check: bool = False) -> int:
            self._device.progress("copying the helper to the phone (once, 4 MB)")
            return int(super().push(src, dst, mode, check))

    class Device(adbutils.AdbDevice):  # type: ignore[misc]  # adbutils ships no types
        """A phone as uiautomator2 wants it, under our deadlines."""

        def __init__(self, client: Client, serial: str) -> None:
            self.client = client
            self.progress: Callable[[str], None] = _ignore
            self.streams: list[Connection] = []
            super().__init__(client, serial=serial)

        @property
        def sync(self) -> Sync:
            return Sync(self)

        def shell(self, cmdargs: Any, stream: bool = False, **options: Any) -> Any:
            if not stream:
                return super().shell(cmdargs, stream=False, **options)
            self.progress("starting the helper on the phone")
            connection = super().shell(cmdargs, stream=True, **options)
            # This stream keeps the in-phone server alive; it is not part of the call that opened it.
            connection.conn.deadline = None
            self.streams.append(connection)
            return connection

        def close_streams(self) -> None:
            while self.streams:
                self.streams.pop().close()

    @dataclass(frozen=True, slots=True)
    class Library:
        client: type[Client]
        device_class: type[Device]

    return Library(Client, Device)


def _ignore(text: str) -> None:
    """Progress that nobody wants to hear."""
