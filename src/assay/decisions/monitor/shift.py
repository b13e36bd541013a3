"""Whether a column still looks like the reference: a test that holds at every look.

The null hypothesis is that rows of the reference and of the stream come from one distribution. Then
the counts of cells, day by day, have a known law (see :mod:`assay.decisions.monitor.reference`),
with nothing left to estimate. The evidence is what alternatives make of the counts by what that law
makes of them: a martingale that exceeds 1/alpha, at any time, with a chance of at most alpha.

To plug the shares of the reference in as if they were known would not hold: the reference is a
sample too, and with time every stream is told apart from it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.decisions.monitor.reference import ReferenceCells
from assay.errors import InputError
from assay.inference.estimate import Estimate
from assay.inference.fields import Recorded
from assay.inference.proportions import ClopperPearson
from assay.inference.sequences import BetaMixture

Floats: TypeAlias = npt.NDArray[np.float64]

# How close to the reference the alternatives lie: as if they had been seen so many rows.
_STRENGTHS = (10.0, 100.0, 1000.0, 10_000.0)
# A change may begin on any of these days: every seventh.
_STEP = 7


@dataclass(frozen=True)
class Shift(Recorded):
    """What became of one column since the reference.

    ``log_e`` is the log of the evidence after the last day, ``largest`` its largest so far; the
    column has shifted where that reached ``limit``, first at the end of ``since``. ``mean_rank`` is
    where a row of the stream stands among those of the reference, 0.5 where nothing has changed;
    ``distance`` is the share of rows that would have to move for both to be alike.
    """

    FIRST: ClassVar[tuple[str, ...]] = ("column", "shifted", "since")
    DERIVED: ClassVar[tuple[str, ...]] = ("shifted",)

    column: str
    since: str | None
    log_e: float
    largest: float
    limit: float
    mean_rank: float
    distance: float
    rows: int
    reference_rows: int
    evidence: Mapping[str, float]

    @property
    def shifted(self) -> bool:
        """Whether it is shown that the column is not what it was."""
        return self.since is not None


def evidence_of(cells: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """The log of the evidence against no shift after each day; ``cells`` are counts by day.

    A change may begin with the first day, and with every seventh after it: the evidence of each
    start is weighed by 1/((i + 1)(i + 2)), and what no start has yet taken stays as it is. From a
    start on, the alternatives are Dirichlet distributions around what was seen before.
    """
    counts, prior = np.asarray(cells, np.float64), np.asarray(weights, np.float64)
    before = prior + np.concatenate([np.zeros((1, counts.shape[1])), np.cumsum(counts, axis=0)])
    null = np.array([_log_rising(each, prior) for each in before - prior])
    found = np.full(len(counts), -np.inf)
    starts = range(0, len(counts), _STEP)
    for i, start in enumerate(starts):
        since = before[start + 1 :] - before[start]
        centre = before[start] / before[start].sum()
        each = np.stack([_log_rising(since, strength * centre) for strength in _STRENGTHS])
        mixed = np.logaddexp.reduce(each, axis=0) - math.log(len(_STRENGTHS))
        ratio = mixed - (null[start + 1 :] - null[start]) - math.log((i + 1) * (i + 2))
        found[start:] = np.logaddexp(found[start:], ratio)
    taken = np.arange(len(counts)) // _STEP + 1
    kept: Floats = np.logaddexp(found, -np.log(taken + 1.0))
    return kept


def evidence_of_cuts(cells: npt.ArrayLike, weights: npt.ArrayLike) -> Floats:
    """The same where a column has two values: the mean of the evidence of each cut by itself.

    A cut divides rows into those below and those above, which is all that alerts have to tell.
    """
    counts, prior = np.asarray(cells, np.float64), np.asarray(weights, np.float64)
    every = []
    for cut in range(1, len(prior)):
        sides = np.stack([counts[:, :cut].sum(axis=1), counts[:, cut:].sum(axis=1)], axis=1)
        every.append(evidence_of(sides, [prior[:cut].sum(), prior[cut:].sum()]))
    mean: Floats = np.logaddexp.reduce(every, axis=0) - math.log(len(every))
    return mean


def _log_rising(counts: Floats, prior: Floats) -> Floats:
    """The log of the chance of rows in an order, their shares being Dirichlet(prior)."""
    from scipy.special import gammaln

    total: Floats = gammaln(prior.sum()) - gammaln(prior.sum() + counts.sum(axis=-1))
    found: Floats = total + (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)
    return found


def shift_of(
    cells: ReferenceCells,
    slots: Mapping[str, tuple[int, ...]],
    *,
    alpha: float,
    seed: int,
    by_cuts: bool = False,
) -> Shift:
    """The shift of a column, whose counts of slots are given by day.

    ``by_cuts`` is for a column of two values.
    """
    days = list(slots)
    counts = np.array([cells.cell_counts(slots[day], day, seed) for day in days])
    evidence = (evidence_of_cuts if by_cuts else evidence_of)(counts, cells.weights)
    limit = -math.log(alpha)
    over = np.flatnonzero(evidence >= limit)
    expected = np.array(cells.weights) / sum(cells.weights)
    share = counts.sum(axis=0) / counts.sum()
    middle = np.cumsum(expected) - expected / 2
    return Shift(
        column=cells.column,
        since=days[int(over[0])] if len(over) else None,
        log_e=float(evidence[-1]),
        largest=float(evidence.max()),
        limit=limit,
        mean_rank=float(share @ middle),
        distance=float(np.abs(share - expected).sum() / 2),
        rows=int(counts.sum()),
        reference_rows=cells.rows,
        evidence=dict(zip(days, evidence.tolist(), strict=True)),
    )


# -- the base rate, from alerts alone --------------------------------------------------------------

ASSUMED = (
    "It takes the scores of attacks and of harmless rows as each distributed as in the reference, "
    "so that nothing but the share of attacks has changed (label shift); a shift of the scores "
    "themselves looks the same."
)


def base_rate_of(
    alerts: int, rows: int, reference: Mapping[str, int], level: float
) -> Estimate | None:
    """The share of attacks that the share of alerts tells; None where the reference has no labels.

    q = (a - FPR) / (TPR - FPR), with the share of alerts a by its confidence sequence and both
    rates of the reference by Clopper and Pearson's interval, each at a third of the error: the
    interval is what all values in all three give, so it holds at every look.

    Reference: Lipton, Wang and Smola 2018.
    """
    tp, fn, fp, tn = (reference[key] for key in ("tp", "fn", "fp", "tn"))
    if not tp + fn or not fp + tn or not rows:
        return None
    third = 1 - (1 - level) / 3
    a, hit, false = alerts / rows, tp / (tp + fn), fp / (fp + tn)
    ends_a = _floats(BetaMixture(third)(alerts, rows))
    ends_hit = ClopperPearson(third).ends(tp, tp + fn)
    ends_false = ClopperPearson(third).ends(fp, fp + tn)
    told: dict[str, Any] = {"method": "black-box shift", "n": rows, "level": level}
    if ends_hit[0] <= ends_false[1]:
        why = "the reference does not show that attacks are flagged more often than harmless rows"
        return Estimate(math.nan, undefined=why, level=level)

    def share(a: float, hit: float, false: float) -> float:
        return min(max((a - false) / (hit - false), 0.0), 1.0)

    corners = [share(x, y, z) for x in ends_a for y in ends_hit for z in ends_false]
    return Estimate(share(a, hit, false), min(corners), max(corners), note=ASSUMED, **told)


def _floats(ends: Any) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])


def must_be_a_seed(seed: Any) -> int:
    """A whole number that ties are ordered by."""
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InputError(f"seed= is a whole number, 0 or more; found {seed!r}")
    return seed
