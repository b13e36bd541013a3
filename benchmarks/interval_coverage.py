"""How often the default 95% intervals hold the truth: `make intervals`.

Shares of rows are summed exactly, all else is simulated: some 20 minutes on two cores. The results
go to benchmarks/results as JSON, and to docs/coverage.rst unless --quick.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

from intervals import (
    bands,
    class_scores,
    classes,
    clusters,
    losses,
    operating,
    page,
    periods,
    proportions,
    ranking,
    tables,
    weights,
)
from intervals.scenario import PROMISE, Coverage, Scenario, run

HERE = Path(__file__).parent
RESULTS = HERE / "results"
PAGE = HERE.parent / "docs" / "coverage.rst"
# The slowest first, so that no worker is left with them at the end.
PARTS = (
    tables,
    operating,
    classes,
    class_scores,
    clusters,
    periods,
    weights,
    bands,
    ranking,
    losses,
)


def scenarios(*, quick: bool, only: Sequence[str] = ()) -> list[Scenario]:
    parts = [part for part in PARTS if not only or part.__name__.rpartition(".")[2] in only]
    return [scenario for part in parts for scenario in part.scenarios(quick=quick)]


def simulate(
    todo: Sequence[Scenario], repetitions: int, at_most: int, jobs: int
) -> Iterator[Coverage]:
    """Run all scenarios; results come in their order, progress as it happens."""
    started = time.monotonic()
    results: dict[int, list[Coverage]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        futures = {
            pool.submit(run, scenario, repetitions, at_most): i for i, scenario in enumerate(todo)
        }
        for done, future in enumerate(as_completed(futures), 1):
            results[futures[future]] = future.result()
            if done % 10 == 0 or done == len(todo):
                spent = time.monotonic() - started
                print(f"{done:4d} of {len(todo)} settings, {spent:.0f} s", flush=True)
    for i in range(len(todo)):
        yield from results[i]


def summary(coverages: Sequence[Coverage]) -> None:
    """Print the range of each measure, and where the promise is broken."""
    for group in dict.fromkeys(row.group for row in coverages):
        print(f"\n{group}")
        rows = [row for row in coverages if row.group == group]
        for measure in dict.fromkeys(row.measure for row in rows):
            mine = [row for row in rows if row.measure == measure]
            inside, outside = page.ranges(mine)
            print(f"  {measure:28} promised: {inside:34} else: {outside}")
    broken = [row for row in coverages if row.inside and not row.kept]
    low, high = PROMISE
    print(f"\nBroken promises ({low:.1%} to {high:.1%}): {len(broken)}")
    for row in broken:
        print(f"  {row.measure}: {row.share:.1%} +- {row.error:.1%}, {row.setting}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a small grid, and no page")
    parser.add_argument("--repetitions", type=int, default=2000, help="samples a setting")
    parser.add_argument("--at-most", type=int, default=16_000, help="samples where it is close")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--out", type=Path, help="the JSON file")
    parser.add_argument("--page", type=Path, help="the page to write")
    parts = [part.__name__.rpartition(".")[2] for part in PARTS]
    parser.add_argument(
        "--only", action="append", choices=parts, help="one part, and its sections of the page"
    )
    parser.add_argument("--read", type=Path, help="render an earlier JSON file, simulate nothing")
    asked = parser.parse_args()
    if asked.read:
        content = page.read(asked.read)
    else:
        repetitions = min(asked.repetitions, 400) if asked.quick else asked.repetitions
        at_most = repetitions if asked.quick else asked.at_most
        content = [] if asked.only else proportions.run(quick=asked.quick)
        todo = scenarios(quick=asked.quick, only=asked.only or ())
        content += simulate(todo, repetitions, at_most, asked.jobs)
        name = "intervals-quick.json" if asked.quick else "intervals.json"
        name = f"intervals-{'-'.join(asked.only)}.json" if asked.only else name
        out = asked.out or RESULTS / name
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps([row.plain() for row in content], indent=1) + "\n", "utf-8")
        print(f"Wrote {out}")
    summary(content)
    target = asked.page or (None if asked.quick else PAGE)
    if target is not None:
        old = target.read_text("utf-8") if target.exists() else ""
        target.write_text(page.render(content, old), "utf-8")
        print(f"Wrote {target}")


if __name__ == "__main__":
    sys.exit(main())
