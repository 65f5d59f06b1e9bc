"""The program: `droidpilot`, or `python -m droidpilot`. Here so that Ctrl-C counts from the first import on."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit."""
    try:
        # It takes a while, and a person may think better of it meanwhile.
        from droidpilot.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("droidpilot: stopped\n")
        sys.exit(130)


if __name__ == "__main__":
    main()
