"""`make bench`: the figures, their bars and what peers have published or were measured at, as one table.

Nothing here passes or fails: the tests hold the bars. `DROIDPILOT_CASES` names the folder of real dumps; without it the
screens are our own.
"""

from __future__ import annotations

from pathlib import Path

from droidpilot.tools.touch import SHARES
from tests.bench.overhead import own_code_ms, real_stack
from tests.bench.reading import HUGE, costs_of, parse_and_render_ms
from tests.bench.running import whole_runs
from tests.bench.scrolling import IN_SIGHT, ROWS, scrolled, scrolled_on_phone
from tests.bench.settling import TRANSITIONS_MS, settling
from tests.bench.starting import help_ratio
from tests.bench.writing import line_ms
from tests.conftest import cases_folder

#: Settle is measured over so many taps at each length of transitions.
TAPS = 200
#: Tokens of o200k_base on the same three dumps: raw XML, mobilerun 0.7.4 and agent-device's interactive view.
ORDINARY = {
    "s1_settings_synthetic.xml": (150, "raw 8278, mobilerun 1878, agent-device 531"),
    "s2_chat_synthetic.xml": (370, "raw 12816, mobilerun 3925, agent-device 1045"),
    "s3_compose_shop_synthetic.xml": (400, "raw 8801, mobilerun 2287, agent-device 931"),
}
OWN_DUMPS = Path(__file__).parents[1] / "data" / "dumps"


def main() -> None:
    print("droidpilot bench (medians; the machine's speed counts, so compare figures of one run)\n")
    row("what", "figure", "bar", "peers")
    screens()
    scrolling()
    waiting()
    speed()


def screens() -> None:
    """Print what the text of a screen costs."""
    folder = cases_folder()
    costs = costs_of(OWN_DUMPS if folder is None else folder / "dumps")
    for name, (bar, peers) in ORDINARY.items():
        if name in costs.by_name:
            row(f"tokens of {name}", str(costs.by_name[name]), f"at most {bar}", peers)
    whose = "our own dumps (DROIDPILOT_CASES is not set)" if folder is None else "the cases"
    row(
        f"tokens of {len(costs.ordinary)} screens, {whose}", str(costs.total), f"at most {costs.bar}", "about 2.5 times"
    )
    row("  the frame round each in a message", f"{costs.frame:.1f}")
    if HUGE in costs.by_name:
        row(f"tokens of {HUGE}", str(costs.by_name[HUGE]), f"floor {costs.floors[HUGE]}")
    whole_ms, bare_ms, nodes = parse_and_render_ms()
    row(f"{nodes} nodes parsed and rendered", f"{whole_ms:.0f} ms", f"at most {max(60, 2 * bare_ms):.0f} ms")
    row("  a bare expat pass over them", f"{bare_ms:.0f} ms")


def scrolling() -> None:
    """Print what reading a long list costs by what changed, against whole screens; it hangs on the step."""
    result = scrolled(IN_SIGHT // 5)
    row(
        f"{ROWS} rows, {IN_SIGHT} in sight, a fifth a step: diffs / wholes",
        f"{result.diffs} / {result.wholes}",
        f"{result.share:.0%}; at most 33 %",
    )
    for step, share in SHARES.items():
        result = scrolled_on_phone(share)
        bar = "; at most 33 %" if step == "part" else ", most of each is new"
        row(
            f"306 apps of the virtual phone, scroll step={step}",
            f"{result.diffs} / {result.wholes}",
            f"{result.share:.0%} in {result.steps} steps{bar}",
        )


def waiting() -> None:
    """Print what settling finds and costs."""
    for transition_ms in TRANSITIONS_MS:
        result = settling(transition_ms, taps=TAPS)
        row(
            f"settle, transitions of {transition_ms} ms, {TAPS} taps: final",
            f"{result.final_share:.1%}",
            "at least 99 %",
        )
        row(
            "  waited after it was final", f"{result.median_extra_ms:.0f} ms", "at most 150 ms", "sleep 1000 to 2000 ms"
        )


def speed() -> None:
    """Print what our own code and the whole stack take."""
    own = own_code_ms()
    row("own code, a tap, 100 nodes, 30th turn", f"{own:.1f} ms", "at most 8 ms")
    stack = real_stack()
    row("real stack, between two model requests", f"{stack.between_ms:.1f} ms", "25 ms plus the settle gap")
    row("  of which the settle gap (a constant)", f"{stack.gap_ms:.0f} ms")
    row("  without it", f"{stack.between_ms - stack.gap_ms:.1f} ms", "at most 25 ms", "about 30 ms, 1070 ms by default")
    row("one transcript line, on disk", f"{line_ms():.2f} ms")
    ratio, help_ms = help_ratio()
    row("droidpilot --help", f"{help_ms:.0f} ms", f"{ratio:.1f} bare interpreters; at most 10")
    runs = whole_runs()
    row(f"peak memory of run, {runs.turns} turns, 5 pictures", f"{runs.peak_mib:.0f} MiB", "at most 120 MB", "177 MB")
    row(
        "start to the first model request",
        f"{runs.first_request_s:.2f} s",
        f"{runs.first_request_s / runs.import_s:.2f} imports; at most 1.5",
        "about 5 s",
    )
    row("  importing openai and uiautomator2", f"{runs.import_s:.2f} s")


def row(what: str, figure: str, bar: str = "", peers: str = "") -> None:
    print(f"{what:<58} {figure:>14}   {bar:<30} {peers}".rstrip(), flush=True)


if __name__ == "__main__":
    main()
