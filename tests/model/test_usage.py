"""Usage and prices, estimates, and the pauses between retries."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.model.client import Usage
from droidpilot.model.estimate import IMAGE_TOKENS, TokenEstimate, estimate_tokens, text_tokens
from droidpilot.model.retries import empty_pause_s, is_retried_status, pause_s, retry_after_s
from droidpilot.model.usage import Prices, add, usage_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def used(reported: object, *, prices: Prices | None = None) -> Usage:
    return usage_of(reported, prices=prices, prompt_estimate=lambda: 300, completion_estimate=30)


@pytest.mark.parametrize("value", [None, 0, -5, True, "12", math.nan, math.inf, 10**12, [1]])
def test_senseless_figures_are_estimated(value: object) -> None:
    usage = used({"prompt_tokens": value, "completion_tokens": value, "cost": value if value != 0 else "x"})
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        assert usage.usd is None
    assert (usage.prompt_tokens, usage.completion_tokens, usage.is_estimated) == (300, 30, True)


@pytest.mark.parametrize("reported", [None, "x", [], 7, {}])
def test_no_usage_at_all_is_estimated(reported: object) -> None:
    assert used(reported).tokens == 330


def test_cached_tokens_are_never_more_than_were_sent() -> None:
    usage = used({"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 99}})
    assert usage.cached_tokens == 10


def test_a_cost_of_zero_is_a_cost() -> None:
    assert used({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0}).usd == 0.0


def test_the_reported_cost_comes_before_our_prices() -> None:
    prices = Prices(input_usd=1, output_usd=1)
    assert used({"prompt_tokens": 1, "completion_tokens": 1, "cost": 0.5}, prices=prices).usd == 0.5


@pytest.mark.parametrize("price", [-1.0, math.nan, math.inf])
def test_a_price_is_a_price(price: float) -> None:
    with pytest.raises(ValueError, match="no price"):
        Prices(input_usd=price, output_usd=1)


def test_sums_keep_what_is_known() -> None:
    known = Usage(prompt_tokens=1, completion_tokens=2, cached_tokens=1, usd=0.5)
    unknown = Usage(prompt_tokens=10, completion_tokens=20, is_estimated=True)
    total = add(known, unknown)
    assert (total.tokens, total.cached_tokens, total.usd, total.is_estimated) == (33, 1, 0.5, True)
    assert add(unknown, unknown).usd is None


def test_tokens_are_bytes_by_three_not_characters_by_four() -> None:
    assert text_tokens("") == 0
    assert text_tokens("a") == 1
    assert text_tokens("吃饭") == 2
    assert text_tokens("x" * 300) == 100


def test_the_estimate_counts_messages_and_tools_and_not_the_bytes_of_images() -> None:
    text: list[dict[str, Any]] = [{"role": "user", "content": "x" * 3000}]
    assert 1000 < estimate_tokens(text) < 1050
    assert estimate_tokens(text, [{"name": "y" * 300}]) > estimate_tokens(text) + 99
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 300_000}}
    parts: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "look"}, image]}]
    assert IMAGE_TOKENS < estimate_tokens(parts) < IMAGE_TOKENS + 50


def test_the_estimate_learns_from_what_was_reported() -> None:
    messages = [{"role": "user", "content": "x" * 3000}]
    estimate = TokenEstimate()
    plain = estimate.of(messages)
    estimate.learn(messages, (), plain // 2)
    assert estimate.of(messages) == pytest.approx(plain // 2, abs=1)
    estimate.learn(messages, (), 0)
    estimate.learn(messages, (), -7)
    assert estimate.of(messages) == pytest.approx(plain // 2, abs=1)
    estimate.learn(messages, (), plain * 1000)
    assert estimate.of(messages) == plain * 3


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": (NOW + timedelta(seconds=12)).strftime("%a, %d %b %Y %H:%M:%S GMT")}, 12.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:00:00 GMT"}, 0.0),
        ({"retry-after": "Wed, 31 Dec 2025 23:00:00 -0000"}, None),
        ({"retry-after": "Wed, 99 Dec 2025 23:00:00 GMT"}, None),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, now=NOW) == seconds


@given(st.text(max_size=40))
def test_retry_after_never_raises(value: str) -> None:
    seconds = retry_after_s({"retry-after": value}, now=NOW)
    assert seconds is None or (math.isfinite(seconds) and seconds >= 0)


def test_pauses_double_and_are_bounded() -> None:
    assert [pause_s(failures, None) for failures in (1, 2, 3)] == [1, 2, 4]
    assert pause_s(1, 100) == 30
    assert pause_s(3, 0) == 0
    assert [empty_pause_s(empties) for empties in (1, 2)] == [0.7, 1.4]


def test_client_errors_are_final() -> None:
    assert not [status for status in (400, 401, 402, 403, 404, 405, 413, 422) if is_retried_status(status)]
