"""Write the reference pages, or with `--check` say which of them are not what the code says."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.pages import pages

FOLDER = Path(__file__).resolve().parents[2] / "docs" / "reference"


def main(words: list[str]) -> int:
    if words not in ([], ["--check"]):
        sys.stderr.write("usage: python -m tests.docs [--check]\n")
        return 2
    stale = [
        name
        for name, text in pages().items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != text
    ]
    if words:
        for name in stale:
            sys.stderr.write(f"docs/reference/{name} is not what the code says; run `make docs` and commit it\n")
        return 1 if stale else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(pages()[name], encoding="utf-8", newline="\n")
        sys.stdout.write(f"wrote docs/reference/{name}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
