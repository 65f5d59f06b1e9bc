"""`droidpilot look`: the screen, as a model would see it."""

from __future__ import annotations

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit


def look(device: options.Device = None, policy: options.Policy = None, json: options.Json = False) -> Exit:
    """Look at the phone once: one line per thing to use (beginning with its ref) or to read (beginning with -).

    Example: droidpilot look --device virtual --json
    """
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
