"""How often the default 95% intervals hold the truth, and rates over time are judged right.

Shares of rows are summed exactly, all else is simulated. Coverage and mean width of each measure
in each scenario go to benchmarks/results as JSON; the exit code is 1 where a promise is broken.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from intervals import clusters, decisions, few_rows, losses, periods, proportions, ranking, weights
from intervals.scenario import Coverage, Scenario, run

MOST_WIDE = 1.25
RESULTS = Path(__file__).parent / "results"
PARTS = {
    "decisions": decisions,
    "ranking": ranking,
    "clusters": clusters,
    "weights": weights,
    "losses": losses,
    "few rows": few_rows,
}


def simulate(todo: Sequence[Scenario], samples: int, jobs: int) -> Iterator[Coverage]:
    """Run all scenarios; results come in their order."""
    started = time.monotonic()
    with ProcessPoolExecutor(jobs) as pool:
        for done, coverages in enumerate(pool.map(partial(run, samples=samples), todo), 1):
            yield from coverages
            if done % 10 == 0 or done == len(todo):
                spent = time.monotonic() - started
                print(f"{done:4d} of {len(todo)} scenarios, {spent:.0f} s", flush=True)


def summary(coverages: Sequence[Coverage]) -> list[Coverage]:
    """Print the range of each measure; give the broken promises."""
    for group in dict.fromkeys(row.group for row in coverages):
        print(f"\n{group}")
        rows = [row for row in coverages if row.group == group]
        for measure in dict.fromkeys(row.measure for row in rows):
            mine = [row for row in rows if row.measure == measure]
            ranges = [_range([row for row in mine if row.promised == is_]) for is_ in (True, False)]
            print(f"  {measure:28} promised: {ranges[0]:34} else: {ranges[1]}")
    promised = [row for row in coverages if row.promised]
    broken = [row for row in promised if not row.kept]
    print(f"\nBroken promises: {len(broken)}")
    for row in broken:
        print(f"  {_line(row)}")
    print("Below their bar by chance or by little:")
    for row in promised:
        if row.below and row.kept:
            print(f"  {_line(row)}")
    wide = [row for row in coverages if row.ordinary and row.wider > MOST_WIDE]
    print(f"Ordinary scenarios more than {MOST_WIDE} times as wide as before: {len(wide)}")
    for row in wide:
        print(f"  {_line(row)}")
    return broken


def _line(row: Coverage) -> str:
    wider = "" if math.isnan(row.wider) else f", {row.wider:.2f} times as wide as before"
    return (
        f"{row.measure}: {row.share:.1%} +- {row.error:.1%} (bar {row.bar:.0%}), {row.group}, "
        f"{row.setting}{wider}"
    )


def _range(rows: Sequence[Coverage]) -> str:
    shares = [row.share for row in rows if row.judged]
    if not shares:
        return "no scenario"
    return f"{min(shares):.1%} to {max(shares):.1%} in {len(shares)} scenarios"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a few scenarios")
    parser.add_argument("--samples", type=int, default=4000, help="of a scenario")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", action="append", choices=PARTS, help="one part")
    parser.add_argument("--out", type=Path, default=RESULTS / "intervals.json")
    asked = parser.parse_args()
    parts = [part for name, part in PARTS.items() if not asked.only or name in asked.only]
    todo = [scenario for part in parts for scenario in part.scenarios(quick=asked.quick)]
    coverages = [] if asked.only else proportions.run(quick=asked.quick)
    coverages += simulate(todo, asked.samples, asked.jobs)
    asked.out.parent.mkdir(parents=True, exist_ok=True)
    asked.out.write_text(json.dumps([row.plain() for row in coverages], indent=1) + "\n", "utf-8")
    broken = summary(coverages)
    print(f"Wrote {asked.out}")
    over_time = [] if asked.only else periods.run(quick=asked.quick)
    return int(bool(broken) or any(rate.fails for rate in over_time))


if __name__ == "__main__":
    sys.exit(main())
