"""How many labels tell the detection rate so closely: drawn at random, and by strata.

At random, labels meet attacks as often as rows do, and the interval is that of a share of them. By
strata, rows are drawn as :func:`assay.sample` draws them, and the interval is Fay and Feuer's of
the counts that are expected. Those depend on where missed attacks score, which nobody knows before:
``binormal``, as two normal curves of one width would have it that give the expected rates; or
``anywhere`` below the threshold, like all rows there, which is the worst that a score can do
without being upside down.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.plan.rates import first, rows_for_width
from assay.decisions.plan.result import Need
from assay.decisions.sample.allocation import allocated, labels_of_alerts, sizes_of, stratum_sizes
from assay.inference import FayFeuer, Quantity, Strata
from assay.inference.proportions import Wilson
from assay.measures import RECALL

Floats: TypeAlias = npt.NDArray[np.float64]

STRATA = 7
ROWS = 1_000_000
# Where nobody says what to expect.
EXPECTED_DR = 0.9
BINORMAL, ANYWHERE = "binormal", "anywhere"
# Fewer labels than this are not worth a plan.
_FEWEST = 4 * STRATA


@dataclass(frozen=True)
class RecallGoal:
    """An interval of the detection rate that is narrow enough, and the rows that it is about.

    Without an expected false positive rate, one alarm in two is false.
    """

    width: float
    level: float
    rows: int
    base_rate: float
    expected_dr: float
    expected_fpr: float | None

    def needs(self) -> tuple[Need, ...]:
        """Labels at random, then by strata, by where missed attacks score."""
        positives = rows_for_width(Wilson(self.level), self.width, self.expected_dr)
        at_random = round(positives / self.base_rate)
        return (
            self._need(at_random if at_random <= self.rows else None, Wilson.name),
            *(
                self._need(self._by_strata(missed), FayFeuer.name, missed)
                for missed in (BINORMAL, ANYWHERE)
            ),
        )

    def _need(self, labels: int | None, method: str, missed: str | None = None) -> Need:
        return Need(
            rows=labels,
            expected=self.expected_dr,
            method=method,
            base_rate=self.base_rate,
            missed=missed,
        )

    def _by_strata(self, missed: str) -> int | None:
        """The fewest labels; None where not even all rows are enough."""
        if self.width_of(self.rows, missed) > self.width:
            return None
        least = min(_FEWEST, self.rows)
        return first(
            lambda labels: labels >= self.rows or self.width_of(labels, missed) <= self.width, least
        )

    def width_of(self, labels: int, missed: str) -> float:
        """The width of the interval that so many labels are expected to give."""
        attacks = self.rows * self.base_rate
        found, lost = attacks * self.expected_dr, attacks * (1 - self.expected_dr)
        false = found if self.expected_fpr is None else (self.rows - attacks) * self.expected_fpr
        alerts = min(max(round(found + false), 2), self.rows - 2)
        others = stratum_sizes(self.rows - alerts, STRATA - 1, labels)
        on_alerts = max(labels_of_alerts(alerts, labels, None), labels - sum(others))
        drawn = np.array(
            [on_alerts, *allocated(others, sizes_of("sqrt", others, None), labels - on_alerts)]
        )
        sizes = np.array([alerts, *others], float)
        share = sizes[1:] / sizes[1:].sum()
        if missed == BINORMAL:
            share = _binormal(share, false / (self.rows - attacks), self.expected_dr)
        weights = sizes / drawn
        misses = np.minimum(lost * share / weights[1:], drawn[1:])
        counts = np.zeros((len(drawn), 2, 2))
        counts[0, 1, 1] = min(found / weights[0], drawn[0])
        counts[0, 0, 1] = drawn[0] - counts[0, 1, 1]
        counts[1:, 1, 0], counts[1:, 0, 0] = misses, drawn[1:] - misses
        strata = Strata(tuple(map(str, range(len(drawn)))), weights, counts)
        assert RECALL.formula is not None  # noqa: S101 - it is of counts
        low, high = strata.share_ends(Quantity(RECALL.formula, label=1), FayFeuer(self.level))
        return high - low


def _binormal(shares: Floats, false_positive_rate: float, detection_rate: float) -> Floats:
    """The missed attacks of each stratum, from the negatives of each, highest scores first.

    >>> _binormal(np.array([0.1, 0.9]), 0.01, 0.9).round(3).tolist()
    [0.913, 0.087]
    """
    from scipy.special import ndtr, ndtri

    above = false_positive_rate + (1 - false_positive_rate) * np.cumsum(shares)
    apart = -ndtri(false_positive_rate) + ndtri(detection_rate)
    below = ndtr(-ndtri(np.append(false_positive_rate, above[:-1])) - apart)
    return np.asarray(-np.diff(below, append=0.0) / (1 - detection_rate))
