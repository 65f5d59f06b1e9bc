"""HTTP/1.1 on a stream: requests in, answers out, with limits on head and body. Keep-alive works.

This file must never know a route.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from droidpilot.virtual.wire.streams import Stream, StreamClosed

MAX_HEAD = 16 * 1024
MAX_BODY = 4 * 1024 * 1024
REASONS = {
    200: "OK",
    400: "Bad Request",
    404: "Not Found",
    413: "Content Too Large",
    431: "Head Too Large",
    500: "Internal Server Error",
}


@dataclass(frozen=True, slots=True)
class Request:
    method: str
    path: str
    body: bytes


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    kind: str = "text/plain"


Answer = Callable[[Request], Awaitable[Reply]]


class Malformed(Exception):
    """The request is no HTTP, or too large; it is answered and the stream closed."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(reply.body.decode())
        self.reply = reply


async def serve_http(stream: Stream, answer: Answer) -> None:
    """Answer requests on a stream until the client is done."""
    try:
        while True:
            request, is_last = await _read(stream)
            await _write(stream, await answer(request), is_last=is_last)
            if is_last:
                return
    except Malformed as problem:
        await _write(stream, problem.reply, is_last=True)
    except StreamClosed:
        return


async def _read(stream: Stream) -> tuple[Request, bool]:
    head = await stream.read_until(b"\r\n\r\n", MAX_HEAD)
    if head is None:
        raise Malformed(Reply(431, b"Bad Request!!!"))
    first, *lines = head.decode("latin-1").split("\r\n")
    words = first.split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise Malformed(Reply(400, b"Bad Request!!!"))
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    length = headers.get("content-length", "0")
    if "transfer-encoding" in headers or not (length.isascii() and length.isdigit() and len(length) < 12):
        raise Malformed(Reply(400, b"Invalid http post data!"))
    if int(length) > MAX_BODY:
        raise Malformed(Reply(413, b"Invalid http post data!"))
    body = await stream.read_exactly(int(length))
    is_last = headers.get("connection", "").lower() == "close" or words[2] == "HTTP/1.0"
    return Request(words[0], words[1].split("?")[0], body), is_last


async def _write(stream: Stream, reply: Reply, *, is_last: bool) -> None:
    head = (
        f"HTTP/1.1 {reply.status} {REASONS[reply.status]}\r\nContent-Type: {reply.kind}\r\n"
        f"Content-Length: {len(reply.body)}\r\nConnection: {'close' if is_last else 'keep-alive'}\r\n\r\n"
    )
    await stream.write(head.encode("latin-1") + reply.body)
