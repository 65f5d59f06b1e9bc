"""`make bench`: the figures, as medians. Nothing here passes or fails; the bars stand beside the figures."""

from __future__ import annotations

from tests.bench.overhead import own_code_ms, real_stack
from tests.bench.starting import help_ratio
from tests.bench.writing import line_ms


def main() -> None:
    print("droidpilot bench (medians; the machine's speed counts, so compare figures of one run)")
    print()
    own = own_code_ms()
    row("own code, a tap, 100 nodes, 30th turn", f"{own:.1f} ms", "at most 8 ms")
    stack = real_stack()
    row("real stack, between two model requests", f"{stack.between_ms:.1f} ms", "at most 25 ms plus the settle gap")
    row("  of which the settle gap (a constant)", f"{stack.gap_ms:.0f} ms", "")
    row("  without it", f"{stack.between_ms - stack.gap_ms:.1f} ms", "best peer: about 30 ms, 1070 ms by default")
    row("one transcript line, on disk", f"{line_ms():.2f} ms", "")
    ratio, help_ms = help_ratio()
    row("droidpilot --help", f"{help_ms:.0f} ms", f"{ratio:.1f} times a bare interpreter; at most 10")


def row(what: str, figure: str, bar: str) -> None:
    print(f"{what:<44} {figure:>10}   {bar}", flush=True)


if __name__ == "__main__":
    main()
