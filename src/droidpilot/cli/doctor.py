"""`droidpilot doctor`: whether all that a session needs is there, line by line, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from droidpilot.cli import options, output
from droidpilot.core.errors import DroidpilotError, Exit, strictest_exit

if TYPE_CHECKING:
    from droidpilot.cli.doctor_checks import Finding

_STYLES: dict[str, output.Style] = {"ok": "good", "warn": "warn", "fail": "bad"}
_NAME_WIDTH = 15


def doctor(device: options.Device = None, json: options.Json = False) -> Exit:
    """Look at adb, phones, the in-phone server, the model's endpoint, the policy and the state folder.

    The phone is only read, but the in-phone server is started and stopped on the one that --device names or that is the
    only one; the model's endpoint is asked for its list of models, nothing else. It exits 0 without a failure
    (warnings are none), 2 where settings, key, policy or state folder fail, else 3 where adb or the phone does, else
    4 where the endpoint does.

    Example: droidpilot doctor --device virtual
    """
    report = _Report(is_shown=not json)
    _examine(report, device)
    code = strictest_exit({Exit.DONE} | {one.exit for one in report.findings if one.level == "fail"})
    if json:
        output.result_json({"checks": [_as_json(one) for one in report.findings], "exit_code": int(code)})
    return code


class _Report:
    """Shows findings as they come, and keeps them."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self.findings: list[Finding] = []

    def add(self, findings: Iterable[Finding]) -> None:
        for one in findings:
            self.findings.append(one)
            if self._is_shown:
                output.result(f"{one.level:4}  {one.name:{_NAME_WIDTH}}  {one.text}", style=_STYLES[one.level])
                if one.next_step:
                    output.result(f"{'':4}  {'':{_NAME_WIDTH}}  -> {one.next_step}")


def _examine(report: _Report, device: str | None) -> None:
    from droidpilot.cli import doctor_checks as checks
    from droidpilot.cli.starting import sources
    from droidpilot.cli.target import VIRTUAL, reap_dead
    from droidpilot.core.clock import SystemClock
    from droidpilot.core.config import environment, state_home

    clock = SystemClock()
    report.add(checks.program())
    try:
        found = sources({"device": device})
        report.add([checks.Finding("settings", "ok", _origins(found.loaded.origins))])
        home = state_home(environment())
    except DroidpilotError as error:
        # Without settings nothing else can be looked at as it would be used.
        report.add([checks.failure("settings", error)])
        return
    report.add(checks.state_folder(home))
    report.add(checks.leftovers(home, reap_dead(home)))
    report.add(checks.policy(found))
    report.add(checks.model(found, clock))
    port = found.settings.adb_port
    report.add(checks.adb(port, clock))
    if any(one.name.startswith("adb") and one.level == "fail" for one in report.findings):
        return
    chosen = found.settings.device
    if chosen != VIRTUAL:
        ready, findings = checks.phones(home, port, clock)
        report.add(findings)
        if chosen is None and len(ready) == 1:
            chosen = ready[0].device.serial
    if chosen is not None:
        report.add(checks.phone(chosen, adb_port=port, home=home, clock=clock, progress=_progress))


def _progress(text: str) -> None:
    output.note(f"... {text}", style="dim")


def _origins(origins: Mapping[str, str]) -> str:
    """Say which layers set something."""
    set_by = sorted({origin for origin in origins.values() if origin != "default"})
    return f"set by {', '.join(set_by)}" if set_by else "all at their defaults"


def _as_json(finding: Finding) -> dict[str, str]:
    return {"name": finding.name, "level": finding.level, "text": finding.text, "next_step": finding.next_step}
