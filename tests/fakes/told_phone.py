"""An adb server with phones that answer shell commands from a table: for the words of phones that nobody here has.

It speaks `host:version`, `host:devices`, a transport and `shell:`; a port of the phone is refused. Nothing else.
"""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

#: What a command prints, and its exit code; None never answers.
Told = tuple[str, int] | str | None

_SHELL = re.compile(r"shell:(?P<command>.*); echo (?P<mark>[0-9a-f]+:)\$\?", re.DOTALL)

#: What a link that is held to one phone asks before the command.
_PROOF = re.compile(
    r'\[ "\$\(getprop ro\.serialno 2>/dev/null\)" = (?P<phone>\S+) \] && echo (?P<proof>\S+) && (?P<command>.*)',
    re.DOTALL,
)

#: A healthy phone of no special brand, Android 14. Source of the forms: AOSP's dump methods and toybox.
HEALTHY: Mapping[str, Told] = {
    "getprop": "[ro.build.version.sdk]: [34]\n[ro.build.version.release]: [14]\n[ro.product.brand]: [google]\n"
    "[ro.product.model]: [Pixel 8]\n[ro.build.version.security_patch]: [2026-06-05]\n[ro.serialno]: [R5CT]\n",
    "settings list global": "window_animation_scale=1.0\nverifier_verify_adb_installs=1\n",
    "settings list secure": "default_input_method=com.google.android.inputmethod.latin/.LatinIME\n",
    "ime list -s -a": "com.google.android.inputmethod.latin/.LatinIME\n",
    "ime list -s": "com.google.android.inputmethod.latin/.LatinIME\n",
    "dumpsys input_method": "  mCurId=com.google.android.inputmethod.latin/.LatinIME mHaveConnection=true\n",
    "dumpsys window": "  mCurrentFocus=Window{1 u0 com.android.launcher3/.Launcher}\n"
    "    KeyguardServiceDelegate\n      showing=false\n      secure=true\n",
    "dumpsys power": "  mWakefulness=Awake\n",
    "dumpsys battery": "  AC powered: false\n  USB powered: true\n  level: 80\n  scale: 100\n",
    "df -k /data": "Filesystem 1K-blocks Used Available Use% Mounted on\n/dev/dm-5 100000000 1 60000000 1% /data\n",
    "ls /data/local/tmp/u2.jar": ("ls: /data/local/tmp/u2.jar: No such file or directory\n", 1),
    "which uiautomator input screencap": "/system/bin/uiautomator\n/system/bin/input\n/system/bin/screencap\n",
    "pm list packages --apex-only --show-versioncode com.android.adbd": "package:com.android.adbd versionCode:351\n",
    "settings delete secure droidpilot_never_set": "Deleted 0 rows\n",
    "true": "",
}


@dataclass
class ToldPhones:
    """A server that runs. `answers` may be changed at any time; `commands` is what was asked of which phone."""

    port: int
    phones: dict[str, str]
    answers: dict[str, Told]
    commands: list[tuple[str, str]] = field(default_factory=list)
    services: list[str] = field(default_factory=list)


@contextmanager
def told_phones(phones: Mapping[str, str], answers: Mapping[str, Told] | None = None) -> Iterator[ToldPhones]:
    """Serve phones by serial and state; `answers` are laid over those of a healthy phone."""
    listener = socket.create_server(("127.0.0.1", 0))
    told = ToldPhones(listener.getsockname()[1], dict(phones), {**HEALTHY, **(answers or {})})
    over = threading.Event()

    def accept() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=_serve, args=(told, connection, over), daemon=True).start()

    thread = threading.Thread(target=accept, daemon=True)
    thread.start()
    try:
        yield told
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(10)


def _serve(told: ToldPhones, connection: socket.socket, over: threading.Event) -> None:
    serial = ""
    with suppress(OSError, ValueError), connection, connection.makefile("rb") as stream:
        while head := stream.read(4):
            words = stream.read(int(head, 16)).decode()
            told.services.append(words)
            if words.startswith("host:tport:serial:"):
                serial = words.removeprefix("host:tport:serial:")
                state = told.phones.get(serial)
                if state != "device":
                    _fail(connection, f"device '{serial}' not found" if state is None else f"device {state}")
                    return
                connection.sendall(b"OKAY" + b"\0" * 8)
            elif words.startswith("host:"):
                _say(connection, _host(told, words))
                return
            elif found := _SHELL.fullmatch(words):
                command, proof = found["command"], ""
                if held := _PROOF.fullmatch(command):
                    command, proof = held["command"], f"{held['proof']}\n"
                    assert told.answers.get("getprop ro.serialno") == f"{held['phone']}\n"
                told.commands.append((serial, command))
                answer = told.answers.get(command, ("sh: not found\n", 127))
                connection.sendall(b"OKAY")
                if answer is None:
                    over.wait(60)
                    return
                text, code = (answer, 0) if isinstance(answer, str) else answer
                connection.sendall(f"{proof}{text}{found['mark']}{code}\n".encode())
                return
            else:
                _fail(connection, "closed")
                return


def _host(told: ToldPhones, words: str) -> str:
    if words == "host:version":
        return "0029"
    if words == "host:devices":
        return "".join(f"{serial}\t{state}\n" for serial, state in told.phones.items())
    if words == "host:devices-l":
        return "".join(f"{serial.ljust(22)} {state} usb:1-1 model:Pixel_8\n" for serial, state in told.phones.items())
    return ""


def _say(connection: socket.socket, text: str) -> None:
    connection.sendall(b"OKAY" + f"{len(text.encode()):04x}".encode() + text.encode())


def _fail(connection: socket.socket, text: str) -> None:
    connection.sendall(b"FAIL" + f"{len(text.encode()):04x}".encode() + text.encode())
