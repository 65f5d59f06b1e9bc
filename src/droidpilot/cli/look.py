"""`droidpilot look`: the screen, as a model would see it; a phone's, or that of a saved dump."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import DeviceError, DroidpilotError, DumpError, Exit, UsageError

Dump = Annotated[
    str | None,
    typer.Option("--dump", metavar="FILE", help="Show a saved UI hierarchy instead of a phone; - reads it from stdin."),
]

#: An error in words ends with its hint in brackets.
_WITH_HINT = re.compile(r"(.+) \(([^()]+)\)", re.DOTALL)

ImageFile = Annotated[
    Path | None,
    typer.Option(
        "--image", metavar="FILE", help="Also write the screen's picture (.png, .jpg) with the refs drawn on."
    ),
]


def look(
    device: options.Device = None,
    policy: options.Policy = None,
    dump: Dump = None,
    image: ImageFile = None,
    json: options.Json = False,
) -> Exit:
    """Look at the phone once: one line per thing to use (beginning with its ref) or to read (beginning with -).

    With --json, `error.code` says why a screen cannot be read: empty, never_idle, null_root, illegal_character, ...
    A dump that cannot be read is exit 2, with one of these codes or no_file, is_folder, not_readable, too_big, no_xml,
    no_hierarchy, cut or error_text.

    Examples: droidpilot look --device virtual --json; droidpilot look --dump screen.xml;
    droidpilot look --image screen.png
    """
    if dump is not None:
        if device is not None or policy is not None or image is not None:
            raise UsageError("--dump shows a file, not a phone", hint="leave out --device, --policy and --image")
        return _show_dump(dump, as_json=json)
    if image is not None:
        return _draw(image, {"device": device, "policy": policy}, as_json=json)
    from droidpilot.cli.by_hand import one_call
    from droidpilot.cli.starting import start
    from droidpilot.core.calls import Status
    from droidpilot.screens.render import screen_json
    from droidpilot.screens.screen import Screen

    with _told(as_json=json):
        done = one_call(start({"device": device, "policy": policy}), "ui_tree", {}, title="look")
    screen = done.result.value
    if done.result.status is not Status.OK or not isinstance(screen, Screen):
        if json and done.result.status is not Status.REFUSED:
            output.result_json(_result_json(done.result.text, done.result.code))
        output.note(done.result.text, style="bad")
    elif json:
        output.result_json(screen_json(screen))
    else:
        output.result(done.result.text)
    return done.exit


def _draw(path: Path, flags: dict[str, str | None], *, as_json: bool) -> Exit:
    """Look and draw; the text is told as without a picture."""
    from droidpilot.cli.look_image import check_image, look_and_draw
    from droidpilot.cli.starting import start
    from droidpilot.screens.render import screen_json

    check_image(path)
    with _told(as_json=as_json):
        drawn = look_and_draw(start(flags), path)
    if drawn.screen is None:
        if as_json and drawn.exit is not Exit.REFUSED:
            output.result_json(_result_json(drawn.text, drawn.code))
        output.note(drawn.text, style="bad")
        return drawn.exit
    if as_json:
        output.result_json(screen_json(drawn.screen) | {"image": str(path)})
    else:
        output.result(drawn.text)
        output.note(f"picture: {path}", style="dim")
    if not drawn.is_matching:
        output.note("the screen changed while the picture was taken, so boxes may be off or left out", style="bad")
    return drawn.exit


def _show_dump(name: str, *, as_json: bool) -> Exit:
    """Show a saved dump. Of one with missing parts what could be read is told too, but never as if it were all."""
    from droidpilot.cli.dump_file import missing_parts, read_dump, screen_of
    from droidpilot.screens.render import render, screen_json

    with _told(as_json=as_json):
        data = read_dump(name)
        screen = screen_of(data, name)
    broken = missing_parts(data, screen.hierarchy, name)
    if as_json:
        output.result_json((_error_json(broken) if broken else {}) | screen_json(screen))
    elif broken:
        output.note(render(screen))
    else:
        output.result(render(screen))
    if broken:
        raise broken
    return Exit.DONE


@contextmanager
def _told(*, as_json: bool) -> Iterator[None]:
    """Have what comes of a look stand on stdout as one document where it is JSON, also where nothing could be read."""
    try:
        yield
    except (DumpError, DeviceError) as error:
        if as_json:
            output.result_json(_error_json(error))
        raise


def _error_json(error: DroidpilotError) -> dict[str, dict[str, str]]:
    return {"error": {"code": error.code, "message": error.message, "hint": error.hint}}


def _result_json(text: str, code: str) -> dict[str, dict[str, str]]:
    """Write what a model would be told of a call that came to nothing as the error that it was."""
    from droidpilot.cli.by_hand import message_of

    sentence = message_of(text)[0].removesuffix(" Nothing was sent.").removesuffix(".")
    found = _WITH_HINT.fullmatch(sentence)
    message, hint = found.groups() if found is not None else (sentence, "")
    return {"error": {"code": code, "message": message, "hint": hint}}
