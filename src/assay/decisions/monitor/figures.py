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

from assay.decisions.gate.rule import DIFFERENCE, NEW, OLD
from assay.evaluation.deployment import ALERTS, FALSE_ALARMS
from assay.formula import cells, evaluate, proportion, reason
from assay.inference.estimate import Estimate
from assay.inference.fields import Recorded, stored
from assay.inference.mcnemar import paired_difference
from assay.inference.proportions import Wilson
from assay.inference.sequences import BetaMixture, GammaMixture, PairedBets, discordant_log_e
from assay.measures import ACCURACY, ALERT_RATE, RECALL, Measure

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
class Counted:
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
        found: Counts = self.counts.sum(axis=2 if subject == OLD else 3)
        return found


@dataclass(frozen=True)
class Asked:
    """A figure to be followed: a share of rows, or a number a day where the measure is None."""

    name: str
    measure: Measure | None
    subject: str = NEW


def figures_of(
    counted: Counted, asked: Sequence[Asked], *, level: float, mature: float, positive: str | None
) -> list[tuple[Watched, ...]]:
    """Every figure that was asked for, of each period."""
    columns = []
    for each in asked:
        if each.subject == DIFFERENCE:
            columns.append(_differences(counted, each, level, mature))
        elif each.measure is None:
            columns.append(_rates(counted, each, level, mature))
        else:
            columns.append(_shares(counted, each, level, mature, positive))
    return [tuple(row) for row in zip(*columns, strict=True)]


# -- shares of rows --------------------------------------------------------------------------------


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


def _proportion(measure: Measure) -> Any:
    share = None if measure.formula is None else proportion(measure.formula)
    assert share is not None  # noqa: S101 - what is no share of rows is refused before
    return share


def _shares(
    counted: Counted, asked: Asked, level: float, mature: float, positive: str | None
) -> list[Watched]:
    measure = asked.measure
    assert measure is not None  # noqa: S101 - asked by the caller
    counts, share, needs = counted.of(asked.subject), _proportion(measure), _needed(measure)
    known = _matured(counts, needs)
    corners = [_table(counts, corner) for corner in _CORNERS]
    sides = [[_float(share.successes, c), _float(share.trials, c)] for c in corners]
    ends = [BetaMixture(level)(*side) for side in sides]
    ordinary = [Wilson(level)(*side) for side in sides]
    shares = np.array([_divided(*side) for side in sides])
    low, high = _outer(ends)
    # Labels that don't matter are all there.
    told = _table(counts, None if any(needs) else (NEGATIVE, NEGATIVE))
    k, n = _float(share.successes, told), _float(share.trials, told)
    plain_low, plain_high = _outer(ordinary)
    found = []
    for i in range(len(n)):
        bound = _bound(shares[:, i]) if known[i] < 1 else None
        estimate = Estimate(
            math.nan if n[i] == 0 else k[i] / n[i],
            low[i],
            high[i],
            method=BetaMixture.name,
            n=int(n[i]),
            level=level,
            bound=bound,
            undefined=reason(measure.formula, {key: int(v[i]) for key, v in told.items()})  # type: ignore[arg-type]
            if n[i] == 0
            else None,
        )
        what = "rows without an alarm" if needs[0] else "alerts"
        found.append(
            Watched(
                measure.name,
                None if measure.symmetric else positive,
                asked.subject,
                counted.scope,
                _settled(estimate, known[i], mature, what),
                Ordinary(float(plain_low[i]), float(plain_high[i]), Wilson.name),
                float(known[i]),
            )
        )
    return found


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
    there = values[np.isfinite(values)]
    return (float(there.min()), float(there.max())) if len(there) else None


def _matured(counts: Counts, needs: tuple[bool, bool]) -> npt.NDArray[np.float64]:
    """The share of the rows whose labels matter that have one, the smaller of both kinds."""
    found = np.ones(len(counts))
    for decided, matters in enumerate(needs):
        if matters:
            rows = counts[:, :, decided].sum(axis=1)
            there = rows - counts[:, OPEN, decided]
            found = np.minimum(found, np.where(rows > 0, there / np.maximum(rows, 1), 1.0))
    return found


def _settled(estimate: Estimate, known: float, mature: float, what: str) -> Estimate:
    """The estimate where enough rows have labels; else what it lies between."""
    if known >= mature:
        return estimate
    why = f"{known:.1%} of {what} have a label, and {100 * mature:.6g}% are needed"
    return estimate.changed(math.nan, undefined=why)


# -- numbers a day ---------------------------------------------------------------------------------


def _rates(counted: Counted, asked: Asked, level: float, mature: float) -> list[Watched]:
    counts = counted.of(asked.subject)
    alerts = counts[:, :, 1]
    if asked.name == ALERTS:
        least = most = alerts.sum(axis=1)
    else:
        least = alerts[:, NEGATIVE]
        most = least + alerts[:, OPEN]
    known = _matured(counts, (False, asked.name == FALSE_ALARMS))
    mixture, days = GammaMixture(level), counted.days
    low, high = mixture(least, days)[0], mixture(most, days)[1]
    found = []
    for i, at in enumerate(days):
        bound = (float(least[i] / at), float(most[i] / at)) if known[i] < 1 else None
        # As precision has it: alerts without a label are false as often as those with one.
        estimate = Estimate(
            least[i] / at / known[i] if known[i] > 0 else math.nan,
            low[i],
            high[i],
            method=mixture.name,
            n=float(at),
            level=level,
            bound=bound,
        )
        ends = _poisson(int(least[i]), int(most[i]), float(at), level)
        found.append(
            Watched(
                asked.name,
                None,
                asked.subject,
                counted.scope,
                _settled(estimate, known[i], mature, "alerts"),
                Ordinary(*ends, "poisson"),
                float(known[i]),
            )
        )
    return found


def _poisson(least: int, most: int, days: float, level: float) -> tuple[float, float]:
    """The exact interval of Poisson's law (Garwood 1936)."""
    from scipy.special import gammaincinv

    tail = (1 - level) / 2
    low = float(gammaincinv(least, tail)) if least else 0.0
    return low / days, float(gammaincinv(most + 1, 1 - tail)) / days


# -- differences of two models ---------------------------------------------------------------------


def _differences(counted: Counted, asked: Asked, level: float, mature: float) -> list[Watched]:
    """The new model less the old one, on the same rows."""
    measure = asked.measure
    assert measure is not None  # noqa: S101 - a difference is of a measure
    counts = counted.counts
    gained, lost, both, apart, rows, known = _paired(measure, counts)
    low = PairedBets(level)(gained, lost + apart, rows)[0]
    high = PairedBets(level)(gained + apart, lost, rows)[1]
    if measure == RECALL:
        # How many attacks there are is not known before every row has a label.
        low, high = np.where(known < 1, np.nan, low), np.where(known < 1, np.nan, high)
    what = "all rows" if measure == RECALL else "rows on which the models differ"
    found = []
    for i in range(len(rows)):
        up, down, n = int(gained[i]), int(lost[i]), int(rows[i])
        bound = None
        if known[i] < 1 and n and measure != RECALL:
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
        found.append(
            Watched(
                measure.name,
                None,
                DIFFERENCE,
                counted.scope,
                _settled(estimate, known[i], mature, what),
                None
                if ordinary is None
                else Ordinary(ordinary.low, ordinary.high, ordinary.method),
                float(known[i]),
            )
        )
    return found


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
