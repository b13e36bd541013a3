"""Counting scores on the GPU that they are on, beside ``torch.sort`` of the same scores.

Run on a machine with a GPU: ``python benchmarks/gpu.py [ROWS]``. Elsewhere it says why it does not.
It fails where a target is missed, or where bits are not those that the host counts.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from assay.engines import Ask, arrays, count_coded, resolve
from assay.evaluation import Evaluation
from assay.sources import code_arrays
from assay.tally.keeping import Exact, Grid

ROWS = 100_000_000
COMPARED = 1_000_000
REPEATS = 15
SHARES = (0.05, 0.5)
MEASURES = ("roc_auc", "average_precision", "recall", "precision", "f1", "mcc", "log_loss", "brier")


def best(work: Callable[[], Any], torch: Any) -> float:
    """The shortest of some runs, in milliseconds."""
    times = []
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def timed(truth: Any, score: Any, torch: Any) -> Iterator[bool]:
    """Print how long each way takes; whether it is as fast as it should be."""

    def evaluate() -> list[float]:
        tally = arrays.count_on_device(truth, score, Ask(scores=Grid()))
        evaluation = Evaluation(resolve(tally, positive=True)[0])
        return [evaluation[name].value for name in MEASURES]

    sort = best(lambda: torch.sort(score), torch)
    copy = best(score.cpu, torch)
    pinned = torch.empty(len(score), dtype=score.dtype, pin_memory=True)
    quick = best(lambda: pinned.copy_(score), torch)
    print(f"torch.sort                    {sort:8.2f} ms")
    print(f"scores to the host            {copy:8.2f} ms, {quick:.2f} ms to pinned memory")
    for name, kept, most in (("sort", Exact(), 1.5), ("grid", Grid(), 1.0)):
        ask = Ask(scores=kept)
        tally = best(lambda ask=ask: arrays.count_on_device(truth, score, ask), torch)
        share = tally / sort
        print(
            f"tally by {name}                 {tally:8.2f} ms, {share:.2f} x sort, at most {most}"
        )
        yield share <= most
    whole = best(evaluate, torch)
    share = whole / copy
    print(f"evaluation by grid            {whole:8.2f} ms, {share:.2f} x copying, at most 1")
    yield share <= 1


def compared(truth: Any, score: Any) -> Iterator[bool]:
    """Print whether the bits are those that the host counts."""
    part = code_arrays(truth.cpu().numpy(), y_score=np.asarray(score.cpu()))
    for kept in (Exact(), Grid()):
        here = count_coded(part, Ask(scores=kept)).to_bytes()
        equal = here == arrays.count_on_device(truth, score, Ask(scores=kept)).to_bytes()
        print(f"bits of {kept.name}: {'equal' if equal else 'DIFFERENT'}")
        yield equal


def main(rows: int) -> int:
    """Measure and print."""
    try:
        import torch
    except ImportError:
        print("skipped: torch is not installed")
        return 0
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        return 0
    generator = torch.Generator("cuda").manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {rows:,} rows of float32")
    met = []
    for share in SHARES:
        truth = torch.rand(rows, device="cuda", generator=generator) < share
        raw = torch.randn(rows, device="cuda", generator=generator) + 1.5 * truth
        score = torch.sigmoid(raw - 2).to(torch.float32)
        print(f"\n{share:.0%} positive")
        met += timed(truth, score, torch)
        met += compared(truth[:COMPARED], score[:COMPARED])
    print(f"\n{sum(met)} of {len(met)} met")
    return 0 if all(met) else 1


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
