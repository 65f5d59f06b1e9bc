"""The control port of a running phone: one JSON line in, one out. It is no part of the phone that adb sees.

Listens on the loopback only and answers only who knows the token in the private registry file.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
from collections.abc import Callable, Mapping
from typing import Any

from droidpilot.core.errors import UsageError

MAX_LINE = 64 * 1024
READ_S = 5.0
Ask = Callable[[Mapping[str, Any]], dict[str, object]]


class Control:
    """Answers requests about one phone."""

    def __init__(self, token: str, requests: Mapping[str, Ask]) -> None:
        self._token = token
        self._requests = requests
        self._server: asyncio.Server | None = None

    async def listen(self) -> int:
        """Start to listen on a free port and return it."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=MAX_LINE)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    def close(self) -> None:
        """Stop listening."""
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Whoever sends no line, or too long a one, gets no answer.
        with contextlib.suppress(TimeoutError, ValueError, ConnectionError):
            async with asyncio.timeout(READ_S):
                line = await reader.readline()
            writer.write(json.dumps(self._answer(line)).encode() + b"\n")
            await writer.drain()
        writer.close()

    def _answer(self, line: bytes) -> dict[str, object]:
        try:
            request = json.loads(line)
        except (ValueError, RecursionError):
            return {"ok": False, "error": "no JSON"}
        if not isinstance(request, dict) or not isinstance(request.get("token"), str):
            return {"ok": False, "error": "no request"}
        if not hmac.compare_digest(request["token"].encode(), self._token.encode()):
            return {"ok": False, "error": "wrong token"}
        ask = self._requests.get(str(request.get("do")))
        if ask is None:
            return {"ok": False, "error": "unknown request"}
        try:
            return {"ok": True, "answer": ask(request)}
        except UsageError as problem:
            return {"ok": False, "error": problem.message, "hint": problem.hint}
