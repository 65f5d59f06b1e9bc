"""Pull the cable N times (1,000) at random moments and print what was said and what was true, as a table."""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path

from tests.cables.moments import WRITES, Row, cables, moments

USUAL = 1_000


def main(count: int, seed: int) -> int:
    said: Counter[tuple[str, str]] = Counter()
    happened: Counter[tuple[str, str]] = Counter()
    lies: list[Row] = []
    done = 0
    # What was seen until a person has enough of it is told too.
    with suppress(KeyboardInterrupt), tempfile.TemporaryDirectory() as folder, cables(Path(folder)) as line:
        for row in line.rows(moments(seed), count):
            done += 1
            said[row.moment.write, row.status.value] += 1
            happened[row.status.value, str(row.happened)] += 1
            if row.lie:
                lies.append(row)
                print(f"LIE at {row.moment}: {row.lie} ({row.code})", flush=True)
            if done % 50 == 0:
                print(f"{done}/{count}", file=sys.stderr, flush=True)
    statuses = sorted({status for _, status in said})
    print("write".ljust(12) + "".join(status.rjust(12) for status in statuses))
    for write in WRITES:
        print(write.ljust(12) + "".join(str(said[write, status]).rjust(12) for status in statuses))
    print("executed".ljust(12))
    for times in sorted({times for _, times in happened}):
        print(f"  {times} times".ljust(12) + "".join(str(happened[status, times]).rjust(12) for status in statuses))
    print(f"{done} moments, seed {seed}: {len(lies)} not true")
    return 1 if lies else 0


if __name__ == "__main__":
    words = [int(word) for word in sys.argv[1:]]
    sys.exit(main(words[0] if words else USUAL, words[1] if len(words) > 1 else 1))
