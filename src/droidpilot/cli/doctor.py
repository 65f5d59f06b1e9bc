"""`droidpilot doctor`: whether all that a session needs is there, line by line, and what to do where it is not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import DroidpilotError, Exit, strictest_exit
from droidpilot.core.text import plural

if TYPE_CHECKING:
    from droidpilot.cli.findings import Finding, Group
    from droidpilot.device.card import Card

_STYLES: dict[str, output.Style] = {"ok": "good", "warn": "warn", "fail": "bad"}
_NAME_WIDTH = 17
_TITLES: Mapping[str, str] = {
    "computer": "this computer",
    "model": "the model",
    "adb": "adb and its phones",
    "phone": "the phone",
    "left behind": "what ended runs left behind",
}

Repair = Annotated[
    bool,
    typer.Option("--repair", help="Put back what killed runs left changed on phones, and clear what they left here."),
]


def doctor(device: options.Device = None, json: options.Json = False, repair: Repair = False) -> Exit:
    """Look at adb, phones, the in-phone server, the model's endpoint, the policy and the state folder.

    The phone is only read, and gets no input, but the in-phone server is started and stopped on the one that --device
    names or that is the only one. A phone that hangs costs at most 75 seconds. The model's endpoint is asked for its
    list of models, nothing else. It exits 0 without a failure (warnings are none), 2 where settings, key, policy or
    state folder fail, else 3 where adb or the phone does, else 4 where the endpoint does.

    --repair looks at none of that: it puts back keyboards and settings that a killed run left changed, where they are
    still as that run set them. It exits 0 with everything put back, 3 where a phone is away, 1 where something could
    not be put back.

    Example: droidpilot doctor --device virtual
    """
    report = _Report(is_shown=not json)
    if repair:
        _repair(report, device)
    else:
        _examine(report, device)
    code = strictest_exit({Exit.DONE} | {one.exit for one in report.findings if one.level == "fail"})
    if json:
        output.result_json(
            {
                "checks": [one.as_json() for one in report.findings],
                "cards": {serial: card.as_json() for serial, card in report.cards.items()},
                "exit_code": int(code),
            }
        )
    else:
        output.note(_sum(report.findings), style="dim")
    return code


class _Report:
    """Shows findings as they come, and keeps them."""

    def __init__(self, *, is_shown: bool) -> None:
        self._is_shown = is_shown
        self._shown_group = ""
        self.findings: list[Finding] = []
        self.cards: dict[str, Card] = {}

    def add(self, findings: Iterable[Finding], group: Group | None = None) -> None:
        for one in findings:
            found = one.of(group) if group is not None else one
            self.findings.append(found)
            if self._is_shown:
                self._show(found)

    def keep(self, serial: str, card: Card) -> None:
        self.cards[serial] = card

    def _show(self, one: Finding) -> None:
        if one.group != self._shown_group:
            self._shown_group = one.group
            output.result(f"{'':6}{_TITLES[one.group]}", style="bold")
        output.result(f"{one.level:4}  {one.name:{_NAME_WIDTH}}  {one.text}", style=_STYLES[one.level])
        if one.next_step:
            output.result(f"{'':4}  {'':{_NAME_WIDTH}}  -> {one.next_step}")


def _examine(report: _Report, device: str | None) -> None:
    from droidpilot.cli import doctor_adb, doctor_checks, doctor_model, doctor_phone, doctor_repair
    from droidpilot.cli.findings import failure, ok
    from droidpilot.cli.starting import sources
    from droidpilot.cli.target import VIRTUAL, reap_dead
    from droidpilot.core.clock import SystemClock
    from droidpilot.core.config import environment, state_home

    clock = SystemClock()
    env = environment()
    report.add(doctor_checks.program())
    try:
        found = sources({"device": device})
        report.add([ok("settings", _origins(found.loaded.origins))])
        home = state_home(env)
    except DroidpilotError as error:
        # Without settings nothing else can be looked at as it would be used.
        report.add([failure("settings", error)])
        return
    report.add(doctor_checks.state_folder(home))
    report.add(doctor_checks.leftovers(home, reap_dead(home)))
    report.add(doctor_checks.policy(found))
    report.add(doctor_checks.proxies(env))
    report.add(doctor_model.model(found, clock), "model")
    port = found.settings.adb_port
    chosen = found.settings.device
    report.add(doctor_adb.adb(port, env, clock, is_needed=chosen != VIRTUAL), "adb")
    if not any(one.group == "adb" and one.level == "fail" for one in report.findings):
        if chosen != VIRTUAL:
            ready, findings = doctor_adb.phones(home, port, clock)
            report.add(findings, "adb")
            if chosen is None and len(ready) == 1:
                chosen = ready[0].device.serial
        if chosen is not None:
            report.add(
                doctor_phone.phone(
                    chosen, adb_port=port, home=home, clock=clock, progress=_progress, on_card=report.keep
                )
            )
    report.add(doctor_repair.left(home, clock))


def _repair(report: _Report, device: str | None) -> None:
    from droidpilot.cli import doctor_repair
    from droidpilot.cli.starting import start
    from droidpilot.core.clock import SystemClock

    begun = start({"device": device})
    report.add(doctor_repair.repair(begun.home, begun.settings.device, begun.settings.adb_port, SystemClock()))


def _progress(text: str) -> None:
    output.note(f"... {text}", style="dim")


def _sum(findings: list[Finding]) -> str:
    """Count what asks for something."""
    failures, warnings = (sum(one.level == level for one in findings) for level in ("fail", "warn"))
    if not failures and not warnings:
        return "all is well"
    return f"{plural(failures, 'failure')}, {plural(warnings, 'warning')}"


def _origins(origins: Mapping[str, str]) -> str:
    """Say which layers set something."""
    set_by = sorted({origin for origin in origins.values() if origin != "default"})
    return f"set by {', '.join(set_by)}" if set_by else "all at their defaults"
