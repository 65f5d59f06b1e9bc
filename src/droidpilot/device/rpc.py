"""One question to the in-phone server: a single HTTP POST, sent at most once, and what its answer proves.

It never tries again and knows no tool, no selector and no screen. Source: the jar's routes and errors as shipped with
uiautomator2 3.7.1 (HTTP 200 for every JSON-RPC answer, error code -32001 with the Java class as message).
"""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Sequence
from typing import Any

from droidpilot.core.clock import Deadline
from droidpilot.core.errors import DeviceLost, DeviceRefused, Sent
from droidpilot.core.text import one_line, shorten
from droidpilot.device.adb import PhoneLink
from droidpilot.device.adb_trouble import WIRE_ERRORS, translate

#: Port of uiautomator2's server on the phone.
HELPER_PORT = 9008
#: A hierarchy of 2000 nodes is under 1 MB; an answer larger than this is not read to its end.
MAX_ANSWER_BYTES = 16 * 1024 * 1024

#: JSON-RPC errors that say the method was never entered. Source: JSON-RPC 2.0, section 5.1.
_NEVER_ENTERED = frozenset({-32700, -32600, -32601, -32602})
#: Methods whose parameters hold what is typed.
_CARRIES_TEXT = frozenset({"setText"})
_ERROR_NAME = re.compile(
    r"(?:java|javax|android|androidx|com\.android)(?:\.\w{1,60}){1,6}(?:Exception|Error)\b", re.ASCII
)
#: The accessibility connection of the in-phone server is gone; only a restart of the server brings it back.
_NOT_CONNECTED = (
    "UiAutomation not connected",
    "android.os.DeadObjectException",
    "android.os.DeadSystemRuntimeException",
)


def post(link: PhoneLink, method: str, params: Sequence[object], deadline: Deadline) -> Any:
    """Send one request and return its `result`.

    Raises:
        DeviceError: with sent "no" if no byte of the request was handed over, or the answer proves that nothing was
            done; with sent "unknown" otherwise. Codes of an answer that is an error: `bad_call`, `not_found`,
            `not_connected`, `phone_error`, `garbled`.
    """
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": list(params)}).encode()
    head = (
        "POST /jsonrpc/0 HTTP/1.1\r\nHost: localhost\r\nUser-Agent: droidpilot\r\nAccept-Encoding: \r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    status, answer = _exchange(link, head + body, f"calling {method} on the phone", deadline)
    if status != 200:
        raise DeviceRefused(f"the in-phone server answered {method} with HTTP {status}", code="garbled", sent="unknown")
    try:
        reply = json.loads(answer)
    except (ValueError, RecursionError) as error:
        raise _garbled(method) from error
    if not isinstance(reply, dict):
        raise _garbled(method)
    if "error" in reply:
        raise _phone_error(method, reply["error"])
    if "result" not in reply:
        raise _garbled(method)
    return reply["result"]


def get(link: PhoneLink, path: str, deadline: Deadline) -> bytes:
    """Fetch a plain page of the in-phone server: `/ping` (answers `pong`), `/stop`."""
    head = f"GET {path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: droidpilot\r\nAccept-Encoding: \r\n\r\n".encode()
    return _exchange(link, head, f"asking {path} of the in-phone server", deadline)[1]


def _exchange(link: PhoneLink, request: bytes, doing: str, deadline: Deadline) -> tuple[int, bytes]:
    """Send `request` once and read the whole answer, as status and body."""
    sock = link.open_port(HELPER_PORT, deadline)
    sent: Sent = "no"
    try:
        if deadline.is_over():
            raise TimeoutError("the deadline is over")
        sent = "unknown"
        sock.sendall(request)
        response = http.client.HTTPResponse(sock)
        response.begin()
        answer = response.read(MAX_ANSWER_BYTES + 1)
        if len(answer) > MAX_ANSWER_BYTES:
            raise DeviceLost(f"{doing}: the answer is too long", code="garbled", sent=sent)
        if (
            response.length
        ):  # bytes that were announced and did not come: http.client raises only where no size is given
            raise DeviceLost(f"{doing}: the answer broke off", sent=sent)
        return response.status, answer
    except WIRE_ERRORS as error:
        raise translate(error, doing, sent=sent) from error
    finally:
        sock.hang_up()


def _garbled(method: str) -> DeviceRefused:
    return DeviceRefused(
        f"the in-phone server's answer to {method} makes no sense",
        code="garbled",
        hint="does the helper on the phone fit this version of uiautomator2?",
        sent="unknown",
    )


def _phone_error(method: str, error: object) -> DeviceRefused:
    """Classify a JSON-RPC error. Only what proves that nothing was done is sent "no"."""
    fields = error if isinstance(error, dict) else {"message": str(error)}
    number, message, data = fields.get("code"), str(fields.get("message", "")), str(fields.get("data") or "")
    # The trace begins with the class, which is all that the message is.
    everything = data if data.startswith(message) and data else f"{message}\n{data}"
    said = shorten(one_line(everything), 300)
    if method in _CARRIES_TEXT:
        # Its words may repeat what was typed, and that may be a secret: the name of an error cannot.
        name = _ERROR_NAME.match(everything)
        right = " about INJECT_EVENTS" if "INJECT_EVENTS" in everything else ""
        said = f"{name[0] if name else 'one'}{right}; its words are not quoted"
    text = f"the phone answered {method} with an error: {said}"
    if isinstance(number, int) and number in _NEVER_ENTERED:
        return DeviceRefused(text, code="bad_call", sent="no")
    if "uiautomator.UiObjectNotFoundException" in message:
        return DeviceRefused(text, code="not_found", sent="no")
    if any(part in everything for part in _NOT_CONNECTED):
        # Raised by the first injected event as well as by a later one of the same gesture: nobody can tell.
        return DeviceRefused(text, code="not_connected", sent="unknown")
    return DeviceRefused(text, code="phone_error", sent="unknown")
