"""What a request cost: the endpoint's own figures where they make sense, else our estimate, and prices from settings.

No price table is shipped. This room never knows a budget.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from droidpilot.model.client import Usage

#: A reported figure above this is a mistake of the endpoint, not a request.
MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """USD per million tokens. `cached_usd` is the price of tokens read from the provider's cache; None: as `input_usd`.

    Raises:
        ValueError: a price is negative or no number.
    """

    input_usd: float
    output_usd: float
    cached_usd: float | None = None

    def __post_init__(self) -> None:
        for price in (self.input_usd, self.output_usd, self.cached_usd):
            if price is not None and not (math.isfinite(price) and price >= 0):
                raise ValueError(f"{price} is no price in USD per million tokens")

    def usd(self, *, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """Return the price of one request in USD."""
        cached_usd = self.input_usd if self.cached_usd is None else self.cached_usd
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.input_usd + cached_tokens * cached_usd + completion_tokens * self.output_usd) / 1_000_000


def usage_of(
    reported: object, *, prices: Prices | None, prompt_estimate: Callable[[], int], completion_estimate: int
) -> Usage:
    """Read the endpoint's `usage` object; figures that are missing, zero, negative or absurd are replaced by estimates.

    `completion_estimate` is what the received text would count; a reported 0 stands only where nothing was received.
    """
    told = reported if isinstance(reported, Mapping) else {}
    prompt = _count(told.get("prompt_tokens"))
    completion = _count(told.get("completion_tokens"))
    is_estimated = prompt == 0 or (completion == 0 and completion_estimate > 0)
    prompt = prompt or prompt_estimate()
    completion = completion or completion_estimate
    details = told.get("prompt_tokens_details")
    cached = min(prompt, _count(details.get("cached_tokens")) if isinstance(details, Mapping) else 0)
    usd = _money(told.get("cost"))
    if prices is not None:
        # An endpoint that reports less than the prices that were set must not stretch a money limit (A36).
        usd = max(usd or 0.0, prices.usd(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion))
    return Usage(
        prompt_tokens=prompt,
        completion_tokens=completion,
        cached_tokens=cached,
        usd=usd,
        is_estimated=is_estimated,
    )


def add(first: Usage, second: Usage) -> Usage:
    """Return the sum of two requests. Money is the sum of what is known, None where neither is."""
    known = [usage.usd for usage in (first, second) if usage.usd is not None]
    return Usage(
        prompt_tokens=first.prompt_tokens + second.prompt_tokens,
        completion_tokens=first.completion_tokens + second.completion_tokens,
        cached_tokens=first.cached_tokens + second.cached_tokens,
        usd=sum(known) if known else None,
        is_estimated=first.is_estimated or second.is_estimated,
    )


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if math.isfinite(value) and 0 < value <= MOST_TOKENS else 0


def _money(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None
