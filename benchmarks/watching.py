"""How often what is watched is ever wrong: the figures of the page "Watch a detector".

python benchmarks/watching.py [STREAMS]

2,000 streams take about three minutes of a processor.
"""

from __future__ import annotations

import math
import sys

import numpy as np
import polars as pl

from assay.decisions.daily_counts import TENTHS, ReferenceCells, reference_cells
from assay.decisions.watched_figures import evidence_of
from assay.inference import ClopperPearson, Wilson
from assay.inference.proportions import (
    BetaMixture,
    PairedBets,
    beta_log_e,
    discordant_log_e,
    gamma_log_e,
    paired_log_e,
)

LOOKS = np.arange(1, 5001)
LIMIT = math.log(20)


def shares(streams: int) -> None:
    """A share of rows, looked at after every row."""
    random = np.random.default_rng(1)
    print("share of rows: ever wrong in 5,000 looks, peeked Wilson, width by Clopper-Pearson's")
    for share in (0.5, 0.9, 0.99):
        wrong = peeked = 0
        for part in np.array_split(np.arange(streams), 10):
            hits = np.cumsum(random.random((len(part), 5000)) < share, axis=1, dtype=np.int32)
            wrong += int((beta_log_e(hits, LOOKS, share).max(axis=1) > LIMIT).sum())
            low, high = Wilson()(hits[:, 9:], LOOKS[9:])
            peeked += int(((low > share) | (high < share)).any(axis=1).sum())
        wide, exact = (m()(round(5000 * share), 5000) for m in (BetaMixture, ClopperPearson))
        ratio = (wide[1] - wide[0]) / (exact[1] - exact[0])
        print(f"  {share}: {wrong / streams:.1%}  {peeked / streams:.1%}  {ratio:.2f}")


def pairs(streams: int) -> None:
    """Two models on the same rows: McNemar's test in sequence, and their difference."""
    random = np.random.default_rng(2)
    print("two models: McNemar in sequence ever wrong, difference ever wrong, width by one look's")
    for up, down in ((0.05, 0.05), (0.25, 0.25), (0.1, 0.02)):
        tests = apart = 0
        for part in np.array_split(np.arange(streams), 40):
            drawn = random.random((len(part), 5000))
            gained = np.cumsum(drawn < up, axis=1, dtype=np.int32)
            lost = np.cumsum((drawn >= up) & (drawn < up + down), axis=1, dtype=np.int32)
            some = slice(None, None, 5)
            evidence = paired_log_e(gained[:, some], lost[:, some], LOOKS[some], up - down)
            apart += int((evidence.max(axis=1) > LIMIT).sum())
            tests += int((discordant_log_e(gained, lost).max(axis=1) > LIMIT).sum())
        low, high = PairedBets()(round(5000 * up), round(5000 * down), 5000)
        one = 2 * 1.959964 * math.sqrt((up + down - (up - down) ** 2) / 5000)
        told = f"{tests / streams:.1%}" if up == down else f"finds {tests / streams:.1%}"
        print(f"  {up}, {down}: {told}  {apart / streams:.1%}  {(high - low) / one:.2f}")


def rates(streams: int) -> None:
    """False alarms a day, looked at every day of a year."""
    random = np.random.default_rng(3)
    print("false alarms a day: ever wrong in a year of daily looks")
    for rate in (0.2, 3.0, 200.0):
        events = np.cumsum(random.poisson(rate, (streams, 365)), axis=1)
        evidence = gamma_log_e(events, np.arange(1, 366), rate)
        print(f"  {rate}: {(evidence.max(axis=1) > LIMIT).mean():.1%}")


def year(
    random: np.random.Generator, reference: int, rows: int, days: int, moved: float
) -> tuple[ReferenceCells, np.ndarray]:
    """Days of scores, 1% of them attacks; negatives move by so many spreads after 183 days."""

    def scores(size: int, by: float | np.ndarray) -> np.ndarray:
        attack = random.random(size) < 0.01
        return np.where(attack, random.normal(3, 1, size), random.normal(by, 1, size))

    cells = reference_cells("score", pl.Series(scores(reference, 0.0)), TENTHS, 42)
    day = np.repeat(np.arange(days), rows)
    # No two scores are equal, so that a row lies between two cuts, and never at one.
    cell = cells.slots_of(scores(days * rows, np.where(day >= 183, moved, 0.0))) // 2
    size = len(cells.weights)
    return cells, np.bincount(day * size + cell, minlength=days * size).reshape(days, size)


def drift(streams: int) -> None:
    """False stops in a year without drift, and how soon a shift of negatives is found."""
    random = np.random.default_rng(4)
    print("no drift in a year: false stops, and where the reference is taken as known")
    for reference, rows in ((500, 200), (5000, 200), (5000, 1000)):
        stopped = plugged = 0
        for _ in range(streams):
            cells, counts = year(random, reference, rows, 365, 0.0)
            stopped += bool(evidence_of(counts, cells.weights).max() >= LIMIT)
            known = 1e6 * np.array(cells.weights)
            plugged += bool(evidence_of(counts, known).max() >= LIMIT)
        print(f"  {reference}, {rows} a day: {stopped / streams:.1%}  {plugged / streams:.1%}")
    print("negatives move by 0.2 of their spread after half a year: found in 30 days, median delay")
    for reference, rows in ((2000, 200), (5000, 1000)):
        delays = []
        for _ in range(max(streams // 3, 1)):
            cells, counts = year(random, reference, rows, 213, 0.2)
            over = np.flatnonzero(evidence_of(counts, cells.weights) >= LIMIT)
            delays.append(over[0] - 182 if len(over) and over[0] >= 183 else math.inf)
        mean = np.mean(np.array(delays) <= 30)
        print(f"  {reference}, {rows} a day: {mean:.1%}  {np.median(delays):.0f} days")


if __name__ == "__main__":
    given = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    shares(given)
    pairs(given)
    rates(given)
    drift(max(given // 2, 1))
