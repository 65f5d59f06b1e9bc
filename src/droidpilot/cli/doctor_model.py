"""What `doctor` looks at of the model: name, key, price, endpoint. It never tells a key and asks for no reply."""

from __future__ import annotations

from collections.abc import Iterator

from droidpilot.cli.findings import Finding, fail, failure, warn
from droidpilot.cli.starting import Sources
from droidpilot.core.clock import Clock
from droidpilot.core.errors import ConfigError, Exit
from droidpilot.core.text import plural, shorten
from droidpilot.model.probe import ProbeResult, probe
from droidpilot.model.provider import ModelSettings, http_warning, is_cost_reported, key_for, parse_endpoint

#: Seconds that the model's endpoint gets for its answer.
PROBE_S = 5.0


def model(found: Sources, clock: Clock) -> Iterator[Finding]:
    """Look at the model: its name, key and price, and whether its endpoint answers."""
    settings = found.settings
    if not settings.model:
        yield warn("model", "none", "none is set", "name one with DROIDPILOT_MODEL or --model; the demo needs none")
    try:
        host = parse_endpoint(settings.base_url).host
        warning = http_warning(settings.base_url)
        key = key_for(settings.base_url, found.api_keys)
    except ConfigError as error:
        # Without a model nothing is sent anywhere, so that a key is missing stops nobody yet.
        is_harmless = not settings.model and found.loaded.origins["base_url"] == "default"
        yield warn("model key", "missing", error.message, error.hint) if is_harmless else failure("model key", error)
        return
    yield Finding("model key", "ok", f"{key.name} is set and goes to {host}" if key.name else f"{host} needs none")
    if warning:
        yield warn("model endpoint", "plain_http", warning)
    yield _price(found)
    if settings.model or found.loaded.origins["base_url"] != "default":
        wanted = ModelSettings(model=settings.model or "(none)", base_url=settings.base_url, key=key)
        try:
            yield _endpoint(probe(wanted, clock=clock, timeout_s=PROBE_S), settings.model, host)
        except ConfigError as error:
            yield failure("model endpoint", error)


def _price(found: Sources) -> Finding:
    settings = found.settings
    if settings.prices is not None:
        prices = settings.prices
        text = (
            f"{prices.input:g} / {prices.output:g} USD per million tokens in / out ({found.loaded.origins['prices']})"
        )
        return Finding("model price", "ok", text)
    if is_cost_reported(settings.base_url):
        return Finding("model price", "ok", "reported by the endpoint with each reply")
    hint = "set [prices] input and output in your config.toml; 0 if it is free"
    if settings.max_usd is not None:
        return fail("model price", "unknown", "unknown, so max_usd cannot be kept", hint, Exit.USAGE)
    return warn("model price", "unknown", "unknown: sessions will not say what they cost", hint)


def _endpoint(result: ProbeResult, wanted: str | None, host: str) -> Finding:
    error = result.error
    if error is not None:
        if error.code == "model_timeout":
            text = f"{host} did not answer in {PROBE_S:g} s"
            return fail("model endpoint", error.code, text, "is the server running?", Exit.MODEL)
        return failure("model endpoint", error)
    answered = f"{host} answered in {result.ms} ms"
    known = result.knows(wanted) if wanted else None
    if known is False:
        names = ", ".join(sorted(result.models or ())[:5]) or "none"
        hint = f"it lists {plural(len(result.models or ()), 'model')}: {shorten(names, 200)}"
        return warn("model endpoint", "not_listed", f"{answered} and does not list {wanted}", hint)
    if result.models is None:
        return Finding("model endpoint", "ok", f"{answered}; it has no list of models, so the name was not checked")
    return Finding("model endpoint", "ok", f"{answered} and lists {wanted or plural(len(result.models), 'model')}")
