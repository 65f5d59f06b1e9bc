"""The adb server and one phone behind it: questions to the server, shell, and a port of the phone.

It must never start, restart or stop a server (adb_server.py does, where that is allowed), and never goes through a host
shell. It knows nothing of screens.
"""

from __future__ import annotations

import re
import secrets
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceError, DeviceLost, DeviceRefused, DeviceUnavailable, Sent
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb_library import library
from droidpilot.device.adb_trouble import SERVER_HINT, from_words, translated, typeable
from droidpilot.device.wire import DeadlineSocket, is_open

#: More than this from one shell command is no answer but a flood.
MAX_SHELL_BYTES = 8 * 1024 * 1024
#: adb's own limit for one service string is 4 hex digits; ours leaves room for what is wrapped around a command.
MAX_COMMAND_BYTES = 60_000

#: What a phone is asked to learn who it is; the answer needs no proof of who gave it.
WHO = ("getprop", "ro.serialno")

_READ_BYTES = 65_536
_EXIT_CODE = re.compile(r"\d{1,3}\n", re.ASCII)
_SURROGATES = re.compile("[\ud800-\udfff]")


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
                f"what listens on port {self.port} is no adb server", code="no_adb_server", hint=typeable(SERVER_HINT)
            ) from error

    def ask(self, command: str, deadline: Deadline) -> str:
        """Send one `host:` command and return its whole answer."""
        client = library().client(self.port, deadline)
        with translated(f"asking the adb server on port {self.port}"), client.make_connection() as connection:
            connection.send_command(command)
            connection.check_okay()
            size = connection.read_exact(4)
            if size == b"FAIL":
                # `host:pair` that failed says OKAY, then FAIL and why. Source: adb 36.
                size = connection.read_exact(4)
            return str(connection.read_exact(int(size, 16)).decode("utf-8", errors="replace"))


class PhoneLink:
    """One phone behind an adb server: its shell and its ports. Every call names the serial and has a deadline."""

    def __init__(self, server: AdbServer, serial: str) -> None:
        self.server = server
        self.serial = serial
        self._device: Any = None
        self._phone = ""

    def pin(self, phone: str) -> None:
        """Hold every command from now on to the phone with this ro.serialno; any other one runs none of them.

        Ports are not held: who calls one must ask before.

        Raises:
            DeviceUnavailable: code `other_phone`, the link is held to another one already.
        """
        if self._phone and phone != self._phone:
            raise other_phone(self.serial, phone, self._phone)
        self._phone = phone

    def device(self, deadline: Deadline, *, progress: Callable[[str], None] | None = None) -> Any:
        """Return the adbutils device that uiautomator2 works with; what it does from now on ends at `deadline`."""
        if self._device is None:
            client = library().client(self.server.port, deadline)
            with translated(f"reaching {self.serial}"):
                self._device = library().device_class(client, serial=self.serial)
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
            DeviceUnavailable: code `other_phone`, sent "no": the link is held to one phone, and another one answers.
        """
        return self.script([argv], deadline, sent=sent)

    def script(self, commands: Sequence[Sequence[str]], deadline: Deadline, *, sent: Sent = "no") -> ShellAnswer:
        """Run commands one after another as one sending, each only if the one before it went well.

        Raises:
            DeviceError: as `shell` does.
        """
        argv = commands[0]
        proof, proving = self._proof(argv)
        command = proving + " && ".join(shlex.join(words) for words in commands)
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
        if proof:
            _, is_meant, text = text.partition(f"{proof}\n")
            if not is_meant:
                raise self._stranger(argv[0], deadline)
        return ShellAnswer(int(code), text)

    def output(self, argv: Sequence[str], deadline: Deadline, *, most_bytes: int) -> bytes:
        """Run one reading command and return every byte that it printed, as it came.

        There is no exit code, and nothing says that the line did not drop: what comes must prove itself.
        """
        proof, proving = self._proof(argv)
        sock = self._open(f"exec:{proving}{shlex.join(argv)}", deadline)
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
        if not proof:
            return bytes(output)
        _, is_meant, printed = bytes(output).partition(f"{proof}\n".encode())
        if not is_meant:
            raise self._stranger(argv[0], deadline)
        return printed

    def _proof(self, argv: Sequence[str]) -> tuple[str, str]:
        """Return what the phone says before a command where it is the one meant, and the beginning that asks for it.

        In one line with the command, so that no other phone can come to the line between the question and the act.
        A stream of ours that is open since the start proves as much, for nothing.
        """
        if not self._phone or tuple(argv) == WHO or self.is_unbroken:
            return "", ""
        proof = f"{secrets.token_hex(6)}="
        asked = f'"$({shlex.join(WHO)} 2>/dev/null)"'
        return proof, f"[ {asked} = {shlex.quote(self._phone)} ] && echo {proof} && "

    def _stranger(self, doing: str, deadline: Deadline) -> DeviceError:
        """Return what to raise where a phone did not prove that it is the one meant: nothing was done on it."""
        told = self.shell(WHO, deadline).text.strip()
        if told and one_line(told) != self._phone:
            return other_phone(self.serial, told, self._phone)
        return DeviceLost(f"the line to {self.serial} dropped before {doing} ran", hint="check the cable or network")

    @property
    def is_unbroken(self) -> bool:
        """Whether a stream to the phone has been open all the time since uiautomator2 started something over it."""
        return self.has_streams and all(is_open(stream.conn) for stream in self._device.streams)

    def move_to(self, serial: str) -> None:
        """Go on with the same phone under another serial of adb's; what was open under the old one is closed."""
        self.close_streams()
        self.serial = serial
        if self._device is not None:
            self._device.move_to(serial)

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


def other_phone(serial: str, told: str, phone: str) -> DeviceUnavailable:
    """Build the error for a serial at which another phone answers than the one meant."""
    return DeviceUnavailable(
        f"another phone answers at {serial} now: {shorten(one_line(told), 60)}, not {phone}",
        hint="nothing was sent to it; connect the phone that is meant and begin again",
        code="other_phone",
    )


def _refusal(text: str, service: str, sent: Sent) -> DeviceError:
    """Turn adb's FAIL for a service into an error: "closed" means that the phone refused to open it."""
    if text == "closed":
        if service.startswith("tcp:"):
            return DeviceRefused(f"nobody listens on the phone's {service}", code="no_listener", sent=sent)
        return DeviceLost("the phone did not open a shell", sent=sent)
    return from_words(text, f"opening {service.partition(':')[0]}", sent)
