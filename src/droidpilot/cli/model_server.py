"""`droidpilot model-server`: the scripted model, for demos, tests and users' own CI."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from droidpilot.cli import output
from droidpilot.core.errors import Exit
from droidpilot.core.text import plural


def model_server(
    script: Annotated[Path, typer.Argument(metavar="SCRIPT", help="A script: one step per model request (YAML).")],
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 takes a free one.", min=0, max=65535)] = 0,
) -> Exit:
    """Serve a scripted model on 127.0.0.1 until Ctrl-C.

    It speaks the OpenAI wire format. Its address is printed on stdout.

    Example: droidpilot model-server steps.yaml --port 8080
    """
    from droidpilot.model import scripted

    def tell(base_url: str) -> None:
        output.result(base_url)
        output.note(
            f"try: {output.program()} run GOAL --device virtual --model scripted --base-url {base_url}", style="dim"
        )
        output.note("Ctrl-C ends it.", style="dim")

    def tell_request(request: scripted.ReceivedRequest) -> None:
        messages = request.body.get("messages")
        output.note(
            f"a request of {plural(len(messages) if isinstance(messages, list) else 0, 'message')}", style="dim"
        )

    # A shell has what it starts in the background ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with suppress(KeyboardInterrupt):  # Ctrl-C is how it is meant to end
        scripted.serve(script, port=port, on_ready=tell, on_request=tell_request)
    return Exit.DONE
