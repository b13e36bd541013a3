"""How time and memory grow with rows, classes, clusters, slices and more: `make growth`.

Each size runs in a process of its own. The exponent is the slope of the logarithms: 1 is linear.
What grows faster than the 1.1th power is named, and is explained or fails.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MOST = 1.1
REPEATS = 2


@dataclass(frozen=True)
class Axis:
    """What grows, through which sizes, what is done of each size, and why it may grow faster."""

    sizes: tuple[int, ...]
    prepare: Callable[[int, Path], Callable[[], object]]
    reason: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--axis", choices=list(AXES), help="one of them alone")
    parser.add_argument("--small", type=int, default=1, help="divide all sizes by this")
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        print(json.dumps(_measured(AXES[asked.axis], asked.child)))
        return 0
    print(f"{'what grows':16} {'to':>12} {'seconds':>9} {'MB':>8}  time ~ n^   memory ~ n^")
    failed = 0
    for name, axis in AXES.items():
        if asked.axis in (None, name):
            failed += _line(name, axis, asked.small)
    return int(failed > 0)


def _line(name: str, axis: Axis, small: int) -> int:
    sizes = [max(size // small, 4) for size in axis.sizes]
    points = [_child(name, size) for size in sizes]
    seconds, peaks = ([point[key] for point in points] for key in ("seconds", "bytes"))
    time_slope, memory_slope = _slope(sizes, seconds, 0.02), _slope(sizes, peaks, 4e6)
    fast = max(time_slope, memory_slope) > MOST
    told = "" if not fast else axis.reason or "FASTER THAN LINEAR"
    print(
        f"{name:16} {sizes[-1]:12,} {seconds[-1]:9.3f} {peaks[-1] / 1e6:8.1f}"
        f"  {time_slope:9.2f}   {memory_slope:11.2f}  {told}",
        flush=True,
    )
    return int(fast and not axis.reason)


def _slope(sizes: list[int], values: list[float], least: float) -> float:
    """The slope of the logarithms; what is below the least that can be measured counts as that."""
    x = [math.log(size) for size in sizes]
    y = [math.log(max(value, least)) for value in values]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - mean_x) ** 2 for a in x)


def _child(axis: str, size: int) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--axis", axis, "--child", str(size)],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return measured


def _measured(axis: Axis, size: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        work = axis.prepare(size, Path(folder))
        _warm(axis)
        before = _resident()
        seconds = math.inf
        for _ in range(REPEATS):
            began = time.process_time()
            work()
            seconds = min(seconds, time.process_time() - began)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        return {"seconds": seconds, "bytes": max(peak - before, 0)}


def _warm(axis: Axis) -> None:
    """Import whatever it needs, so that this is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        axis.prepare(4, Path(folder))()


def _resident() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


# -- what is done ----------------------------------------------------------------------------------

_FEW = 20_000


def _binary(rows: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(1)
    attack = generator.random(rows) < 0.2
    attack[:2] = True, False
    return attack, np.clip(generator.normal(0.4 + 0.2 * attack, 0.2), 0, 1)


def _rows(size: int, folder: Path) -> Callable[[], object]:  # noqa: ARG001
    import assay

    truth, scores = _binary(size)
    return lambda: assay.evaluate(truth, y_score=scores).to_dict()


def _csv(size: int, folder: Path) -> Callable[[], object]:
    import polars as pl

    import assay

    truth, scores = _binary(size)
    path = folder / "rows.csv"
    pl.DataFrame({"label": truth, "score": scores}).write_csv(path)
    return lambda: assay.evaluate_files(str(path)).to_dict()


def _classes(size: int, folder: Path) -> Callable[[], object]:  # noqa: ARG001
    import assay

    generator = np.random.default_rng(2)
    truth = generator.integers(0, size, max(_FEW, 4 * size))
    truth[:size] = np.arange(size)
    guess = np.where(generator.random(len(truth)) < 0.8, truth, np.roll(truth, 1))
    names = np.array([f"class-{i:05}" for i in range(size)])
    return lambda: assay.evaluate(names[truth], y_pred=names[guess]).to_dict()


def _clusters(size: int, folder: Path) -> Callable[[], object]:  # noqa: ARG001
    import assay

    truth, scores = _binary(4 * size)
    hosts = np.arange(len(truth)) % size
    return lambda: assay.evaluate(truth, y_score=scores, clusters=hosts).to_dict()


def _slices(size: int, folder: Path) -> Callable[[], object]:  # noqa: ARG001
    import assay

    truth, scores = _binary(max(_FEW, 20 * size))
    site = np.array([f"site-{i:05}" for i in range(size)])[np.arange(len(truth)) % size]
    return lambda: assay.evaluate(truth, y_score=scores, slices={"site": site}).to_dict()


def _models(size: int, folder: Path) -> Callable[[], object]:  # noqa: ARG001
    import assay

    truth, scores = _binary(2000)
    generator = np.random.default_rng(3)
    said = {f"model-{i}": scores + generator.normal(0, 0.1, len(scores)) for i in range(size)}
    said = {name: np.clip(column, 0, 1) for name, column in said.items()}
    return lambda: assay.compare(truth, scores=said, resamples=200)


def _claims(size: int, folder: Path) -> Callable[[], object]:  # noqa: ARG001
    import assay

    claims = [
        {
            "name": f"claim {i}",
            "confusion": {"tp": 85 + i % 7, "fp": 20, "fn": 15, "tn": 280},
            "reported": {"accuracy": "0.9125", "precision": "0.8095", "recall": "0.85"},
        }
        for i in range(size)
    ]
    return lambda: assay.audit(claims)


def _runs(size: int, folder: Path) -> Callable[[], object]:
    import assay

    document = assay.evaluate_counts(tp=85, fp=20, fn=15, tn=280).to_dict()

    def work() -> object:
        path = folder / f"{time.monotonic_ns()}.db"
        with assay.Store(path) as store:
            for number in range(size):
                store.record(json.dumps({**document, "number": number}), name="flows")
            return store.runs(limit=50)

    return work


AXES = {
    "rows": Axis((1_000_000, 2_000_000, 4_000_000, 8_000_000), _rows),
    "rows of CSV": Axis((250_000, 500_000, 1_000_000, 2_000_000), _csv),
    "classes": Axis(
        (50, 100, 200, 400),
        _classes,
        "a confusion matrix of n classes has n^2 cells, and the document holds them",
    ),
    "clusters": Axis(
        (50_000, 100_000, 200_000, 400_000),
        _clusters,
        "clusters are sorted, n log n, and outgrow the caches",
    ),
    "slices": Axis((100, 200, 400, 800), _slices),
    "models": Axis((3, 6, 12, 24), _models, "n models are n(n-1)/2 pairs, each compared"),
    "claims": Axis((50, 100, 200, 400), _claims),
    "runs": Axis((100, 200, 400, 800), _runs),
}


if __name__ == "__main__":
    sys.exit(main())
