"""The command as a user runs it, a virtual phone of its own process, and a scripted model of its own process."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest import mock

from droidpilot.cli.app import app, guarded
from droidpilot.model.scripted import ScriptedServer, parse_script

COMMAND = Path(sys.executable).with_name("droidpilot")


class Shell:
    """Runs the installed command in an empty folder with an empty home, away from the user's adb server."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.cwd = root / "cwd"
        self.cwd.mkdir(parents=True)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.adb_port: int = probe.getsockname()[1]

    def environment(self, **more: str) -> dict[str, str]:
        return {
            "DROIDPILOT_HOME": str(self.home),
            "HOME": str(self.cwd),
            "PATH": os.environ["PATH"],
            # Where the tests run on another tree than the installed one, the command does too.
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
            "ANDROID_ADB_SERVER_PORT": str(self.adb_port),
            "ADB_USB": "0",
            "ADB_MDNS": "0",
            "ADB_LOCAL_TRANSPORT_MAX_PORT": "5553",
            # A tree that is not the installed one is tested as it is.
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
            **more,
        }

    def run(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [COMMAND, *words],
            cwd=self.cwd,
            env=self.environment(**env),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=90,
            check=False,
            stdin=subprocess.DEVNULL,
        )

    def quick(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run the same command inside this process: what `run` does, without half a second of imports."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch.dict(os.environ, self.environment(**env), clear=True),
            chdir(self.cwd),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            try:
                code = int(guarded(lambda: app(list(words), prog_name="droidpilot")))
            except SystemExit as end:
                code = int(end.code or 0)
        return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())

    def json(self, *words: str, code: int = 0, **env: str) -> Any:
        """Run with `--json` and read the one document on stdout."""
        done = self.quick(*words, "--json", **env)
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [COMMAND, *words],
            cwd=self.cwd,
            env=self.environment(**env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )

    @contextmanager
    def serving(self, *words: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """Run a command that serves until it is told to end; give it and its first line on stdout."""
        process = self.start(*words, **env)
        assert process.stdout is not None and process.stderr is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=30)

    def end_adb_server(self) -> None:
        """End the adb server of this shell's own port, where a command started one."""
        import adbutils

        subprocess.run(
            [adbutils.adb_path(), "-P", str(self.adb_port), "kill-server"],
            env=self.environment(),
            capture_output=True,
            timeout=30,
            check=False,
        )


class Bench:
    """A shell with a running virtual phone, and scripted models on demand."""

    def __init__(self, shell: Shell, serial: str, stack: ExitStack) -> None:
        self.shell = shell
        self.serial = serial
        self._stack = stack

    def model(self, script: str) -> tuple[str, ...]:
        """Start a scripted model and return the options that name it."""
        server = self._stack.enter_context(ScriptedServer(parse_script(script)))
        return ("--model", server.model, "--base-url", server.base_url, "--device", self.serial)

    def state(self) -> Any:
        return self.shell.json("virtual", "state", self.serial)

    def call(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        return self.shell.quick("call", *words, "--device", self.serial, **env)

    def look(self) -> Any:
        return self.shell.json("look", "--device", self.serial)

    def ref(self, label: str) -> int:
        """Look, and return the ref of the first usable thing whose label begins so."""
        return int(next(one["ref"] for one in self.look()["refs"] if one["label"].startswith(label)))


@contextmanager
def running_bench(root: Path) -> Iterator[Bench]:
    """Start a virtual phone in a process of its own, and end all that was started with it."""
    shell = Shell(root)
    with ExitStack() as stack:
        stack.callback(shell.end_adb_server)
        _, serial = stack.enter_context(shell.serving("virtual", "start", "--seed", "5"))
        yield Bench(shell, serial, stack)


def script(*replies: str, then: str = "done") -> str:
    """Write a script for the scripted model, each reply given as YAML."""
    return "steps:\n" + "".join(f"  - {reply}\n" for reply in replies) + f"then: {then}\n"
