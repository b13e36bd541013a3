"""Speed and memory, held against numpy's sort and scikit-learn in the same run: `make bench`.

Ratios and not seconds, since processors differ. Nothing here fails a build.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from speed import children, files, peers, small
from speed.rows import Rows, rows
from speed.timing import Finding, best

import assay
from assay.counts import Confusion
from assay.inference import Bootstrap, Quantity, estimate
from assay.measures import CATALOGUE

RESULTS = Path(__file__).parent / "results"
FULL, QUICK = 10_000_000, 1_000_000
PACKAGES = ("numpy", "scipy", "polars", "scikit-learn")


def processor() -> str:
    """The name of the processor, as far as the system tells."""
    path = Path("/proc/cpuinfo")
    if path.exists():
        for line in path.read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def surroundings(count: int) -> dict[str, Any]:
    """Where it ran, and on what."""
    busy = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "when": datetime.now(UTC).isoformat(timespec="seconds"),
        "rows": count,
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "load": busy,
        "python": platform.python_version(),
        "packages": {"assay": assay.__version__, **{name: version(name) for name in PACKAGES}},
    }


def evaluations(given: Rows, repeats: int) -> Iterator[Finding]:
    """Evaluations that are asked for what scikit-learn gives, and for all that scores allow."""
    truth, scores = given
    rounded, single = scores.round(4), scores.astype(np.float32)
    mixed = np.log(scores / (1 - scores))
    sorts = {
        "numpy": best(lambda: np.sort(scores), repeats),
        "polars": best(lambda: pl.Series(scores).sort(), repeats),
    }
    for name, seconds in sorts.items():
        yield Finding(f"{name}'s sort of {len(scores):,} scores", seconds, "s")
    plain = children.sort_without_avx512(len(scores), repeats)
    if plain is not None:
        yield Finding("numpy's sort without AVX-512", plain, "s")
    sort = min(sorts.values())
    asked = best(lambda: peers.by_assay(given), repeats)
    yield Finding(f"evaluate, {len(peers.NAMES)} values with intervals", asked, "s")
    yield Finding("  over the faster sort", asked / sort, "x", at_most=3)
    numbers = Rows(truth.astype(np.int64), scores)
    seconds = best(lambda: peers.by_assay(numbers), repeats)
    yield Finding("  int64 labels, over the faster sort", seconds / sort, "x")
    yield from _beside_peers(given, asked)

    def timed(column: Any, **options: Any) -> float:
        return best(lambda: assay.evaluate(truth, y_score=column, **options).to_dict(), repeats)

    alone = best(lambda: assay.evaluate(truth, y_score=scores), repeats)
    yield Finding("evaluate, nothing asked for, over the faster sort", alone / sort, "x")
    yield Finding(
        "evaluate and to_dict: everything, over the faster sort", timed(scores) / sort, "x"
    )
    yield Finding("  rounded to 4 decimals", timed(rounded) / sort, "x")
    yield Finding("  scores of both signs", timed(mixed, threshold=0.0) / sort, "x")
    yield Finding("  float32 scores", timed(single) / sort, "x")


def _beside_peers(given: Rows, seconds: float) -> Iterator[Finding]:
    evaluation = assay.evaluate(given.truth, y_score=given.scores)
    theirs, their_seconds = peers.by_scikit_learn(given)
    yield Finding("scikit-learn, the point values alone", their_seconds, "s")
    yield Finding("  over evaluate with intervals", their_seconds / seconds, "x", at_least=50)
    off, whose = peers.largest_difference(evaluation, theirs)
    yield Finding(f"  largest difference of {len(theirs)} values ({whose})", off, "", at_most=1e-9)


def memory(count: int) -> Iterator[Finding]:
    """The peak beyond the input, in a fresh process, of the values that scikit-learn gives."""
    for labels, target in (("bool", 2.0), ("int64", None)):
        peak = children.peak_bytes(count, labels)
        what = f"peak memory beyond the input over the input, {labels} labels"
        yield Finding(what, peak["peak"] / peak["input"], "x", at_most=target)
        yield Finding("  in bytes a row", peak["peak"] / count, "B")
        yield Finding("  of every estimate", peak["peak_of_all"] / peak["input"], "x")


def resampling(repeats: int) -> Iterator[Finding]:
    """A bootstrap of every count measure of a binary table."""
    table = Confusion(("normal", "attack"), ((7743, 167), (324, 6635)))
    counted = [(Quantity(m.formula, label=1), m.range) for m in CATALOGUE if m.formula is not None]
    seeds = iter(range(10_000))

    def resample() -> None:
        method = Bootstrap(seed=next(seeds))
        for quantity, bounds in counted:
            estimate(quantity, table, bounds, method=method)

    what = f"1,000 resamples of {len(counted)} count measures"
    yield Finding(what, 1000 * best(resample, 3 * repeats), "ms", at_most=50)


def start(repeats: int) -> Iterator[Finding]:
    """What `import assay` costs beyond `import numpy`."""
    seconds = [children.import_seconds(module, repeats) for module in ("assay", "numpy")]
    yield Finding("import assay", seconds[0], "s")
    yield Finding("  beyond import numpy", seconds[0] - seconds[1], "s", at_most=0.1)
    heavy = children.imported_with_assay()
    count = 0 if heavy == "[]" else heavy.count(",") + 1
    yield Finding(f"  heavy packages that it loads {heavy}", count, "", at_most=0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, help=f"how many; {FULL:,} if not given")
    parser.add_argument("--repeats", type=int, default=3, help="runs of which the best counts")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK:,} rows")
    parser.add_argument("--out", type=Path, help="the JSON file")
    asked = parser.parse_args()
    count = asked.rows or (QUICK if asked.quick else FULL)
    about = surroundings(count)
    for name, value in about.items():
        print(f"{name}: {value}")
    print()
    findings = []
    imports = 3 if asked.quick else 10
    parts = (
        start(imports),
        small.findings(),
        resampling(asked.repeats),
        files.findings(10 * count),
        memory(count),
        evaluations(rows(count), asked.repeats),
    )
    for part in parts:
        for finding in part:
            print(finding.line(), flush=True)
            findings.append(finding)
    missed = [finding for finding in findings if finding.met is False]
    print(f"\n{sum(finding.met is True for finding in findings)} targets met, {len(missed)} missed")
    moment = about["when"].replace(":", "").replace("+0000", "")
    out = asked.out or RESULTS / f"speed-{moment}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(
        json.dumps({**about, "findings": [f.plain() for f in findings]}, indent=1) + "\n", "utf-8"
    )
    print(f"Wrote {out}")


if __name__ == "__main__":
    main()
