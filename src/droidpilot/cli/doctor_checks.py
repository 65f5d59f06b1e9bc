"""What `doctor` looks at, each as findings: one line, and what to do next. Shows nothing by itself.

It must never change anything but what its words say, and never tell a key.
"""

from __future__ import annotations

import platform
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from droidpilot import __version__
from droidpilot.cli.starting import Sources
from droidpilot.cli.target import VIRTUAL, Known, Target, attached_phones, chosen_phone, virtual_phones
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import ConfigError, DeviceBusy, DeviceError, DroidpilotError, Exit, PolicyError
from droidpilot.core.text import plural, shorten
from droidpilot.device.adb import AdbServer
from droidpilot.device.adb_server import is_server_there, private_servers_of
from droidpilot.device.doctor import PhoneFacts, adb_program, read_phone, try_server
from droidpilot.device.lease import Lease
from droidpilot.model.probe import ProbeResult, probe
from droidpilot.model.provider import ModelSettings, http_warning, is_cost_reported, key_for, parse_endpoint
from droidpilot.policy.policies import load_policy
from droidpilot.tools.shelf import all_tools
from droidpilot.virtual import registry
from droidpilot.virtual.registry import Entry

Level = Literal["ok", "warn", "fail"]

#: Seconds that the model's endpoint gets for its answer.
PROBE_S = 5.0
#: Seconds that an adb server which listens gets for its version.
ADB_S = 5.0
#: Seconds that the in-phone server gets, copying it included.
SERVER_S = 45.0
#: Less free space than this is told; a session with pictures is some 10 MB.
LOW_SPACE_BYTES = 500 * 1024 * 1024
#: Keyboards of automation tools, which show nothing. Left behind as the default, nobody can type on the phone.
_TOOL_KEYBOARDS = ("adbkeyboard", "adbime", "uiautomator", "atx", "fastinputime", "appium", "unicodeime")
#: The certificate check of wireless debugging can be bypassed before this patch level. Source: CVE-2026-0073.
_WIRELESS_PATCH, _WIRELESS_SDK = "2026-05-01", 34


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `exit` counts where it is a failure."""

    name: str
    level: Level
    text: str
    next_step: str = ""
    exit: Exit = Exit.DONE


def failure(name: str, error: DroidpilotError) -> Finding:
    """Make a failure of an error, with its exit code."""
    return Finding(name, "fail", error.message, error.hint, error.exit)


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
        yield Finding("state folder", "fail", f"{home} cannot be written: {said}", hint, Exit.USAGE)
        return
    text = f"{home}, {free / 1024**3:.1f} GiB free"
    if free < LOW_SPACE_BYTES:
        yield Finding("state folder", "warn", text, "make room: a transcript that cannot be written ends its session")
    else:
        yield Finding("state folder", "ok", text)


def leftovers(home: Path, dead: list[Entry]) -> Iterator[Finding]:
    """Name what killed commands left behind: `dead` was reaped already, unknown servers are only named."""
    for entry in dead:
        yield Finding("leftovers", "ok", f"virtual phone {entry.serial} was killed; forgotten, its adb server ended")
    known = {entry.adb_pid for entry in registry.entries(home)} | {entry.adb_pid for entry in dead}
    for pid, port in private_servers_of(home / "adb"):
        if pid not in known:
            text = f"a private adb server (process {pid}, port {port}) belongs to no virtual phone"
            yield Finding("leftovers", "warn", text, f"unless a command is just starting one: kill {pid}")


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


def model(found: Sources, clock: Clock) -> Iterator[Finding]:
    """Look at the model: its name, key and price, and whether its endpoint answers."""
    settings = found.settings
    if not settings.model:
        yield Finding("model", "warn", "none is set", "name one with DROIDPILOT_MODEL or --model; the demo needs none")
    try:
        host = parse_endpoint(settings.base_url).host
        warning = http_warning(settings.base_url)
        key = key_for(settings.base_url, found.api_keys)
    except ConfigError as error:
        # Without a model nothing is sent anywhere, so that a key is missing stops nobody yet.
        is_harmless = not settings.model and found.loaded.origins["base_url"] == "default"
        yield Finding("model key", "warn", error.message, error.hint) if is_harmless else failure("model key", error)
        return
    yield Finding("model key", "ok", f"{key.name} is set and goes to {host}" if key.name else f"{host} needs none")
    if warning:
        yield Finding("model endpoint", "warn", warning)
    yield _price(found)
    if settings.model or found.loaded.origins["base_url"] != "default":
        wanted = ModelSettings(model=settings.model or "(none)", base_url=settings.base_url, key=key)
        try:
            yield _endpoint(probe(wanted, clock=clock, timeout_s=PROBE_S), settings.model, host)
        except ConfigError as error:
            yield failure("model endpoint", error)


def _price(found: Sources) -> Finding:
    settings = found.settings
    if settings.prices is not None:
        prices = settings.prices
        text = (
            f"{prices.input:g} / {prices.output:g} USD per million tokens in / out ({found.loaded.origins['prices']})"
        )
        return Finding("model price", "ok", text)
    if is_cost_reported(settings.base_url):
        return Finding("model price", "ok", "reported by the endpoint with each reply")
    hint = "set [prices] input and output in your config.toml; 0 if it is free"
    if settings.max_usd is not None:
        return Finding("model price", "fail", "unknown, so max_usd cannot be kept", hint, Exit.USAGE)
    return Finding("model price", "warn", "unknown: sessions will not say what they cost", hint)


def _endpoint(result: ProbeResult, wanted: str | None, host: str) -> Finding:
    error = result.error
    if error is not None:
        if error.code == "model_timeout":
            return Finding(
                "model endpoint",
                "fail",
                f"{host} did not answer in {PROBE_S:g} s",
                "is the server running?",
                Exit.MODEL,
            )
        return failure("model endpoint", error)
    answered = f"{host} answered in {result.ms} ms"
    known = result.knows(wanted) if wanted else None
    if known is False:
        names = ", ".join(sorted(result.models or ())[:5]) or "none"
        hint = f"it lists {plural(len(result.models or ()), 'model')}: {shorten(names, 200)}"
        return Finding("model endpoint", "warn", f"{answered} and does not list {wanted}", hint)
    if result.models is None:
        return Finding("model endpoint", "ok", f"{answered}; it has no list of models, so the name was not checked")
    return Finding("model endpoint", "ok", f"{answered} and lists {wanted or plural(len(result.models), 'model')}")


def adb(port: int, clock: Clock) -> Iterator[Finding]:
    """Find the adb program and the server; the server is not started here."""
    try:
        found = adb_program()
    except DeviceError as error:
        yield failure("adb program", error)
        return
    yield Finding("adb program", "ok", f"{found.path} ({found.release or 'version unknown'})")
    server = AdbServer(port)
    try:
        if not is_server_there(server, Deadline.after(clock, ADB_S)):
            yield Finding("adb server", "ok", f"none answered on port {port}, so one is started there; it stays")
            return
        version = server.version(Deadline.after(clock, ADB_S))
    except DeviceError as error:
        yield failure("adb server", error)
        return
    if found.internal is not None and version != found.internal:
        text = f"the one on port {port} has version {version}, the program {found.internal}"
        hint = "droidpilot uses it as it is; that adb program would restart it and cut every phone off"
        yield Finding("adb server", "warn", text, hint)
    else:
        yield Finding("adb server", "ok", f"one answers on port {port}; it is used as it is")


def phones(home: Path, adb_port: int, clock: Clock) -> tuple[list[Known], list[Finding]]:
    """List the phones that could be used and say what to do about the others; starts an adb server where none is."""
    virtual = virtual_phones(home)
    ours = {one.device.serial for one in virtual}
    findings: list[Finding] = []
    try:
        attached = [one for one in attached_phones(adb_port, clock) if one.device.serial not in ours]
    except DeviceError as error:
        attached = []
        findings.append(failure("adb server", error))
    found = [*attached, *virtual]
    for one in found:
        device = one.device
        kind = "virtual" if one.is_virtual else device.transport
        about = f"{device.serial} ({', '.join(filter(None, (device.model, kind)))})"
        if device.is_ready:
            findings.append(Finding("phone", "ok", f"{about} is ready"))
        else:
            findings.append(Finding("phone", "warn", f"{about} is {device.state}", device.next_step))
    if not found and not findings:
        hint = "plug one in with USB debugging on, or try: droidpilot doctor --device virtual"
        findings.append(Finding("phone", "warn", "none is attached", hint))
    return [one for one in found if one.device.is_ready], findings


def phone(
    device: str, *, adb_port: int, home: Path, clock: Clock, progress: Callable[[str], None]
) -> Iterator[Finding]:
    """Look at one phone through adb, and try the in-phone server on it. Nobody else may be using it."""
    with ExitStack() as stack:
        try:
            target = stack.enter_context(chosen_phone(device, adb_port=adb_port, home=home, clock=clock))
            if device == VIRTUAL:
                yield Finding("phone", "ok", f"{target.serial} (virtual) was started for this command")
            facts = read_phone(AdbServer(target.adb_port), target.serial, clock)
        except DeviceError as error:
            yield failure("phone", error)
            return
        yield from _about(facts, target)
        try:
            stack.enter_context(Lease.take(home, target.serial, clock=clock))
        except DeviceBusy as error:
            yield Finding("in-phone server", "warn", f"not tried: {error.message}", error.hint)
            return
        yield _server(target, facts, clock, progress)


def _about(facts: PhoneFacts, target: Target) -> Iterator[Finding]:
    release = f"Android {facts.release} (API {facts.sdk})" if facts.sdk else "an Android that does not say which"
    yield Finding("phone", "ok", f"{target.serial} is {facts.model or 'a phone'} with {release}")
    if not facts.keyboard:
        hint = "choose one in the phone's settings, or nobody can type there"
        yield Finding("keyboard", "warn", "none is the default", hint)
    elif any(name in facts.keyboard.lower() for name in _TOOL_KEYBOARDS):
        hint = "choose your own in the phone's settings: another tool switched it and did not switch it back"
        yield Finding("keyboard", "warn", f"{facts.keyboard} is one of an automation tool", hint)
    else:
        yield Finding("keyboard", "ok", f"{facts.keyboard}; droidpilot leaves it as it is")
    if facts.accessibility:
        names = ", ".join(one.rpartition("/")[2] for one in facts.accessibility)
        hint = "Android suspends them while the in-phone server runs; they come back with its end"
        yield Finding("accessibility", "warn", f"{shorten(names, 200)} is on", hint)
    is_wireless = not target.is_virtual and ":" in target.serial
    if is_wireless and facts.sdk >= _WIRELESS_SDK and "" < facts.security_patch < _WIRELESS_PATCH:
        hint = "use a cable, or update the phone: others in this network could take it over (CVE-2026-0073)"
        yield Finding("wireless adb", "warn", f"security patch {facts.security_patch}", hint)


def _server(target: Target, facts: PhoneFacts, clock: Clock, progress: Callable[[str], None]) -> Finding:
    deadline = Deadline.after(clock, SERVER_S)
    try:
        answer = try_server(AdbServer(target.adb_port), target.serial, clock, deadline, progress=progress)
    except DeviceError as error:
        return failure("in-phone server", error)
    ping = f"ping {answer.ping_ms:g} ms"
    if answer.start_ms is None:
        return Finding("in-phone server", "ok", f"one ran already and was left running, {ping}")
    copied = "" if facts.is_jar_there else "copied to the phone, "
    return Finding("in-phone server", "ok", f"{copied}started in {answer.start_ms} ms, {ping}, stopped again")
