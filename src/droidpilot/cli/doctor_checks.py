"""What `doctor` looks at on this computer: the program, the state folder, the policy, its environment.

Shows nothing by itself. It must never change anything but what its words say.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from droidpilot import __version__
from droidpilot.cli.findings import Finding, fail, failure, ok, warn
from droidpilot.cli.starting import Sources
from droidpilot.core.errors import Exit, PolicyError
from droidpilot.core.text import plural
from droidpilot.device.adb_programs import loopback_proxies
from droidpilot.device.adb_server import private_servers_of
from droidpilot.policy.policies import load_policy
from droidpilot.tools.shelf import all_tools
from droidpilot.virtual import registry
from droidpilot.virtual.registry import Entry

#: Less free space than this is told; a session with pictures is some 10 MB.
LOW_SPACE_BYTES = 500 * 1024 * 1024


def program() -> Iterator[Finding]:
    """Say what runs, for bug reports."""
    yield Finding(
        "droidpilot",
        "ok",
        f"{__version__}, Python {platform.python_version()}, {platform.system()} {platform.machine()}",
    )


def state_folder(home: Path) -> Iterator[Finding]:
    """Write a file into the state folder and look for its free space."""
    try:
        with tempfile.TemporaryFile(dir=home) as probe_file:
            probe_file.write(b"droidpilot")
            probe_file.flush()
        free = shutil.disk_usage(home).free
    except OSError as error:
        said = error.strerror or str(error)
        hint = "set DROIDPILOT_HOME to a folder you can write"
        yield fail("state folder", "not_writable", f"{home} cannot be written: {said}", hint, Exit.USAGE)
        return
    text = f"{home}, {free / 1024**3:.1f} GiB free"
    if free < LOW_SPACE_BYTES:
        hint = "make room: a transcript that cannot be written ends its session"
        yield warn("state folder", "low_space", text, hint)
    else:
        yield ok("state folder", text)


def leftovers(home: Path, dead: list[Entry]) -> Iterator[Finding]:
    """Name what killed commands left behind: `dead` was reaped already, unknown servers are only named."""
    for entry in dead:
        yield ok("leftovers", f"virtual phone {entry.serial} was killed; forgotten, its adb server ended", "reaped")
    known = {entry.adb_pid for entry in registry.entries(home)} | {entry.adb_pid for entry in dead}
    for pid, port in private_servers_of(home / "adb"):
        if pid not in known:
            text = f"a private adb server (process {pid}, port {port}) belongs to no virtual phone"
            hint = f"unless a command is just starting one: kill {pid}, or run droidpilot doctor --repair"
            yield warn("leftovers", "server", text, hint)


def policy(found: Sources) -> Iterator[Finding]:
    """Read the rules that would be in force."""
    try:
        loaded = load_policy(
            found.settings.policy,
            user_dir=found.user_policies,
            shipped_dir=found.shipped_policies,
            extra_lines=found.loaded.rules,
            tools=all_tools().names,
        )
    except PolicyError as error:
        yield failure("policy", error)
        return
    more = f" and {len(loaded.rules.tightening)} of the project" if loaded.rules.tightening else ""
    yield Finding("policy", "ok", f"{loaded.name}, {plural(len(loaded.rules.rules), 'line')}{more} ({loaded.path})")


def proxies(env: Mapping[str, str]) -> Iterator[Finding]:
    """Name proxy variables that catch the loopback, on which every phone is reached."""
    names = loopback_proxies(env)
    if names:
        verb = "catches" if len(names) == 1 else "catch"
        yield warn(
            "proxy",
            "catches_loopback",
            f"{', '.join(names)} {verb} 127.0.0.1 too; droidpilot never uses it there, other adb tools may",
            "set NO_PROXY=127.0.0.1,localhost",
        )
    else:
        yield ok("proxy", "none stands between this computer and its phones")
