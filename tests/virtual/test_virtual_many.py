"""Twenty phones in one process serve twenty clients of uiautomator2 at a step a second, and nothing is left of them."""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from pathlib import Path

from tests.soak.soaking import Sample, growth, running_phones, soak

PHONES = 20
LASTS_S = 8.0


def test_twenty_phones_serve_twenty_clients(tmp_path: Path) -> None:
    with running_phones(PHONES, tmp_path) as phones:
        entry = json.loads(next((tmp_path / "virtual").glob("phone-*.json")).read_text(encoding="utf-8"))
        found = soak(phones, entry["adb_pid"], lasts_s=LASTS_S, every_s=0.5)
    assert found.errors == []
    assert found.steps >= PHONES * 2, "on a machine that does nothing else it is a step a second"
    assert len(found.dump_ms) == found.steps
    # Sockets that were open at the same time: a control and a phone port each, some streams; no more with every step.
    assert found.phones[-1].files <= 8 * PHONES
    assert not list((tmp_path / "virtual").iterdir())


def test_growth_is_seen_and_a_flat_line_is_none() -> None:
    flat = [Sample(n, 60_000 + (9_000 if n < 3 else 10_000), 40) for n in range(50)]
    assert growth(flat) == (0, 0)
    leak = [Sample(n, 60_000 + 1_000 * n, 40 + n) for n in range(50)]
    kilobytes, files = growth(leak)
    assert kilobytes >= 25_000 and files >= 25


def test_a_sample_is_of_the_process_that_was_named() -> None:
    from tests.soak.soaking import sample

    before = sample(os.getpid(), 0.0)
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(Path(os.devnull).open(encoding="utf-8"))
        assert sample(os.getpid(), 0.0).files >= before.files + 5
