"""Counting scores on the GPU that they are on, beside ``torch.sort`` of the same scores.

Run on a machine with a GPU: ``python benchmarks/gpu.py [ROWS]``. Elsewhere it says why it does not.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from assay.engines import Ask, count_coded, resolve, tensors
from assay.evaluation import Evaluation
from assay.sources import code_arrays
from assay.tally.keeping import Exact, Grid

ROWS = 100_000_000
REPEATS = 7
MEASURES = ("roc_auc", "average_precision", "recall", "precision", "f1", "mcc", "log_loss", "brier")


def best(work: Callable[[], Any], torch: Any) -> tuple[float, Any]:
    """The shortest of some runs in seconds, and what the last one gave."""
    times = []
    for _ in range(REPEATS):
        torch.cuda.synchronize()
        start = time.perf_counter()
        result = work()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return min(times), result


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
    truth = torch.rand(rows, device="cuda", generator=generator) < 0.05
    raw = torch.randn(rows, device="cuda", generator=generator) + 1.5 * truth
    score = torch.sigmoid(raw - 2).to(torch.float32)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, {rows:,} rows of float32")
    sort, _ = best(lambda: torch.sort(score), torch)
    copy, host = best(score.cpu, torch)
    exact, by_sort = best(lambda: tensors.count(truth, score, Ask(scores=Exact())), torch)
    grid, by_grid = best(lambda: tensors.count(truth, score, Ask(scores=Grid())), torch)

    def evaluate() -> list[float]:
        tally = tensors.count(truth, score, Ask(scores=Grid()))
        evaluation = Evaluation(resolve(tally, positive=True)[0])
        return [evaluation[name].value for name in MEASURES]

    whole, _ = best(evaluate, torch)
    print(f"torch.sort            {sort * 1e3:9.1f} ms")
    print(f"scores to the host    {copy * 1e3:9.1f} ms")
    print(f"tally by sort         {exact * 1e3:9.1f} ms   {exact / sort:.2f} x torch.sort")
    print(f"tally by grid         {grid * 1e3:9.1f} ms   {grid / sort:.2f} x torch.sort")
    print(f"evaluation by grid    {whole * 1e3:9.1f} ms   {whole / copy:.2f} x copying the scores")
    distinct = by_sort.scores["score", ""].size
    print(f"distinct scores {distinct:,}, cells {by_grid.scores['score', ''].size:,}")
    chosen = slice(0, min(rows, 1_000_000))
    part = code_arrays(truth[chosen].cpu().numpy(), y_score=np.asarray(host[chosen]))
    for kept in (Exact(), Grid()):
        here = count_coded(part, Ask(scores=kept)).to_bytes()
        there = tensors.count(truth[chosen], score[chosen], Ask(scores=kept)).to_bytes()
        print(f"bits of {kept.name}: {'equal' if here == there else 'DIFFERENT'}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
