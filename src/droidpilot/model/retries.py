"""When a failed request is sent again, and how long to wait first (T52, T53). Pure: no socket, no client library."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

from droidpilot.core.text import shorten

#: Answers that may be different the next time. Other 4xx fail at once (INV-50).
RETRIED_STATUS: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524})
MOST_RETRIES: Final = 3
MOST_EMPTY_RETRIES: Final = 2
LONGEST_PAUSE_S: Final = 30.0
#: Characters of a failure in a notice; the error at the end has all of them.
_MAX_WHY: Final = 160


def is_retried_status(status: int) -> bool:
    """Tell whether an HTTP status is worth another try."""
    return status in RETRIED_STATUS or status >= 500


def pause_s(failures: int, retry_after_s: float | None) -> float:
    """Return how long to wait after the nth failure (from 1): what was asked for, else 1, 2, 4 s; at most 30."""
    wanted = retry_after_s if retry_after_s is not None else 2.0 ** (failures - 1)
    return min(LONGEST_PAUSE_S, wanted)


def empty_pause_s(empties: int) -> float:
    """Return how long to wait after the nth empty reply (from 1)."""
    return 0.7 * empties


def retry_notice(why: str, seconds: float, attempt: int, most: int) -> str:
    """Say that a request is sent again: why, when, and which attempt of how many that is."""
    return f"{shorten(why, _MAX_WHY)}; trying again in {seconds:.2g} s ({attempt} of {most})"


def retry_after_s(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """Read `retry-after-ms` or `Retry-After` (seconds or a date); None where missing or senseless.

    Source: RFC 9110, section 10.2.3; the millisecond form is a habit of several vendors.
    """
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit_s
        except ValueError:
            continue
        return seconds if math.isfinite(seconds) and seconds >= 0 else None
    try:
        at = parsedate_to_datetime(headers.get("retry-after", ""))
        return max(0.0, (at - now).total_seconds())
    except (TypeError, ValueError, OverflowError):  # a date without a zone cannot be subtracted either
        return None
