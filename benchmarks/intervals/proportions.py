"""Shares of rows: coverage by summing the binomial distribution, nothing drawn."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, xlog1py, xlogy

from assay.inference import Wilson
from intervals.scenario import Coverage

ENOUGH = 10


def coverage(p: float, n: int) -> float:
    """The chance that Wilson's interval of n rows holds the share p."""
    k = np.arange(n + 1)
    low, high = Wilson()(k, n)
    held = (low <= p) & (p <= high)
    if n > 10_000:
        k = k[held]
        held = np.ones(len(k), bool)
    chance = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    return float(np.exp(chance)[held].sum())


def run(*, quick: bool) -> list[Coverage]:
    """A grid of shares and sizes; shares above one half are the mirror of those below."""
    sizes = [20, 100, 1000] if quick else [10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000, 20_000]
    shares = np.concatenate([np.geomspace(1e-4, 0.1, 40), np.linspace(0.1, 0.5, 201)[1:]])
    coverages = []
    for n in sizes:
        for p in shares[:: 10 if quick else 1].tolist():
            share = coverage(p, n)
            coverages.append(
                Coverage(
                    "shares",
                    "any share of rows",
                    f"share {p:.4g} of {n:,} rows",
                    n * p * (1 - p) >= ENOUGH,
                    p,
                    method="wilson",
                    covered=share,
                    too_high=1 - share,
                    exact=True,
                )
            )
    return coverages
