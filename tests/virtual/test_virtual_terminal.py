"""The interactive shell: what a person types is echoed, edited, run and interrupted."""

from __future__ import annotations

import asyncio

import pytest
from tests.virtual.virtual_hand import Hand

from droidpilot.virtual.shell.commands import COMMANDS
from droidpilot.virtual.shell.shell import Context, Shell
from droidpilot.virtual.wire.services import Services
from droidpilot.virtual.wire.terminal import Terminal

PROMPT = "virtual:/ $ "


def typed(*pieces: bytes) -> tuple[str, int]:
    """Type pieces one after another, then close the input; return what the terminal showed and the exit code."""

    async def main() -> tuple[str, int]:
        services = Services.of(Hand.at().phone)
        shown: list[bytes] = []
        waiting = list(pieces)

        async def read() -> bytes:
            # A person is slower than the shell: what runs gets on before the next key.
            for _ in range(5):
                await asyncio.sleep(0)
            return waiting.pop(0) if waiting else b""

        async def write(data: bytes) -> None:
            shown.append(data)

        async def emit(_: int, data: bytes) -> None:
            shown.append(data.replace(b"\n", b"\r\n"))

        caller = services.server.caller
        context = Context(
            services.phone,
            services.touch,
            services.server,
            caller.pause,
            asyncio.Event().wait,
            caller.camera,
            caller.turn,
            services.trouble,
            services.tunnels,
        )
        shell = Shell(context, COMMANDS, emit)
        await Terminal(shell, read, write).serve()
        return b"".join(shown).decode(), shell.status

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([b"echo hi\r", b"\x04"], f"{PROMPT}echo hi\r\nhi\r\n{PROMPT}"),
        ([b"ecx", b"\x7f", b"ho a\r"], f"{PROMPT}ecx\b \bho a\r\na\r\n{PROMPT}"),
        ([b"nonsense", b"\x03", b"\x04"], f"{PROMPT}nonsense^C\r\n{PROMPT}"),
        ([b"\r", b"\x7f"], f"{PROMPT}\r\n{PROMPT}"),
        ([b"X=1\r", b"echo $X\r"], f"{PROMPT}X=1\r\n{PROMPT}echo $X\r\n1\r\n{PROMPT}"),
        ([b"logcat\r", b"ignored", b"\x03", b"\x04"],
         f"{PROMPT}logcat\r\n--------- beginning of main\r\n^C\r\n{PROMPT}"),
    ],
)  # fmt: skip
def test_what_is_typed_is_shown_and_run(pieces: list[bytes], shown: str) -> None:
    assert typed(*pieces)[0] == shown


def test_exit_leaves_with_its_code() -> None:
    assert typed(b"exit 5\r", b"echo never\r") == (f"{PROMPT}exit 5\r\n", 5)


def test_a_line_is_bounded() -> None:
    shown, _ = typed(b"a" * 50_000)
    assert len(shown) < 20_000
