"""One question to an endpoint before any is needed: does it answer, does it take the key, does it know the model.

It asks for the list of models, which costs nothing, once. It never sends a screen or a goal.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import ModelError, ModelUnusable
from droidpilot.core.text import one_line, shorten
from droidpilot.model.failures import AttemptFailed, page_failure
from droidpilot.model.openai_wire import Wire
from droidpilot.model.provider import ModelSettings

_MAX_MODELS = 2_000
_MAX_NAME = 200
#: An endpoint that lists no models answers with one of these and may be well otherwise.
_NO_LIST = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """What came of it. `models` is None where the endpoint answers but has no list; `error` where it does not serve."""

    ms: int
    models: tuple[str, ...] | None = None
    error: ModelError | None = None

    def knows(self, model: str) -> bool | None:
        """Tell whether the endpoint lists the model; None where there is no list."""
        return None if self.models is None else model in self.models


def probe(settings: ModelSettings, *, clock: Clock, timeout_s: float) -> ProbeResult:
    """Ask the endpoint for its models, with the key that may go there.

    Raises:
        ConfigError: the client cannot be set up (a proxy or certificate variable).
    """
    wire = Wire(settings, clock)
    started = clock.monotonic()

    def passed_ms() -> int:
        return round((clock.monotonic() - started) * 1000)

    try:
        answer = wire.listing(deadline=Deadline.after(clock, timeout_s))
    except AttemptFailed as failed:
        if failed.failure.status in _NO_LIST:
            return ProbeResult(ms=passed_ms())
        return ProbeResult(ms=passed_ms(), error=failed.failure.error)
    except ModelUnusable as error:
        return ProbeResult(ms=passed_ms(), error=error)
    finally:
        wire.close()
    if isinstance(answer, str):
        return ProbeResult(ms=passed_ms(), error=page_failure(settings).error)
    return ProbeResult(ms=passed_ms(), models=_names(answer))


def _names(answer: object) -> tuple[str, ...] | None:
    """Read the ids out of a list of models. Source: GET /models of the OpenAI API reference."""
    listed = answer.get("data") if isinstance(answer, dict) else answer
    if not isinstance(listed, list):
        return None
    ids = [one.get("id") for one in listed[:_MAX_MODELS] if isinstance(one, dict)]
    return tuple(shorten(one_line(name), _MAX_NAME) for name in ids if isinstance(name, str))
