"""Options that several commands share, each with its one help text."""

from __future__ import annotations

from typing import Annotated

import typer

Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        "-d",
        metavar="SERIAL",
        help="The phone's serial, or `virtual` to start a virtual phone for this command.",
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        "--policy",
        metavar="NAME|PATH",
        help="Rules file: a shipped or own name (default, read-only, ...), or a path with a slash.",
    ),
]
Ask = Annotated[
    str | None,
    typer.Option(
        "--ask", metavar="MODE", help="When to ask because of risk: never, risky or every. Rules hold in each."
    ),
]
Approver = Annotated[
    str | None,
    typer.Option(
        "--approver",
        metavar="CMD",
        help="A command to ask instead of you: it gets the question as JSON and answers with JSON.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]
