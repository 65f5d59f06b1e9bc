"""Pull the cable N times (1,000) at random moments and print what was said and what was true, as a table."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.cables.moments import WRITES, Row, cables, moments

USUAL = 1_000


def main(count: int, seed: int) -> int:
    said: Counter[tuple[str, str]] = Counter()
    happened: Counter[tuple[str, str]] = Counter()
    lies: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, cables(Path(folder)) as line:
        for number, row in enumerate(line.rows(moments(seed), count), 1):
            said[row.moment.write, row.status.value] += 1
            happened[row.status.value, str(row.happened)] += 1
            if row.lie:
                lies.append(row)
                print(f"LIE at {row.moment}: {row.lie} ({row.code})", flush=True)
            if number % 50 == 0:
                print(f"{number}/{count}", file=sys.stderr, flush=True)
    statuses = sorted({status for _, status in said})
    print("write".ljust(12) + "".join(status.rjust(12) for status in statuses))
    for write in WRITES:
        print(write.ljust(12) + "".join(str(said[write, status]).rjust(12) for status in statuses))
    print("executed".ljust(12))
    for times in sorted({times for _, times in happened}):
        print(f"  {times} times".ljust(12) + "".join(str(happened[status, times]).rjust(12) for status in statuses))
    print(f"{count} moments, seed {seed}: {len(lies)} not true")
    return 1 if lies else 0


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    sys.exit(main(words[0] if words else USUAL, words[1] if len(words) > 1 else 1))
