"""Why one sending failed, as a value: the error a person gets, what they can do next, and whether to try again.

Words that came from outside are cleaned here, and the key is taken out of them. Pure: no socket, no client library.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.errors import ModelError, ModelRejected, ModelUnreachable
from droidpilot.core.text import one_line, shorten
from droidpilot.model.provider import KEY_NAME, ModelSettings, vendor_key_name
from droidpilot.model.retries import is_retried_status

_LONGEST_DETAIL = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why one sending failed. `error` is what the caller gets when it is not tried again."""

    error: ModelError
    is_retried: bool
    retry_after_s: float | None = None
    status: int = 0
    detail: str = ""  # the endpoint's own words, cleaned
    keeps_text: bool = False  # the stream broke off: what arrived before may be kept


class AttemptFailed(ModelError):
    """Carries a Failure from the wire to the retry loop; never leaves this room."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.error.message)
        self.failure = failure


def cleaned(words: str, settings: ModelSettings) -> str:
    """Make foreign words fit for a message: one short line in which the key does not stand."""
    secret = settings.key.secret.get_secret_value() if settings.key.secret else ""
    return shorten(one_line(words.replace(secret, "[key]") if secret else words), _LONGEST_DETAIL)


def status_failure(
    status: int,
    words: str,
    settings: ModelSettings,
    *,
    code: str = "",
    location: str = "",
    retry_after_s: float | None = None,
) -> Failure:
    """Judge an HTTP status that is no success. `code` is the endpoint's own, `location` where it redirects to."""
    detail = cleaned(words, settings)
    said = f"{settings.endpoint.host} answered {status}" + (f": {detail}" if detail else "")
    is_spent = status == 402 or code == "insufficient_quota"
    is_retried = is_retried_status(status) and not is_spent
    error: ModelError
    if is_retried and status != 429:
        error = ModelUnreachable(said, hint="the endpoint is in trouble: try again later")
    elif is_retried:
        error = ModelUnreachable(said, hint="too many requests: wait a little, or use another model or key")
    elif is_spent:
        error = ModelRejected(said, hint="the account behind the key has no credit left")
    elif status == 401:
        error = ModelRejected(said, hint=_key_hint(settings))
    elif status == 403:
        error = ModelRejected(said, hint=f"may this key use {settings.model}? {_key_hint(settings)}")
    elif status == 404:
        hint = f"is {settings.model} the model's full name, and {settings.endpoint.url} the right base_url?"
        error = ModelRejected(said, hint=hint)
    elif 300 <= status < 400:
        to = cleaned(location, settings) or "another address"
        error = ModelRejected(said, hint=f"it redirects to {to}: if that is right, put it into base_url")
    elif status == 413 or "context_length" in code or "context length" in detail or "context window" in detail:
        error = ModelRejected(said, hint="the conversation is longer than the model can read: choose another model")
    else:
        error = ModelRejected(said, hint="does the model support tools? The endpoint's words say what it did not take")
    return Failure(error=error, is_retried=is_retried, retry_after_s=retry_after_s, status=status, detail=detail)


def stream_failure(words: str, status: int, settings: ModelSettings) -> Failure:
    """Judge an error object that came with status 200. Only a status inside it that is final ends the tries."""
    if 300 <= status < 500 and not is_retried_status(status):
        return status_failure(status, words, settings)
    said = f"{settings.endpoint.host} broke off with an error: {cleaned(words, settings)}"
    error = ModelUnreachable(said, hint="the endpoint is in trouble: try again later")
    return Failure(error=error, is_retried=True, detail=cleaned(words, settings))


def connection_failure(what: str, words: str, settings: ModelSettings) -> Failure:
    """Judge a connection that could not be made or broke. `what` is our own sentence, `words` the system's."""
    detail = cleaned(words, settings)
    said = f"{what}: {detail}" if detail else what
    folded = detail.lower()
    endpoint = settings.endpoint
    if "certificate" in folded:
        hint = f"if {endpoint.host} is right, let SSL_CERT_FILE name the file with its certificate authority"
        return Failure(error=ModelUnreachable(said, hint=hint, code="model_certificate"), is_retried=False)
    if "refused" in folded and endpoint.is_loopback:
        # Nothing listens there, and waiting for a server of this machine that nobody starts is no use.
        error = ModelUnreachable(said, hint=f"is the server running at {endpoint.url}? Start it first")
        return Failure(error=error, is_retried=False, detail=detail)
    if "refused" in folded:
        hint = f"is the server running at {endpoint.url}?"
    elif "name or service" in folded or "getaddrinfo" in folded or "nodename" in folded or "resolution" in folded:
        hint = f"is {endpoint.host} spelt right, and is there a network?"
    elif "wrong_version_number" in folded or "wrong version number" in folded or "record layer" in folded:
        hint = "the server does not speak TLS: does base_url begin with http:// instead of https://?"
    elif "proxy" in folded:
        hint = "look at HTTPS_PROXY and NO_PROXY"
    else:
        hint = "look at the network and at the endpoint, then try again"
    return Failure(error=ModelUnreachable(said, hint=hint), is_retried=True, detail=detail, keeps_text=True)


def late_failure(settings: ModelSettings) -> Failure:
    """Say that the time given for the reply is over."""
    said = f"{settings.model} did not answer within the time that was left"
    hint = "allow more with --max-seconds"
    return Failure(error=ModelUnreachable(said, hint=hint, code="model_timeout"), is_retried=False)


def page_failure(settings: ModelSettings) -> Failure:
    """Say that a web page came where a reply should."""
    said = f"{settings.endpoint.url} answers with a web page"
    return Failure(error=ModelRejected(said, hint="is base_url right? It often ends in /v1"), is_retried=False)


def _key_hint(settings: ModelSettings) -> str:
    if settings.key.name:
        return f"check the key in {settings.key.name}"
    vendor = vendor_key_name(settings.base_url)
    return f"no key was sent: set {vendor} or {KEY_NAME}" if vendor else f"no key was sent: set {KEY_NAME}"
