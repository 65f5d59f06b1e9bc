"""`droidpilot call`: one tool by hand, through the same gates as a model's calls."""

from __future__ import annotations

from typing import Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit, UsageError
from droidpilot.core.text import quoted


def call(
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="tap, type_text, press, open_app, ui_tree, ...")],
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="The tool's arguments.")
    ] = None,
    device: options.Device = None,
    policy: options.Policy = None,
    ask: options.Ask = None,
    approver: options.Approver = None,
    json: options.Json = False,
) -> Exit:
    """Call one tool. Refs are those of the last look at this phone.

    Examples: droidpilot call open_app app=Settings; droidpilot call tap ref=12
    """
    from droidpilot.cli.by_hand import message_of, one_call
    from droidpilot.cli.progress import result_words
    from droidpilot.cli.starting import start
    from droidpilot.core.calls import Status

    begun = start({"device": device, "policy": policy, "ask": ask, "approver": approver})
    done = one_call(begun, tool, parsed(arguments or []))
    if json:
        output.result_json(
            {
                "tool": done.result.tool,
                "status": done.result.status.value,
                "code": done.result.code,
                "text": done.result.text,
                "picture": str(done.picture) if done.picture is not None else None,
                "exit_code": int(done.exit),
            }
        )
        return done.exit
    if done.result.status is Status.OK:
        output.result(done.result.text)
        if done.picture is not None:
            output.note(f"picture: {done.picture}", style="dim")
    else:
        # The screen comes first: what became of the call is what a person looks for, at the end.
        sentence, screen = message_of(done.result.text)
        if screen:
            output.note(screen, style="dim")
        words = result_words(done.result, sentence)
        if begun.settings.approver is not None:
            words = words.replace("a person said no", "the approver command said no")
        output.note(words, style="bad")
    return done.exit


def parsed(words: list[str]) -> dict[str, str]:
    """Split `key=value` words at the first `=`; values stay text.

    Raises:
        UsageError: a word without `=`, an empty key, or a key given twice.
    """
    found: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key:
            raise UsageError(f"{quoted(word)} is not KEY=VALUE", hint="for example: droidpilot call tap ref=12")
        if key in found:
            raise UsageError(f"argument {quoted(key)} is given twice", hint="give it once")
        found[key] = value
    return found
