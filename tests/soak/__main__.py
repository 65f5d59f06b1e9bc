"""`make soak`: an hour of 20 phones in one process and 20 clients at one step a second each.

Prints medians, and what the process of the phones and the adb server keep. Exits with 1 where a step failed, or where
memory or file descriptors grow. `SOAK_S` and `SOAK_PHONES` make it shorter or larger.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from tests.soak.soaking import Sample, growth, running_phones, soak

#: What the process of the phones may grow by in a run: caches fill, a leak of a step would be some hundred MB.
MAX_GROWTH_KB = 32 * 1024
MAX_MORE_FILES = 8


def main() -> int:
    lasts_s = float(os.environ.get("SOAK_S", "3600"))
    count = int(os.environ.get("SOAK_PHONES", "20"))
    print(f"{count} phones in one process, {count} clients, one step a second each, {lasts_s:g} s", flush=True)
    with tempfile.TemporaryDirectory() as folder, running_phones(count, Path(folder)) as phones:
        entry = json.loads(next((Path(folder) / "virtual").glob("phone-*.json")).read_text(encoding="utf-8"))
        found = soak(phones, entry["adb_pid"], lasts_s=lasts_s, every_s=max(0.5, lasts_s / 120))
    print(f"{'steps':<22}{found.steps}, {len(found.errors)} failed, {found.late} longer than a second")
    for name, values in (("input", found.click_ms), ("dump", found.dump_ms), ("picture", found.picture_ms)):
        if values:
            ranked = sorted(values)
            print(f"{name + ' ms, p50 p95':<22}{statistics.median(values):.1f} {ranked[int(len(ranked) * 0.95)]:.1f}")
    is_flat = _told("phones", found.phones) & _told("adb server", found.server)
    for error in found.errors[:10]:
        print(f"failed: {error}")
    return 0 if is_flat and not found.errors else 1


def _told(name: str, samples: list[Sample]) -> bool:
    """Print what a process kept; tell whether it stayed flat."""
    kilobytes, files = growth(samples)
    first, last = samples[0], samples[-1]
    print(
        f"{name:<22}{first.rss_kb // 1024} MB -> {last.rss_kb // 1024} MB ({kilobytes / 1024:+.1f} MB), "
        f"{first.files} -> {last.files} files ({files:+d})"
    )
    return kilobytes <= MAX_GROWTH_KB and files <= MAX_MORE_FILES


if __name__ == "__main__":
    sys.exit(main())
