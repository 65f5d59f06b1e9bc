"""The wire to an endpoint: one `openai` client, one sending, chunks in. The only file that names that library.

The library reads the environment by itself; what it finds there is overridden or dropped before a byte is sent, so that
a key never travels to a host it was not meant for. Every foreign error is translated here.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING, Any, Final

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import ConfigError, ModelRejected, ModelUnusable
from droidpilot.core.stop import Stop
from droidpilot.model.client import ModelRequest
from droidpilot.model.failures import (
    AttemptFailed,
    Failure,
    cleaned,
    connection_failure,
    late_failure,
    page_failure,
    status_failure,
    stream_failure,
)
from droidpilot.model.provider import ModelSettings, is_cost_reported
from droidpilot.model.reply import error_words
from droidpilot.model.retries import retry_after_s

if TYPE_CHECKING:
    import httpx2

CONNECT_S: Final = 20.0
READ_S: Final = 120.0
MOST_STREAM_BYTES: Final = 10 * 1024 * 1024

#: What is sent. The client library would add facts about this machine, and headers out of an environment variable.
_HEADERS: Final = frozenset(
    {
        "host",
        "accept",
        "accept-encoding",
        "authorization",
        "connection",
        "content-length",
        "content-type",
        "openai-organization",
        "openai-project",
        "user-agent",
    }
)


class Wire:
    """One `openai` client and what was learned about its endpoint."""

    def __init__(self, settings: ModelSettings, clock: Clock) -> None:
        import httpx2
        import openai

        self._settings = settings
        self._clock = clock
        self._deadline: Deadline | None = None
        self._stop = Stop()
        self._has_stream_options = True
        # Source: the vendor's newer models reject max_tokens; other endpoints know nothing else.
        self._limit_field = "max_tokens" if settings.endpoint.host != "api.openai.com" else "max_completion_tokens"
        self._foreign = foreign_errors()
        secret = settings.key.secret
        try:
            # No proxy for an endpoint on this machine: a transport of our own keeps the client from looking for one.
            transport = httpx2.HTTPTransport() if settings.endpoint.is_loopback else None
            http = httpx2.Client(
                transport=transport,
                follow_redirects=False,  # the key and the screens go to the endpoint that was named
                event_hooks={"request": [self._trim], "response": [self._bound]},
            )
            # What is not given here the client would take out of the environment.
            self._client = openai.OpenAI(
                api_key=secret.get_secret_value() if secret else "none",
                admin_api_key="",
                organization=settings.organization,
                project=settings.project,
                webhook_secret="",
                base_url=settings.endpoint.url,
                max_retries=0,
                http_client=http,
            )
        except (ValueError, ImportError, OSError, openai.OpenAIError) as error:
            raise ConfigError(
                f"the model client cannot be set up: {cleaned(str(error), settings)}",
                hint="look at HTTPS_PROXY, ALL_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR",
            ) from None

    def close(self) -> None:
        self._client.close()

    def stream(self, request: ModelRequest, *, deadline: Deadline, stop: Stop) -> Generator[object, None, None]:
        """Send and yield chunks as plain values.

        Raises:
            AttemptFailed: anything foreign went wrong, translated.
        """
        from openai import Stream

        left_s = deadline.left_s()
        if left_s <= 0:
            raise AttemptFailed(late_failure(self._settings))
        self._deadline, self._stop = deadline, stop
        stream: Stream[object] | None = None
        try:
            try:
                # Not chat.completions.create: its conversion of the arguments costs 40 ms on a long conversation.
                stream = self._client.post(
                    "/chat/completions",
                    content=self._body(request),
                    cast_to=object,
                    stream=True,
                    stream_cls=Stream[object],
                    options={"timeout": self._timeout(left_s)},
                )
                whole = self._unstreamed(stream.response)
                if whole is not None:
                    yield whole
                    return
                chunks = iter(stream)
            except self._foreign as error:
                raise self._failed(error, stop) from None
            while True:
                try:
                    chunk = next(chunks)
                except StopIteration:
                    return
                except self._foreign as error:
                    raise self._failed(error, stop) from None
                yield chunk
        finally:
            if stream is not None:
                stream.close()

    def listing(self, *, deadline: Deadline) -> object:
        """Ask for the list of models, once, and return the answer as plain values.

        Raises:
            AttemptFailed: anything foreign went wrong, translated.
        """
        self._deadline, self._stop = deadline, Stop()
        try:
            timeout = self._timeout(max(deadline.left_s(), 0.001))
            return self._client.get("/models", cast_to=object, options={"timeout": timeout})
        except self._foreign as error:
            raise self._failed(error, self._stop) from None

    def adapt(self, failed: Failure) -> bool:
        """Learn from a refusal that names a field we sent; tell whether the request is worth sending again."""
        if failed.status not in (400, 422):
            return False
        if self._has_stream_options and ("stream_options" in failed.detail or "include_usage" in failed.detail):
            self._has_stream_options = False
            return True
        if self._limit_field == "max_tokens" and "max_completion_tokens" in failed.detail:
            self._limit_field = "max_completion_tokens"
            return True
        return False

    def _body(self, request: ModelRequest) -> bytes:
        settings = self._settings
        body: dict[str, Any] = {
            "model": settings.model,
            "messages": [dict(message) for message in request.messages],
            self._limit_field: min(request.max_output_tokens, settings.max_output_tokens),
            "stream": True,
        }
        if self._has_stream_options:
            body["stream_options"] = {"include_usage": True}
        if request.tools:
            body["tools"] = [dict(tool) for tool in request.tools]
            body["tool_choice"] = "auto"
        is_router = is_cost_reported(settings.base_url)
        if is_router:
            body["usage"] = {"include": True}
        if settings.reasoning != "default":
            effort = "none" if settings.reasoning == "off" else settings.reasoning
            body |= {"reasoning": {"effort": effort}} if is_router else {"reasoning_effort": effort}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    def _timeout(self, left_s: float) -> httpx2.Timeout:
        import httpx2

        return httpx2.Timeout(min(READ_S, left_s), connect=min(CONNECT_S, left_s), pool=min(CONNECT_S, left_s))

    def _unstreamed(self, response: httpx2.Response) -> object:
        """Read an answer that is no stream although one was asked for; None where it is one."""
        kind = response.headers.get("content-type", "").lower()
        if "application/json" in kind:
            return json.loads(response.read())
        if "text/html" in kind:
            raise AttemptFailed(page_failure(self._settings))
        return None

    def _failed(self, error: Exception, stop: Stop) -> AttemptFailed:
        stop.check()  # the socket may have failed because a person stopped us
        if self._deadline is not None and self._deadline.is_over():
            return AttemptFailed(late_failure(self._settings))
        return AttemptFailed(failure_of(error, self._settings, clock=self._clock))

    def _trim(self, request: httpx2.Request) -> None:
        """Set what may be sent and drop all else."""
        endpoint, secret = self._settings.endpoint, self._settings.key.secret
        for name in list(request.headers):
            if name.lower() not in _HEADERS or not request.headers[name]:
                del request.headers[name]
        request.headers.pop("authorization", None)
        if secret is not None and request.url.host == endpoint.host and request.url.scheme == endpoint.scheme:
            request.headers["authorization"] = f"Bearer {secret.get_secret_value()}"
        request.headers["accept-encoding"] = "identity"  # a small answer cannot unpack to a large one
        request.headers["user-agent"] = "droidpilot"

    def _bound(self, response: httpx2.Response) -> None:
        """Bound what is read of an answer, in bytes and in time."""
        import httpx2

        settings, deadline, stop = self._settings, self._deadline, self._stop
        assert isinstance(response.stream, httpx2.SyncByteStream)
        inner = response.stream
        is_packed = response.headers.get("content-encoding", "identity").lower() != "identity"
        is_error = response.is_error

        class Bounded(httpx2.SyncByteStream):
            def __iter__(self) -> Iterator[bytes]:
                if is_packed and is_error:
                    return
                if is_packed:
                    raise ModelUnusable(
                        f"{settings.endpoint.host} sent a compressed answer although asked not to",
                        hint="look for a proxy between here and the endpoint",
                    )
                size = 0
                for piece in inner:
                    size += len(piece)
                    if size > MOST_STREAM_BYTES:
                        raise ModelUnusable("the answer is longer than 10 MiB", hint="choose another model")
                    stop.check()
                    if deadline is not None and deadline.is_over():
                        raise AttemptFailed(late_failure(settings))
                    yield piece

            def close(self) -> None:
                inner.close()

        response.stream = Bounded()


def foreign_errors() -> tuple[type[Exception], ...]:
    """Return what the client library, and what it stands on, may raise while a request is sent and read."""
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        httpx2.CookieConflict,
        httpx2.StreamError,
        ValueError,  # what the decoder raises at JSON or text that is none
        RecursionError,
        OSError,
        EOFError,
    )


def failure_of(error: Exception, settings: ModelSettings, *, clock: Clock) -> Failure:
    """Translate any error of the client library, or of what it stands on."""
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return status_failure(
            error.status_code,
            error_words(error.body)[1] or error.message,
            settings,
            code=error.code or "",
            location=error.response.headers.get("location", ""),
            retry_after_s=retry_after_s(error.response.headers, now=clock.now()),
        )
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError | OSError | EOFError):
        words = str(error.__cause__ or error) or type(error.__cause__ or error).__name__
        is_broken = isinstance(error.__cause__ or error, httpx2.RemoteProtocolError | httpx2.ReadError)
        what = "broke off its reply" if is_broken else "cannot be reached"
        return connection_failure(f"{settings.endpoint.host} {what}", words, settings)
    if isinstance(error, openai.ContentFilterFinishReasonError):
        rejected = ModelRejected(
            "the content filter ended the reply", code="content_filter", hint="word it differently"
        )
        return Failure(error=rejected, is_retried=False)
    if type(error) is openai.APIError:  # the library found an error object in the stream
        status, words = error_words(error.body)
        return stream_failure(words or error.message, status, settings)
    words = str(error) or type(error).__name__
    return connection_failure(f"{settings.endpoint.host} sent something unreadable", words, settings)
