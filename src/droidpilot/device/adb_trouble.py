"""What adb, a socket or the library of both say when something goes wrong, as errors of ours with the next step.

It must never ask or change anything; all it looks for is where the adb program lies, to say what can be typed.
"""

from __future__ import annotations

import http.client
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

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
        "see `droidpilot devices`; for a phone on the network run `droidpilot connect HOST:PORT` first",
    ),
)

#: What to do about a phone that is offline and has no cable; and where it is not known whether it has one.
OFFLINE_TCP = "is it on, and in this network? wait a moment, then connect it again, or run `adb reconnect offline`"
_OFFLINE_ANY = "plug it in again, or connect it again over the network; or run `adb reconnect offline`"


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


SERVER_HINT = "start it with `adb start-server`, or name its port in ANDROID_ADB_SERVER_PORT"


def from_words(text: str, doing: str, sent: Sent) -> DeviceError:
    """Classify a message of the adb server."""
    said = shorten(one_line(text), 200)
    if "more than one" in text:
        return DeviceNotChosen(f"{doing}: {said}", hint="name one with --device SERIAL", sent=sent)
    reason = reason_of(text)
    if reason is None:
        return DeviceLost(f"{doing}: {said}", hint="see `droidpilot devices`", sent=sent)
    code, words, hint = reason
    if code == "offline":
        hint = typeable(_OFFLINE_ANY)
    return DeviceUnavailable(f"{doing}: {words}", hint=hint, code=code, sent=sent)


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
            f"{doing}: no adb server answers", hint=typeable(SERVER_HINT), code="no_adb_server", sent=sent
        )
    if isinstance(error, adb_errors.AdbInstallError | adb_errors.AdbSyncError):
        return DeviceRefused(f"{doing}: {said}", code="sync_failed", hint="is the phone's storage full?", sent=sent)
    if isinstance(error, adb_errors.AdbError):
        return from_words(str(error), doing, sent)
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
