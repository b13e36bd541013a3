"""Figures of a period, and of all rows up to its end, that hold whenever one looks.

Labels come late. An interval here is that of the counts with every row that has no label yet taken
once as an attack and once as harmless: whatever those turn out to be, and whichever were looked at
first, the interval of the complete counts lies within it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from assay.v02.decisions.daily_counts import ReferenceCells
from assay.v02.decisions.rule import DIFFERENCE, NEW, OLD
from assay.errors import InputError
from assay.v02.evaluation.deployment import ALERTS, FALSE_ALARMS
from assay.v02.evaluation.judge import formula_of
from assay.v02.formula import Proportion, cells, evaluate, proportion, reason
from assay.v02.inference.estimate import Estimate
from assay.v02.inference.fields import Recorded, stored
from assay.v02.inference.paired_tests import paired_difference
from assay.v02.inference.proportions import (
    BetaMixture,
    ClopperPearson,
    GammaMixture,
    PairedBets,
    Wilson,
    discordant_log_e,
)
from assay.v02.measures import ACCURACY, ALERT_RATE, RECALL, Measure
from assay.v02.number_text import percent, significant

Counts: TypeAlias = npt.NDArray[np.int64]
Scope: TypeAlias = Literal["period", "cumulative"]
Corner: TypeAlias = tuple[int, int]

NEGATIVE, POSITIVE, OPEN = range(3)
# Rows without a label: all harmless, or all attacks; alerts and the others by themselves.
_CORNERS: tuple[Corner, ...] = tuple(product((NEGATIVE, POSITIVE), (NEGATIVE, POSITIVE)))
# Shares of the same rows for both models.
DIFFERENCES = (ACCURACY, RECALL, ALERT_RATE)


@dataclass(frozen=True)
class Ordinary:
    """The interval for one look at a moment that was fixed beforehand, for comparison."""

    low: float
    high: float
    method: str


@dataclass(frozen=True)
class Watched(Recorded):
    """One figure of one model or of two: its value, its confidence sequence, and the ordinary one.

    ``scope`` is the period alone, or all rows up to its end. Where too few rows have a label there
    is no value, and ``bound`` is between which values it lies. ``mature`` is the share of the rows
    in question that have one.
    """

    FIRST: ClassVar[tuple[str, ...]] = ("measure", "label", "average", "slice", "base_rate")

    measure: str
    label: str | None
    subject: str
    scope: Scope
    estimate: Estimate = field(metadata=stored(inline=True))
    ordinary: Ordinary | None
    mature: float
    average: str | None = None
    slice: str | None = None
    base_rate: float | None = None


@dataclass(frozen=True)
class PeriodCounts:
    """Counts of many periods at once: by period, truth (or none yet), and what each model decided.

    ``days`` is how many days with rows each covers.
    """

    counts: Counts
    days: npt.NDArray[np.float64]
    scope: Scope

    @property
    def has_old(self) -> bool:
        """Whether there are two models."""
        return bool(self.counts.shape[3] == 2)

    def of(self, subject: str) -> Counts:
        """By period, truth and decision of one model."""
        counts: Counts = self.counts.sum(axis=2 if subject == OLD else 3)
        return counts


@dataclass(frozen=True)
class FollowedShare:
    """A share of rows to be followed, of one model or of the difference of two."""

    measure: Measure
    subject: str = NEW


@dataclass(frozen=True)
class FollowedRate:
    """A number a day to be followed."""

    name: str
    subject: str = NEW


FollowedFigure: TypeAlias = FollowedShare | FollowedRate


def figures_of(
    counted: PeriodCounts,
    asked: Sequence[FollowedFigure],
    *,
    level: float,
    mature: float,
    positive: str | None,
) -> list[tuple[Watched, ...]]:
    """Every figure that was asked for, of each period."""
    columns = []
    for each in asked:
        if isinstance(each, FollowedRate):
            columns.append(_rates(counted, each, level, mature))
        elif each.subject == DIFFERENCE:
            columns.append(_differences(counted, each.measure, level, mature))
        else:
            columns.append(_shares(counted, each, level, mature, positive))
    return [tuple(row) for row in zip(*columns, strict=True)]


# -- shares of rows ------------------------------------------------------------------------------


def _table(counts: Counts, corner: Corner | None) -> dict[str, Any]:
    """The four cells, with rows without a label at a corner, or left out."""
    table = {
        "TN": counts[:, NEGATIVE, 0],
        "FP": counts[:, NEGATIVE, 1],
        "FN": counts[:, POSITIVE, 0],
        "TP": counts[:, POSITIVE, 1],
    }
    if corner is not None:
        quiet, alerts = corner
        name = "FN" if quiet == POSITIVE else "TN"
        table[name] = table[name] + counts[:, OPEN, 0]
        name = "TP" if alerts == POSITIVE else "FP"
        table[name] = table[name] + counts[:, OPEN, 1]
    return table


def _needed(measure: Measure) -> tuple[bool, bool]:
    """Whether labels of quiet rows matter, and those of alerts."""
    share = _proportion(measure)
    parts = [set(cells(part)) for part in (share.successes, share.trials)]

    def matters(one: str, other: str) -> bool:
        return any((one in part) != (other in part) for part in parts)

    return matters("FN", "TN"), matters("TP", "FP")


def _proportion(measure: Measure) -> Proportion:
    share = proportion(formula_of(measure))
    if share is None:
        raise InputError(f"{measure.name} is no share of rows, which alone can be followed")
    return share


def _shares(
    counted: PeriodCounts, asked: FollowedShare, level: float, mature: float, positive: str | None
) -> list[Watched]:
    measure = asked.measure
    counts, share, needs = counted.of(asked.subject), _proportion(measure), _needed(measure)
    matured = _matured(counts, needs)
    corners = [_table(counts, corner) for corner in _CORNERS]
    sides = [[_float(share.successes, c), _float(share.trials, c)] for c in corners]
    ends = [BetaMixture(level)(*side) for side in sides]
    ordinary = [Wilson(level)(*side) for side in sides]
    shares = np.array([_divided(*side) for side in sides])
    low, high = _outer(ends)
    # Labels that don't matter are all there.
    table = _table(counts, None if any(needs) else (NEGATIVE, NEGATIVE))
    k, n = _float(share.successes, table), _float(share.trials, table)
    plain_low, plain_high = _outer(ordinary)
    figures = []
    for i in range(len(n)):
        bound = _bound(shares[:, i]) if matured[i] < 1 else None
        estimate = Estimate(
            math.nan if n[i] == 0 else k[i] / n[i],
            low[i],
            high[i],
            method=BetaMixture.name,
            n=int(n[i]),
            level=level,
            bound=bound,
            undefined=reason(formula_of(measure), {key: int(v[i]) for key, v in table.items()})
            if n[i] == 0
            else None,
        )
        what = "rows without an alarm" if needs[0] else "alerts"
        figures.append(
            Watched(
                measure.name,
                None if measure.symmetric else positive,
                asked.subject,
                counted.scope,
                _settled(estimate, matured[i], mature, what),
                Ordinary(float(plain_low[i]), float(plain_high[i]), Wilson.name),
                float(matured[i]),
            )
        )
    return figures


def _float(expression: Any, table: Mapping[str, Any]) -> npt.NDArray[np.float64]:
    return np.asarray(evaluate(expression, table), np.float64)


def _divided(k: Any, n: Any) -> Any:
    with np.errstate(all="ignore"):
        return k / n


def _outer(ends: Sequence[Any]) -> tuple[Any, Any]:
    """What holds at every corner; a corner without rows allows everything."""
    lows, highs = (np.array([each[side] for each in ends]) for side in (0, 1))
    low = np.where(np.isnan(lows).any(axis=0), np.nan, lows.min(axis=0))
    return low, np.where(np.isnan(highs).any(axis=0), np.nan, highs.max(axis=0))


def _bound(values: npt.NDArray[np.float64]) -> tuple[float, float] | None:
    finite = values[np.isfinite(values)]
    return (float(finite.min()), float(finite.max())) if len(finite) else None


def _matured(counts: Counts, needs: tuple[bool, bool]) -> npt.NDArray[np.float64]:
    """The share of the rows whose labels matter that have one, the smaller of both kinds."""
    shares = np.ones(len(counts))
    for decided, matters in enumerate(needs):
        if matters:
            rows = counts[:, :, decided].sum(axis=1)
            labelled = rows - counts[:, OPEN, decided]
            shares = np.minimum(shares, np.where(rows > 0, labelled / np.maximum(rows, 1), 1.0))
    return shares


def _settled(estimate: Estimate, matured: float, mature: float, rows: str) -> Estimate:
    """The estimate where enough rows have labels; else what it lies between."""
    if matured >= mature:
        return estimate
    why = (
        f"{percent(matured)} of {rows} have a label, and {significant(100 * mature, 6)}% are needed"
    )
    return estimate.changed(math.nan, undefined=why)


# -- numbers a day -------------------------------------------------------------------------------


def _rates(
    counted: PeriodCounts, asked: FollowedRate, level: float, mature: float
) -> list[Watched]:
    counts = counted.of(asked.subject)
    alerts = counts[:, :, 1]
    if asked.name == ALERTS:
        least = most = alerts.sum(axis=1)
    else:
        least = alerts[:, NEGATIVE]
        most = least + alerts[:, OPEN]
    matured = _matured(counts, (False, asked.name == FALSE_ALARMS))
    mixture, days = GammaMixture(level), counted.days
    low, high = mixture(least, days)[0], mixture(most, days)[1]
    figures = []
    for i, at in enumerate(days):
        bound = (float(least[i] / at), float(most[i] / at)) if matured[i] < 1 else None
        # As precision has it: alerts without a label are false as often as those with one.
        estimate = Estimate(
            least[i] / at / matured[i] if matured[i] > 0 else math.nan,
            low[i],
            high[i],
            method=mixture.name,
            n=float(at),
            level=level,
            bound=bound,
        )
        ends = _poisson(int(least[i]), int(most[i]), float(at), level)
        figures.append(
            Watched(
                asked.name,
                None,
                asked.subject,
                counted.scope,
                _settled(estimate, matured[i], mature, "alerts"),
                Ordinary(*ends, "poisson"),
                float(matured[i]),
            )
        )
    return figures


def _poisson(least: int, most: int, days: float, level: float) -> tuple[float, float]:
    """The exact interval of Poisson's law (Garwood 1936)."""
    from scipy.special import gammaincinv

    tail = (1 - level) / 2
    low = float(gammaincinv(least, tail)) if least else 0.0
    return low / days, float(gammaincinv(most + 1, 1 - tail)) / days


# -- differences of two models -------------------------------------------------------------------


def _differences(
    counted: PeriodCounts, measure: Measure, level: float, mature: float
) -> list[Watched]:
    """The new model less the old one, on the same rows."""
    counts = counted.counts
    gained, lost, both, apart, rows, matured = _paired(measure, counts)
    low = PairedBets(level)(gained, lost + apart, rows)[0]
    high = PairedBets(level)(gained + apart, lost, rows)[1]
    if measure == RECALL:
        # How many attacks there are is not known before every row has a label.
        low, high = np.where(matured < 1, np.nan, low), np.where(matured < 1, np.nan, high)
    what = "all rows" if measure == RECALL else "rows on which the models differ"
    figures = []
    for i in range(len(rows)):
        up, down, n = int(gained[i]), int(lost[i]), int(rows[i])
        bound = None
        if matured[i] < 1 and n and measure != RECALL:
            bound = ((up - down - int(apart[i])) / n, (up + int(apart[i]) - down) / n)
        neither = n - up - down - int(both[i])
        ordinary = paired_difference(int(both[i]), down, up, neither, level) if n else None
        estimate = Estimate(
            (up - down) / n if n else math.nan,
            low[i],
            high[i],
            method=PairedBets.name,
            n=n,
            level=level,
            bound=bound,
            undefined=None if n else "there are no such rows",
            parts={
                "only_new": up,
                "only_old": down,
                "mcnemar_log_e": float(discordant_log_e(up, down)),
            },
        )
        figures.append(
            Watched(
                measure.name,
                None,
                DIFFERENCE,
                counted.scope,
                _settled(estimate, matured[i], mature, what),
                None
                if ordinary is None
                else Ordinary(ordinary.low, ordinary.high, ordinary.method),
                float(matured[i]),
            )
        )
    return figures


def _paired(measure: Measure, counts: Counts) -> tuple[Any, ...]:
    """Rows that only the new model has, only the old one, both; apart without a label; all; known.

    A row that both models decide alike moves no accuracy, whatever its label is.
    """
    up, down, both = counts[:, :, 1, 0], counts[:, :, 0, 1], counts[:, :, 1, 1]
    every = counts.sum(axis=(1, 2, 3))
    none = np.zeros(len(counts), np.int64)
    if measure == ALERT_RATE:
        sums = (part.sum(axis=1) for part in (up, down, both))
        return *sums, none, every, np.ones(len(counts))
    if measure == ACCURACY:
        apart = up[:, OPEN] + down[:, OPEN]
        gained, lost = up[:, POSITIVE] + down[:, NEGATIVE], down[:, POSITIVE] + up[:, NEGATIVE]
        right = both[:, POSITIVE] + counts[:, NEGATIVE, 0, 0]
        return gained, lost, right, apart, every, _share(apart, (up + down).sum(axis=1))
    rows = counts[:, POSITIVE].sum(axis=(1, 2))
    known = _share(counts[:, OPEN].sum(axis=(1, 2)), every)
    return up[:, POSITIVE], down[:, POSITIVE], both[:, POSITIVE], none, rows, known


def _share(missing: Any, rows: Any) -> Any:
    return np.where(rows > 0, 1 - missing / np.maximum(rows, 1), 1.0)


# -- whether a column still looks like the reference -----------------------------------------------

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
    evidence = np.full(len(counts), -np.inf)
    starts = range(0, len(counts), _STEP)
    for i, start in enumerate(starts):
        since = before[start + 1 :] - before[start]
        centre = before[start] / before[start].sum()
        each = np.stack([_log_rising(since, strength * centre) for strength in _STRENGTHS])
        mixed = np.logaddexp.reduce(each, axis=0) - math.log(len(_STRENGTHS))
        ratio = mixed - (null[start + 1 :] - null[start]) - math.log((i + 1) * (i + 2))
        evidence[start:] = np.logaddexp(evidence[start:], ratio)
    taken = np.arange(len(counts)) // _STEP + 1
    kept: Floats = np.logaddexp(evidence, -np.log(taken + 1.0))
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
    rising: Floats = total + (gammaln(prior + counts) - gammaln(prior)).sum(axis=-1)
    return rising


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


# -- the base rate, from alerts alone ------------------------------------------------------------

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
    common: dict[str, Any] = {"method": "black-box shift", "n": rows, "level": level}
    if ends_hit[0] <= ends_false[1]:
        why = "the reference does not show that attacks are flagged more often than harmless rows"
        return Estimate(math.nan, undefined=why, level=level)

    def share(a: float, hit: float, false: float) -> float:
        return min(max((a - false) / (hit - false), 0.0), 1.0)

    corners = [share(x, y, z) for x in ends_a for y in ends_hit for z in ends_false]
    return Estimate(share(a, hit, false), min(corners), max(corners), note=ASSUMED, **common)


def _floats(ends: Any) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])
