"""`make fuzz`: a hundred thousand damaged dumps, or TRIES of them, and what came of it.

Every finding is shrunk by hypothesis and printed with its recipe; the exit code is then 1. `DROIDPILOT_CASES` adds the
real dumps.
"""

from __future__ import annotations

import sys
import time
import traceback

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.conftest import cases_folder
from tests.fuzz.looking import OWN, Count, dumps_in, try_one
from tests.fuzz.mutations import Recipe, recipes

TRIES = 100_000
BATCH = 500


def main(tries: int, first_seed: int) -> int:
    folder = cases_folder()
    dumps = dumps_in(*([OWN] if folder is None else [OWN, folder / "dumps"]))
    print(f"{len(dumps)} dumps, {tries} tries, first seed {first_seed}", flush=True)
    count, findings, began = Count(), 0, time.monotonic()
    while count.tries < tries:
        findings += not _batch(dumps, min(BATCH, tries - count.tries), first_seed + count.tries // BATCH, count)
        slowest = count.slowest[0][0] if count.slowest else 0.0
        print(
            f"{count.tries} tries, {findings} findings, slowest {slowest:.2f} s of CPU, "
            f"{time.monotonic() - began:.0f} s so far",
            flush=True,
        )
    print("errors told: " + ", ".join(f"{code} {often}" for code, often in sorted(count.errors.items())))
    for took, size, name, recipe in count.slowest:
        print(f"slow: {took:.2f} s, {size} bytes: {name} {recipe}")
    return 1 if findings else 0


def _batch(dumps: dict[str, bytes], tries: int, number: int, count: Count) -> bool:
    """Try a batch; print what was found and return whether nothing was."""

    @seed(number)
    @settings(
        max_examples=tries,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
    )
    @given(name=st.sampled_from(sorted(dumps)), recipe=recipes())
    def one(name: str, recipe: Recipe) -> None:
        try_one(name, dumps[name], recipe, count)

    try:
        one()
    except Exception:  # noqa: BLE001 # whatever it is, it is a finding, and the rest is tried all the same
        traceback.print_exc()
        return False
    return True


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIES, int(sys.argv[2]) if len(sys.argv) > 2 else 1))
