"""The in-phone server: HTTP routes and JSON-RPC around the table of methods in rpc_methods.py.

Source: routes, texts and error codes of u2.jar 0.4.1. Every RPC error is HTTP 200, as there. This file must
never know an app.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable

from droidpilot.virtual.http import Reply, Request
from droidpilot.virtual.rpc_caller import Caller, Method
from droidpilot.virtual.rpc_methods import INPUTS, METHODS
from droidpilot.virtual.rpc_values import BadParams, Missing
from droidpilot.virtual.selector import BadSelector

log = logging.getLogger(__name__)

METHOD_NOT_FOUND = -32601
BAD_PARAMS = -32602
PARSE_ERROR = -32700
JAVA_ERROR = -32001
MISSING = "androidx.test.uiautomator.UiObjectNotFoundException"


class InPhoneServer:
    """The server that uiautomator2 starts over the shell. It answers only while it runs, on the port it was given."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self._port: int | None = None
        self._ended = asyncio.Event()
        self.on_stop: Callable[[], None] = lambda: None
        """Ends what is still being served."""

    @property
    def port(self) -> int | None:
        return self._port

    def start(self, port: int) -> asyncio.Event | None:
        """Start on a port and return what is set when a client stops the server; None where it runs already."""
        if self._port is not None:
            return None
        self._port, self._ended = port, asyncio.Event()
        return self._ended

    def stop(self, ended: asyncio.Event) -> None:
        """Stop, unless another start came since `ended` was returned."""
        if ended is self._ended:
            self._port = None
            self.on_stop()

    async def answer(self, request: Request) -> Reply:
        """Answer one HTTP request."""
        match request.method, request.path:
            case "GET", "/ping":
                return Reply(200, b"pong")
            case "POST", "/jsonrpc/0":
                return Reply(200, json.dumps(await self._call(request.body)).encode(), "application/json")
            case "GET", "/screenshot/0":
                return Reply(200, await self.caller.camera.png(), "image/png")
            case _, "/stop":
                self._port = None
                self._ended.set()
                return Reply(200, b"Server stopped!!!")
            case _:
                return Reply(404, b"Not Found!!!")

    async def _call(self, body: bytes) -> dict[str, object]:
        try:
            call = json.loads(body)
        except (ValueError, RecursionError):
            return _error(None, PARSE_ERROR, "JSON parse error", "")
        if not isinstance(call, dict) or not isinstance(call.get("method"), str):
            return _error(None, -32600, "invalid request", "")
        number = call.get("id")
        number = number if isinstance(number, int | str) else None
        method = METHODS.get(call["method"])
        if method is None:
            return _error(number, METHOD_NOT_FOUND, "method not found", "")
        params = call.get("params", [])
        if not isinstance(params, list):
            params = list(params.values()) if isinstance(params, dict) else None
        if params is None or len(params) > 10:
            return _error(number, BAD_PARAMS, "method parameters invalid", "")
        return await self._run(number, method, params)

    async def _run(self, number: int | str | None, method: Method, params: list[object]) -> dict[str, object]:
        try:
            if method in INPUTS:
                async with self.caller.turn:
                    result = await self._result(method, params)
            else:
                result = await self._result(method, params)
        except Missing as missing:
            return _error(number, JAVA_ERROR, MISSING, str(missing))
        except (BadParams, BadSelector) as problem:
            return _error(number, BAD_PARAMS, "method parameters invalid", str(problem))
        except Exception as problem:  # the jar answers every exception with its name; it is logged here
            log.exception("an RPC failed")
            return _error(number, JAVA_ERROR, "java.lang.RuntimeException", f"{type(problem).__name__}: {problem}")
        return {"jsonrpc": "2.0", "id": number, "result": result}

    async def _result(self, method: Method, params: list[object]) -> object:
        with self.caller.phone.lock:
            done = method(self.caller, params)
        return await done if inspect.isawaitable(done) else done


def _error(number: int | str | None, code: int, message: str, data: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": data}}
