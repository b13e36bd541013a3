"""A comparison of two models whose thresholds are chosen anew in each resample."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from speed.timing import Finding

ROWS = 1_000_000
RESAMPLES = 1000
RULE = "max-far=0.1"


def findings(count: int = ROWS, resamples: int = RESAMPLES) -> Iterator[Finding]:
    """Seconds, and the peak of memory beyond the input, in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        seconds, peak, given = pool.submit(_measured, count, resamples).result()
    what = f"compare two models on {count:,} rows at {RULE}, {resamples:,} resamples"
    yield Finding(what, seconds, "s", at_most=120)
    yield Finding("  peak memory beyond the input over the input", peak / given, "x")
    yield Finding("  in MB", peak / 1e6, "MB")


def _measured(count: int, resamples: int) -> tuple[float, int, int]:
    import numpy as np

    import assay
    from speed.rows import rows

    truth, scores = rows(count)
    noise = np.random.default_rng(2).normal(0, 0.02, count)
    other = np.clip(scores + noise, 0, 1)
    del noise
    assay.compare(truth[:1000], scores={"old": scores[:1000], "new": other[:1000]}, at=RULE)
    before = _peak()
    started = time.perf_counter()
    assay.compare(truth, scores={"old": scores, "new": other}, at=RULE, resamples=resamples)
    seconds = time.perf_counter() - started
    return seconds, _peak() - before, truth.nbytes + scores.nbytes + other.nbytes


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
