"""A virtual phone to test against: policies, scripts and screens, without a phone, a key or a network.

A door like the command line, for programs: the pytest plugin's fixture is one of these, and anything else may use
`virtual_phone` with a `with`. Everything that is done here goes down the same road as on a real phone: through a real
adb server of its own, the gates, and a transcript under `home`. It must never become a second way round the gates.
"""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from droidpilot.cli.app import app, guarded
from droidpilot.cli.by_hand import one_call
from droidpilot.cli.starting import start
from droidpilot.core.calls import Status
from droidpilot.core.clock import Clock, Deadline, SystemClock
from droidpilot.core.errors import DeviceError, UsageError
from droidpilot.device.adb_server import PrivateServer, start_private_server
from droidpilot.device.attached import connect_tcp
from droidpilot.model.scripted import ScriptedServer, parse_script
from droidpilot.virtual import registry
from droidpilot.virtual.actions import act
from droidpilot.virtual.faults.faults import Faults, read_option
from droidpilot.virtual.scenes.file import Script, read_scene, scene_of
from droidpilot.virtual.scenes.scene import show
from droidpilot.virtual.server import VirtualPhone, running_phone

ATTACH_S = 10.0
SceneLike = str | Path | bytes
"""The path of a dump or of a folder with a scene.toml, or the bytes of a dump."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command."""

    exit_code: int
    """See `droidpilot --help`: 0 done and checked, 1 failed, 5 refused, 8 done but not checked, ..."""
    out: str
    err: str

    def json(self) -> Any:
        """Return what a command with `--json` printed.

        Raises:
            ValueError: it printed no JSON; the message is what it said instead.
        """
        try:
            return json.loads(self.out)
        except ValueError:
            raise ValueError(f"no JSON, exit code {self.exit_code}: {self.err.strip() or self.out.strip()}") from None


@dataclass(frozen=True, slots=True)
class Called:
    """What became of one tool call."""

    status: str
    """ok, refused, logic, transient, fatal, unknown or stopped."""
    code: str
    """Why, in one word: no_ref, covered, nobody_to_ask, ... Empty where all went well."""
    text: str
    """What a model would be told."""
    gate: str
    """The gate that refused; empty where none did."""
    rule: str
    """The line of the policy that decided, as `FILE:LINE: line`; empty where none did."""
    exit_code: int

    @property
    def is_ok(self) -> bool:
        return self.status == Status.OK.value

    @property
    def is_refused(self) -> bool:
        return self.status == Status.REFUSED.value


class PhoneUnderTest:
    """A running virtual phone, and droidpilot as somebody would use it on that phone."""

    def __init__(self, running: VirtualPhone, server: PrivateServer, home: Path) -> None:
        self._running = running
        self._server = server
        self.home = home
        """The state folder: transcripts lie in `home / "sessions"`, rules of one's own in `home / "policies"`."""

    @property
    def serial(self) -> str:
        return self._running.serial

    @property
    def adb_port(self) -> int:
        """Port of the adb server on 127.0.0.1 that knows this phone and no other."""
        return self._server.port

    @property
    def faults(self) -> Faults:
        """What is broken: `set(name, *args)`, `schedule(name, at_call, *args)`, `clear()`."""
        return self._running.phone.faults

    def state(self) -> dict[str, Any]:
        """Return the truth about the phone, whatever anybody was told: what is in front, settings, inputs, apps."""
        return self._running.phone.state()

    @property
    def inputs(self) -> list[dict[str, Any]]:
        """The taps, swipes, keys and texts that the phone really executed, oldest first, each with what it was `on`."""
        return list(self._running.phone.inputs.events)

    def show(self, scene: SceneLike) -> None:
        """Show a dump, or a folder of them, as the screen from now on.

        Raises:
            UsageError: it cannot be read.
        """
        show(self._running.phone, _script(scene))

    def look(self) -> dict[str, Any]:
        """Look at the screen as `droidpilot look --json` does: package, lines, and refs with their labels.

        Raises:
            DeviceError: the screen cannot be read; its code says why: empty, null_root, never_idle, ...
            ValueError: the look was refused.
        """
        told: dict[str, Any] = self.droidpilot("look", "--json", "--device", self.serial).json()
        if error := told.get("error"):
            raise DeviceError(error["message"], hint=error["hint"], code=error["code"])
        return told

    def ref(self, label: str) -> int:
        """Look, and return the ref of the one usable thing whose label begins with these words.

        Raises:
            LookupError: there is none, or there are several; the message lists the labels.
        """
        labels = {int(one["ref"]): str(one["label"]) for one in self.look()["refs"]}
        found = [ref for ref, said in labels.items() if said.startswith(label)]
        if len(found) != 1:
            raise LookupError(f"{len(found)} things begin with {label!r} on the screen: {sorted(labels.values())}")
        return found[0]

    def do(self, action: str, *words: str) -> None:
        """Do to the phone what no cable can, as `droidpilot virtual do` does: turn it, lock it, let an app crash, ...

        Raises:
            UsageError: no such action, or words that it does not take; `droidpilot virtual actions` lists them.
        """
        act(self._running.phone, action, words)

    def call(
        self, tool: str, *, policy: str | Path | None = None, rules: str | None = None, **arguments: Any
    ) -> Called:
        """Take one tool call down the road, as `droidpilot call` does, with nobody at a terminal to be asked.

        `policy` is a name or the path of a rules file, `rules` the text of one; the default policy without both.

        Raises:
            UsageError, PolicyError: no such tool, arguments that do not fit, rules that cannot be read.
            DeviceError: the phone cannot be reached.
        """
        words = {name: value if isinstance(value, str) else json.dumps(value) for name, value in arguments.items()}
        flags = {"device": self.serial, "policy": self._policy(policy, rules)}
        with self._alone():
            done = one_call(start(flags), tool, words)
        refusal = next((verdict for verdict in done.result.verdicts if verdict.answer.value != "allow"), None)
        rule = next((verdict.rule for verdict in done.result.verdicts if verdict.rule), None)
        return Called(
            status=done.result.status.value,
            code=done.result.code,
            text=done.result.text,
            gate=refusal.gate if refusal is not None else "",
            rule=str(rule) if rule is not None else "",
            exit_code=int(done.exit),
        )

    def run(
        self,
        goal: str,
        *,
        script: str | Path,
        policy: str | Path | None = None,
        rules: str | None = None,
        checks: Sequence[str] = (),
    ) -> Ran:
        """Run a goal as `droidpilot run` does, with a scripted model in place of a real one.

        `script` is the text of a script or its path (see docs/howto/model-server.md), `checks` are texts as `--check`
        takes them. `json()` of what is returned tells outcome, reason and calls.

        Raises:
            UsageError: the script cannot be read.
        """
        text = script.read_text(encoding="utf-8") if isinstance(script, Path) else script
        with ScriptedServer(parse_script(text)) as server:
            words = ["run", goal, "--json", "--device", self.serial, "--model", server.model]
            words += ["--base-url", server.base_url, *(word for check in checks for word in ("--check", check))]
            given = self._policy(policy, rules)
            return self.droidpilot(*words, *(("--policy", given) if given is not None else ()))

    def droidpilot(self, *words: str) -> Ran:
        """Run any command of droidpilot in this process, with this phone's adb server and state folder.

        A command drives this phone with `--device`, `phone.serial`.
        """
        with self._alone() as (out, err):
            try:
                code = int(guarded(lambda: app(list(words), prog_name="droidpilot")))
            except SystemExit as end:
                code = int(end.code or 0)
        return Ran(code, out.getvalue(), err.getvalue())

    # inside

    def _policy(self, policy: str | Path | None, rules: str | None) -> str | None:
        if policy is not None and rules is not None:
            raise UsageError("policy and rules are given", hint="give the path of a file, or the text of one")
        if rules is not None:
            path = self.home / "given.rules"
            path.write_text(rules if rules.endswith("\n") else f"{rules}\n", encoding="utf-8")
            return str(path)
        if isinstance(policy, Path):
            return str(policy.resolve())
        return policy

    @contextmanager
    def _alone(self) -> Iterator[tuple[io.StringIO, io.StringIO]]:
        """Keep the settings, keys, phones and terminal of whoever runs the tests out of a command."""
        out, err = io.StringIO(), io.StringIO()
        mine = {
            "DROIDPILOT_HOME": str(self.home),
            "ANDROID_ADB_SERVER_PORT": str(self.adb_port),
            "ANDROID_ADB_SERVER_ADDRESS": None,
            "ANDROID_SERIAL": None,
        }
        others = dict.fromkeys([name for name in os.environ if name.startswith("DROIDPILOT_")], None)
        with _environment({**others, **mine}), _stdin(io.StringIO()), redirect_stdout(out), redirect_stderr(err):
            yield out, err


@contextmanager
def virtual_phone(
    *,
    scene: SceneLike | None = None,
    faults: Sequence[str] = (),
    seed: int = 0,
    profile: str | None = None,
    transition_ms: int = 0,
    home: Path | None = None,
    server: PrivateServer | None = None,
    clock: Clock | None = None,
) -> Iterator[PhoneUnderTest]:
    """Run a virtual phone behind an adb server of its own for the length of a `with`.

    `faults` are texts as `virtual start --fault` takes them, `profile` is fast, middling or old, `seed` makes another
    phone of the same kind; windows slide only where `transition_ms` is above 0. `home` is the state folder, a temporary
    one where it is left out; `server` an adb server that serves several phones.

    Raises:
        UsageError: a scene that cannot be read, no such fault or profile.
        DeviceError: the adb server or the phone does not start.
    """
    clock = clock or SystemClock()
    script = _script(scene) if scene is not None else None
    broken = [read_option(text) for text in (*faults, *((f"slow,{profile}",) if profile is not None else ()))]
    with (
        _folder(home) as folder,
        _server(server, folder, clock) as adb,
        running_phone(seed=seed, transition_ms=transition_ms, scene=script) as running,
    ):
        connect_tcp(adb.server, running.serial, Deadline.after(clock, ATTACH_S))
        entry = replace(running.entry, adb_port=adb.port)
        registry.register(folder, entry)
        try:
            for name, at_call, args in broken:
                _break(running.phone.faults, name, at_call, args)
            yield PhoneUnderTest(running, adb, folder)
        finally:
            registry.remove(folder, entry)
            running.phone.faults.clear()
            adb.server.ask(f"host:disconnect:{running.serial}", Deadline.after(clock, ATTACH_S))


@contextmanager
def adb_server(folder: Path) -> Iterator[PrivateServer]:
    """Run an adb server that nobody else uses, with its keys and log in `folder`."""
    private = start_private_server(folder, SystemClock())
    try:
        yield private
    finally:
        private.stop()


def _break(faults: Faults, name: str, at_call: str | None, args: Sequence[str]) -> None:
    if at_call is None:
        faults.set(name, *args)
    else:
        faults.schedule(name, at_call, *args)


def _script(scene: SceneLike) -> Script:
    return scene_of(scene) if isinstance(scene, bytes) else read_scene(Path(scene))


@contextmanager
def _folder(home: Path | None) -> Iterator[Path]:
    if home is not None:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield home
        return
    with tempfile.TemporaryDirectory(prefix="droidpilot-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@contextmanager
def _server(server: PrivateServer | None, folder: Path, clock: Clock) -> Iterator[PrivateServer]:
    if server is not None:
        yield server
        return
    with adb_server(folder / "adb") as private:
        yield private


@contextmanager
def _environment(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set variables, or take them away where the value is None; put all of them back."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@contextmanager
def _stdin(empty: io.StringIO) -> Iterator[None]:
    """Give a command an input that is at its end and no terminal: nobody can be asked."""
    before, sys.stdin = sys.stdin, empty
    try:
        yield
    finally:
        sys.stdin = before
