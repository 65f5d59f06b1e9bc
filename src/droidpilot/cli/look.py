"""`droidpilot look`: the screen, as a model would see it; a phone's, or that of a saved dump."""

from __future__ import annotations

from typing import Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import DumpError, Exit, UsageError

Dump = Annotated[
    str | None,
    typer.Option("--dump", metavar="FILE", help="Show a saved UI hierarchy instead of a phone; - reads it from stdin."),
]


def look(
    device: options.Device = None,
    policy: options.Policy = None,
    dump: Dump = None,
    json: options.Json = False,
) -> Exit:
    """Look at the phone once: one line per thing to use (beginning with its ref) or to read (beginning with -).

    A dump that cannot be read is exit 2; with --json its `error.code` says why: no_file, is_folder, not_readable,
    too_big, empty, no_xml, no_hierarchy, cut, error_text, never_idle, null_root or illegal_character.

    Examples: droidpilot look --device virtual --json; droidpilot look --dump screen.xml
    """
    if dump is not None:
        if device is not None or policy is not None:
            raise UsageError("--dump shows a file, not a phone", hint="leave out --device and --policy")
        return _show_dump(dump, as_json=json)
    from droidpilot.cli.by_hand import one_call
    from droidpilot.cli.starting import start
    from droidpilot.core.calls import Status
    from droidpilot.screens.render import screen_json
    from droidpilot.screens.screen import Screen

    done = one_call(start({"device": device, "policy": policy}), "ui_tree", {})
    screen = done.result.value
    if done.result.status is not Status.OK or not isinstance(screen, Screen):
        output.note(done.result.text, style="bad")
    elif json:
        output.result_json(screen_json(screen))
    else:
        output.result(done.result.text)
    return done.exit


def _show_dump(name: str, *, as_json: bool) -> Exit:
    """Show a saved dump. Of one with missing parts what could be read is told too, but never as if it were all."""
    from droidpilot.cli.dump_file import missing_parts, read_dump, screen_of
    from droidpilot.screens.render import frame, render, screen_json

    try:
        data = read_dump(name)
        screen = screen_of(data, name)
    except DumpError as error:
        if as_json:
            output.result_json(_error_json(error))
        raise
    broken = missing_parts(data, screen.hierarchy, name)
    if as_json:
        output.result_json((_error_json(broken) if broken else {}) | screen_json(screen))
    elif broken:
        output.note(frame(render(screen), screen.package))
    else:
        output.result(frame(render(screen), screen.package))
    if broken:
        raise broken
    return Exit.DONE


def _error_json(error: DumpError) -> dict[str, dict[str, str]]:
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}
