"""A scripted model server: answers chat-completions requests with the replies of a script, on this machine only.

For demos, tests and users' own CI. Standard library HTTP, the field's wire format, streamed or whole; the form of a
script is told in script.py. It never knows who asks or what a tool does, and the same script gives the same bytes.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from droidpilot.core.errors import UsageError
from droidpilot.model.chunks import ComposedReply, compose
from droidpilot.model.script import (
    LabelNotFound,
    Script,
    ScriptedCall,
    ScriptedUsage,
    SlowFault,
    StatusFault,
    Step,
    load_script,
    parse_script,
)

__all__ = [
    "ReceivedRequest",
    "Script",
    "ScriptedCall",
    "ScriptedServer",
    "ScriptedUsage",
    "SlowFault",
    "StatusFault",
    "Step",
    "load_script",
    "parse_script",
    "serve",
]

HOST: Final = "127.0.0.1"
MOST_BODY_BYTES: Final = 64 * 1024 * 1024
_PATHS: Final = ("/v1/chat/completions", "/chat/completions")
_IDLE_S: Final = 300.0

#: A step, or a function that makes one out of the parsed request.
StepSource = Step | Callable[[dict[str, Any]], Step]


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as it came. Header names are in lower case."""

    body: dict[str, Any]
    headers: Mapping[str, str]


class ScriptedServer:
    """Serves a script, or a sequence of steps, while the context is open.

    Raises:
        UsageError: on entering, where the port is taken.
    """

    def __init__(self, script: Script | None = None, *, steps: Sequence[StepSource] = (), port: int = 0) -> None:
        self._script = script or Script()
        self._steps: tuple[StepSource, ...] = (*self._script.steps, *steps)
        self._port = port
        self._lock = threading.Lock()  # requests come on threads of the HTTP server
        self._requests: list[ReceivedRequest] = []
        self._http: _Http | None = None
        self._closing = threading.Event()
        self.on_request: Callable[[ReceivedRequest], None] = lambda request: None

    @property
    def base_url(self) -> str:
        assert self._http is not None, "the server is not started"
        return f"http://{HOST}:{self._http.server_address[1]}/v1"

    @property
    def model(self) -> str:
        return self._script.model

    @property
    def requests(self) -> list[ReceivedRequest]:
        """All requests so far, in order."""
        with self._lock:
            return list(self._requests)

    def __enter__(self) -> Self:
        self._bind()
        assert self._http is not None
        threading.Thread(target=self._http.serve_forever, args=(0.05,), name="scripted-model", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def serve_forever(self) -> None:
        """Serve on the calling thread until an exception (Ctrl-C) ends it."""
        self._bind()
        assert self._http is not None
        try:
            self._http.serve_forever(0.2)
        finally:
            self._closing.set()
            self._http.close_all()

    def start_listening(self) -> str:
        """Take the port and return base_url, without serving yet."""
        self._bind()
        return self.base_url

    def close(self) -> None:
        """Stop serving and cut every open connection."""
        self._closing.set()
        if self._http is not None:
            self._http.shutdown()
            self._http.close_all()

    def take(self, request: ReceivedRequest) -> tuple[int, Step]:
        """Record a request and return its number (from 1) and the reply to it. Called by the HTTP threads."""
        with self._lock:
            number = len(self._requests)
            self._requests.append(request)
        self.on_request(request)
        return number + 1, self._step(number, request)

    def _step(self, number: int, request: ReceivedRequest) -> Step:
        if self._script.then == "repeat" and self._steps:
            number %= len(self._steps)
        if number < len(self._steps):
            source = self._steps[number]
            return source if isinstance(source, Step) else source(request.body)
        if self._script.then == "error":
            return Step(fault=StatusFault(status=400, message=f"the script has only {len(self._steps)} steps"))
        return Step(calls=[ScriptedCall(tool="done", args={"summary": "The script is finished."})])

    def wait(self, seconds: float) -> None:
        """Let seconds pass, or less where the server closes."""
        self._closing.wait(seconds)

    def _bind(self) -> None:
        if self._http is None:
            try:
                self._http = _Http((HOST, self._port), self)
            except (OSError, OverflowError) as error:
                hint = "choose another one, or 0 for any free port"
                raise UsageError(f"port {self._port} cannot be used: {error}", hint=hint) from None


def serve(
    script_path: Path,
    *,
    port: int = 0,
    on_ready: Callable[[str], None],
    on_request: Callable[[ReceivedRequest], None] | None = None,
) -> None:
    """Serve a script on the calling thread until Ctrl-C; `on_ready` gets base_url once the port is open.

    Raises:
        ConfigError: the script cannot be read.
        UsageError: the port is taken.
    """
    server = ScriptedServer(load_script(script_path), port=port)
    if on_request is not None:
        server.on_request = on_request
    on_ready(server.start_listening())
    server.serve_forever()


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: tuple[str, int], script_server: ScriptedServer) -> None:
        super().__init__(address, _Exchange)
        self.script_server = script_server
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        """Close the port and cut what is open, so that no thread waits for a client that never speaks again."""
        self.server_close()
        with self._open_lock:
            for connection in self._open:
                with suppress(OSError):  # it was cut already
                    connection.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a client that cuts is no news, and only the command line may print."""


class _Exchange(BaseHTTPRequestHandler):
    """One connection; the reply is written as the client reads it."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = _IDLE_S
    server: _Http

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: only the command line may print."""

    def do_GET(self) -> None:
        server = self.server.script_server
        if self.path in ("/v1/models", "/models"):
            model = {"id": server.model, "object": "model", "created": 0, "owned_by": "droidpilot"}
            self._send_json(200, {"object": "list", "data": [model]})
        else:
            self._send_error(404, f"there is no {self.path[:100]} here")

    def do_POST(self) -> None:
        body = self._read_body()
        if body is None:
            return
        if self.path not in _PATHS:
            self._send_error(404, f"there is no {self.path[:100]} here")
            return
        server = self.server.script_server
        headers = {name.lower(): value for name, value in self.headers.items()}
        number, step = server.take(ReceivedRequest(body, headers))
        if isinstance(step.fault, StatusFault):
            extra = {} if step.fault.retry_after is None else {"Retry-After": f"{step.fault.retry_after:g}"}
            self._send_error(step.fault.status, step.fault.message, extra)
            return
        if isinstance(step.fault, SlowFault):
            server.wait(step.fault.slow)
        try:
            reply = compose(step, body, model=server.model, number=number)
        except LabelNotFound as error:
            self._send_error(400, error.message, code=error.code)
            return
        if body.get("stream"):
            self._stream(reply)
        else:
            self._send_json(200, reply.whole())

    def _read_body(self) -> dict[str, Any] | None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > MOST_BODY_BYTES:
            self.close_connection = True
            self._send_error(400, "a request needs a Content-Length of at most 64 MiB")
            return None
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            body = None
        if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
            self._send_error(400, "the body must be a JSON object that holds `messages`")
            return None
        return body

    def _stream(self, reply: ComposedReply) -> None:
        with suppress(OSError):  # the client cut
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for event in reply.events():
                data = f"data: {event}\n\n".encode("utf-8", "replace")
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
            if reply.is_cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

    def _send_json(self, status: int, value: object, extra: Mapping[str, str] | None = None) -> None:
        data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        with suppress(OSError):  # the client cut
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, text in (extra or {}).items():
                self.send_header(name, text)
            self.end_headers()
            self.wfile.write(data)

    def _send_error(
        self, status: int, message: str, extra: Mapping[str, str] | None = None, *, code: str = "scripted"
    ) -> None:
        error = {"message": message, "type": "scripted_error", "code": code}
        self._send_json(status, {"error": error}, extra)
