"""`droidpilot policy`: which rules there are, whether they can be read, and what they would say of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from droidpilot.cli import options, output, policy_replay
from droidpilot.core.errors import Exit, UsageError
from droidpilot.core.text import plural

if TYPE_CHECKING:
    from droidpilot.cli.starting import Sources
    from droidpilot.pipeline.imagined import Ending, Foretold, Thing
    from droidpilot.policy.policies import Policy

app = typer.Typer(
    help="List, check and explain rules.", rich_markup_mode=None, no_args_is_help=True, add_completion=False
)

app.command("replay", short_help="Say what these rules would have decided over past sessions.")(policy_replay.replay)

#: Characters of an imagined label or id that are taken.
_MAX_GIVEN = 5_000


_CallArguments = Annotated[
    list[str] | None,
    typer.Argument(metavar="[KEY=VALUE]...", help="Arguments of the tool where they matter: key=enter, text=hello."),
]
_Package = Annotated[
    str, typer.Option("--package", metavar="NAME", help="The app; left out, it is one that cannot be told.")
]
_Text = Annotated[
    str,
    typer.Option(
        "--text",
        metavar="LABEL",
        help="What the thing under the finger says; the key for press, NAMESPACE/KEY for read_setting.",
    ),
]
_Id = Annotated[str, typer.Option("--id", metavar="ID", help="Its resource id.")]
_Password = Annotated[bool, typer.Option("--password", help="It is a password field.")]


@app.command("list", short_help="List the policies that --policy takes by name.")
def list_policies(json: options.Json = False) -> Exit:
    """List the policies that --policy takes by name, shipped ones and your own.

    Example: droidpilot policy list
    """
    from droidpilot.cli.starting import sources
    from droidpilot.core.errors import PolicyError
    from droidpilot.policy.policies import policy_names

    found = sources({})
    rows: list[dict[str, Any]] = []
    for name in policy_names(user_dir=found.user_policies, shipped_dir=found.shipped_policies):
        try:
            policy = loaded_policy(found, name)
        except PolicyError as error:
            rows.append({"name": name, "lines": None, "path": None, "problem": str(error)})
            continue
        rows.append({"name": name, "lines": len(policy.rules.rules), "path": str(policy.path), "problem": ""})
    if json:
        output.result_json({"policies": rows, "in_force": found.settings.policy})
        return Exit.DONE
    output.table(
        [
            ("", "POLICY", "LINES", "FILE"),
            *(
                (
                    "*" if row["name"] == found.settings.policy else "",
                    row["name"],
                    "" if row["lines"] is None else str(row["lines"]),
                    row["path"] or row["problem"],
                )
                for row in rows
            ),
        ]
    )
    return Exit.DONE


@app.command(short_help="Read rules and say which lines can never decide; or whether a call may go ahead.")
def check(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME|PATH|TOOL]",
            help="A policy's name, or a path with a slash; the one in force if left out. Or a tool, to check a call.",
        ),
    ] = None,
    arguments: _CallArguments = None,
    package: _Package = "",
    text: _Text = "",
    resource_id: _Id = "",
    password: _Password = False,
    policy: options.Policy = None,
    ask: options.Ask = None,
    json: options.Json = False,
) -> Exit:
    """Read a policy completely; the first line that is not understood is exit 2 with its number.

    It warns of lines that can never decide because one line before them always does, and of lines that refuse a tool
    altogether because there is nothing for `matching` to see. Warnings alone exit 0.

    With a tool it checks one imagined call, as explain does: exit 0 if it goes ahead with nobody at a terminal, else 5.

    Examples: droidpilot policy check ./my.rules; droidpilot policy check tap --package com.shop --text "Pay now"
    """
    from droidpilot.tools.shelf import all_tools

    if what in all_tools().names or arguments or package or text or resource_id or password:
        if what is None:
            raise UsageError("a call to check needs a tool", hint='droidpilot policy check tap --text "Pay now"')
        thing = _thing(package, text, resource_id, password)
        return Exit.DONE if _explained(what, arguments, thing, policy, ask, json) == "goes_ahead" else Exit.REFUSED
    if what is not None and policy is not None:
        raise UsageError("two policies are named", hint=f"give {what} or --policy {policy}")
    return _check_rules(what if what is not None else policy, json)


def _check_rules(policy: str | None, json: bool) -> Exit:
    from droidpilot.cli.starting import sources
    from droidpilot.core.clock import SystemClock
    from droidpilot.pipeline.imagined import tools_without_app, unmatchable_tools
    from droidpilot.policy.remarks import remarks
    from droidpilot.tools.shelf import all_tools

    found = sources({"policy": policy})
    loaded = loaded_policy(found, found.settings.policy)
    blind, appless = unmatchable_tools(all_tools(), SystemClock()), tools_without_app(all_tools())
    told = [
        remark
        for rules in (loaded.rules.rules, loaded.rules.tightening)
        for remark in remarks(rules, unmatchable=blind, without_app=appless)
    ]
    if json:
        output.result_json(
            {
                "policy": loaded.name,
                "path": str(loaded.path),
                "lines": len(loaded.rules.rules),
                "project_lines": len(loaded.rules.tightening),
                "digest": loaded.digest,
                "warnings": [
                    {"source": one.rule.source, "line": one.rule.line, "rule": one.rule.text, "warning": one.text}
                    for one in told
                ],
            }
        )
        return Exit.DONE
    for one in told:
        output.result(f"{one.rule}: {one.text}", style="warn")
    more = (
        f" and {len(loaded.rules.tightening)} of {loaded.rules.tightening[0].source}" if loaded.rules.tightening else ""
    )
    lines, warnings = plural(len(loaded.rules.rules), "line"), plural(len(told), "warning")
    output.result(f"{loaded.name}: {lines}{more}, {warnings} ({loaded.path})")
    return Exit.DONE


@app.command(short_help="Say what the rules would do with a call, and why.")
def explain(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="tap, type_text, press, open_app, ui_tree, ...")],
    arguments: _CallArguments = None,
    package: _Package = "",
    text: _Text = "",
    resource_id: _Id = "",
    password: _Password = False,
    policy: options.Policy = None,
    ask: options.Ask = None,
    json: options.Json = False,
) -> Exit:
    """Say which line decides an imagined call, which reasons to worry there are, and what would come of it.

    It asks the same gates as a real call, without a phone. Whatever it says, it exits 0.

    Example: droidpilot policy explain tap --package com.shop --text "Pay now"
    """
    _explained(tool, arguments, _thing(package, text, resource_id, password), policy, ask, json)
    return Exit.DONE


def _thing(package: str, text: str, resource_id: str, password: bool) -> Thing:
    from droidpilot.pipeline.imagined import Thing

    for name, value in (("--package", package), ("--text", text), ("--id", resource_id)):
        if len(value) > _MAX_GIVEN:
            raise UsageError(f"{name} is longer than {_MAX_GIVEN} characters", hint="give a part of it")
    return Thing(package=package, text=text, resource_id=resource_id, is_password=password)


def _explained(
    tool: str, arguments: list[str] | None, thing: Thing, policy: str | None, ask: str | None, json: bool
) -> Ending:
    """Print what the gates would say of an imagined call, and return what would come of it with nobody there."""
    from droidpilot.cli.call import parsed
    from droidpilot.cli.starting import sources
    from droidpilot.core.clock import SystemClock
    from droidpilot.pipeline.approval import AskMode
    from droidpilot.pipeline.imagined import foretell
    from droidpilot.tools.shelf import all_tools

    found = sources({"policy": policy, "ask": ask})
    loaded = loaded_policy(found, found.settings.policy)
    told = foretell(
        tool,
        parsed(arguments or []),
        thing,
        registry=all_tools(),
        rules=loaded.rules,
        mode=AskMode(found.settings.ask),
        clock=SystemClock(),
    )
    if json:
        output.result_json(_as_json(told, tool, loaded, found.settings.ask))
    else:
        for line in _lines(told, loaded, found.settings.ask):
            output.result(line)
    return told.alone


def loaded_policy(found: Sources, name: str) -> Policy:
    """Read a policy by its name or path, with the project's own lines on top. Raises PolicyError."""
    from droidpilot.policy.policies import load_policy
    from droidpilot.tools.shelf import all_tools

    return load_policy(
        name,
        user_dir=found.user_policies,
        shipped_dir=found.shipped_policies,
        extra_lines=found.loaded.rules,
        tools=all_tools().names,
    )


_TOLD = {
    "goes_ahead": "goes ahead without a question",
    "asks": "you are asked, y or n",
    "asks_strongly": "you are asked, and must type {challenge} to allow it",
    "refused": "refused",
}


def _lines(told: Foretold, loaded: Policy, ask: str) -> list[str]:
    rule = told.rules
    where = " (the app cannot be told: name it with --package)" if told.is_app_missing else ""
    said = (
        f"{rule.answer.value} by {rule.rule}"
        if rule.rule
        else f"no line of {loaded.name} matches, so --ask {ask} decides"
    )
    if rule.rule and rule.code != "rule":
        said += f" ({rule.code})"
    challenge = told.question.challenge if told.question is not None else ""
    lines = [
        f"call:          {told.sentence}{where}",
        f"rules:         {said}",
        *(f"signal:        {signal.detail} ({signal.name})" for signal in told.signals),
        *(f"why:           {why}" for why in _other_reasons(told)),
        f"at a terminal: {_TOLD[told.at_terminal].format(challenge=challenge)}",
        f"without one:   {_TOLD[told.alone]}",
    ]
    if told.at_terminal == "refused" and told.reason:
        lines.append(f"reason:        {told.reason}")
    return lines


def _other_reasons(told: Foretold) -> list[str]:
    """Return why it is asked beside a signal."""
    asked = told.question.signals if told.question is not None else ()
    return [why for why in asked if why not in {signal.detail for signal in told.signals}]


def _as_json(told: Foretold, tool: str, loaded: Policy, ask: str) -> dict[str, Any]:
    question = told.question
    return {
        "tool": tool,
        "sentence": told.sentence,
        "package": told.package,
        "policy": loaded.name,
        "ask": ask,
        "rules": {"answer": told.rules.answer.value, "code": told.rules.code, "rule": told.rules.rule},
        "signals": [{"name": signal.name, "source": signal.source, "detail": signal.detail} for signal in told.signals],
        "at_terminal": told.at_terminal,
        "without_terminal": told.alone,
        "challenge": question.challenge if question is not None else "",
        "why": _other_reasons(told),
        "reason": told.reason,
    }
