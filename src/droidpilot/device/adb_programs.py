"""The adb programs on this computer, and what in its environment gets between them and a phone.

Each is only asked for its version, which talks to no server. It must never start one.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from droidpilot.core.errors import DeviceLost
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb_trouble import adb_binary

#: Seconds for `adb version`, which talks to nobody.
_VERSION_S = 10.0
#: The same for each of the others on a PATH.
_OTHER_S = 3.0
#: More programs than this on one PATH are not asked.
_MAX_PROGRAMS = 8
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")
#: What a NO_PROXY must hold, one of them, for the loopback to stay out of it.
_LOOPBACK = frozenset({"*", "127.0.0.1", "127.0.0.0/8", "127.", ".127.0.0.1", "127.*"})


@dataclass(frozen=True, slots=True)
class AdbProgram:
    """An adb program. `internal` is the number by which it judges a server, None where it says none."""

    path: str
    release: str
    internal: int | None


def adb_program() -> AdbProgram:
    """Find the adb program that is used and ask it for its version; no server is started.

    Raises:
        DeviceLost: code `no_adb`, there is none, or it does not run.
    """
    path = adb_binary()
    try:
        return _asked(path, _VERSION_S)
    except (OSError, subprocess.SubprocessError) as error:
        raise DeviceLost(
            f"{path} does not run: {one_line(str(error))}",
            hint="install Android's platform tools, or let ADBUTILS_ADB_PATH name an adb that runs",
            code="no_adb",
        ) from error


def programs_on(path: str, *, separator: str) -> list[AdbProgram]:
    """Ask every adb on a PATH for its version, each file once; one that does not run is left out.

    Folders that are not absolute are not looked into: what lies where a command happens to be run is not ours to start.
    """
    found: dict[Path, AdbProgram] = {}
    for folder in filter(os.path.isabs, path.split(separator)):
        for name in ("adb", "adb.exe"):
            program = Path(folder) / name
            try:
                real = program.resolve()
                if real in found or not program.is_file() or len(found) >= _MAX_PROGRAMS:
                    continue
                found[real] = _asked(str(program), _OTHER_S)
            except (OSError, subprocess.SubprocessError, RuntimeError):
                continue
    return list(found.values())


def loopback_proxies(env: Mapping[str, str]) -> tuple[str, ...]:
    """Name the proxy variables that catch requests to 127.0.0.1. Their values may hold a password and are not told."""
    spared = {part.strip().lower() for name in ("no_proxy", "NO_PROXY") for part in env.get(name, "").split(",")}
    if spared & _LOOPBACK:
        return ()
    return tuple(sorted(name for name, value in env.items() if name.lower() in _PROXIES and value))


def _asked(path: str, seconds: float) -> AdbProgram:
    done = subprocess.run([path, "version"], stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=True)
    text = done.stdout.decode("utf-8", "replace")
    release = re.search(r"^Version (\S+)", text, re.MULTILINE)
    internal = re.search(r"version 1\.0\.(\d{1,6})", text)
    return AdbProgram(path, shorten(release[1], 60) if release else "", int(internal[1]) if internal else None)
