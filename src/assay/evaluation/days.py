"""How many alerts a day really brought."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from assay.tally import Tally


@dataclass(frozen=True)
class Spread:
    """Alerts a day: their mean and how far days differ.

    ``sd`` divides by the number of days less one; it is nan for one day. Where days were alike but
    for chance it would be about the square root of the mean.
    """

    days: int
    mean: float
    median: float
    least: float
    most: float
    sd: float


def spread(tally: Tally, column: str) -> Spread:
    """The spread of alerts over the days of a sliced column, of two classes."""
    alerts = [table.columns[1] for (name, _), table in tally.slices.items() if name == column]
    return Spread(
        days=len(alerts),
        mean=statistics.fmean(alerts),
        median=float(statistics.median(alerts)),
        least=min(alerts),
        most=max(alerts),
        sd=statistics.stdev(alerts) if len(alerts) > 1 else float("nan"),
    )
