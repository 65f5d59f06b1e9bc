"""The in-phone server: HTTP routes and JSON-RPC around the table of methods in methods.py.

Source: routes, texts and error codes of u2.jar 0.4.1. Every RPC error is HTTP 200, as there. This file must
never know an app.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Callable

from droidpilot.virtual.faults import broken_dumps
from droidpilot.virtual.faults.faults import Kind, Met
from droidpilot.virtual.rpc.caller import Caller, Method
from droidpilot.virtual.rpc.methods import INPUTS, KIND_OF, METHODS
from droidpilot.virtual.rpc.selector import BadSelector
from droidpilot.virtual.rpc.values import BadParams, Missing
from droidpilot.virtual.scenes.port import DumpRefused
from droidpilot.virtual.wire.http import Reply, Request
from droidpilot.virtual.wire.streams import StreamClosed

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
        self.caller.trouble.faults.server_started()
        return self._ended

    def stop(self, ended: asyncio.Event) -> None:
        """Stop, unless another start came since `ended` was returned."""
        if ended is self._ended:
            self._port = None
            self.on_stop()

    def kill(self) -> None:
        """End at once, as a killed process does: whoever waits for an answer gets none."""
        self._port = None
        self._ended.set()
        self.on_stop()

    async def answer(self, request: Request) -> Reply:
        """Answer one HTTP request."""
        match request.method, request.path:
            case "GET", "/ping":
                return Reply(200, b"pong")
            case "POST", "/jsonrpc/0":
                return Reply(200, json.dumps(await self._call(request.body)).encode(), "application/json")
            case "GET", "/screenshot/0":
                async with self.caller.trouble.call("call", "rpc", "picture") as met:
                    if "screencap-fails" in met:
                        return Reply(500, b"Internal Server Error!!!")
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
        name = call["method"]
        kinds: tuple[Kind, ...] = ("call", "rpc", KIND_OF[name]) if name in KIND_OF else ("call", "rpc")
        async with self.caller.trouble.call(*kinds) as met:
            return self._refusal(number, name, met) or await self._run(number, name, method, params, met)

    def _refusal(self, number: int | str | None, name: str, met: Met) -> dict[str, object] | None:
        """Return what the faults of a call answer in place of the method; None where it is to run."""
        if "not-connected" in met:
            trace = "java.lang.IllegalStateException: UiAutomation not connected, UiAutomation@5deffd5[id=-1, flags=0]"
            return _error(number, JAVA_ERROR, "java.lang.IllegalStateException", trace)
        if "inject-denied" in met and name in INPUTS:
            trace = "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission"
            return _error(number, JAVA_ERROR, "java.lang.SecurityException", trace)
        if "tap-lost" in met:
            return {"jsonrpc": "2.0", "id": number, "result": True}
        if name == "takeScreenshot" and "screencap-fails" in met:
            return {"jsonrpc": "2.0", "id": number, "result": None}
        failed = broken_dumps.java_error(met.word("dump-error"))
        return _error(number, JAVA_ERROR, *failed) if failed is not None else None

    async def _run(
        self, number: int | str | None, name: str, method: Method, params: list[object], met: Met
    ) -> dict[str, object]:
        try:
            if name in INPUTS:
                async with self.caller.turn:
                    result = await self._result(method, params)
            else:
                result = await self._result(method, params)
        except StreamClosed:
            raise
        except DumpRefused as refused:
            return _error(number, JAVA_ERROR, *broken_dumps.java_error_of(refused.line))
        except Missing as missing:
            return _error(number, JAVA_ERROR, MISSING, str(missing))
        except (BadParams, BadSelector) as problem:
            return _error(number, BAD_PARAMS, "method parameters invalid", str(problem))
        except Exception as problem:  # the jar answers every exception with its name; it is logged here
            log.exception("an RPC failed")
            return _error(number, JAVA_ERROR, "java.lang.RuntimeException", f"{type(problem).__name__}: {problem}")
        if "dump-error" in met and isinstance(result, str):
            result = broken_dumps.spoil(met.word("dump-error"), result)
        return {"jsonrpc": "2.0", "id": number, "result": result}

    async def _result(self, method: Method, params: list[object]) -> object:
        with self.caller.phone.lock:
            # A method finds the phone as it is now, not as it was when somebody looked last.
            self.caller.phone.advance()
            done = method(self.caller, params)
        return await done if inspect.isawaitable(done) else done


def _error(number: int | str | None, code: int, message: str, data: str) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message, "data": data}}
